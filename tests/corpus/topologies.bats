#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Real machines' hwloc XML, as others published it: what `parplan topology` must say of each.

files=${BATS_TEST_DIRNAME}/../../../shared/topologies

setup()
{
    [[ -d $files/hwloc ]] || skip "../shared/topologies is not there"
}

# expect FILE JQ-FILTER WANT: what the filter finds in the JSON of a file, compact.
expect()
{
    local got
    [[ -n ${document:-} ]] || document=$(parplan topology --from "$files/$1" --format json)
    got=$(jq -c "$2" <<< "$document")
    if [[ $got != "$3" ]]; then
        echo "$1: $2: $got, expected $3"
        return 1
    fi
}

refuse() # FILE PATTERN: exit status 2 and one line that has it
{
    run parplan topology --from "$files/$1" --format json
    [[ $status == 2 ]]
    [[ ${#lines[@]} == 1 ]]
    [[ ${lines[0]} == parplan:*"$2"* ]]
}

@test "DGX-2: 16 GPUs behind switches are one domain" {
    expect hwloc/nvidiaDGX2.v2.xml '.gpus | length' 16
    expect hwloc/nvidiaDGX2.v2.xml .nvlink '"known"'
    expect hwloc/nvidiaDGX2.v2.xml .nvlink_domains '[[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]]'
    expect hwloc/nvidiaDGX2.v2.xml '.groups["8"] | map(length)' '[8,8]'
}

@test "POWER8: pairs, and no CPU link counts" {
    expect hwloc/power8gpudistances.v2.xml '.gpus | length' 4
    expect hwloc/power8gpudistances.v2.xml .nvlink_domains '[[0,1],[2,3]]'
    expect hwloc/power8gpudistances.v2.xml '.groups["2"] | map(sort)' '[[0,1],[2,3]]'
}

@test "Turin with NVML: a clique of four, two HCAs down" {
    local file=hwloc/prrte-turin-4gpu-nvml.xml
    expect $file '[.gpus[].bus_id]' \
        '["0000:06:00.0","0000:16:00.0","0000:96:00.0","0000:e6:00.0"]'
    expect $file .nvlink '"known"'
    expect $file .nvlink_domains '[[0,1,2,3]]'
    expect $file '[.gpus[].numa]' '[1,2,6,7]'
    expect $file '[.nics[] | select(.role == "rail" and .state == "active") | .name]' \
        '["mlx5_4","mlx5_5"]'
    expect $file '[.nics[] | select(.state == "down") | .name] | contains(["mlx5_0", "mlx5_3"])' true
    expect $file '.gpus[2].nics[0], .gpus[3].nics[0]' $'"mlx5_4"\n"mlx5_5"'
}

@test "Turin without GPU backends: the same GPUs, NVLink unknown" {
    local file=hwloc/prrte-turin-4gpu.xml
    expect $file '.gpus | length' 4
    expect $file .nvlink '"unknown"'
    expect $file .nvlink_domains '[]'
    expect $file '[.nics[] | select(.role == "rail" and .state == "active") | .name]' \
        '["mlx5_4","mlx5_5"]'
}

@test "g4dn.metal: eight GPUs, no NVLink matrix, EFA is an active rail" {
    local file=hwloc/mpibind-g4dnmetal.xml
    expect $file '.gpus | length' 8
    expect $file '[.nics[] | select(.name == "rdmap197s0") | .role, .state]' '["rail","active"]'
    expect $file '.nvlink_domains | map(select(length > 1))' '[]'
}

@test "x3950 M2: a BMC's graphics card is no GPU" {
    expect hwloc/96em64t-4n4d3ca2co-pci.xml '.gpus | length' 0
}

@test "Lassen: four GPUs and four HCAs, by socket" {
    local file=hwloc/mpibind-coral-lassen.xml
    expect $file '.gpus | length' 4
    expect $file .nvlink '"unknown"'
    expect $file '[.gpus[].nics[:2] | sort]' \
        '[["mlx5_0","mlx5_1"],["mlx5_0","mlx5_1"],["mlx5_2","mlx5_3"],["mlx5_2","mlx5_3"]]'
}

@test "Pascal: two GPUs beside one HCA" {
    expect hwloc/mpibind-cts1-pascal.xml '.gpus | length' 2
    expect hwloc/mpibind-cts1-pascal.xml '[.gpus[].nics[0]]' '["mlx5_0","mlx5_0"]'
}

@test "Corona: four AMD GPUs" {
    expect hwloc/mpibind-epyc-corona.xml '.gpus | length' 4
}

@test "an Azure VM without GPUs: accelerated networking is no rail" {
    expect hwloc/prrte-test-topo.xml '.gpus | length' 0
    expect hwloc/prrte-test-topo.xml '[.nics[] | select(.role == "rail") | .name]' '["mlx5_ib0"]'
}

@test "a machine without I/O in its file has no GPUs" {
    expect hwloc/32em64t-2n8c2t-pci-noio.xml '.gpus | length' 0
}

@test "a file with everything: the compute GPUs alone" {
    document=$(parplan topology --from "$files/hwloc/32em64t-2n8c2t-pci-wholeio.xml" \
        --format json)
    [[ $(jq '.gpus | length' <<< "$document") -le 4 ]]
}

@test "hwloc 3.0 XML is refused in one line, or read where hwloc can" {
    if parplan topology --from "$files/hwloc/nvidiaDGX2.v3.xml" > /dev/null 2>&1; then
        expect hwloc/nvidiaDGX2.v3.xml '.gpus | length' 16
        return
    fi
    refuse hwloc/nvidiaDGX2.v3.xml "hwloc 3"
    refuse hwloc/power8gpudistances.v3.xml "hwloc 3"
    refuse hwloc/nvidia-dgx-gb10.v3.xml "hwloc 3"
}

@test "Slurm topology files: trees are read, blocks refused by name" {
    local file
    for file in "$files"/slurm/*; do
        run parplan topology --from "$file" --format json
        [[ $status == 0 || ($status == 2 && ${#lines[@]} == 1) ]] ||
            { echo "$file: status $status"; printf '%s\n' "${lines[@]}"; return 1; }
    done
    document=
    expect slurm/azure-readme-tree.conf '.kind' '"fabric"'
}

@test "no file of the collection makes it crash or say more than a line of error" {
    local file
    while IFS= read -r file; do
        run timeout 60 parplan topology --from "$file" --format json
        [[ $status == 0 || ($status -le 2 && ${#lines[@]} == 1) ]] ||
            { echo "$file: status $status"; printf '%s\n' "${lines[@]:0:5}"; return 1; }
    done < <(find "$files" -type f | sort)
}

#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Real machines' files, as others published them: what a table of answers cannot say.
# Each file's own answer stands in answers.tsv (tests/corpus/topologies).

files=${BATS_TEST_DIRNAME}/../../../shared/topologies

setup()
{
    [[ -d $files/hwloc ]] || skip "../shared/topologies is not there"
}

check() # STATUS PLAN FILE [WORDS]: parplan check of that plan on nodes like the file's
{
    run parplan check --plan "$2" --node "$files/$3"
    if [[ $status != "$1" || $output != *"${4:-}"* ]]; then
        echo "$3: $2: status $status, expected $1 and '${4:-}'"
        printf '%s\n' "${lines[@]}"
        return 1
    fi
}

# Nodes by what they share, smallest name first: one group a line.
groups_by() # JQ-FILTER OF A NODE, then words for parplan topology
{
    parplan topology --format json "${@:2}" |
        jq -r "[.nodes[] | {name, by: ($1)}] | group_by(.by) | map(map(.name) | sort) | sort |
            .[] | join(\" \")"
}

@test "pairs of A6000: TP 2 is fine, TP 4 and 8 cross PCIe and are warned of" {
    local file=topo-m/a6000-x8-bridged-pairs.txt
    check 0 tp=2,pp=1,dp=4 $file
    [[ $output != *warning* ]]
    check 0 tp=4,pp=1,dp=2 $file "NVLink joins only 2 GPUs"
    check 0 tp=8,pp=1,dp=1 $file "NVLink joins only 2 GPUs"
    [[ $output == *warning* ]]
}

@test "a B200 that lost its NVLink: TP 8 is refused, and why" {
    local file=topo-m/b200-gpu2-lost-nvlink.PARTIAL-rows0-5.txt
    check 4 tp=8,pp=1,dp=1 $file "GPU 2: no NVLink to any GPU"
    [[ ${#lines[@]} == 1 ]]
    check 0 tp=4,pp=1,dp=2 $file warning
}

@test "MI250X: a TP group of 4 is a ring, in the order printed" {
    local links="0-1 0-2 0-6 1-3 1-5 2-3 2-4 3-7 4-5 4-6 5-7 6-7" group i pair
    run parplan topology --from "$files/nccl-xml/rccl/topo_8p_90a.xml"
    [[ $status == 0 ]]
    group=$(sed -n 's/^ *of 4 *//p' <<< "$output")
    [[ $(wc -w <<< "$group") == 2 ]]
    for group in $group; do
        IFS=- read -ra ring <<< "$group"
        [[ ${#ring[@]} == 4 ]]
        for i in 0 1 2 3; do
            pair=$(printf '%s\n' "${ring[i]}" "${ring[(i + 1) % 4]}" | sort -n | paste -sd -)
            [[ " $links " == *" $pair "* ]] || { echo "$group: $pair is no link"; return 1; }
        done
    done
}

@test "DGX A100: 8 rails, and 4 HCAs for storage" {
    run parplan topology --from "$files/topo-m/dgx-a100-12hca.txt" --format json
    [[ $(jq -c '[.nics[].role] | group_by(.) | map({(.[0]): length}) | add' <<< "$output") == \
        '{"rail":8,"storage":4}' ]]
}

@test "a GB200 tray: the domain is wider than the node, and the text says so" {
    run parplan topology --from "$files/topo-m/gb200-nvl72-tray-8nic.txt"
    [[ $status == 0 ]]
    [[ $output == *"wider than the node"* ]]
}

@test "SHARP's listing gives the groups that the cluster's own topology.conf has" {
    local from_guids from_conf
    from_guids=$(groups_by .rails --from "$files/slurm/azure-topology.txt" \
        --guids "$files/slurm/azure-nodes_guids.txt")
    from_conf=$(groups_by '.path[0]' --from "$files/slurm/azure-slurm_topology.txt")
    [[ $(wc -l <<< "$from_conf") == 5 ]]
    diff <(echo "$from_guids") <(echo "$from_conf")
}

@test "ClusterUUIDs give the domains that the cluster's own blocks have" {
    local from_uuids from_blocks
    from_uuids=$(groups_by .nvlink_domain --from "$files/slurm/azure-nodes_clusterUUIDs.txt")
    from_blocks=$(groups_by .nvlink_domain --from "$files/slurm/azure-block_topology.txt")
    [[ $(wc -l <<< "$from_blocks") == 4 ]]
    diff <(echo "$from_uuids") <(echo "$from_blocks")
}

@test "two sources of one node: hwloc without NVLink, and the same with it" {
    run parplan topology --format json --from "$files/hwloc/prrte-turin-4gpu.xml" \
        --from "$files/hwloc/prrte-turin-4gpu-nvml.xml"
    [[ $status == 0 ]]
    [[ $(jq -c '[(.gpus | length), .nvlink, .nvlink_domains]' <<< "$output") == \
        '[4,"known",[[0,1,2,3]]]' ]]
}

@test "no file of the collection makes it crash or say more than a line of error" {
    local file
    while IFS= read -r file; do
        run timeout 60 parplan topology --from "$file" --format json
        [[ $status == 0 || ($status -le 2 && ${#lines[@]} == 1) ]] ||
            { echo "$file: status $status"; printf '%s\n' "${lines[@]:0:5}"; return 1; }
    done < <(find "$files" -type f | sort)
}

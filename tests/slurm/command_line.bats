#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# The command line beside a running controller: the fabric that Slurm itself has.
load support

# shellcheck disable=SC2034 # support.bash reads it
cluster_nodes=16

setup() {
    :
}

@test "the controller's topology is read through scontrol" {
    run --separate-stderr parplan topology --from slurm --format json
    [[ $status == 0 ]]
    [[ $(jq -c '[.kind, .tiers, (.nodes | length), .nodes[0].path, .nodes[15].path]' <<< "$output") == \
        '["fabric",["leaf","spine"],16,["leaf1","spine"],["leaf2","spine"]]' ]]
}

@test "a map on the controller's fabric keeps replicas under one leaf" {
    run --separate-stderr parplan map --node dgx-h100 --fabric slurm --plan tp=8,pp=8,dp=2 \
        --format json
    [[ $status == 0 ]]
    [[ $(jq -c '[.ranks | group_by(.dp)[] | map(.node) | unique | [first, last]]' <<< "$output") == \
        '[["n01","n08"],["n09","n16"]]' ]]
}

@test "the layouts that --evaluate knows are those of srun" {
    local map=(parplan map --node dgx-h100 --fabric slurm --nodes 'n[01-04]' --plan 'tp=4,pp=2,dp=4'
        --format json --evaluate) layout
    for layout in block cyclic plane=2 plane=4; do
        srun -N 4 -w 'n[01-04]' --ntasks-per-node=8 -m "$layout" --label \
            printenv SLURMD_NODENAME > "$BATS_TEST_TMPDIR/labels"
        [[ $("${map[@]}" "slurm:$layout" | jq -c '.evaluated | del(.source)') == \
            "$("${map[@]}" "$BATS_TEST_TMPDIR/labels" | jq -c '.evaluated | del(.source)')" ]]
    done
}

@test "without a controller it says so in one line and exits 1" {
    SLURM_CONF=/nonexistent run --separate-stderr timeout 60 parplan topology --from slurm
    [[ $status == 1 ]]
    # shellcheck disable=SC2154 # bats sets it
    [[ ${#stderr_lines[@]} == 1 ]]
    [[ ${stderr_lines[0]} == "parplan: scontrol: "* ]]
}

@test "the controller's nodes and topology become a cluster file that is read again" {
    run --separate-stderr parplan topology collect --from slurm -o "$BATS_TEST_TMPDIR/site.yaml"
    [[ $status == 0 && ! $output && ! $stderr ]]
    grep -q "^# GRES gpu:8 of 16 nodes: no preset fits" "$BATS_TEST_TMPDIR/site.yaml"
    run --separate-stderr parplan topology --from "$BATS_TEST_TMPDIR/site.yaml" --format json
    [[ $status == 0 ]]
    [[ $(jq -c '[.kind, (.kinds | map(.kind)), (.nodes | length), .nodes[8].path, .nodes[8].gpus]' \
        <<< "$output") == '["cluster",["8x-gpu"],16,["leaf2","spine"],8]' ]]
}

@test "what the nodes say of themselves is collected into one cluster file" {
    srun -N 16 --label parplan topology --format yaml > "$BATS_TEST_TMPDIR/labelled.txt"
    run --separate-stderr parplan topology collect "$BATS_TEST_TMPDIR/labelled.txt" --fabric slurm
    [[ $status == 0 ]]
    grep -q '{names: "n\[01-16\]", kind: no-gpus}' <<< "$output"
    grep -q 'name: leaf2, tier: leaf, nodes: "n\[09-16\]"' <<< "$output"
    mkdir "$BATS_TEST_TMPDIR/nodes"
    # %N is the machine's name here, which all these nodes share.
    srun -N 16 --output="$BATS_TEST_TMPDIR/nodes/%t.yaml" parplan topology --format yaml
    [[ $(parplan topology collect "$BATS_TEST_TMPDIR/nodes" --fabric slurm) == "$output" ]]
}

@test "the batch script of a scan runs every row with its ranks, also behind one that fails" {
    local job=(--model llama2-7b --cluster dgx-a100-80:2 --plan tp=2 --plan schedule=1f1b
        --set global_batch=128 --set sequence_length=2048 --set micro_batch=1)
    cd "$BATS_TEST_TMPDIR"
    cat > train.sh <<'END'
#!/bin/bash
[[ $PARPLAN_PP_SIZE == "$PARPLAN_SWEEP_PP" && $PARPLAN_DP_SIZE == "$2" && $3 == '$(a) b' ]] || exit 9
[[ $PARPLAN_SWEEP_PP != 2 ]] || exit 3
[[ $RANK != 0 ]] || echo 1.5 > "$PARPLAN_SWEEP_RESULT"
END
    chmod +x train.sh
    # shellcheck disable=SC2016 # nobody is to expand it
    parplan sweep "${job[@]}" --format sbatch -- ./train.sh --dp '{dp}' '$(a) b' > scan.sh
    PARPLAN_SWEEP_FOLDER=scan timeout 60 sbatch --wait --output=scan.out scan.sh
    cat scan.out scan/results.csv
    [[ $(grep -c ',0,1.5$' scan/results.csv) -ge 2 ]]
    # 143: the first task to fail ends the others, and srun tells the highest of their statuses
    [[ $(grep -cE ',(3|143),$' scan/results.csv) == 1 ]]
    [[ $(wc -l < scan/results.csv) == $((1 + $(grep -c '^run_row tp' scan.sh))) ]]
    parplan sweep "${job[@]}" --ingest scan/results.csv
}

#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# The fabric of the plan is the running controller's, in each form that a Slurm has; and what a
# step gets where there is none, or one that cannot be read: a plan in Slurm's order, with a word.
# shellcheck disable=SC2154,SC2030,SC2031 # bats sets status, output and stderr
load support

# Slurm's own order, which a plan keeps where nodes are equally near: by pipelines n01-n04, n05-n08.
flat_order='n01 n05 n02 n06 n03 n07 n04 n08'
# The same where odd nodes are near each other, and even ones: by pipelines n01, n03, …
odd_even_order='n01 n02 n03 n04 n05 n06 n07 n08'

setup_file() {
    :
}

setup() {
    export PARPLAN_CLUSTER_DIR=$BATS_TEST_TMPDIR/c PARPLAN_CLUSTER_GRES_TYPE=h100
    export PARPLAN_CLUSTER_TOPOLOGY=$BATS_TEST_TMPDIR/topology.conf
    mkdir "$BATS_TEST_TMPDIR/etc"
    printf 'schema: parplan.config/1\n' >"$BATS_TEST_TMPDIR/etc/parplan.yaml"
    export PARPLAN_CLUSTER_SPANK_ARGS=config=$BATS_TEST_TMPDIR/etc/parplan.yaml
}

teardown() {
    "$cluster" stop
}

teardown_file() {
    :
}

# since YEAR.MONTH: the Slurm here is of that release or a later one.
since() {
    local version
    version=$(PATH=/usr/sbin:$PATH slurmctld -V)
    [[ $(printf '%s\n' "$1" "${version##* }" | sort -V | head -n 1) == "$1" ]]
}

# planned NODES ORDER: two pipelines of four nodes each run; ORDER has their nodes by RANK.
planned() {
    start_cluster "$1"
    planned_again "$2"
}

planned_again() { # order, srun's options
    wait_until_idle
    client_seconds=20 run_srun -w "n[01-08]" -N8 --ntasks-per-node=8 --gres=gpu:8 \
        "${@:2}" --parplan=tp=8,pp=4,dp=2 "$BATS_TEST_DIRNAME/show_rank"
    expect_status 0
    expect_nodes "$1"
}

expect_nodes() { # by RANK
    expect "nodes by rank" \
        "$(sort -n <<<"$output" | awk '$3 == 0 { print $2 }' | paste -sd ' ')" "$1"
}

# said UNKNOWN WARNING: how often the user reads that the fabric is unknown, and the warning.
said() {
    expect "fabric unknown" "$(grep -c ' nodes, fabric unknown$' <<<"$stderr")" "$1"
    expect "lines of ours" "$(grep -c 'parplan: ' <<<"$stderr")" "$((${2:+1} + 1))"
    expect_match "warning" "$stderr" "${2:+parplan: warning: topology: }${2:-}"
}

odd_even_tree() {
    printf 'SwitchName=leaf1 Nodes=n[01,03,05,07]\nSwitchName=leaf2 Nodes=n[02,04,06,08]\n'
    printf 'SwitchName=spine Switches=leaf[1-2]\n'
}

@test "tree: pipelines stay under one leaf switch" {
    odd_even_tree >"$PARPLAN_CLUSTER_TOPOLOGY"
    planned 8 "$odd_even_order"
    said 0
}

@test "block: pipelines stay in one block" {
    since 23.11 || skip "this Slurm has no topology/block"
    printf 'BlockName=b%d Nodes=n[%s]\n' 1 01,03,05,07 2 02,04,06,08 >"$PARPLAN_CLUSTER_TOPOLOGY"
    echo 'BlockSizes=4,8' >>"$PARPLAN_CLUSTER_TOPOLOGY"
    planned 8 "$odd_even_order"
    said 0
    wait_until_idle
    run_client salloc -Q -w "n[01-08]" -N8 --ntasks-per-node=8 --gres=gpu:8 \
        srun --parplan=tp=8,pp=2,dp=4,place=slurm "$BATS_TEST_DIRNAME/show_rank"
    expect_status 0
    expect "RANKs that are not SLURM_PROCID" "$(awk '$1 != $9' <<<"$output")" ""
    expect_nodes 'n01 n05 n02 n06 n03 n07 n04 n08'
}

@test "topology.yaml with several topologies: the partition's counts, or the cluster's default" {
    since 25.05 || skip "this Slurm has no topology.yaml"
    export PARPLAN_CLUSTER_TOPOLOGY=$BATS_TEST_TMPDIR/topology.yaml
    export PARPLAN_CLUSTER_CONF='PartitionName=nvl Nodes=n[01-08] Topology=nvl State=UP'
    cat >"$PARPLAN_CLUSTER_TOPOLOGY" <<'END'
---
- topology: network
  cluster_default: true
  tree:
    switches:
      - {switch: leaf1, nodes: "n[01,03,05,07]"}
      - {switch: leaf2, nodes: "n[02,04,06,08]"}
      - {switch: spine, children: "leaf[1-2]"}
- topology: nvl
  cluster_default: false
  block:
    block_sizes: [4]
    blocks:
      - {block: b1, nodes: "n[01-04]"}
      - {block: b2, nodes: "n[05-08]"}
END
    planned 8 "$odd_even_order"
    said 0
    planned_again "$flat_order" -p nvl
    said 0
}

@test "no topology plugin: a plan in Slurm's order, and the user reads that" {
    PARPLAN_CLUSTER_TOPOLOGY=none planned 8 "$flat_order"
    said 1
}

@test "a fabric with two ways up, which Slurm takes and we do not: one warning, a plan" {
    odd_even_tree | sed 's/spine/a/' >"$PARPLAN_CLUSTER_TOPOLOGY"
    printf 'SwitchName=b Switches=leaf[1-2]\nSwitchName=c Switches=a,b\n' \
        >>"$PARPLAN_CLUSTER_TOPOLOGY"
    planned 8 "$flat_order"
    said 1 'slurmctld:[0-9]+: switch leaf[12] is below [ab] already'
}

@test "a node that no switch has: the plan counts it as far from all" {
    odd_even_tree | sed 's/,07//' >"$PARPLAN_CLUSTER_TOPOLOGY"
    export PARPLAN_CLUSTER_CONF=TopologyParam=TopoOptional
    planned 8 'n02 n01 n04 n03 n06 n05 n08 n07'
    said 0
}

@test "a topology.conf without a line: a plan in Slurm's order, where slurmctld starts on it" {
    echo '# nothing' >"$PARPLAN_CLUSTER_TOPOLOGY"
    export PARPLAN_CLUSTER_CONF=TopologyParam=TopoOptional
    run_client "$cluster" start 8
    if ((status != 0)); then
        expect_match "reason" "$stderr" 'No switches configured'
        return
    fi
    planned 8 "$flat_order"
    said 1
}

@test "a loop of switches never gets as far as a step: slurmctld does not start on it" {
    printf 'SwitchName=%s\n' 'leaf Nodes=n01' 'a Switches=leaf,b' 'b Switches=a' \
        >"$PARPLAN_CLUSTER_TOPOLOGY"
    run_client "$cluster" start 1
    expect_status 1
    expect_match "reason" "$(cat "$PARPLAN_CLUSTER_DIR"/log/slurmctld.out)" 'is not a tree'
}

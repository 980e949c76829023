#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# What slurmstepd does with a node's cache on a real Slurm, and without one.
# shellcheck disable=SC2154,SC2030,SC2031 # bats sets status, output and stderr
load support

plain=0,1,2,3,4,5,6,7

setup_file() {
    export PARPLAN_CLUSTER_SPANK=$PARPLAN_BUILD/spank_parplan.so
    export PARPLAN_CLUSTER_GRES_TYPE=h100
    export CACHE=$BATS_FILE_TMPDIR/etc/node.cache
    mkdir -p "$BATS_FILE_TMPDIR/etc"
    printf 'schema: parplan.config/1\n' >"$BATS_FILE_TMPDIR/etc/parplan.yaml"
    export PARPLAN_CLUSTER_SPANK_ARGS="config=$BATS_FILE_TMPDIR/etc/parplan.yaml cache=$CACHE"
    start_cluster 2
}

write_cache() { # node file
    rm -f "$CACHE"
    parplan topology --from "$BATS_TEST_DIRNAME/data/$1.yaml" --write-cache "$CACHE"
}

# devices PLAN: what the tasks of one node see, every task the same: CUDA's list, then ROCm's.
# Slurm sets both where gres.conf says nothing.
devices() {
    # shellcheck disable=SC2016 # the task's variables
    run_srun -N1 --ntasks-per-node=8 --gres=gpu:8 "--parplan=$1" \
        sh -c 'echo "$CUDA_VISIBLE_DEVICES $ROCR_VISIBLE_DEVICES"'
    expect_status 0
    expect "lines" "$(wc -l <<<"$output")" 8
    expect "different lists" "$(sort -u <<<"$output" | wc -l)" 1
}

@test "linked GPUs come together: two hives of four, by index in no order" {
    write_cache hives
    devices tp=4,dp=2
    expect "devices" "$(head -1 <<<"$output")" "$plain 0,2,3,5,1,4,6,7"
}

@test "no TP group, no permutation" {
    write_cache hives
    devices dp=8
    expect "devices" "$(head -1 <<<"$output")" "$plain $plain"
}

@test "a part of the node: only the job's devices are put in order" {
    write_cache crossed-pairs
    # shellcheck disable=SC2016 # the task's variables
    run_srun -N1 --ntasks-per-node=4 --gres=gpu:4 --parplan=tp=2,dp=2 \
        sh -c 'echo "$CUDA_VISIBLE_DEVICES $ROCR_VISIBLE_DEVICES"'
    expect_status 0
    expect "devices" "$(sort -u <<<"$output")" "0,3,1,2 0,1,2,3"
}

@test "without a cache everything stays as Slurm has it" {
    rm -f "$CACHE"
    devices tp=4,dp=2
    expect "devices" "$(head -1 <<<"$output")" "$plain $plain"
}

@test "a cache of another boot, an unsafe or a garbled one is not used, and the step runs" {
    write_cache hives
    sed -i 's/^boot .*/boot 1/' "$CACHE"
    devices tp=4,dp=2
    expect "of another boot" "$(head -1 <<<"$output")" "$plain $plain"
    write_cache hives
    chmod 666 "$CACHE"
    devices tp=4,dp=2
    expect "writable by all" "$(head -1 <<<"$output")" "$plain $plain"
    write_cache hives
    sed -i '6,$d' "$CACHE"
    devices tp=4,dp=2
    expect "cut" "$(head -1 <<<"$output")" "$plain $plain"
    wait_until_idle
}

@test "a TP group over a GPU that has lost NVLink is refused on the node, in one line" {
    write_cache lost-link
    run_srun -N1 --ntasks-per-node=8 --gres=gpu:8 --parplan=tp=8 true
    expect_status 1
    expect "refusals" "$(grep -c 'policy tp-degraded-node: tp=8' <<<"$stderr")" 1
    wait_until_idle
    devices tp=1,dp=8
    expect "devices" "$(head -1 <<<"$output")" "$plain $plain"
}

# half_refused STATUS CANCELLED OPTION...: a job of four GPUs holds the first half of n01, so that
# n02 alone gets GPU 2 and refuses. CANCELLED: how often the tasks of n01 are ended for that.
half_refused() {
    run_srun -N2 --ntasks-per-node=4 --gres=gpu:4 --parplan=tp=4,dp=2 "${@:3}" sleep 3
    expect_status "$1"
    expect "refusals" "$(grep -c 'error: parplan: policy tp-degraded-node' <<<"$stderr")" 1
    expect "nodes" "$(grep -oE '[^ ]+: tasks [0-9-]+: Exited' <<<"$stderr" | sort -u)" \
        "n02: tasks 4-7: Exited"
    expect "cancelled" "$(grep -c 'STEP .* ON n01 CANCELLED' <<<"$stderr")" "$2"
}

@test "a step with a part of the node is judged by its own GPUs, on each node for itself" {
    write_cache lost-link
    run_srun -N1 --ntasks-per-node=4 --gres=gpu:4 --parplan=tp=4 true
    expect_status 1
    expect "refusals" "$(grep -c 'policy tp-degraded-node: tp=4' <<<"$stderr")" 1
    wait_until_idle
    srun -w n01 -n1 --gres=gpu:4 sleep 60 &
    local holder=$!
    wait_until_job_runs
    run_srun -w n01 -N1 --ntasks-per-node=4 --gres=gpu:4 --parplan=tp=4 true
    expect_status 0
    half_refused 1 0
    half_refused 143 1 --kill-on-bad-exit
    kill "$holder"
    wait "$holder" || true
}

#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Containers: a plugin that behaves as pyxis does, in a plugstack folder before or after ours.
# shellcheck disable=SC2154,SC2030,SC2031 # bats sets status, output and stderr
load support

show=$BATS_TEST_DIRNAME/show_devices

setup_file() {
    export PARPLAN_CLUSTER_SPANK=$PARPLAN_BUILD/spank_parplan.so
    export PARPLAN_CLUSTER_GRES_TYPE=h100
    export ETC=$BATS_FILE_TMPDIR/etc CACHE=$BATS_FILE_TMPDIR/etc/node.cache
    export PYXIS=$BATS_FILE_TMPDIR/spank_pyxis.so
    mkdir -p "$ETC"
    printf 'schema: parplan.config/1\n' >"$ETC/parplan.yaml"
    start_cluster 10
    compile_stand_in "$PYXIS"
    write_cache "$CACHE" two-sockets
}

ours() {
    echo "config=$ETC/parplan.yaml cache=$CACHE"
}

# Two nodes of each leaf, whose names are in the order of the leaves: every Slurm numbers its tasks
# so, and the plan does not, as each of its pipelines stays under one leaf.
run_planned() {
    run_srun -w 'n[07-10]' -N4 --ntasks-per-node=8 --gres=gpu:8 --parplan=tp=4,pp=2,dp=4 "$show"
    expect_status 0
}

# In the container: a torch image, whose RANK pyxis sets to SLURM_PROCID.
run_torch() {
    PYTORCH_VERSION=2.1 run_planned
}

# Tasks whose RANK is not SLURM_PROCID: the plan exchanges two of the four nodes.
moved() {
    sed -n 's/.* rank=\([^ ]*\) .* procid=\([0-9]*\)$/\1 \2/p' <<<"$output" | awk '$1 != $2' | wc -l
}

warned() { # of that job: the log has other tests' too
    local id
    id=$(scontrol show job | sed -n 's/.*JobId=\([0-9]*\).*/\1/p' | sort -n | tail -n 1)
    grep "\[$id" "$PARPLAN_CLUSTER_DIR/log/n07.log" | grep -c 'warning: spank_pyxis.so comes after'
}

@test "pyxis before parplan, as zz-parplan.conf sorts: the plan's ranks stay" {
    stack_plugins "$PYXIS" pyxis "$(ours)"
    run_torch
    expect "moved" "$(moved)" 16
    expect "ranks" "$(column rank | sort -n | paste -sd' ')" \
        "$(seq 0 31 | paste -sd' ')"
    expect "warnings" "$(warned)" 0
}

@test "in the container no file of the host is needed: not /etc, not ours" {
    [[ $(id -u) == 0 ]] || skip "needs root for a mount namespace"
    stack_plugins "$PYXIS" "pyxis hide=/etc,$ETC" "$(ours)"
    run_srun -N1 -n1 --gres=gpu:1 sh -c "ls /etc $ETC | grep -c yaml"
    expect "files of ours that a task sees" "$output" 0
    run_torch
    expect "moved" "$(moved)" 16
    expect "GPUs by the cache" "$(column cuda | sort -u)" \
        0,2,5,7,1,3,4,6
    expect "NICs by the cache" "$(column hca | sort -u)" \
        =mlx5_0,mlx5_4
}

@test "parplan before pyxis: its ranks are lost, and slurmd's log says so" {
    stack_plugins "$PYXIS" pyxis "$(ours)" parplan.conf
    run_torch
    expect "moved" "$(moved)" 0
    expect "warnings" "$(warned)" 1
}

@test "without torch in the image pyxis leaves RANK alone, in either order" {
    for name in parplan.conf zz-parplan.conf; do
        stack_plugins "$PYXIS" pyxis "$(ours)" "$name"
        run_planned
        expect "moved" "$(moved)" 16
        wait_until_idle
    done
}

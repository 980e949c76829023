#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Real collectives of up to 64 ranks under the plugin: they take the whole machine, so that
# tests/run_checks runs no other file beside this one.
# shellcheck disable=SC2154,SC2030,SC2031 # bats sets status, output and stderr
load support

setup_file() {
    start_h100_cluster 10
}

@test "torch.distributed: 64 ranks meet at the master and sum right over every group" {
    needs_torch
    client_seconds=400 run_srun -w "n[01-08]" -N8 --ntasks-per-node=8 --gres=gpu:8 \
        --parplan=tp=8,pp=4,dp=2 /usr/bin/python3 "$BATS_TEST_DIRNAME/torch_collectives.py"
    expect_status 0
    expect_match "sums" "$output" "64 ranks met at 127.0.1.1:[0-9]+, TP 8x8 groups right, PP 16x4 groups right, DP 32x2 groups right"
}

@test "torchrun: one task per node, agents meet by the node ranks of the plan" {
    needs_torch
    client_seconds=200 run_srun -w "n[01-02]" -N2 --ntasks-per-node=1 --gres=gpu:4 \
        --parplan=tp=4,pp=2 /usr/bin/python3 "$BATS_TEST_DIRNAME/torchrun_static.py" \
        "$BATS_TEST_DIRNAME/torch_collectives.py"
    expect_status 0
    expect_match "sums" "$output" "8 ranks met"
}

@test "torch.distributed with --export=NONE: 8 ranks under the other rank order" {
    needs_torch
    client_seconds=200 run_srun -w "n[01-02]" -N2 --ntasks-per-node=4 --gres=gpu:4 --export=NONE \
        --parplan=tp=2,pp=2,dp=2,order=tp-cp-ep-pp-dp \
        /usr/bin/python3 "$BATS_TEST_DIRNAME/torch_collectives.py"
    expect_status 0
    expect_match "sums" "$output" "8 ranks met"
}

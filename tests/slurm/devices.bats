#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Each task's part of its node: GPUs however Slurm shows them, NICs, CPUs, and a node that is not
# as planned. The cache's GPUs form two hives, {0,2,5,7} and {1,3,4,6}; the first hive is near CPU 0,
# the second near CPU 1.
# shellcheck disable=SC2154,SC2030,SC2031 # bats sets status, output and stderr
load support

cluster_nodes=2
show=$BATS_TEST_DIRNAME/show_devices

setup_file() {
    export PARPLAN_CLUSTER_SPANK=$PARPLAN_BUILD/spank_parplan.so
    export PARPLAN_CLUSTER_GRES_TYPE=h100
    export ETC=$BATS_FILE_TMPDIR/etc CACHE=$BATS_FILE_TMPDIR/etc/node.cache
    mkdir -p "$ETC"
    start_cluster "$cluster_nodes"
    compile_stand_in "$BATS_FILE_TMPDIR/stand_in.so"
}

setup() {
    configure ''
    write_cache "$CACHE" two-sockets
    stack_plugins "$BATS_FILE_TMPDIR/stand_in.so" '' "config=$ETC/parplan.yaml cache=$CACHE"
    wait_until_idle
}

configure() { # more lines
    printf 'schema: parplan.config/1\n%s\n' "$1" >"$ETC/parplan.yaml"
}

stand_in() { # arguments of the plugin before ours
    stack_plugins "$BATS_FILE_TMPDIR/stand_in.so" "$1" "config=$ETC/parplan.yaml cache=$CACHE"
}

teardown() {
    release_gpus
    [[ ${BATS_TEST_COMPLETED:-} ]] || grep -h error: "$PARPLAN_CLUSTER_DIR"/log/n*.log | tail -n 5
}

expect_once() { # column value
    expect "$1" "$(column "$1" | sort -u)" "$2"
}

expect_each() { # column values
    expect "$1" "$(column "$1" | paste -sd' ')" "$2"
}

run_tasks() { # tasks plan option...
    run_srun -N1 -n"$1" --ntasks-per-node="$1" "--parplan=$2" "${@:3}" "$show"
    expect_status 0
    expect "lines" "$(wc -l <<<"$output")" "$1"
}

@test "a whole node: NICs by rail, without those that are down or carry storage" {
    run_tasks 8 tp=4,dp=2 --gres=gpu:8
    expect_once hca =mlx5_0,mlx5_4
    expect_once cuda 0,2,5,7,1,3,4,6
}

@test "the user's own NCCL_IB_HCA, OMP_NUM_THREADS and JAX values stay" {
    export NCCL_IB_HCA='^mlx5_9' OMP_NUM_THREADS=3 JAX_LOCAL_DEVICE_IDS=5 JAX_COORDINATOR_ADDRESS=h:1
    run_tasks 8 tp=4,dp=2 --gres=gpu:8
    expect_once hca '^mlx5_9'
    expect_once omp 3
    expect_once jax h:1/5
    run_tasks 8 tp=4,dp=2 --gres=gpu:8 --export=NONE
    expect_once hca =mlx5_0,mlx5_4
}

@test "one task per node: the NICs, and no CPUs of one GPU" {
    run_tasks 1 tp=4,dp=2 --gres=gpu:8
    expect_once hca =mlx5_0,mlx5_4
    expect_once near -
    expect_match "JAX's devices" "$(column jax)" '/0,1,2,3,4,5,6,7$'
}

two_cpus() {
    [[ $(nproc) -eq $(getconf _NPROCESSORS_ONLN) && $(getconf _NPROCESSORS_ONLN) -ge 2 ]] ||
        skip "needs two CPUs that the tests may use"
}

@test "a task that Slurm leaves free is bound to the CPUs near its own GPU" {
    two_cpus
    run_tasks 8 tp=4,dp=2 --gres=gpu:8
    expect_each near "0 0 0 0 1 1 1 1"
    expect_each mask "0 0 0 0 1 1 1 1"
    expect_once omp 1
}

@test "CPUs follow the GPUs of the step, renumbered or not" {
    two_cpus
    stand_in CUDA_VISIBLE_DEVICES=0,1
    run_tasks 2 tp=1,dp=2 --gres=gpu:2
    expect_each near "0 1"
    stand_in CUDA_VISIBLE_DEVICES=GPU-g,GPU-a
    run_tasks 2 tp=1,dp=2 --gres=gpu:2
    expect_once cuda GPU-a,GPU-g
    expect_each near "0 1"
}

@test "a mask or --cpu-bind of Slurm's or the user's stays, and bind_cpus: off binds nothing" {
    two_cpus
    local all
    all=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)
    run_tasks 8 tp=4,dp=2 --gres=gpu:8 --cpu-bind=none
    expect_once mask "$all"
    expect_each near "0 0 0 0 1 1 1 1"
    configure 'slurm: {bind_cpus: off}'
    run_tasks 8 tp=4,dp=2 --gres=gpu:8
    expect_once mask "$all"
    expect_once omp -
}

@test "OMP_NUM_THREADS is what --cpus-per-task asks for" {
    run_tasks 4 tp=4 --gres=gpu:4 --cpus-per-task=3
    expect_once omp 3
    expect "faults" "$(grep -c tp-degraded-node <<<"$stderr")" 0
}

@test "the framework's CUDA_DEVICE_MAX_CONNECTIONS, where the job names the framework" {
    run_tasks 8 tp=4,dp=2,framework=megatron-core --gres=gpu:8
    expect_once queues 1
    run_tasks 8 tp=4,dp=2 --gres=gpu:8
    expect_once queues -
    run_tasks 8 dp=8,framework=megatron-core --gres=gpu:8
    expect_once queues -
    CUDA_DEVICE_MAX_CONNECTIONS=8 run_tasks 8 tp=4,dp=2,framework=megatron-core --gres=gpu:8
    expect_once queues 8
}

@test "JAX's coordinator is named only where RANK is SLURM_PROCID everywhere" {
    run_srun -N2 --ntasks-per-node=8 --gres=gpu:8 --parplan=tp=8,dp=2 "$show"
    expect_status 0
    expect_match "in order" "$(column jax | sort -u | head -n 1)" '^127\.0\.1\.1:[0-9]+/0$'
    expect "one coordinator" "$(column jax | sed 's|/.*||' | sort -u | wc -l)" 1
    run_srun -N2 --ntasks-per-node=8 --gres=gpu:8 --distribution=cyclic --parplan=tp=8,dp=2 "$show"
    expect_status 0
    expect "cyclic" "$(column jax | sed 's|/.*||' | sort -u)" -
}

# Slurm gives the GPUs of one socket before those of the other: 4 to 7 are left on n01.
hold_four_gpus() {
    srun -w n01 -n1 --gres=gpu:4 sleep 60 &
    holder=$!
    wait_until_job_runs
}

release_gpus() {
    [[ ${holder:-} ]] || return 0
    kill "$holder"
    wait "$holder" || true
    holder=
}

@test "a part of the node whose numbers are the node's own" {
    hold_four_gpus
    run_tasks 4 tp=2,dp=2 --gres=gpu:4 -w n01
    expect_once step 4,5,6,7
    expect_once cuda 4,6,5,7
    expect_each near "1 1 0 0"
    release_gpus
}

@test "a part of the node that a cgroup renumbers: paired with SLURM_STEP_GPUS" {
    stand_in CUDA_VISIBLE_DEVICES=0,1,2,3
    hold_four_gpus
    run_tasks 4 tp=2,dp=2 --gres=gpu:4 -w n01
    expect_once step 4,5,6,7
    expect_once cuda 0,2,1,3
    expect_each near "1 1 0 0"
    release_gpus
}

@test "two --exact steps at once on a node: each orders its own GPUs" {
    cat >"$BATS_TEST_TMPDIR/job.sh" <<END
#!/bin/bash
srun -N1 -n4 --exact --gres=gpu:4 --parplan=tp=2,dp=2 bash -c "$show; sleep 2" >$BATS_TEST_TMPDIR/a &
srun -N1 -n4 --exact --gres=gpu:4 --parplan=tp=2,dp=2 bash -c "$show; sleep 2" >$BATS_TEST_TMPDIR/b &
wait
END
    run_client sbatch -Q -W -N1 --ntasks-per-node=8 --gres=gpu:8 -o "$BATS_TEST_TMPDIR/out" \
        "$BATS_TEST_TMPDIR/job.sh"
    cat "$BATS_TEST_TMPDIR/out"
    expect_status 0
    output=$(cat "$BATS_TEST_TMPDIR/a" "$BATS_TEST_TMPDIR/b")
    expect "lists" "$(column cuda | sort -u | paste -sd' ')" "0,2,1,3 4,6,5,7"
}

@test "devices by UUID are matched by UUID" {
    stand_in CUDA_VISIBLE_DEVICES=GPU-a,GPU-b,GPU-c,GPU-d
    run_tasks 4 tp=2,dp=2 --gres=gpu:4
    expect_once cuda GPU-a,GPU-c,GPU-b,GPU-d
}

@test "MIG instances are counted, stay in their order, and the step runs" {
    stand_in CUDA_VISIBLE_DEVICES=MIG-1,MIG-2,MIG-3,MIG-4
    run_tasks 4 tp=1,dp=4 --gres=gpu:4
    expect_once cuda MIG-1,MIG-2,MIG-3,MIG-4
    expect_once near -
    stand_in CUDA_VISIBLE_DEVICES=MIG-1,MIG-2
    run_srun -N1 --ntasks-per-node=4 --gres=gpu:4 --parplan=tp=1,dp=4 true
    expect_status 1
    expect_match "too few" "$stderr" 'the task sees 2 GPU\(s\) and the plan has 4 ranks'
}

@test "AMD's variables: ROCR is permuted, what names the same devices inside it starts at 0" {
    write_cache "$CACHE" hives
    stand_in 'CUDA_VISIBLE_DEVICES= HIP_VISIBLE_DEVICES=0,1,2,3,4,5,6,7'
    run_tasks 8 tp=4,dp=2 --gres=gpu:8
    expect_once cuda -
    expect_once rocr 0,2,3,5,1,4,6,7
    expect_once hip 0,1,2,3,4,5,6,7
}

# 22.05 gives such tasks no list, 24.11 the whole one.
@test "gpu-bind=none: every task may use every GPU" {
    run_tasks 8 tp=4,dp=2 --gres=gpu:8 --gpu-bind=none
    if since 24.11; then
        expect_once cuda 0,2,5,7,1,3,4,6
        expect_each near "0 0 0 0 1 1 1 1"
        return
    fi
    expect_once cuda -
    expect_each rank "0 1 2 3 4 5 6 7"
    expect_each near "0 1 0 1 1 0 1 0"
}

@test "gpu-bind=map_gpu and --gpus-per-task hide GPUs: refused, or LOCAL_RANK 0 where admins allow" {
    run_srun -N1 -n4 --ntasks-per-node=4 --gres=gpu:4 --gpu-bind=map_gpu:3,2,1,0 --parplan=tp=4 true
    expect_status 1
    expect "refusals" "$(grep -c 'the task sees 1 GPU' <<<"$stderr")" 1
    configure 'slurm: {hidden_gpus: allow}'
    run_tasks 4 tp=4 --gres=gpu:4 --gpu-bind=map_gpu:3,2,1,0
    expect_once local 0
    expect "each sees one" "$(column cuda | sort | paste -sd' ')" "0 1 2 3"
    expect "the CPUs of that one" "$(column cuda_near | sort | paste -sd' ')" "0:0 1:1 2:0 3:1"
    run_tasks 4 tp=4 --gpus-per-task=1
    expect_once local 0
    expect "the CPUs of that one" "$(column cuda_near | sort | paste -sd' ')" "0:0 1:1 2:0 3:1"
    expect "JAX's devices" "$(column jax | sed 's|.*/||' | sort -u)" 0
}

@test "a node that is not as planned: a warning in slurmd's log, or refused" {
    run_tasks 8 tp=4,dp=2 --gres=gpu:8 -w n02
    expect "stderr" "$(grep -c mismatch <<<"$stderr")" 0
    # of this step: the log has those of other tests too
    local id
    id=$(scontrol show job | sed -n 's/.*JobId=\([0-9]*\).*/\1/p' | sort -n | tail -n 1)
    expect "warnings" "$(grep "\[$id" "$PARPLAN_CLUSTER_DIR/log/n02.log" | grep -c 'warning: policy node-mismatch: .* 8 rails are planned and 2 here are up (mlx5_5 is down)')" 1
    configure 'policy: {on_mismatch: deny}'
    run_srun -N1 -n8 --gres=gpu:8 --parplan=tp=4,dp=2 true
    expect_status 1
    expect "refusals" "$(grep -c 'error: parplan: policy node-mismatch: ' <<<"$stderr")" 1
    configure 'policy: {on_mismatch: deny, partitions: {gpu: {on_mismatch: warn}}}'
    run_tasks 8 tp=4,dp=2 --gres=gpu:8
    write_cache "$CACHE" hives
    configure 'policy: {on_mismatch: deny}'
    run_srun -N1 -n8 --gres=gpu:8 --parplan=tp=4,dp=2 true
    expect_status 1
    expect_match "model" "$stderr" 'h100-sxm is planned and GPU 0 here is mi210'
}

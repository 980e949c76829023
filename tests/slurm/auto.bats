#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# What `--parplan=auto` reads of the launched command: its configuration files, and the counts of
# torchrun and accelerate. Found and reported, a conflict refused, what cannot be read noticed.
# shellcheck disable=SC2154,SC2030,SC2031 # bats sets status, output and stderr
load support

cluster_nodes=2

setup_file() {
    export PARPLAN_CLUSTER_SPANK=$PARPLAN_BUILD/spank_parplan.so
    export PARPLAN_CLUSTER_GRES_TYPE=h100
    mkdir -p "$BATS_FILE_TMPDIR/etc"
    printf 'schema: parplan.config/1\n' >"$BATS_FILE_TMPDIR/etc/parplan.yaml"
    export PARPLAN_CLUSTER_SPANK_ARGS=config=$BATS_FILE_TMPDIR/etc/parplan.yaml
    start_cluster "$cluster_nodes"
}

setup() {
    wait_until_idle
    cd "$BATS_TEST_TMPDIR" || return 1
    # What stands in for the frameworks: their arguments matter, and the sizes that they see.
    for program in torchrun accelerate train.py; do
        cat >"$program" <<'END'
#!/bin/bash
echo "TP=$PARPLAN_TP_SIZE PP=$PARPLAN_PP_SIZE DP=$PARPLAN_DP_SIZE"
END
        chmod +x "$program"
    done
}

# started ARGUMENTS…: srun of 2 nodes with 8 GPUs, one task each.
started() {
    client_seconds=20 run_srun -N2 --ntasks-per-node=1 --gres=gpu:8 "$@"
}

# found NOTICE SIZES: the last step ran with these sizes and said what it found.
found() {
    expect_status 0
    expect_match "notice" "$stderr" "found in the command: .*$1"
    expect "sizes" "$(sort -u <<<"$output")" "$2"
}

# refused MESSAGE: the last step did not start.
refused() {
    expect_match "exit status" "$status" '^(1|2|255)$'
    expect_match "message" "$stderr" "parplan: .*$1"
    expect "lines of ours" "$(grep -c 'parplan: ' <<<"$stderr")" 1
    expect "output" "$output" ""
}

# all_ways FILE PLACE ARGUMENTS…: FILE says tp=4; found, refused against tp=8, noticed when gone.
all_ways() {
    local file=$1 place=$2
    shift 2
    started --parplan=auto "$@"
    found "tp=4 \($place\)" "TP=4 PP=1 DP=4"
    started --parplan=tp=8 "$@"
    refused "$place: tp: 4, but --parplan says 8; keep one of them"
    rm "$file"
    started --parplan=tp=8 "$@"
    found "not read: $file: No such file" "TP=8 PP=1 DP=2"
}

@test "torchtitan's TOML" {
    cat >titan.toml <<'END'
[training]
seq_len = 8192
[parallelism]
tensor_parallel_degree = 4 # of 16
data_parallel_shard_degree = -1
END
    all_ways titan.toml titan.toml:4 ./torchrun -m torchtitan.train --job.config_file titan.toml
}

@test "torchtitan: a flag beats the file" {
    printf 'parallelism.tensor_parallel_degree = 4\n' >titan.toml
    started --parplan=tp=8 ./torchrun train.py --job.config-file=titan.toml \
        --parallelism.tensor_parallel_degree 8
    found "tp=8 \(--parallelism.tensor_parallel_degree\)" "TP=8 PP=1 DP=2"
}

@test "DeepSpeed's JSON" {
    cat >ds.json <<'END'
{
  "train_micro_batch_size_per_gpu": "auto",
  "zero_optimization": {"stage": 2},
  "tensor_parallel": {"autotp_size": 4}
}
END
    all_ways ds.json ds.json:4 ./train.py --deepspeed ds.json
}

@test "DeepSpeed: the ZeRO stage" {
    printf '{"zero_optimization":\n {"stage": 3}}' >ds.json
    started --parplan=tp=8,sharding=zero1 ./train.py --deepspeed_config ds.json
    refused "ds.json:2: sharding: zero3, but --parplan says zero1"
}

@test "DeepSpeed without TP: no TP is chosen" {
    printf '{"zero_optimization": {"stage": 2}}' >ds.json
    started --parplan=auto,model=llama3-70b,global_batch=64 ./train.py --deepspeed ds.json
    refused "nothing fits: the nearest, tp=1,pp=1,"
    started --parplan=auto,model=llama3-8b,global_batch=64 ./train.py --deepspeed ds.json
    found "tp=1 \(ds.json names no other\)" "TP=1 PP=1 DP=16"
}

@test "NeMo's and Megatron-Bridge's YAML" {
    mkdir -p conf
    printf 'trainer:\n  num_nodes: 2\nmodel:\n  tensor_model_parallel_size: 4\n' >conf/gpt.yaml
    all_ways ./conf/gpt.yaml ./conf/gpt.yaml:4 ./train.py --config-path=conf --config-name=gpt
    printf 'model:\n  tensor_model_parallel_size: 4\n' >bridge.yaml
    all_ways bridge.yaml bridge.yaml:2 ./torchrun train.py --config-file bridge.yaml
}

@test "accelerate's YAML, and the DeepSpeed JSON that it names" {
    printf 'num_processes: 8\nmegatron_lm_config:\n  megatron_lm_tp_degree: 4\n' >acc.yaml
    all_ways acc.yaml acc.yaml:3 ./accelerate launch --config_file acc.yaml train.py
    printf 'deepspeed_config:\n  deepspeed_config_file: ds.json\n' >acc.yaml
    printf '{"tensor_parallel": {"autotp_size": 4}}\n' >ds.json
    started --parplan=auto ./accelerate launch --config_file acc.yaml train.py
    found "tp=4 \(ds.json:1\)" "TP=4 PP=1 DP=4"
}

@test "counts that are not the step's" {
    started --parplan=tp=8 ./torchrun --nnodes=2 --nproc-per-node=4 train.py
    refused "--nproc-per-node: processes_per_task: 4, but the step has 8"
    started --parplan=tp=8 ./torchrun --nnodes=4 train.py
    refused "--nnodes: nodes: 4, but the step has 2"
    started --parplan=tp=8 ./torchrun --nnodes=2 --nproc_per_node=8 train.py
    expect_status 0
    printf 'num_machines: 2\nnum_processes: 16\n' >acc.yaml
    started --parplan=tp=8 ./accelerate launch --config_file acc.yaml train.py
    refused "acc.yaml:2: processes_per_task: 16, but the step has 8"
    printf 'num_machines: 2\n' >acc.yaml
    started --parplan=tp=8 ./accelerate launch --config_file acc.yaml train.py
    refused "acc.yaml:1: would beat what parplan sets on each node; use torchrun"
    printf 'num_machines: 1\nnum_processes: 8\n' >acc.yaml
    started --parplan=tp=8 ./accelerate launch --config_file acc.yaml train.py
    expect_status 0
}

@test "a launcher that numbers the nodes by itself" {
    local flag
    for flag in --standalone --node_rank=0 --master_addr=n01 --rdzv_endpoint=n02:29500; do
        started --parplan=tp=8 ./torchrun "$flag" train.py
        flag=${flag//_/-}
        refused "${flag%%=*}: would beat what parplan sets on each node; leave it out"
    done
    started --parplan=tp=8 ./torchrun --rdzv_backend=static train.py
    expect_status 0
    started --parplan=tp=8 ./torchrun --rdzv_backend=c10d --rdzv_endpoint=n01:29500 train.py
    expect_status 0 # two nodes in the order of their names, as torchrun numbers them
    run_srun -N2 --ntasks-per-node=8 --gres=gpu:8 --parplan=tp=8 ./torchrun train.py
    refused "torchrun: starts all ranks of a node; use --ntasks-per-node=1"
    started --parplan=tp=8 ./accelerate launch --machine_rank 0 train.py
    refused "--machine_rank: would beat what parplan sets on each node; use torchrun"
}

@test "torchrun on nodes of one GPU" {
    # shellcheck disable=SC2016 # the task's
    run_srun -N2 --ntasks-per-node=1 --gres=gpu:1 --parplan=dp=2 \
        bash -c 'echo $RANK $PET_NODE_RANK $PET_NNODES $PET_NPROC_PER_NODE'
    expect_status 0
    expect "ranks" "$(sort <<<"$output" | tr '\n' ,)" "0 0 2 1,1 1 2 1,"
}

@test "files that are no files, not whole, too large" {
    mkdir dir.json
    started --parplan=tp=8 ./train.py --deepspeed dir.json
    found "not read: dir.json" "TP=8 PP=1 DP=2"
    mkfifo pipe.yaml
    started --parplan=tp=8 ./train.py --config-file pipe.yaml
    found "not read: pipe.yaml" "TP=8 PP=1 DP=2"
    printf '{"a": [' >half.json
    started --parplan=tp=8 ./train.py --deepspeed half.json
    found "not read: half.json:[12]: " "TP=8 PP=1 DP=2"
    head -c 2000000 /dev/zero | tr '\0' '#' >large.toml
    started --parplan=tp=8 ./torchrun train.py --job.config_file large.toml
    found "not read: large.toml" "TP=8 PP=1 DP=2"
}

@test "a step without --parplan: no file is looked at" {
    printf 'parallelism.tensor_parallel_degree = 4\n' >titan.toml
    started ./torchrun train.py --job.config_file titan.toml
    expect_status 0
    expect "stderr" "$stderr" ""
}

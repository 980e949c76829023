#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Real distributed programs in every shape that a launch can have: RANKs 0 to N-1 once each, on the
# nodes that `parplan map` names, and collectives over every group that sum right.
# shellcheck disable=SC2154,SC2030,SC2031 # bats sets status, output and stderr
load support

show=$BATS_TEST_DIRNAME/show_rank
python=/usr/bin/python3
torch="$python $BATS_TEST_DIRNAME/torch_collectives.py"
# shellcheck disable=SC2034 # support.bash reads it
client_seconds=120

setup_file() {
    export PARPLAN_CLUSTER_SPANK=$PARPLAN_BUILD/spank_parplan.so
    export PARPLAN_CLUSTER_GRES_TYPE=h100
    export PARPLAN_CLUSTER_TOPOLOGY=$BATS_TEST_DIRNAME/data/interleaved-topology.conf
    export PARPLAN_CLUSTER_CONF=$'JobRequeue=1\nSchedulerParameters=bf_interval=1'
    export config=$BATS_FILE_TMPDIR/etc/parplan.yaml
    mkdir -p "${config%/*}"
    export PARPLAN_CLUSTER_SPANK_ARGS=config=$config
    start_cluster 10
}

setup() {
    printf 'schema: parplan.config/1\n' >"$config"
    wait_until_idle
}

# Ranks of one node, and what stands for such a node in `parplan map`: the GPUs that are used.
kind_of() {
    case $1 in
    4) echo gh200-quad ;;
    8) echo dgx-h100 ;;
    esac
}

# expect_map TEXT NODES PER_NODE ARGUMENT...: show_rank's lines in TEXT are what `parplan map`
# prints for these nodes: RANK, node, LOCAL_RANK, tp, cp, pp, dp; RANK 0's node is the master; all
# see the same world. $local: what LOCAL_RANK must be everywhere ("": the map's).
expect_map() {
    local text=$1 nodes=$2 per_node=$3 got wanted lines
    lines=$(grep -E '^[0-9-]+ n[0-9]+ ' <<<"$text")
    got=$(awk '{ print $1, $2, $3, $5, $6, $7, $8 }' <<<"$lines" | sort -n)
    wanted=$(parplan map "${@:4}" --node "$(kind_of "$per_node")" --fabric "$PARPLAN_CLUSTER_TOPOLOGY" \
        --nodes "$nodes" --format json | "$python" -c 'import json, sys
for r in json.load(sys.stdin)["ranks"]:
    print(r["rank"], r["node"], sys.argv[1] or r["local_rank"], r["tp"], r["cp"], r["pp"], r["dp"])' "${local:-}")
    expect "RANK, node, LOCAL_RANK, tp, cp, pp, dp" "$got" "$wanted"
    expect "world sizes" "$(awk '{ print $11 }' <<<"$lines" | sort -u)" "$(wc -l <<<"$lines")"
    expect "masters" "$(awk '{ print $10 }' <<<"$lines" | sort -u | wc -l)" 1
    expect "master" "$(awk '{ sub(/:.*/, "", $10); print $10; exit }' <<<"$lines")" \
        "$(address_of "$(awk '$1 == 0 { print $2 }' <<<"$lines")")"
}

address_of() {
    scontrol -o show node "$1" | sed -n 's/.* NodeAddr=\([^ ]*\).*/\1/p'
}

# expect_torch TEXT WORLD GROUPS: rank 0's one line
expect_torch() {
    expect_match "sums" "$1" "torch: $2 ranks met at [0-9.]+:[0-9]+, $3( groups right)?"
}

# batch_job OPTION... -- LINE...: a batch script of these lines, waited for; output is what it wrote
batch_job() {
    local options=()
    while [[ $1 != -- ]]; do
        options+=("$1")
        shift
    done
    shift
    printf '%s\n' '#!/bin/bash' "cd $BATS_TEST_TMPDIR" "$@" >"$BATS_TEST_TMPDIR/job.sh"
    run_client sbatch -Q -W --gres=gpu:8 -o "$BATS_TEST_TMPDIR/job.out" \
        --open-mode=append "${options[@]}" "$BATS_TEST_TMPDIR/job.sh"
    output=$(<"$BATS_TEST_TMPDIR/job.out")
    echo "$output"
}

file() {
    cat "$BATS_TEST_TMPDIR/$1"
}

@test "sbatch: steps one after the other, the option inherited or their own, a helper between" {
    needs_torch
    batch_job -w "n[01-02]" -N2 --ntasks-per-node=4 --parplan=tp=2,pp=2,dp=2 -- \
        "srun $show >first" "srun $torch >second" "srun -N1 -n1 --gres=gpu:1 $show >helper 2>&1" \
        "srun --parplan=tp=4,dp=2 $show >third" "srun --parplan=off $show >fourth"
    expect_status 0
    expect_map "$(file first)" "n[01-02]" 4 --plan tp=2,pp=2,dp=2
    expect_torch "$(file second)" 8 "TP 4x2 groups right, PP 4x2 groups right, DP 4x2"
    expect_match "helper" "$(file helper)" $'runs without a plan.*\n- n01 '
    expect_map "$(file third)" "n[01-02]" 4 --plan tp=4,dp=2
    expect "ranks where it is off" "$(grep -c '^- ' <"$BATS_TEST_TMPDIR/fourth")" 8
}

@test "sbatch: concurrent steps on nodes of their own, and --exact ones side by side on the same" {
    needs_torch
    batch_job -w "n[01-04]" -N4 --ntasks-per-node=8 -- \
        "srun -N2 -n8 --ntasks-per-node=4 --exact --gres=gpu:8 -w 'n[01-02]' --parplan=tp=4,pp=2 $torch >a &" \
        "srun -N2 -n8 --ntasks-per-node=4 --exact --gres=gpu:8 -w 'n[03-04]' --parplan=tp=2,pp=2,dp=2 $show >b &" \
        wait \
        "srun -N2 -n8 --ntasks-per-node=4 --exact --gres=gpu:4 -w 'n[01-02]' --parplan=tp=4,dp=2 bash -c '$show; sleep 1' >c &" \
        "srun -N2 -n8 --ntasks-per-node=4 --exact --gres=gpu:4 -w 'n[01-02]' --parplan=tp=2,dp=4 bash -c '$show; sleep 1' >d &" \
        wait
    expect_status 0
    expect_torch "$(file a)" 8 "TP 2x4 groups right, PP 4x2"
    expect_map "$(file b)" "n[03-04]" 4 --plan tp=2,pp=2,dp=2
    expect_map "$(file c)" "n[01-02]" 4 --plan tp=4,dp=2
    expect_map "$(file d)" "n[01-02]" 4 --plan tp=2,dp=4
    expect "ports" "$(cat "$BATS_TEST_TMPDIR"/[bcd] | awk '{ sub(/.*:/, "", $10); print $10 }' | sort -u | wc -l)" 3
}

@test "--overlap: two programs on the same nodes and GPUs meet apart" {
    needs_torch
    batch_job -w "n[05-06]" -N2 --ntasks-per-node=2 -- \
        "srun --overlap --parplan=tp=2,dp=2 $torch >a &" "srun --overlap --parplan=tp=2,pp=2 $torch >b &" wait
    expect_status 0
    expect_torch "$(file a)" 4 "TP 2x2 groups right, DP 2x2"
    expect_torch "$(file b)" 4 "TP 2x2 groups right, PP 2x2"
}

@test "a job array: each task its own plan, at the same time" {
    # shellcheck disable=SC2016 # the batch script's
    batch_job --array=1-2 -N2 --ntasks-per-node=4 --parplan=tp=4,pp=2 -- \
        'echo "$SLURM_JOB_NODELIST" >nodes.$SLURM_ARRAY_TASK_ID' \
        "srun $show >ranks.\$SLURM_ARRAY_TASK_ID"
    expect_status 0
    local task
    for task in 1 2; do
        expect_map "$(file "ranks.$task")" "$(file "nodes.$task")" 4 --plan tp=4,pp=2
    done
}

job_is() {
    [[ $(squeue -h -j "$1" -t PD,R,CG -o %T 2>/dev/null) == "$2" ]]
}

@test "the plan's lock: requeued on other nodes, and started on fewer; DP follows" {
    local lock=$BATS_TEST_TMPDIR/parplan.lock.yaml job
    cd "$BATS_TEST_TMPDIR"
    parplan plan --model llama3-8b --cluster dgx-h100:4 --plan tp=4,pp=2 --set global_batch=96 \
        --lock "$lock" >/dev/null
    cat >job.sh <<END
#!/bin/bash
srun --parplan=$lock $show >run.\${SLURM_RESTART_COUNT:-0}
[[ \${SLURM_RESTART_COUNT:-0} != 0 ]] || { touch first; exec sleep 60; }
END
    job=$(sbatch --parsable --requeue -N4 --exclude='n[05-10]' --ntasks-per-node=8 --gres=gpu:8 -o out job.sh)
    wait_until "first run" test -e first
    scontrol requeue "$job"
    wait_until "requeued job" job_is "$job" PENDING
    sleep 1.5 # slurmd tells the job from the one that it has just ended by the second of its start
    scontrol update JobId="$job" ExcNodeList='n[01,06-10]' StartTime=now
    wait_until "second run" job_is "$job" ""
    cat out
    expect_map "$(file run.0)" "n[01-04]" 8 --job "$lock"
    expect_map "$(file run.1)" "n[02-05]" 8 --job "$lock"
    run_srun -w "n[01-03]" -N3 --ntasks-per-node=8 --gres=gpu:8 --parplan="$lock" "$show"
    expect_map "$output" "n[01-03]" 8 --job "$lock"
    expect "ranks of DP" "$(awk '{ print $8 }' <<<"$output" | sort -u | wc -l)" 3
}

@test "one task per node: torchrun's agents and workers" {
    needs_torch
    run_srun -w "n[01-02]" -N2 --ntasks-per-node=1 --gres=gpu:4 --parplan=tp=2,pp=2,dp=2 \
        "$python" "$BATS_TEST_DIRNAME/torchrun_static.py" "$BATS_TEST_DIRNAME/torch_collectives.py"
    expect_status 0
    expect_torch "$output" 8 "TP 4x2 groups right, PP 4x2 groups right, DP 4x2"
    # shellcheck disable=SC2016 # the task's
    run_srun -w "n[01,03-04]" -N3 --ntasks-per-node=1 --gres=gpu:8 --parplan=tp=8,pp=3 bash -c \
        'echo $PET_NODE_RANK $SLURMD_NODENAME $PET_NNODES $PET_NPROC_PER_NODE $PET_RDZV_BACKEND ${RANK:--}'
    expect_status 0
    expect "agents" "$(sort -n <<<"$output")" \
        "$(parplan map --plan tp=8,pp=3 --node dgx-h100 --fabric "$PARPLAN_CLUSTER_TOPOLOGY" --nodes 'n[01,03-04]' --format json |
            jq -r '.ranks[] | select(.local_rank == 0) | "\(.rank / 8) \(.node) 3 8 static -"')"
}

@test "GPUs of each task alone: refused, or allowed with LOCAL_RANK 0" {
    run_srun -w "n[01-02]" -N2 --ntasks-per-node=4 --gpus-per-task=1 --parplan=tp=4,dp=2 "$show"
    expect_status 1
    expect "refusals" "$(grep -c 'error: parplan: .*gpu-bind=none' <<<"$stderr")" 2
    wait_until_idle
    printf 'schema: parplan.config/1\nslurm: {hidden_gpus: allow}\n' >"$config"
    local options
    for options in --gpus-per-task=1 "--gres=gpu:4 --gpu-bind=single:1" "--gres=gpu:4 --gpu-bind=map_gpu:3,2,1,0"; do
        # shellcheck disable=SC2086 # two words
        run_srun -w "n[01-02]" -N2 --ntasks-per-node=4 $options --parplan=tp=4,dp=2 "$show"
        expect_status 0
        local=0 expect_map "$output" "n[01-02]" 4 --plan tp=4,dp=2
        expect "GPUs" "$(awk '{ print $2, $4 }' <<<"$output" | sort -u | wc -l)" 8
        wait_until_idle
    done
}

@test "--gpu-bind that leaves the GPUs in sight" {
    local bind
    for bind in none closest; do
        run_srun -w "n[01-02]" -N2 --ntasks-per-node=8 --gres=gpu:8 --gpu-bind=$bind --parplan=tp=8,pp=2 "$show"
        expect_status 0
        expect_map "$output" "n[01-02]" 8 --plan tp=8,pp=2
        wait_until_idle
    done
}

@test "parts of nodes, beside a job that has the other part" {
    srun -N2 -w "n[01-02]" --ntasks-per-node=1 --gres=gpu:4 sleep 60 &
    local holder=$!
    wait_until_job_runs
    run_srun -w "n[01-02]" -N2 --ntasks-per-node=4 --gres=gpu:4 --parplan=tp=4,dp=2 "$show"
    kill "$holder"
    wait "$holder" || true
    expect_status 0
    expect_map "$output" "n[01-02]" 4 --plan tp=4,dp=2
    expect "GPUs" "$(awk '{ print $4 }' <<<"$output" | sort -u | xargs)" "4 5 6 7"
}

@test "layouts that are refused: uneven ones, --gpus over nodes, heterogeneous jobs" {
    run_srun -w "n[01-02]" -N2 -n5 --gres=gpu:8 --parplan=tp=1 "$show"
    expect_match "uneven" "$status $stderr" '^1 .*tasks are uneven'
    run_srun -w "n[01-02]" -N2 --ntasks-per-node=4 --gpus=8 --parplan=tp=4 "$show"
    # 24.11 by itself has no room for 4 tasks beside one GPU
    expect_match "--gpus" "$status $stderr" '^1 .*(has [0-9]+ GPUs? for 4 tasks|configuration is not available)'
    run_srun -N1 -n4 --gres=gpu:8 --parplan=tp=4 "$show" : -N1 -n4 --gres=gpu:8 "$show"
    expect_match "heterogeneous" "$status $stderr" '^1 .*heterogeneous jobs'
    run_client salloc -Q -w "n[01-02]" -N2 --ntasks-per-node=4 --gres=gpu:8 --parplan=tp=16,dp=1 srun "$show"
    expect_match "inherited, the whole job" "$status $stderr" '^1 .*policy tp-within-node'
    expect "tasks that ran" "$output" ""
}

@test "--multi-prog: one plan over several programs" {
    needs_torch
    printf '%s\n' "0-3 $torch" "4-7 $torch" >"$BATS_TEST_TMPDIR/programs"
    run_srun -w "n[01-02]" -N2 --ntasks-per-node=4 --gres=gpu:8 --parplan=tp=2,pp=2,dp=2 \
        --multi-prog "$BATS_TEST_TMPDIR/programs"
    expect_status 0
    expect_torch "$output" 8 "TP 4x2 groups right, PP 4x2 groups right, DP 4x2"
}

@test "8 ranks under the other order, distributed cyclicly" {
    needs_torch
    # shellcheck disable=SC2086 # two words
    run_srun -w "n[03,05,02,04]" -N4 --ntasks-per-node=2 -m cyclic --gres=gpu:8 \
        --parplan=tp=2,pp=2,dp=2,order=tp-cp-ep-pp-dp $torch
    expect_status 0
    expect_torch "$output" 8 "TP 4x2 groups right, PP 4x2 groups right, DP 4x2"
}

# The last: n04 is gone afterwards.
@test "--no-kill: a node fails, and the next step is planned for those that are left" {
    cat >"$BATS_TEST_TMPDIR/inside" <<END
#!/bin/bash
srun --parplan=tp=4,pp=4 $show
kill -KILL $(daemon_pid n04)
scontrol update nodename=n04 state=down reason=test
echo =
exec srun -N3 -n12 --ntasks-per-node=4 --parplan=tp=4,pp=3 $show
END
    chmod +x "$BATS_TEST_TMPDIR/inside"
    run_client salloc -Q --no-kill -w "n[01-04]" -N4 --ntasks-per-node=4 --gres=gpu:8 "$BATS_TEST_TMPDIR/inside"
    expect_status 0
    expect_map "${output%%=*}" "n[01-04]" 4 --plan tp=4,pp=4
    expect_map "${output##*=}" "n[01-03]" 4 --plan tp=4,pp=3
}

#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# What the plugin refuses: one line of ours with the remedy, srun exits non-zero before
# anything is launched, no node is drained, nothing hangs.
# shellcheck disable=SC2154,SC2030,SC2031 # bats sets status, output and stderr
load support

cluster_nodes=4
show=$BATS_TEST_DIRNAME/show_rank

setup_file() {
    export PARPLAN_CLUSTER_SPANK=$PARPLAN_BUILD/spank_parplan.so
    export PARPLAN_CLUSTER_GRES_TYPE=h100
    export config_dir=$BATS_FILE_TMPDIR/etc
    mkdir -p "$config_dir"
    export PARPLAN_CLUSTER_SPANK_ARGS=config=$config_dir/parplan.yaml
    start_cluster "$cluster_nodes"
}

setup() {
    rm -rf "${config_dir:?}"/*
    printf 'schema: parplan.config/1\n' >"$config_dir/parplan.yaml"
    wait_until_idle
    launched=$BATS_TEST_TMPDIR/launched
}

teardown() {
    expect "nodes that are not idle" "$(timeout 10 sinfo -ho '%N %T %E' -N | grep -v -e idle -e completing -e planned)" ""
}

# refused TEXT ARGUMENTS…: srun on 2 nodes of 8 tasks is refused, says TEXT, launches nothing.
refused() {
    local text=$1
    shift
    client_seconds=20 run_srun -N2 --ntasks-per-node=8 --gres=gpu:8 "$@" touch "$launched"
    expect_match "exit status" "$status" '^(1|2|255)$'
    expect_match "message" "$stderr" "$text"
    expect "lines of ours" "$(grep -c 'parplan: ' <<<"$stderr")" 1
    [[ ! -e $launched ]] || {
        echo "something was launched"
        return 1
    }
}

@test "unknown key, unknown degree word" {
    refused 'unknown key "tpp".*tp' --parplan=tpp=8
    refused 'model' --parplan=auto,model=llama9-8b
}

@test "capitals, and the option twice" {
    refused 'unknown key "TP"; did you mean tp' --parplan=TP=8
    refused 'off stands alone' --parplan=off,tp=8
    refused 'tp=8 and --parplan=tp=4; give one of them' --parplan=tp=8 --parplan=tp=4
    run_srun -N2 --ntasks-per-node=8 --gres=gpu:8 --parplan=tp=8 --parplan=tp=8 true
    expect_status 0
    # Over the allocation's option, one of srun's own counts.
    run_client salloc -Q -N2 --ntasks-per-node=8 --gres=gpu:8 --parplan=tp=8 srun --parplan=tp=4 true
    expect_status 0
    expect_match "plan" "$stderr" 'tp=4,pp=1,dp=4'
}

@test "numbers that are none" {
    refused 'tp: 0 is not' --parplan=tp=0
    refused 'tp: -8 is not' --parplan=tp=-8
    refused 'tp: 8x is not' --parplan=tp=8x
    refused 'tp: 99999999999999999999 is not' --parplan=tp=99999999999999999999
}

@test "a product that is not N, and one that overflows" {
    refused 'tp=8,pp=4,dp=2.*64.*16' --parplan=tp=8,pp=4,dp=2
    refused 'parplan: ' --parplan=tp=65536,pp=65536,dp=65536
}

@test "an option of 10 KB" {
    refused 'longer than 4096 bytes' "--parplan=model=$(printf 'x%.0s' {1..10000})"
}

@test "uneven tasks" {
    client_seconds=20 run_srun -N2 -n3 --parplan=tp=1 touch "$launched"
    expect_match "exit status" "$status" '^1$'
    expect_match "message" "$stderr" 'tasks are uneven: n01 has 2 tasks, n02 has 1.*--ntasks-per-node'
    [[ ! -e $launched ]]
}

@test "policy: tp over the node, in the words of parplan check" {
    refused 'policy tp-within-node: tp=16' --parplan=tp=16
    local words=${stderr#*parplan: }
    words=${words%%$'\n'*}
    run_client parplan check --model llama3-70b --plan tp=16,dp=1 --cluster dgx-h100:2
    expect_status 4
    expect "the words" "${stderr#parplan: }" "$words"
}

@test "policy: the admins' max_tp, and a partition's own" {
    cat >"$config_dir/parplan.yaml" <<EOF
schema: parplan.config/1
policy:
  max_tp: 4
  partitions: {other: {max_tp: 8}}
EOF
    refused 'max-tp: tp=8' --parplan=tp=8
}

@test "the admins' file: missing, unreadable YAML, unknown key, writable by others" {
    rm "$config_dir/parplan.yaml"
    refused "$config_dir/parplan.yaml" --parplan=tp=8
    printf 'schema: parplan.config/1\npolicy: [\n' >"$config_dir/parplan.yaml"
    refused "parplan.yaml:[23]" --parplan=tp=8
    printf 'schema: parplan.config/1\npolcy: {}\n' >"$config_dir/parplan.yaml"
    refused "parplan.yaml:2.*polcy.*policy" --parplan=tp=8
    printf 'schema: parplan.config/1\n' >"$config_dir/parplan.yaml"
    chmod 666 "$config_dir/parplan.yaml"
    refused "writable by" --parplan=tp=8
}

@test "a broken admins' file does not touch steps that do not ask for parplan" {
    printf 'nonsense' >"$config_dir/parplan.yaml"
    run_srun -N2 --ntasks-per-node=2 true
    expect_status 0
    expect "stderr" "$stderr" ""
}

@test "a job file: missing, not whole, unknown key with its line" {
    refused "$BATS_TEST_TMPDIR/none.yaml" "--parplan=$BATS_TEST_TMPDIR/none.yaml"
    printf 'schema: parplan.job/1\ntp: [8\n' >"$BATS_TEST_TMPDIR/job.yaml"
    refused "job.yaml:[23]" "--parplan=$BATS_TEST_TMPDIR/job.yaml"
    printf 'schema: parplan.job/1\ntp: 8\nppp: 2\n' >"$BATS_TEST_TMPDIR/job.yaml"
    refused "job.yaml:3.*ppp" "--parplan=$BATS_TEST_TMPDIR/job.yaml"
}

@test "nothing fits: what is needed, what there is, the remedy" {
    refused 'nothing fits.*GiB' --parplan=auto,model=llama3-405b
}

@test "the option against the command's own flags" {
    client_seconds=20 run_srun -N2 --ntasks-per-node=8 --gres=gpu:8 --parplan=tp=8 "$show" \
        --tensor-model-parallel-size 4
    expect_match "exit status" "$status" '^1$'
    expect_match "message" "$stderr" 'tp.*8.*4|tp.*4.*8'
}

@test "a heterogeneous job" {
    client_seconds=30 run_client srun -N1 -n8 --gres=gpu:8 --parplan=tp=8 touch "$launched" : \
        -N1 -n8 --gres=gpu:8 touch "$launched"
    expect_match "exit status" "$status" '^1$'
    expect_match "message" "$stderr" 'heterogeneous'
    [[ ! -e $launched ]]
}

@test "sbatch refuses a bad option before it queues" {
    client_seconds=20 run_client sbatch --parplan=tp=0 --wrap true
    expect_match "exit status" "$status" '^(1|255)$'
    expect_match "message" "$stderr" 'tp: 0 is not'
    expect "queued" "$(squeue -h)" ""
}

@test "inside an allocation a refused step gives its nodes back: the next one runs" {
    client_seconds=30 run_client salloc -Q -N2 --ntasks-per-node=8 --gres=gpu:8 bash -c \
        "srun --parplan=tp=16 touch $launched; echo first \$?; srun --ntasks-per-node=1 echo second"
    expect_status 0
    expect "both" "$(sort -u <<<"$output" | tr '\n' ' ')" "first 1 second "
    expect_match "message" "$stderr" 'policy tp-within-node: tp=16'
    expect "lines of ours" "$(grep -c 'parplan: ' <<<"$stderr")" 1
    [[ ! -e $launched ]]
}

@test "an option of sbatch that the whole job cannot have fails the job" {
    client_seconds=40 run_client sbatch -Q -W -N2 --ntasks-per-node=8 --gres=gpu:8 \
        --parplan=tp=8,pp=9 -o "$BATS_TEST_TMPDIR/out" --wrap "srun touch $launched"
    expect "exit status" "$status" 1
    expect_match "message" "$(<"$BATS_TEST_TMPDIR/out")" 'tp=8,pp=9.*16'
    [[ ! -e $launched ]]
}

@test "GPUs uneven over the nodes, or fewer than tasks" {
    client_seconds=20 run_srun -N2 --ntasks-per-node=4 --gpus=8 --parplan=auto touch "$launched"
    expect_match "exit status" "$status" '^1$'
    expect_match "message" "$stderr" 'has [0-9]+ GPUs? for 4 tasks.*--gpus-per-node=4'
    client_seconds=20 run_srun -N2 --ntasks-per-node=8 --gres=gpu:4 --parplan=tp=8 touch "$launched"
    expect_match "message" "$stderr" 'has 4 GPUs for 8 tasks'
    [[ ! -e $launched ]]
}

@test "GPUs hidden from each other: refused with the remedy, unless the admins allow it" {
    client_seconds=20 run_srun -N2 --ntasks-per-node=8 --gpus-per-task=1 --parplan=tp=8 "$show"
    expect_match "exit status" "$status" '^1$'
    expect_match "message" "$stderr" 'gpu-bind=none'
    printf 'schema: parplan.config/1\nslurm: {hidden_gpus: allow}\n' >"$config_dir/parplan.yaml"
    client_seconds=20 run_srun -N2 --ntasks-per-node=8 --gpus-per-task=1 --parplan=tp=8 "$show"
    expect_status 0
    expect "ranks" "$(awk '{ print $1 }' <<<"$output" | sort -n | tr '\n' ' ')" "$(seq 0 15 | tr '\n' ' ')"
}

@test "a report that cannot be written: refused before anything is allocated" {
    refused 'No such file' --parplan=tp=8 --parplan-report=/nonexistent/report.txt
    mkfifo "$BATS_TEST_TMPDIR/pipe"
    refused 'a pipe that nobody reads' --parplan=tp=8 "--parplan-report=$BATS_TEST_TMPDIR/pipe"
    refused 'use --parplan too' "--parplan-report=$BATS_TEST_TMPDIR/report.txt"
}

@test "switched off under an inherited option: how to go on" {
    printf 'schema: parplan.config/1\nenabled: false\n' >"$config_dir/parplan.yaml"
    export SLURM_SPANK__SLURM_SPANK_OPTION_parplan_parplan=tp=8
    refused 'switched off.*or with --parplan=off where the job has it'
    run_srun -N2 --parplan=off true
    expect_status 0
}

@test "the report says what tasks get, and a step without GPUs is warned of" {
    # shellcheck disable=SC2016
    run_srun -N2 --ntasks-per-node=8 --gres=gpu:8 --parplan=tp=8 --parplan-report=- \
        bash -c 'echo "MASTER_ADDR $MASTER_ADDR"'
    expect_status 0
    expect_match "report" "$stderr" "; $(sort -u <<<"$output")"
    [[ ! -e - ]]
    run_srun -N2 --ntasks-per-node=4 --parplan=tp=4 true
    expect_status 0
    expect_match "warning" "$stderr" 'warning: the step asks for no GPUs; use --gres=gpu:8'
    refused 'tp=2 needs 2 GPUs in one node, a node of this step has 1' \
        --ntasks-per-node=1 --gres=gpu:1 --parplan=tp=2
}

@test "a value that stands apart from --parplan" {
    client_seconds=20 run_srun -N2 --ntasks-per-node=8 --parplan tp=4 touch "$launched"
    expect_match "exit status" "$status" '^1$'
    expect_match "message" "$stderr" 'write --parplan=tp=4'
}

@test "the admins' default never stops a command that did not ask" {
    local default
    for default in auto model=llama3-405b tp=3; do
        printf 'schema: parplan.config/1\ncluster: slurm\ndefaults: {parplan: "%s"}\n' "$default" \
            >"$config_dir/parplan.yaml"
        run_srun -N2 --ntasks-per-node=4 --gres=gpu:2 echo ran
        expect_status 0
        expect "tasks" "$(grep -c ran <<<"$output")" 8
    done
    printf 'schema: parplan.config/1\ncluster: nonsense\ndefaults: {parplan: auto}\n' >"$config_dir/parplan.yaml"
    run_srun -N1 -n1 echo ran
    expect_status 0
    expect "stderr of one task" "$stderr" ""
}

@test "require_plan: a step without degrees is refused, one with them runs" {
    printf 'schema: parplan.config/1\npolicy: {require_plan: deny}\n' >"$config_dir/parplan.yaml"
    refused 'policy require-plan'
    refused 'policy require-plan' --parplan=auto
    refused 'policy require-plan' --parplan=off
    run_srun -N2 --ntasks-per-node=8 --gres=gpu:8 --parplan=tp=8 "$show"
    expect_status 0
}

@test "a step started inside a task does not keep the task's rank" {
    # shellcheck disable=SC2016
    run_client salloc -Q -N1 --ntasks-per-node=2 --gres=gpu:2 srun --overlap --parplan=tp=2 bash -c \
        '[[ $RANK == 1 ]] || srun --overlap -n2 --parplan=off bash -c "echo \${RANK:-none}"'
    expect_status 0
    expect "ranks inside" "$(sort -u <<<"$output")" none
}

# A private slurm.conf without plugstack takes the plugin out of srun, not out of slurmstepd.
bypass() {
    sed 's/^PlugStackConfig=.*/PlugStackConfig=\/dev\/null/' "$SLURM_CONF" >"$(dirname "$SLURM_CONF")/bypass.conf"
    export SLURM_CONF=${SLURM_CONF%/*}/bypass.conf
}

# forged TEXT PLAN: nothing starts, and no node is hurt.
forged() {
    local text=$1 plan=$2
    client_seconds=30 SLURM_PARPLAN_PLAN=$plan run_srun -N2 --ntasks-per-node=8 --gres=gpu:8 touch "$launched"
    expect_match "exit status" "$status" '^1$'
    expect_match "message" "$stderr" "$text"
    [[ ! -e $launched ]]
}

@test "a forged SLURM_PARPLAN_PLAN is refused by each node, in one line" {
    bypass
    forged 'SLURM_PARPLAN_PLAN' 'v=1;garbage'
    expect "lines of ours" "$(grep -c 'parplan: ' <<<"$stderr")" 2
    forged 'SLURM_PARPLAN_PLAN' 'v=9'
    forged 'SLURM_PARPLAN_PLAN' "$(printf 'x%.0s' {1..100000})"
}

@test "a plan of another step, replayed, is refused" {
    bypass
    forged '1.0 is not the plan of step' '1.0 v=1;id=0123456789abcdef;n=16;nodes=2;per_node=8'
}

@test "SLURM_PARPLAN_PLAN set by hand beside the plugin is dropped" {
    SLURM_PARPLAN_PLAN='v=1;garbage' run_srun -N2 --ntasks-per-node=2 "$show"
    expect_status 0
    expect_match "no ranks" "$output" '^- n0'
}

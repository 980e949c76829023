#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# The admins' policy on both sides: job_submit_parplan.so in slurmctld, the plugin in srun and in
# each task. Every way around it that we know is tried by a user, and the last test prints where
# each was stopped: attempt | where | line.
# shellcheck disable=SC2154,SC2030,SC2031 # bats sets status, output and stderr
load support

cluster_nodes=4
show=$BATS_TEST_DIRNAME/show_rank
shape=(-N2 --ntasks-per-node=8 --gres=gpu:8)

setup_file() {
    export PARPLAN_CLUSTER_SPANK=$PARPLAN_BUILD/spank_parplan.so
    export PARPLAN_CLUSTER_SUBMIT=$PARPLAN_BUILD/job_submit_parplan.so
    export PARPLAN_CLUSTER_GRES_TYPE=h100
    export PARPLAN_CLUSTER_CONF='PartitionName=debug Nodes=n[01-04] MaxTime=INFINITE State=UP'
    export config_dir=$BATS_FILE_TMPDIR/etc
    mkdir -p "$config_dir"
    PARPLAN_CONFIG_OWNER=$(id -u)
    export PARPLAN_CONFIG_OWNER
    export PARPLAN_CONFIG=$config_dir/parplan.yaml
    export PARPLAN_CLUSTER_SPANK_ARGS="config=$PARPLAN_CONFIG owner=$PARPLAN_CONFIG_OWNER"
    policy ''
    start_cluster "$cluster_nodes"
    export SBATCH_OUTPUT=$BATS_FILE_TMPDIR/%j.out
    export ours=$SLURM_CONF private=$BATS_FILE_TMPDIR/private
    mkdir -p "$private"
    # A slurm.conf of the user's own: without any plugin, and with ours under rules of his own.
    sed 's/^PlugStackConfig=.*/PlugStackConfig=\/dev\/null/' "$ours" >"$private/none.conf"
    sed "s|^PlugStackConfig=.*|PlugStackConfig=$private/plugstack.conf|" "$ours" >"$private/own.conf"
    printf 'schema: parplan.config/1\npolicy: {tp_within: "off"}\n' >"$private/parplan.yaml"
    echo "required $PARPLAN_CLUSTER_SPANK config=$private/parplan.yaml owner=$(id -u)" \
        >"$private/plugstack.conf"
}

setup() {
    policy ''
    wait_until_idle
    launched=$BATS_TEST_TMPDIR/launched
}

teardown() {
    expect "nodes that are not idle" \
        "$(timeout 10 sinfo -ho '%N %T %E' -N | grep -v -e idle -e completing -e planned)" ""
}

# policy TEXT: what follows "policy:" in the admins' file, on one line.
policy() {
    printf 'schema: parplan.config/1\n%s\n' "${1:+policy: {$1\}}" >"$PARPLAN_CONFIG.new"
    mv "$PARPLAN_CONFIG.new" "$PARPLAN_CONFIG"
}

# Which side said the first of our refusals. 26.05 gives a node's line with its time and no name.
side() {
    local line=$1
    case $line in
    slurmstepd* | '[2'*) echo node ;;
    *) if grep -qE 'Unable to allocate|job submission failed|submit/allocate failed' <<<"$stderr"; then
        echo slurmctld
    else
        echo srun
    fi ;;
    esac
}

# attempt NAME SIDE TEXT COMMAND…: a client that SIDE stops with TEXT, before anything is launched.
attempt() {
    local name=$1 wanted=$2 text=$3 line
    client_seconds=30 run_client "${@:4}"
    [[ $status != 0 ]] || {
        echo "it ran"
        return 1
    }
    line=$(grep -m1 'error: parplan: ' <<<"$stderr")
    expect_match "the line" "$line" "parplan: .*$text"
    expect "where" "$(side "$line")" "$wanted"
    [[ ! -e $launched ]] || {
        echo "something was launched"
        return 1
    }
    printf '%s | %s | %s\n' "$name" "$wanted" "${line#*error: parplan: }" >>"$BATS_FILE_TMPDIR/table"
}

log_has() {
    grep -q -e "$2" "$PARPLAN_CLUSTER_DIR/log/$1.log"
}

# --- degrees that the policy does not allow -----------------------------------------

@test "too large a tp: srun, salloc, sbatch and a script's own line are stopped before the queue" {
    local word='policy tp-within-node: tp=16'
    printf '#!/bin/bash\n#SBATCH --parplan=tp=16\ntouch %s\n' "$launched" >"$BATS_TEST_TMPDIR/job"
    attempt "srun --parplan=tp=16" slurmctld "$word" srun "${shape[@]}" --parplan=tp=16 touch "$launched"
    attempt "salloc --parplan=tp=16" slurmctld "$word" salloc -Q "${shape[@]}" --parplan=tp=16 touch "$launched"
    attempt "sbatch --parplan=tp=16" slurmctld "$word" \
        sbatch "${shape[@]}" --parplan=tp=16 --wrap "touch $launched"
    attempt "#SBATCH --parplan=tp=16" slurmctld "$word" sbatch "${shape[@]}" "$BATS_TEST_TMPDIR/job"
    attempt "sbatch --export=NONE" slurmctld "$word" \
        sbatch --export=NONE "${shape[@]}" --parplan=tp=16 --wrap "touch $launched"
    attempt "sbatch, option in the environment" slurmctld "$word" \
        env SLURM_SPANK__SLURM_SPANK_OPTION_parplan_parplan=tp=16 \
        sbatch "${shape[@]}" --parplan=tp=16 --wrap "touch $launched"
    attempt "srun --parplan=tp=8,etp=16, the experts' TP" slurmctld "$word.* for etp too" \
        srun "${shape[@]}" --parplan=tp=8,etp=16 touch "$launched"
    log_has slurmctld 'job_submit/parplan: uid=.* tp=16: denied: policy tp-within-node'
}

@test "the words are those of parplan check" {
    run_srun "${shape[@]}" -p debug --parplan=tp=16 touch "$launched"
    local words=${stderr#*parplan: }
    words=${words%%$'\n'*}
    run_client parplan check --plan tp=16,dp=1 --cluster dgx-h100:2
    expect_status 4
    expect_match "the words" "${stderr#parplan: }" "${words%%, partition*}"
}

@test "a step inside salloc is judged by srun, and without srun's plugin by its nodes" {
    attempt "salloc, then srun --parplan=tp=16" srun 'policy tp-within-node: tp=16' \
        salloc -Q "${shape[@]}" srun --parplan=tp=16 touch "$launched"
    attempt "salloc, then srun under a plugstack of the user's" node 'policy tp-within-node: tp=16' \
        salloc -Q "${shape[@]}" env SLURM_CONF="$private/own.conf" srun --parplan=tp=16 touch "$launched"
    log_has n01 'error: parplan: policy tp-within-node: tp=16'
}

@test "groups that reach too far: stopped before the queue, by srun, and without it by the nodes" {
    local word='policy spans: cp=4 reaches over 16 GPUs'
    policy 'spans: {cp: node}'
    printf '#!/bin/bash\n#SBATCH --parplan=tp=4,cp=4\ntouch %s\n' "$launched" >"$BATS_TEST_TMPDIR/job"
    attempt "srun --parplan=tp=4,cp=4 under spans" slurmctld "$word" \
        srun "${shape[@]}" --parplan=tp=4,cp=4 touch "$launched"
    attempt "#SBATCH --parplan=tp=4,cp=4 under spans" slurmctld "$word" \
        sbatch "${shape[@]}" "$BATS_TEST_TMPDIR/job"
    attempt "salloc, then srun --parplan=tp=4,cp=4 under spans" srun "$word" \
        salloc -Q "${shape[@]}" srun --parplan=tp=4,cp=4 touch "$launched"
    attempt "a plan of the user's own rules under spans" node "$word" \
        salloc -Q "${shape[@]}" env SLURM_CONF="$private/own.conf" \
        srun --parplan=tp=4,cp=4 touch "$launched"
    run_srun "${shape[@]}" --parplan=tp=4,cp=2 true
    expect_status 0
}

@test "a job file is opened by srun, never by slurmctld" {
    printf 'schema: parplan.job/1\ntp: 16\n' >"$BATS_TEST_TMPDIR/job.yaml"
    attempt "degrees in a job file" srun 'policy tp-within-node: tp=16' \
        srun "${shape[@]}" --parplan="$BATS_TEST_TMPDIR/job.yaml" touch "$launched"
    log_has slurmctld 'job.yaml: policy pending'
}

@test "a plan of the user's making: forged, replayed, or with another's account" {
    attempt "forged SLURM_PARPLAN_PLAN" node 'is not the plan of step' \
        env SLURM_CONF="$private/none.conf" SLURM_PARPLAN_PLAN='v=1;garbage' \
        srun "${shape[@]}" touch "$launched"
    attempt "replayed SLURM_PARPLAN_PLAN" node '1.0 is not the plan of step' \
        env SLURM_CONF="$private/none.conf" SLURM_PARPLAN_PLAN='1.0 v=1;id=0123456789abcdef;n=16' \
        srun "${shape[@]}" touch "$launched"
    policy 'max_tp: 4, accounts: {lenient: {max_tp: 64}}, qos: {lenient: {max_tp: 64}}'
    attempt "another's account and QOS in the environment" node 'policy max-tp: tp=8' \
        salloc -Q "${shape[@]}" env SLURM_CONF="$private/own.conf" SLURM_JOB_ACCOUNT=lenient \
        SLURM_JOB_QOS=lenient srun --parplan=tp=8 touch "$launched"
    policy 'max_tp: 4, partitions: {debug: {max_tp: 64}}, users: {nobody: {max_tp: 64}, "65534": {max_tp: 64}}'
    attempt "another's partition, user and uid in the environment" node 'policy max-tp: tp=8' \
        salloc -Q "${shape[@]}" env SLURM_CONF="$private/own.conf" SLURM_JOB_PARTITION=debug \
        SLURM_JOB_USER=nobody SLURM_JOB_UID=65534 srun --parplan=tp=8 touch "$launched"
}

@test "ranks that the user presets lose against ours" {
    RANK=99 WORLD_SIZE=1 PARPLAN_TP_RANK=9 PARPLAN_TP_SIZE=64 MASTER_ADDR=elsewhere \
        run_srun "${shape[@]}" --parplan=tp=8 "$show"
    expect_status 0
    expect "ranks" "$(awk '{ print $1 }' <<<"$output" | sort -n | xargs)" "$(seq -s ' ' 0 15)"
    expect "tp ranks" "$(awk '{ print $5 }' <<<"$output" | sort -un | xargs)" "0 1 2 3 4 5 6 7"
    expect "world" "$(awk '{ print $11 }' <<<"$output" | sort -u)" 16
    echo "RANK, PARPLAN_* preset by the user | node | overwritten" >>"$BATS_FILE_TMPDIR/table"
}

# --- require_plan ---------------------------------------------------------------------

@test "require_plan: deny, in every place that a job starts from" {
    local word='policy require-plan'
    policy 'require_plan: deny'
    attempt "no option: srun" slurmctld "$word" srun "${shape[@]}" touch "$launched"
    attempt "no option: salloc" slurmctld "$word" salloc -Q "${shape[@]}" touch "$launched"
    attempt "no option: sbatch" slurmctld "$word" sbatch "${shape[@]}" --wrap "touch $launched"
    attempt "--parplan=off" slurmctld "$word" srun "${shape[@]}" --parplan=off touch "$launched"
    attempt "no option, private SLURM_CONF" slurmctld "$word" \
        env SLURM_CONF="$private/none.conf" srun "${shape[@]}" touch "$launched"
    attempt "no option, forged _SLURM_SPANK_OPTION" slurmctld "$word" \
        env SLURM_CONF="$private/none.conf" _SLURM_SPANK_OPTION_parplan_parplan=tp=8 \
        srun "${shape[@]}" touch "$launched"
}

@test "require_plan: deny, for steps of a job that declared one" {
    local word='policy require-plan'
    local job=(salloc -Q "${shape[@]}" --parplan=tp=8)
    policy 'require_plan: deny'
    attempt "step with --parplan=off" srun "$word" "${job[@]}" srun --parplan=off touch "$launched"
    attempt "step under a private SLURM_CONF" node "$word" \
        "${job[@]}" env SLURM_CONF="$private/none.conf" srun touch "$launched"
    expect "lines of ours" "$(grep -c 'parplan: policy' <<<"$stderr")" 2 # one per node
    attempt "the same with a forged _SLURM_SPANK_OPTION" node "$word" \
        "${job[@]}" env SLURM_CONF="$private/none.conf" _SLURM_SPANK_OPTION_parplan_parplan=tp=8 \
        srun touch "$launched"
    attempt "the same, --parplan=off under a plugstack of the user's" node "$word" \
        "${job[@]}" env SLURM_CONF="$private/own.conf" srun --parplan=off touch "$launched"
    attempt "a plan that promises no degrees" node "$word" \
        "${job[@]}" env SLURM_CONF="$private/own.conf" srun --parplan=auto touch "$launched"
    attempt "a smaller step that the job's plan does not fit" srun 'tp=8 needs' \
        "${job[@]}" srun -N1 -n3 touch "$launched"
    log_has n01 'error: parplan: policy require-plan'
    run_client "${job[@]}" bash -c "srun $show && srun -n1 -N1 --parplan=tp=1 echo helper"
    expect_status 0
    expect_match "a helper step" "$output" 'helper'
    log_has n01 'parplan: step [0-9]*.0: tp=8,pp=1,dp=2: policy ok'
}

@test "warn: the job runs, and the user is told" {
    policy 'on_violation: warn, require_plan: warn, max_tp: 4'
    run_client sbatch "${shape[@]}" --parplan=tp=8 --wrap "sleep 1"
    expect_status 0
    expect_match "the word" "$stderr" 'parplan: warning: policy max-tp: tp=8'
    run_srun -N1 -n1 echo ran
    expect_status 0
    expect_match "the word" "$stderr" 'parplan: warning: policy require-plan'
    log_has slurmctld 'warned: policy max-tp'
    timeout 10 scancel --partition=gpu
}

# --- scopes, the file, the record ----------------------------------------------------------

@test "scopes: partition, QOS, account, user" {
    policy 'max_tp: 4, partitions: {debug: {max_tp: 8}}'
    attempt "over the general maximum" slurmctld 'policy max-tp: tp=8' \
        srun "${shape[@]}" --parplan=tp=8 touch "$launched"
    run_srun "${shape[@]}" -p debug --parplan=tp=8 "$show"
    expect_status 0
    attempt "a list of partitions, one of them lenient" slurmctld 'policy max-tp: tp=8' \
        srun "${shape[@]}" -p debug,gpu --parplan=tp=8 touch "$launched"
    policy 'accounts: {students: {max_tp: 4}}'
    attempt "a stricter account" slurmctld 'policy max-tp \(account students\): tp=8' \
        srun "${shape[@]}" -A students --parplan=tp=8 touch "$launched"
    attempt "the account in capitals" slurmctld 'policy max-tp.*tp=8' \
        srun "${shape[@]}" -A STUDENTS --parplan=tp=8 touch "$launched"
    run_srun "${shape[@]}" -A staff --parplan=tp=8 "$show"
    expect_status 0
    policy "max_tp: 4, users: {$(id -un): {max_tp: 8}}"
    run_srun "${shape[@]}" --parplan=tp=8 "$show"
    expect_status 0
    policy "max_tp: 4, users: {\"$(id -u)\": {max_tp: 8}}"
    run_srun "${shape[@]}" --parplan=tp=8 "$show"
    expect_status 0
}

@test "orders" {
    policy 'orders: [tp-cp-ep-dp-pp]'
    attempt "a rank order that is not allowed" slurmctld 'policy order: order=tp-cp-ep-pp-dp' \
        srun "${shape[@]}" --parplan=tp=8,order=tp-cp-ep-pp-dp touch "$launched"
    attempt "the same in a step" srun 'policy order' salloc -Q "${shape[@]}" \
        srun --parplan=tp=8,order=tp-cp-ep-pp-dp touch "$launched"
    attempt "the same without srun's plugin" node 'policy order' salloc -Q "${shape[@]}" \
        env SLURM_CONF="$private/own.conf" srun --parplan=tp=8,order=tp-cp-ep-pp-dp touch "$launched"
    run_srun "${shape[@]}" --parplan=tp=8 "$show"
    expect_status 0
}

@test "the file is read again when it changes; a broken one changes nothing" {
    policy 'max_tp: 4'
    attempt "after a change" slurmctld 'policy max-tp' srun "${shape[@]}" --parplan=tp=8 touch "$launched"
    echo 'policy: [' >"$PARPLAN_CONFIG"
    run_srun -N1 -n1 echo ran
    expect_status 0
    run_client sbatch "${shape[@]}" --wrap true
    expect_status 0
    wait_until_idle
    log_has slurmctld 'error: job_submit/parplan: .*parplan.yaml.*the policy read before stays'
    expect "times said" "$(grep -c 'the policy read before stays' "$PARPLAN_CLUSTER_DIR/log/slurmctld.log")" 1
    attempt "with a broken file" srun 'parplan.yaml' srun "${shape[@]}" --parplan=tp=8 touch "$launched"
    chmod 666 "$PARPLAN_CONFIG"
    run_srun -N1 -n1 echo ran
    expect_status 0
    rm "$PARPLAN_CONFIG"
    policy ''
    run_srun "${shape[@]}" --parplan=tp=8 "$show"
    expect_status 0
}

@test "doctor sees which file slurmctld judges by" {
    ((EUID == 0)) || skip "the environment of slurmctld is root's to read"
    run_client parplan doctor
    expect_match "line" "$output" "ok +submit-config +PARPLAN_CONFIG of slurmctld .$PARPLAN_CONFIG., as srun"
    run_client parplan doctor --config "$private/parplan.yaml"
    expect_match "another file" "$output" 'fault +submit-config +.*is another file than srun'
}

@test "enabled: false switches everything off" {
    printf 'schema: parplan.config/1\nenabled: false\npolicy: {require_plan: deny}\n' >"$PARPLAN_CONFIG"
    run_srun -N1 -n2 echo ran
    expect_status 0
    run_client env SLURM_CONF="$private/none.conf" srun -N1 -n2 echo ran
    expect_status 0
}

@test "admin_comment says what was declared" {
    run_client sbatch --parsable "${shape[@]}" --parplan=tp=8,pp=2 --wrap "sleep 2"
    expect_status 0
    local submitted=${lines[0]}
    run_client scontrol show job "$submitted"
    expect_match "comment" "$output" 'AdminComment=parplan: tp=8,pp=2 policy=ok'
    run_client sbatch --parsable "${shape[@]}" --wrap "sleep 1"
    run_client scontrol show job "${lines[0]}"
    [[ $output != *AdminComment* ]]
    timeout 10 scancel --partition=gpu
}

@test "where each attempt was stopped" {
    local table=$BATS_FILE_TMPDIR/table
    [[ -s $table ]]
    {
        echo "attempt | where stopped | line"
        cat "$table"
    } | sed 's/^/# /' >&3
}

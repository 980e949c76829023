#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Bad days: faults put into every input of the plugin on a real Slurm. Whatever the fault, no node
# is drained, no job ends COMPLETED without having run, nothing hangs, ranks are never half set, and
# a refusal is one line. At the end a table says what each fault came to.
#
# What Slurm does by itself, with this plugin or any other, and what is therefore not tried here: a
# required plugin that is missing on a compute node, or built there for another Slurm, drains the
# node under sbatch; an optional one that is missing there leaves that node's tasks without ranks.
# shellcheck disable=SC2154,SC2030,SC2031 # bats sets status, output and stderr
load support

show=$BATS_TEST_DIRNAME/show_rank
stand_in=$BATS_TEST_DIRNAME/../support/spank_stand_in/stand_in.c
hang_seconds=10

# As support.bash's, but n04 may be gone.
all_idle() {
    [[ $(timeout 10 sinfo -hN -n 'n[01-03]' -o %T | sed s/planned/idle/ | sort -u) == idle ]]
}

setup_file() {
    export etc=$BATS_FILE_TMPDIR/etc table=$BATS_FILE_TMPDIR/table
    export config=$etc/parplan.yaml cache=$etc/node.cache
    mkdir -p "$etc"
    : >"$table"
    "${CC:-cc}" -D_GNU_SOURCE -shared -fPIC -o "$BATS_FILE_TMPDIR/before.so" "$stand_in"
    "${CC:-cc}" -D_GNU_SOURCE -DBEHIND -shared -fPIC -o "$BATS_FILE_TMPDIR/behind.so" "$stand_in"
    export PARPLAN_CLUSTER_GRES_TYPE=h100
    export PARPLAN_CLUSTER_SPANK=$PARPLAN_BUILD/spank_parplan.so
    export PARPLAN_CLUSTER_SPANK_ARGS="config=$config cache=$cache"
    # A controller that is silent is given up after these seconds, in Slurm's calls and in ours.
    export PARPLAN_CLUSTER_CONF=$'MessageTimeout=4\nJobRequeue=1\nSchedulerParameters=bf_interval=1'
    start_cluster 4
}

# The nodes' words are the point of this suite: fd 3 is bats' own output.
teardown_file() {
    "$cluster" stop
    {
        printf '# %-46s %-13s %7s %4s  %s\n' fault result drained hung line
        while IFS='|' read -r name result drained hung line; do
            printf '# %-46s %-13s %7s %4s  %s\n' "$name" "$result" "$drained" "$hung" "$line"
        done <"$table"
    } >&3
}

setup() {
    rm -rf "${etc:?}"/*
    printf 'schema: parplan.config/1\n' >"$config"
    load_plugins
    wait_until_idle
}

# load_plugins [around | optional]: what each srun and slurmstepd reads from now on
load_plugins() {
    local ours="$PARPLAN_CLUSTER_SPANK $PARPLAN_CLUSTER_SPANK_ARGS"
    case ${1:-} in
    around)
        printf 'required %s\n' "$BATS_FILE_TMPDIR/before.so" "$ours" "$BATS_FILE_TMPDIR/behind.so"
        ;;
    optional) echo "optional $ours" ;;
    *) echo "required $ours" ;;
    esac >"$PARPLAN_CLUSTER_DIR/etc/plugstack.conf"
}

# newest_job [OLDER]: "number state" of the newest job that Slurm still knows, newer than OLDER
newest_job() {
    timeout 10 squeue -h -t all -o '%A %T' | sort -n | tail -n 1 | awk -v older="${1:-0}" '$1 > older + 0'
}

# What the tasks that ran had: "ranked N", "plain N", "half"; or else "refused", or "lost".
read_result() {
    local ranked plain
    ranked=$(grep -cE '^[0-9]+ n0' <<<"$output") || true
    plain=$(grep -cE '^- n0' <<<"$output") || true
    if ((ranked > 0 && plain > 0)); then
        result=half
    elif ((ranked > 0)); then
        result="ranked $ranked"
    elif ((plain > 0)); then
        result="plain $plain"
    elif ((status != 0)); then
        result=refused
    else
        result=lost
    fi
}

# A node that a test itself has taken down is no longer n01 to n03.
drained_nodes() {
    timeout 10 sinfo -hN -n 'n[01-03]' -t drain,drained,draining,down,fail -o %N | wc -l
}

# One row of the table; a refusal's own line before any other of ours.
note_fault() {
    local line
    line=$(grep -hm1 -o 'error: parplan: .*' <<<"$stderr"$'\n'"$output") ||
        line=$(grep -hm1 -o 'parplan: .*' <<<"$stderr"$'\n'"$output") || true
    line=${line#error: }
    line=${line//"$BATS_FILE_TMPDIR"/}
    printf '%s|%s|%s|%s|%s\n' "$name" "$result" "$drained" "$hung" "${line:9:100}" >>"$table"
}

# fault NAME WANTED COMMAND...: runs it, notes what came of it, and expects WANTED, a regex:
# "ranked 8", "plain 8", "refused". $from: a file that the job wrote. $words: how many lines of
# ours a refusal has, a regex too ("1").
fault() {
    local name=$1 wanted=$2 before start took result drained hung=0 job
    shift 2
    before=$(newest_job)
    start=$EPOCHREALTIME
    run --separate-stderr timeout --kill-after=2 $((hang_seconds + 20)) "$@"
    took=$(awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }')
    [[ ! -e ${from:-} ]] || output+=$'\n'$(<"$from")
    read_result
    printf '%s: %s, exit %s, %s s\n%s\n%s\n' "$name" "$result" "$status" "$took" "$output" "$stderr"
    ((${took%.*} < hang_seconds)) || hung=1
    wait_until_idle
    job=$(newest_job "${before%% *}")
    drained=$(drained_nodes)
    note_fault
    expect "drained nodes" "$drained" 0
    expect "hung" "$hung" 0
    expect_match "result" "$result" "^($wanted)\$"
    case $result in
    refused)
        expect_match "lines of ours" "$(grep -c 'error: parplan: ' <<<"$stderr"$'\n'"$output")" "^(${words:-1})\$"
        expect_match "its job" "$job" '^$| (FAILED|CANCELLED|NODE_FAIL|OUT_OF_MEMORY)$'
        ;;
    ranked*)
        expect "ranks" "$(grep -oE '^[0-9]+ n' <<<"$output" | sort -n | tr -cd 0-9)" \
            "$(seq 0 $((${result#ranked } - 1)) | tr -cd 0-9)"
        ;;
    esac
}

# launch NAME WANTED OPTION...: two nodes of four tasks
launch() {
    fault "$1" "$2" srun -N2 --ntasks-per-node=4 --gres=gpu:8 "${@:3}" "$show"
}

# batch NAME WANTED OPTION... -- SCRIPT: the same as the step of a job
batch() {
    local name=$1 wanted=$2 options=() from=$BATS_TEST_TMPDIR/job.out
    shift 2
    while [[ $1 != -- ]]; do
        options+=("$1")
        shift
    done
    printf '#!/bin/bash\n%s\n' "$2" >"$BATS_TEST_TMPDIR/job.sh"
    rm -f "$from"
    fault "$name" "$wanted" sbatch -Q -W -N2 --ntasks-per-node=4 --gres=gpu:8 -o "$from" \
        --open-mode=append "${options[@]}" "$BATS_TEST_TMPDIR/job.sh"
}

text_of() { # character bytes
    head -c "$2" /dev/zero | tr '\0' "$1"
}

# What one broken file may be; the file is made at $1.
file_kinds=(writable symlink fifo directory huge empty binary foreign)
break_file() { # path kind
    local path=$1
    rm -rf "${path:?}"
    case $2 in
    writable) printf 'schema: parplan.config/1\n' >"$path" && chmod 666 "$path" ;;
    symlink) printf 'schema: parplan.config/1\n' >"$path.real" && ln -sn "$path.real" "$path" ;;
    fifo) mkfifo "$path" ;;
    directory) mkdir "$path" ;;
    huge) truncate -s 1G "$path" ;;
    empty) : >"$path" ;;
    binary) head -c 4096 /dev/urandom >"$path" ;;
    foreign) printf 'schema: parplan.config/1\n' >"$path" && chown 65534 "$path" ;;
    esac
}

@test "options" {
    local option
    for option in tp=0 tp=-4 tp=4x tp=2147483648 tp=99999999999999999999 tp=65536,pp=65536,dp=65536 \
        tp=2147483647,pp=2147483647 tp=4,pp=4,dp=4 tp=3 tp=4,tp=2 tpp=4 =4 tp= "," 'tp=4,,dp=2' \
        'model=;touch /x' $'tp=4\ndp=2' $'\e[31m' order=tp-pp place=slurm; do
        [[ $option != place=slurm ]] || continue
        launch "--parplan=$(tr -d '\n\033' <<<"${option:0:36}")" refused "--parplan=$option"
    done
    launch "--parplan= of 10 KB" refused "--parplan=model=$(text_of x 10000)"
    launch "--parplan= of 4096 bytes" refused "--parplan=model=$(text_of x 4090)"
    launch "--parplan= of 100 KB" refused "--parplan=model=$(text_of x 100000)"
    launch "--parplan= (empty)" "refused|ranked 8" --parplan=
    launch "a job file that is a folder" refused --parplan=/tmp/
    launch "a job file of 1 GB" refused "--parplan=$(break_file "$etc/job.yaml" huge)$etc/job.yaml"
    rm -f "$etc/job.yaml"
    mkfifo "$etc/job.yaml"
    launch "a job file that is a FIFO" refused "--parplan=$etc/job.yaml"
}

@test "launches: uneven, overcommitted, arbitrary, cyclic, heterogeneous" {
    fault "uneven tasks" refused srun -N2 -n3 --parplan=tp=1 "$show"
    fault "--gpus=8 -N2 (7 and 1)" refused srun -N2 -n8 --gpus=8 --parplan=tp=4 "$show"
    fault "--overcommit, 40 tasks a node" refused srun -N2 -n80 --overcommit --gres=gpu:8 --parplan=tp=8 "$show"
    fault "--overcommit that fits" "ranked 8" srun -N2 --ntasks-per-node=4 --overcommit --gres=gpu:8 --parplan=tp=4 "$show"
    # 24.11 lets a new job wait for ever that names a node more than once, also without a plugin
    if ! since 24.11 || since 26.05; then
        fault "arbitrary, mixed order" "ranked 8" srun -n8 -m arbitrary \
            -w n03,n01,n03,n01,n03,n01,n03,n01 --gres=gpu:8 --parplan=tp=4 "$show"
        fault "arbitrary, uneven" refused srun -n4 -m arbitrary -w n03,n03,n03,n01 --gres=gpu:8 --parplan=tp=1 "$show"
    fi
    launch "cyclic" "ranked 8" -m cyclic --parplan=tp=4
    launch "plane" "ranked 8" -m plane=2 --parplan=tp=4
    fault "heterogeneous job" refused srun -N1 -n4 --gres=gpu:8 --parplan=tp=4 "$show" : -N1 -n4 --gres=gpu:8 "$show"
    words=2 fault "GPUs hidden from each other" refused srun -N2 --ntasks-per-node=4 --gpus-per-task=1 --parplan=tp=4 "$show"
    batch "sbcast before the step" "ranked 8" -- "sbcast -f $show $BATS_TEST_TMPDIR/sent && srun --parplan=tp=4 $BATS_TEST_TMPDIR/sent"
    batch "an array of one" "ranked 8" --array=3 -- "srun --parplan=tp=4 $show"
    batch "sbatch, the option refused in srun" refused --parplan=tp=4,pp=9 -- "srun $show"
    fault "sbatch, a bad option" refused sbatch --parplan=tp=0 --wrap "srun $show"
}

@test "environments: dropped, oversized, set beforehand" {
    local name big presets=()
    launch "--export=NONE" "ranked 8" --export=NONE --parplan=tp=4
    launch "--export=NIL" "ranked 8" --export=NIL --parplan=tp=4
    big=$(text_of x 130000)
    fault "an environment of 400 KB" "ranked 8" env A="$big" B="$big" C="$big" \
        srun -N2 --ntasks-per-node=4 --gres=gpu:8 --parplan=tp=4 "$show"
    for name in RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE NODE_RANK GROUP_RANK MASTER_ADDR MASTER_PORT \
        PARPLAN_{TP,CP,EP,PP,DP}_{RANK,SIZE} PARPLAN_PLAN_ID PARPLAN_ORDER PET_NODE_RANK; do
        presets+=("$name=77")
    done
    fault "RANK and all others set beforehand" "ranked 8" env "${presets[@]}" \
        srun -N2 --ntasks-per-node=4 --gres=gpu:8 --parplan=tp=4 "$show"
    expect "77 in what tasks have" "$(grep -c '\b77\b' <<<"$output")" 0
    fault "SLURM_PARPLAN_PLAN set beforehand" "plain 8" env SLURM_PARPLAN_PLAN="1.0 v=1" \
        srun -N2 --ntasks-per-node=4 --gres=gpu:8 "$show"
    fault "SLURM_PARPLAN_PLAN set, and a plan" "ranked 8" env SLURM_PARPLAN_PLAN="1.0 v=1" \
        srun -N2 --ntasks-per-node=4 --gres=gpu:8 --parplan=tp=4 "$show"
    fault "the option set only for the nodes" "plain 8" env _SLURM_SPANK_OPTION_parplan_parplan=tp=0 \
        srun -N2 --ntasks-per-node=4 --gres=gpu:8 "$show"
}

@test "LD_PRELOAD reaches the user's processes alone" {
    cat >"$BATS_TEST_TMPDIR/spy.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((constructor)) static void spy(void)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
    FILE *file = fopen(SPY_LOG, "a");
    if (file && length > 0)
        fprintf(file, "%.*s\n", (int)length, path);
    if (file)
        fclose(file);
}
END
    "${CC:-cc}" -D_GNU_SOURCE -shared -fPIC -DSPY_LOG="\"$BATS_TEST_TMPDIR/spied\"" -o "$BATS_TEST_TMPDIR/spy.so" "$BATS_TEST_TMPDIR/spy.c"
    fault "LD_PRELOAD" "ranked 8" env LD_PRELOAD="$BATS_TEST_TMPDIR/spy.so" \
        srun -N2 --ntasks-per-node=4 --gres=gpu:8 --parplan=tp=4 "$show"
    expect "tasks that had it" "$(grep -c '/bash$' "$BATS_TEST_TMPDIR/spied")" 8
    expect "daemons that had it" "$(grep -c 'slurm\(step\)*d$' "$BATS_TEST_TMPDIR/spied")" 0
}

@test "the admins' file" {
    local kind
    for kind in "${file_kinds[@]}"; do
        break_file "$config" "$kind"
        launch "parplan.yaml: $kind" refused --parplan=tp=4
        launch "parplan.yaml: $kind, no option" "plain 8"
    done
    rm -rf "${config:?}"
    launch "parplan.yaml: missing, named" refused --parplan=tp=4
    printf 'schema: parplan.config/1\n' >"$config"
    chmod 777 "$etc"
    launch "parplan.yaml: its folder writable by all" refused --parplan=tp=4
    chmod 755 "$etc"
}

# srun has read it, and the nodes have not.
@test "the admins' file, spoilt between srun and the nodes" {
    local kind
    load_plugins around
    export config
    for kind in writable symlink fifo directory huge missing; do
        break_file "$etc/spoilt" "$kind"
        printf 'schema: parplan.config/1\n' >"$config"
        words=2 STAND_IN_BEHIND="rm -f $config; ! mv -T $etc/spoilt $config" \
            launch "parplan.yaml, on the nodes: $kind" refused --parplan=tp=4
        rm -rf "${config:?}"
    done
}

@test "the node's cache" {
    local kind
    for kind in "${file_kinds[@]}"; do
        break_file "$cache" "$kind"
        launch "node.cache: $kind" "ranked 8" --parplan=tp=4
    done
}

# The plan is taken off one srun's wire, and given to a step whose srun has no plugin.
@test "the plan on the wire" {
    local plan forged=$BATS_TEST_TMPDIR/forged
    load_plugins around
    STAND_IN_BEHIND="printenv SLURM_PARPLAN_PLAN >$BATS_TEST_TMPDIR/wire" launch "a plan is read off the wire" \
        "ranked 8" --parplan=tp=4
    plan=$(<"$BATS_TEST_TMPDIR/wire")
    load_plugins
    sed 's/^PlugStackConfig=.*/PlugStackConfig=\/dev\/null/' "$SLURM_CONF" >"${SLURM_CONF%/*}/bypass.conf"
    export SLURM_CONF=${SLURM_CONF%/*}/bypass.conf words=2
    SLURM_PARPLAN_PLAN=garbage launch "wire: garbage" refused
    SLURM_PARPLAN_PLAN="" launch "wire: empty" "refused|plain 8"
    SLURM_PARPLAN_PLAN=$(head -c 4096 /dev/urandom | tr -d '\0') launch "wire: random bytes" refused
    SLURM_PARPLAN_PLAN=$(text_of x 100000) launch "wire: 100 KB" refused
    SLURM_PARPLAN_PLAN=$plan launch "wire: replayed in another job" refused
    # As a step that is named right: its node would obey it, had it the plan's form and layout.
    # shellcheck disable=SC2016
    printf '#!/bin/bash\nexport SLURM_PARPLAN_PLAN="$SLURM_JOB_ID.0 $PLAN"\nexec srun %q\n' "$show" >"$forged"
    chmod +x "$forged"
    forge() {
        PLAN=$3 fault "$1" "$2" salloc -Q -N2 --ntasks-per-node=4 --gres=gpu:8 "$forged"
    }
    plan=${plan#* }
    forge "wire: the plan itself, right step" "ranked 8" "$plan"
    forge "wire: cut in half" refused "${plan:0:$((${#plan} / 2))}"
    forge "wire: for 4 nodes" refused "${plan/nodes=2/nodes=4}"
    forge "wire: tp=2147483648" refused "${plan/tp=4/tp=2147483648}"
    forge "wire: another version" refused "${plan/v=1/v=99}"
    printf 'schema: parplan.config/1\npolicy: {max_tp: 2}\n' >"$config"
    forge "wire: against the nodes' policy" refused "$plan"
}

# srun falls by itself in pthread_create or abort(), with or without a word of ours.
@test "too little memory" {
    local kilobytes bytes place words='[01]'
    # shellcheck disable=SC2016 # for the bash that sets the limit
    for kilobytes in 8000 9500 11000 13000 14000 15000 17000 20000 80000; do
        fault "ulimit -v $kilobytes for srun" "ranked 8|refused" \
            bash -c 'ulimit -c 0; ulimit -v "$0"; exec "$@"' "$kilobytes" \
            srun -N2 --ntasks-per-node=4 --gres=gpu:8 --parplan=tp=4 "$show"
    done
    load_plugins around
    words='[12]'
    for place in srun node task; do
        for bytes in 0 65536 262144; do
            # 24.11's srun itself crashes where its topology finds no memory
            words='[012]' STAND_IN_MEMORY=$place:$bytes launch "$place has $bytes bytes more" "ranked 8|refused" \
                --parplan=auto,model=llama3-8b,global_batch=64
        done
    done
}

@test "a controller and a munged that are silent for a while" {
    local name pid
    load_plugins around
    for name in slurmctld munged; do
        pid=$(daemon_pid "$name")
        STAND_IN_BEFORE="kill -STOP $pid; (sleep 2; kill -CONT $pid) </dev/null >/dev/null 2>&1 &" \
            launch "$name stopped for 2 s in the launch" "ranked 8" --parplan=tp=4
    done
    pid=$(daemon_pid slurmctld)
    STAND_IN_BEFORE="kill -STOP $pid; (sleep 7; kill -CONT $pid) </dev/null >/dev/null 2>&1 &" \
        launch "slurmctld stopped in the launch" refused --parplan=tp=4
    STAND_IN_BEHIND="kill -STOP $pid; (sleep 2; kill -CONT $pid) </dev/null >/dev/null 2>&1 &" \
        launch "slurmctld stopped behind the plan" "ranked 8" --parplan=tp=4
    load_plugins
    "${CC:-cc}" -D_GNU_SOURCE -shared -fPIC -o "$BATS_FILE_TMPDIR/silence.so" "${stand_in%/*}/silence.c"
    SILENCE="kill -STOP $pid; (sleep 7; kill -CONT $pid) </dev/null >/dev/null 2>&1 &" \
        LD_PRELOAD=$BATS_FILE_TMPDIR/silence.so \
        launch "slurmctld stopped between two of our questions" refused --parplan=tp=4
}

# The pauses are for Slurm: whoever proves who he is while slurmctld reads its configuration is
# sent to munge's default socket, and tries again seconds later. So is a step that ends then, and
# the next one waits for it.
@test "scontrol reconfigure, requeue" {
    local reconfigure="sleep 0.3; scontrol reconfigure; sleep 0.3"
    reconfigure+="; until timeout 5 scontrol ping | grep -q UP; do sleep 0.1; done"
    load_plugins around
    STAND_IN_BEFORE=$reconfigure launch "reconfigured before the plan" "ranked 8" --parplan=tp=4
    wait_until_launched
    STAND_IN_BEHIND=$reconfigure launch "reconfigured behind the plan" "ranked 8" --parplan=tp=4
    wait_until_launched
    cat >"$BATS_TEST_TMPDIR/between" <<END
#!/bin/bash
srun --parplan=tp=4 true
while squeue -hs -o %i | grep -q '[.]0\$'; do sleep 0.1; done
$reconfigure
until timeout 3 srun -Q true; do :; done
exec srun --parplan=tp=4 $show
END
    chmod +x "$BATS_TEST_TMPDIR/between"
    fault "reconfigured between steps" "ranked 8" salloc -Q -N2 --ntasks-per-node=4 --gres=gpu:8 \
        "$BATS_TEST_TMPDIR/between"
    wait_until_launched
    requeued_job
}

# slurmds read their configuration behind scontrol's back, and what they are told to launch then may
# be lost: until a step of no plan has run.
wait_until_launched() {
    local i
    for ((i = 0; i < 6; i++)); do
        ! timeout 10 srun -Q -N4 true || break
    done
    wait_until_idle
}

# Slurm lets a requeued job wait for two minutes, if it is not told otherwise.
requeued_job() {
    local from=$BATS_TEST_TMPDIR/job.out
    rm -f "$from"
    cat >"$BATS_TEST_TMPDIR/job.sh" <<END
#!/bin/bash
[[ \${SLURM_RESTART_COUNT:-0} != 0 ]] || { srun --parplan=tp=4 true; echo first; sleep 20; }
exec srun --parplan=tp=4 $show
END
    cat >"$BATS_TEST_TMPDIR/requeue" <<END
#!/bin/bash
job=\$(sbatch --parsable --requeue -N2 --ntasks-per-node=4 --gres=gpu:8 --open-mode=append -o $from $BATS_TEST_TMPDIR/job.sh)
until grep -qs first $from; do sleep 0.1; done
scontrol requeue "\$job"
until [[ \$(squeue -h -j "\$job" -o %T) == PENDING ]]; do sleep 0.1; done
sleep 1.5 # slurmd tells the job from the one that it has just ended by the second of its start
scontrol update JobId="\$job" StartTime=now
while squeue -h -t PD,R,CG -j "\$job" -o %T 2>/dev/null | grep -q .; do sleep 0.1; done
END
    fault "requeued" "ranked 8" bash "$BATS_TEST_TMPDIR/requeue"
}

@test "plugins that Slurm cannot load: its own words, and nothing runs half" {
    local ours=$PARPLAN_CLUSTER_SPANK words=0
    load_plugins optional
    launch "optional: tp=0" "plain 8" --parplan=tp=0
    launch "optional: tp=4" "ranked 8" --parplan=tp=4
    printf 'required /nonexistent/spank_parplan.so\n' >"$PARPLAN_CLUSTER_DIR/etc/plugstack.conf"
    launch "required, missing everywhere" refused --parplan=tp=4
    launch "required, missing everywhere, no option" refused
    printf 'optional /nonexistent/spank_parplan.so\n' >"$PARPLAN_CLUSTER_DIR/etc/plugstack.conf"
    launch "optional, missing everywhere" refused --parplan=tp=4
    launch "optional, missing everywhere, no option" "plain 8"
    head -c 20000 "$ours" >"$BATS_TEST_TMPDIR/cut.so"
    echo "required $BATS_TEST_TMPDIR/cut.so" >"$PARPLAN_CLUSTER_DIR/etc/plugstack.conf"
    launch "required, a file cut short" refused --parplan=tp=4
    cat >"$BATS_TEST_TMPDIR/older.c" <<'END'
const char plugin_name[] = "parplan", plugin_type[] = "spank";
const unsigned plugin_version = 0x130000, spank_plugin_version = 1;
END
    "${CC:-cc}" -D_GNU_SOURCE -shared -fPIC -o "$BATS_TEST_TMPDIR/older.so" "$BATS_TEST_TMPDIR/older.c"
    echo "required $BATS_TEST_TMPDIR/older.so" >"$PARPLAN_CLUSTER_DIR/etc/plugstack.conf"
    launch "required, built for another Slurm" refused --parplan=tp=4
}

# The last: n04 is gone afterwards.
@test "a node that goes down between the allocation and the step" {
    local inside=$BATS_TEST_TMPDIR/inside words
    cat >"$inside" <<END
#!/bin/bash
if [[ \$1 == all ]]; then
    kill -KILL $(daemon_pid n04)
    scontrol update nodename=n04 state=down reason=test
    exec srun --parplan=tp=4 $show
fi
exec srun -N3 -n12 --ntasks-per-node=4 \$2 $show
END
    chmod +x "$inside"
    local allocate=(salloc -Q --no-kill --ntasks-per-node=4 --gres=gpu:8)
    words=0 fault "n04 goes down, the step wants it" refused "${allocate[@]}" -N4 "$inside" all
    fault "the step has the three that are left" "ranked 12" "${allocate[@]}" -N3 "$inside" rest --parplan=tp=4
    fault "the plan wants four" refused "${allocate[@]}" -N3 "$inside" rest --parplan=tp=4,dp=4
}

#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# The tool that runs the private Slurm itself: each test has its own folder, and leaves no process.
# shellcheck disable=SC2154
load support

setup_file() {
    unset "${!PARPLAN_CLUSTER_@}"
}

teardown_file() {
    :
}

setup() {
    export PARPLAN_CLUSTER_DIR=$BATS_TEST_TMPDIR/c PARPLAN_CLUSTER_SPANK=
}

teardown() {
    [[ ${BATS_TEST_COMPLETED:-} ]] || tail -n 3 "$PARPLAN_CLUSTER_DIR"/log/*.out 2>/dev/null || true
    "$cluster" stop
    expect_no_process
}

expect_no_process() {
    local pid left=
    for pid in $(processes_in "$PARPLAN_CLUSTER_DIR/"); do
        left+="$pid $(tr '\0' ' ' <"/proc/$pid/cmdline") "
    done
    expect "processes left" "$left" ""
}

# Prints the pid of a daemon: slurmctld, munged, n01
pid_of() {
    awk -v name="$1" '$4 == name { print $1 }' "$PARPLAN_CLUSTER_DIR/run/processes"
}

kill_daemons() {
    local name pid
    for name in "$@"; do
        pid=$(pid_of "$name")
        kill -KILL "$pid"
        while [[ -e /proc/$pid/exe ]]; do sleep 0.01; done
    done
}

# expect_refusal TEXT: one line on stderr that holds it, no success
expect_refusal() {
    expect_match "exit status" "$status" '^[12]$'
    expect_match "message" "$stderr" "$1"
    expect "lines on stderr" "$(wc -l <<<"$stderr")" 1
}

@test "start: every node runs tasks and has its GPUs, address, topology and ports" {
    run_client "$cluster" start 10
    expect_status 0
    expect "message" "$output" "cluster: running: n[01-10] in $PARPLAN_CLUSTER_DIR"
    eval "$("$cluster" env)"
    # shellcheck disable=SC2016
    run_srun -N10 --gpus-per-node=8 bash -c \
        'echo $SLURM_TOPOLOGY_ADDR $CUDA_VISIBLE_DEVICES ${SLURM_STEP_RESV_PORTS:+ports}'
    expect_status 0
    expect "tasks" "${#lines[@]}" 10
    local rest='0,1,2,3,4,5,6,7 ports'
    expect "first leaf" "$(grep -c "^spine.leaf1.n0[1-8] $rest\$" <<<"$output")" 8
    expect "second leaf" "$(grep -cE "^spine.leaf2.n(09|10) $rest\$" <<<"$output")" 2
    run_client scontrol show node n03
    expect_match "address" "$output" 'NodeAddr=127.0.1.3 '
    expect_match "GPUs" "$output" 'Gres=gpu:8\(S:0-1\)'
}

@test "start again: the same cluster is kept, another one is refused" {
    "$cluster" start 2
    local pid
    pid=$(pid_of slurmctld)
    run_client "$cluster" start 2
    expect_status 0
    expect_match "message" "$output" '^cluster: already running'
    run_client "$cluster" start 3
    expect_refusal 'already running with nodes=2 in .*; stop it first'
    PARPLAN_CLUSTER_GPUS=4 run_client "$cluster" start 2
    expect_refusal 'already running with PARPLAN_CLUSTER_GPUS=8 in'
    expect "slurmctld" "$(pid_of slurmctld)" "$pid"
    run_client "$cluster" status
    expect_status 0
}

@test "two starts at once in one folder: one cluster" {
    "$cluster" start 2 >"$BATS_TEST_TMPDIR/first" &
    local first=$!
    "$cluster" start 2 >"$BATS_TEST_TMPDIR/second"
    wait "$first"
    local words
    words=$(cut -d' ' -f2 "$BATS_TEST_TMPDIR"/{first,second} | sort | xargs)
    expect "messages" "$words" "already running:"
}

@test "stop: nothing is left but logs; once more is no error" {
    "$cluster" start 2
    run_client "$cluster" stop
    expect_status 0
    expect_no_process
    expect "folder" "$(cd "$PARPLAN_CLUSTER_DIR" && echo *)" "lock log"
    run_client "$cluster" stop
    expect_status 0
    expect_match "message" "$output" 'not running'
    run_client "$cluster" status
    expect_status 3
    run_client "$cluster" env
    expect_refusal 'not running'
}

@test "stop ends running jobs" {
    "$cluster" start 2
    eval "$("$cluster" env)"
    cd "$BATS_TEST_TMPDIR"
    timeout 30 srun -N2 sleep 321 3>&- &
    local client=$!
    wait_until_job_runs
    run_client "$cluster" stop
    expect_status 0
    wait "$client" || true
    cd /
    expect "tasks left" "$(processes_in "$BATS_TEST_TMPDIR")" ""
}

@test "a killed slurmd: status says so, stop cleans up" {
    "$cluster" start 3
    kill_daemons n02
    run_client "$cluster" status
    expect_status 1
    expect "message" "$output" "cluster: half dead: $PARPLAN_CLUSTER_DIR lost n02"
    run_client "$cluster" stop
    expect_status 0
    expect_no_process
}

@test "a killed slurmctld with a job that runs: start replaces the cluster" {
    "$cluster" start 2
    eval "$("$cluster" env)"
    (cd "$BATS_TEST_TMPDIR" && timeout 30 srun -N2 sleep 322 3>&- 2>/dev/null) &
    wait_until_job_runs
    kill_daemons slurmctld
    run_client "$cluster" start 2
    expect_status 0
    expect_match "message" "$output" 'cleaning up a cluster that lost slurmctld'
    run_srun -N2 true
    expect_status 0
    kill %1 2>/dev/null || true
}

@test "all daemons killed, as by a reboot: start begins anew" {
    "$cluster" start 2
    # shellcheck disable=SC2046
    kill_daemons $(awk '{ print $4 }' "$PARPLAN_CLUSTER_DIR/run/processes")
    run_client "$cluster" status
    expect_status 3
    run_client "$cluster" start 3
    expect_status 0
    run_client "$cluster" status
    expect_match "message" "$output" '3 n\[01-03\] gpu:8\(S:0-1\) idle'
}

@test "a stale pid that is another program's now is left alone" {
    "$cluster" start 1
    local processes=$PARPLAN_CLUSTER_DIR/run/processes bystander since
    sleep 100 3>&- &
    bystander=$!
    since=$(cat /proc/sys/kernel/random/boot_id)/$(awk '{ print $22 }' "/proc/$bystander/stat")
    echo "$bystander $since $(realpath "$(command -v slurmd)") n02" >>"$processes"
    echo "$bystander some-boot/1 $(realpath "$(command -v sleep)") n03" >>"$processes"
    run_client "$cluster" stop
    expect_status 0
    kill "$bystander"
}

@test "a folder deleted under a running cluster: stop finds the daemons all the same" {
    "$cluster" start 2
    rm -rf "$PARPLAN_CLUSTER_DIR"
    run_client "$cluster" stop
    expect_status 0
    expect_no_process
}

@test "two clusters side by side" {
    local first=$BATS_TEST_TMPDIR/first second=$BATS_TEST_TMPDIR/second folder
    for folder in "$first" "$second"; do
        PARPLAN_CLUSTER_DIR=$folder "$cluster" start 2
    done
    for folder in "$first" "$second"; do
        eval "$(PARPLAN_CLUSTER_DIR=$folder "$cluster" env)"
        run_srun -N2 true
        expect_status 0
    done
    PARPLAN_CLUSTER_DIR=$first "$cluster" stop
    run_srun -N2 true
    expect_status 0
    PARPLAN_CLUSTER_DIR=$second "$cluster" stop
}

@test "numbers of nodes that make no cluster are refused in one line" {
    local number
    for number in 0 x 501 -1 1.5 99999 ""; do
        run_client "$cluster" start "$number"
        expect_refusal "the number of nodes is '$number', must be a number from 1 to 500"
    done
    [[ ! -e $PARPLAN_CLUSTER_DIR ]]
}

@test "wrong settings are refused in one line" {
    PARPLAN_CLUSTER_GPUS=many run_client "$cluster" start 1
    expect_refusal PARPLAN_CLUSTER_GPUS
    PARPLAN_CLUSTER_TOPOLOGY=/nowhere run_client "$cluster" start 1
    expect_refusal "PARPLAN_CLUSTER_TOPOLOGY: cannot read '/nowhere'"
    PARPLAN_CLUSTER_SPANK=/nowhere.so run_client "$cluster" start 1
    expect_refusal "PARPLAN_CLUSTER_SPANK: cannot read '/nowhere.so'"
    PARPLAN_CLUSTER_DIR="$BATS_TEST_TMPDIR/a b" run_client "$cluster" start 1
    expect_refusal "PARPLAN_CLUSTER_DIR is .*a b"
}

@test "a start that fails says why in one line and leaves nothing" {
    PARPLAN_CLUSTER_CONF=NoSuchKey=1 run_client "$cluster" start 2
    expect_refusal 'start failed: slurmctld: .*unrecognized key: NoSuchKey.*logs: '
    expect_no_process
    run_client "$cluster" status
    expect_status 3
}

@test "a start that is interrupted leaves nothing" {
    local delay pid code
    for delay in 0.1 0.15 0.2; do
        "$cluster" start 64 3>&- &
        pid=$!
        sleep "$delay"
        kill "$pid"
        code=0
        wait "$pid" || code=$?
        expect "exit status" "$code" 143
        expect_no_process
    done
}

@test "a folder too long for sockets" {
    PARPLAN_CLUSTER_DIR=$BATS_TEST_TMPDIR/$(printf 'long%.0s' {1..30})/c
    "$cluster" start 2
    eval "$("$cluster" env)"
    local sockets
    sockets=$(cat "$PARPLAN_CLUSTER_DIR/run/sockets")
    run_srun -N2 true
    expect_status 0
    "$cluster" stop
    [[ ! -e $sockets ]]
}

@test "typed GPUs, a topology of one's own, more lines for slurm.conf, no ports" {
    printf 'SwitchName=rack%d Nodes=n0%d\n' 1 1 2 2 >"$BATS_TEST_TMPDIR/topology.conf"
    echo 'SwitchName=core Switches=rack[1-2]' >>"$BATS_TEST_TMPDIR/topology.conf"
    PARPLAN_CLUSTER_TOPOLOGY=$BATS_TEST_TMPDIR/topology.conf PARPLAN_CLUSTER_GRES_TYPE=h100 \
        PARPLAN_CLUSTER_GPUS=3 PARPLAN_CLUSTER_MPI_PORTS=0 PARPLAN_CLUSTER_CONF=JobRequeue=0 \
        "$cluster" start 2
    eval "$("$cluster" env)"
    # shellcheck disable=SC2016
    run_srun -N2 --gpus-per-node=h100:3 bash -c \
        'echo $SLURM_TOPOLOGY_ADDR $CUDA_VISIBLE_DEVICES ${SLURM_STEP_RESV_PORTS:-none}'
    expect "tasks" "$(sort <<<"$output" | xargs)" \
        "core.rack1.n01 0,1,2 none core.rack2.n02 0,1,2 none"
    run_client scontrol show config
    expect_match "configuration" "$output" 'JobRequeue *= 0'
    run_client sinfo -ho %G
    expect "GRES" "$output" "gpu:h100:3(S:0-1)"
}

@test "no GPUs, and 100 nodes" {
    PARPLAN_CLUSTER_GPUS=0 "$cluster" start 100
    eval "$("$cluster" env)"
    run_client sinfo -ho '%N %G'
    expect "nodes" "$output" "n[001-100] (null)"
}

@test "the plugin and its arguments; a later start names another" {
    cat >"$BATS_TEST_TMPDIR/echo.c" <<'END'
#include <slurm/spank.h>
SPANK_PLUGIN(echo, 1)
int slurm_spank_local_user_init(spank_t spank, int count, char **arguments)
{
    slurm_info("echo: %s", count > 0 ? arguments[0] : "nothing");
    return 0;
}
END
    "${CC:-cc}" -shared -fPIC -o "$BATS_TEST_TMPDIR/echo.so" "$BATS_TEST_TMPDIR/echo.c"
    PARPLAN_CLUSTER_SPANK=$BATS_TEST_TMPDIR/echo.so PARPLAN_CLUSTER_SPANK_ARGS=config=/x \
        "$cluster" start 1
    eval "$("$cluster" env)"
    run_srun true
    expect_match "plugin" "$stderr" 'echo: config=/x'
    PARPLAN_CLUSTER_SPANK=$BATS_TEST_TMPDIR/echo.so "$cluster" start 1
    wait_until_idle
    run_srun true
    expect_match "plugin" "$stderr" 'echo: nothing'
    "$cluster" start 1
    wait_until_idle
    run_srun true
    expect "plugin" "$stderr" ""
}

@test "env takes a surrounding allocation's variables away" {
    "$cluster" start 1
    SLURM_JOB_ID=77 SLURM_NTASKS=99 SBATCH_PARTITION=far run_client "$cluster" env
    local unset=$'unset SBATCH_PARTITION\nunset SLURM_JOB_ID\nunset SLURM_NTASKS\n'
    expect_match "variables" "$output" "^$unset"
}

@test "an ordinary user's cluster" {
    ((EUID == 0)) || skip "this user is ordinary already: every other test showed it"
    # daemon: Slurm of 26.05 takes no nobody.
    local user=(setpriv --reuid=1 --regid=1 --clear-groups)
    "${user[@]}" test -x "$cluster" || skip "the project's folder is closed to other users"
    PARPLAN_CLUSTER_DIR=$(mktemp -d /tmp/parplan.XXXXXX)
    chown 1:1 "$PARPLAN_CLUSTER_DIR"
    "${user[@]}" "$cluster" start 2
    eval "$("$cluster" env)"
    run_client "${user[@]}" srun -N2 id -u
    expect "users" "$(xargs <<<"$output")" "1 1"
    "${user[@]}" "$cluster" stop
    expect_no_process
    rm -rf "$PARPLAN_CLUSTER_DIR"
    PARPLAN_CLUSTER_DIR=$BATS_TEST_TMPDIR/c
}

#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# The private Kubernetes itself: each test leaves no process. One cluster is shared by those that
# only use it; those that break one have their own.
load support

# own_cluster: a cluster of this test's own.
own_cluster() {
    export PARPLAN_KUBERNETES_DIR=$BATS_TEST_TMPDIR/c
    "$cluster" start
    eval "$("$cluster" env)"
}

teardown() {
    [[ ${BATS_TEST_COMPLETED:-} ]] || tail -n 3 "$PARPLAN_KUBERNETES_DIR"/log/*.log || true
    [[ $PARPLAN_KUBERNETES_DIR != "$BATS_TEST_TMPDIR/c" ]] || "$cluster" stop
    expect_no_process "$BATS_TEST_TMPDIR/"
}

expect_no_process() {
    local pid left=
    for pid in $(processes_in "$1"); do
        left+="$pid $(tr '\0' ' ' <"/proc/$pid/cmdline") "
    done
    expect "processes left" "$left" ""
}

# expect_refusal TEXT: one line on stderr that holds it, no success
expect_refusal() {
    expect_match "exit status" "$status" '^[12]$'
    expect_match "message" "$stderr" "$1"
    expect "lines on stderr" "$(wc -l <<<"$stderr")" 1
}

@test "64 nodes of 8 GPUs in 4 blocks of 2 leaves, in no order of names" {
    expect "nodes" "$(kubectl get nodes --no-headers | grep -c ' Ready ')" 64
    expect "GPUs" "$(kubectl get nodes -o json | jq '[.items[].status.allocatable["nvidia.com/gpu"] | tonumber] | add')" 512
    expect "leaves of 8 nodes" "$(places | awk '{ print $2 }' | sort | uniq -c | awk '$1 == 8' | wc -l)" 8
    expect "blocks of 2 leaves" "$(places | awk '{ print $3, $2 }' | sort -u | awk '{ print $1 }' | uniq -c | awk '$1 == 2' | wc -l)" 4
    expect "neighbours by name under one leaf" "$(places | sort | awk '$2 == last { n++ } { last = $2 } END { print n + 0 }')" 0
}

@test "parplan reads the fabric of these nodes" {
    kubectl get nodes -o json >"$BATS_TEST_TMPDIR/nodes.json"
    run_client "$PARPLAN_BUILD/parplan" topology --node dgx-h100 \
        --fabric "$BATS_TEST_TMPDIR/nodes.json" --format json
    expect_status 0
    expect "leaves" "$(jq -r '[.. | objects | select(has("path")) | .path[0]] | unique | length' <<<"$output")" 8
}

@test "an Indexed Job of 16 pods: the stock scheduler binds all, the kubelet's stand-in runs them" {
    submit_job stock 16 label=
    wait_bound stock 16
    expect_distinct_nodes stock 16
    wait_for 60 "running pods" job_is_ready stock 16
    kubectl delete job stock --wait=false
    wait_for 60 "end of its pods" no_pods
}

job_is_ready() {
    [[ $(kubectl get job "$1" -o jsonpath='{.status.ready}') == "$2" ]]
}

@test "service accounts have tokens and no rights of their own; the audit log has their requests" {
    kubectl create serviceaccount nobody
    write_identity nobody default nobody
    run_client kubectl --kubeconfig "$PARPLAN_KUBERNETES_DIR/etc/nobody.kubeconfig" get nodes
    expect_match "exit status" "$status" '^1$'
    expect_match "answer" "$stderr" 'system:serviceaccount:default:nobody" cannot list resource "nodes"'
    expect "audit" "$(jq -r 'select(.user.username == "system:serviceaccount:default:nobody" and .objectRef.resource == "nodes")
        | "\(.verb) \(.objectRef.resource) \(.annotations["authorization.k8s.io/decision"])"' \
        "$PARPLAN_KUBERNETES_DIR/log/audit.log")" "list nodes forbid"
}

@test "the scheduler asks an extender that its configuration names, and goes back" {
    local port etc=$PARPLAN_KUBERNETES_DIR/etc
    port=$(free_port)
    print_extender_config "$port" >"$etc/test.yaml"
    "$cluster" restart scheduler --scheduler-config "$etc/test.yaml"
    submit_job asks 1 label=
    expect_event asks "127.0.0.1:$port.*connection refused"
    expect_unbound asks 1
    printf 'apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n' >"$etc/stock.yaml"
    "$cluster" restart scheduler --scheduler-config "$etc/stock.yaml"
    wait_bound asks 1
    remove_jobs
}

@test "restart, kill, pause and resume of single programs" {
    local program
    "$cluster" kill scheduler
    run_client "$cluster" status
    expect_status 1
    expect "message" "$output" "cluster: half dead: $PARPLAN_KUBERNETES_DIR lost scheduler"
    submit_job late 4 label=
    expect_unbound late 1
    for program in etcd apiserver controller-manager scheduler kubelet; do
        "$cluster" restart "$program"
    done
    wait_bound late 4
    "$cluster" pause apiserver
    run timeout 2 kubectl get nodes
    expect "exit status" "$status" 124
    "$cluster" resume apiserver
    wait_for 60 "answer" kubectl get namespace default
    run_client "$cluster" status
    expect_status 0
    remove_jobs
}

@test "a program of another name is its own, too; stop leaves nothing but logs; once more is no error" {
    local pid data
    own_cluster
    data=$(realpath "$PARPLAN_KUBERNETES_DIR/run/etcd")
    [[ -d $data/member ]]
    "$cluster" spawn helper sleep 1000
    pid=$(program_pid helper)
    "$cluster" restart helper
    [[ $(program_pid helper) != "$pid" ]]
    run_client "$cluster" spawn helper sleep 5
    expect_refusal 'helper runs already'
    run_client "$cluster" spawn etcd sleep 5
    expect_refusal "'etcd' cannot be the name"
    run_client "$cluster" kill nothing
    expect_refusal "no program is called 'nothing'"
    run_client "$cluster" stop
    expect_status 0
    expect_no_process "$PARPLAN_KUBERNETES_DIR"
    expect "folder" "$(cd "$PARPLAN_KUBERNETES_DIR" && echo *)" "lock log"
    [[ ! -e $data ]]
    run_client "$cluster" stop
    expect_match "message" "$output" 'not running'
    run_client "$cluster" status
    expect_status 3
    run_client "$cluster" env
    expect_refusal 'not running'
}

# strangers FOLDER: a process that nobody of the cluster started gets lines of its own there, as of a
# stale pid. Sets bystander.
strangers() {
    local since processes=$1/run/processes
    sleep 100 3>&- &
    bystander=$!
    since=$(cat /proc/sys/kernel/random/boot_id)/$(awk '{ print $22 }' "/proc/$bystander/stat")
    echo "$bystander $since $(realpath "$(command -v etcd)") helper" >>"$processes"
    echo "$bystander some-boot/1 $(realpath "$(command -v sleep)") other" >>"$processes"
}

@test "two starts at once are two clusters; stop ends all that is its own: no stale pid, but what a deleted folder hides" {
    local first=$BATS_TEST_TMPDIR/c second=$BATS_TEST_TMPDIR/d pid bystander data
    "$cluster" start --folder "$first" >"$BATS_TEST_TMPDIR/first" 2>&1 &
    pid=$!
    "$cluster" start --folder "$second"
    wait "$pid"
    eval "$("$cluster" env --folder "$first")"
    "$cluster" nodes 2 --folder "$first"
    expect "nodes of the first" "$(kubectl get nodes -o name | wc -l)" 2
    eval "$("$cluster" env --folder "$second")"
    expect "nodes of the second" "$(kubectl get nodes -o name | wc -l)" 0
    strangers "$first"
    rm -rf "${first:?}/etc"
    "$cluster" stop --folder "$first"
    kill "$bystander"
    kubectl get nodes
    data=$(realpath "$second/run/etcd")
    rm -rf "$second"
    "$cluster" stop --folder "$second"
    expect_no_process "$second"
    [[ ! -e $data ]]
}

@test "start again: the same is kept, another refused, a half dead one replaced; stop of that does not hang" {
    local pid
    own_cluster
    pid=$(program_pid apiserver)
    run_client "$cluster" start
    expect_match "message" "$output" '^cluster: already running'
    expect "API server" "$(program_pid apiserver)" "$pid"
    run_client "$cluster" start --gates gang
    expect_refusal 'started with other options; stop it first'
    "$cluster" kill etcd
    run_client "$cluster" start
    expect_status 0
    expect_match "message" "$output" 'cleaning up a cluster that lost etcd'
    "$cluster" kill etcd
    "$cluster" pause scheduler
    "$cluster" pause apiserver
    SECONDS=0
    run_client "$cluster" stop
    expect_status 0
    ((SECONDS <= 30))
    expect_no_process "$PARPLAN_KUBERNETES_DIR"
}

@test "a start that fails says why in one line and leaves nothing" {
    export PARPLAN_KUBERNETES_DIR=$BATS_TEST_TMPDIR/c
    echo 'kind: Nonsense' >"$BATS_TEST_TMPDIR/bad.yaml"
    run_client "$cluster" start --scheduler-config "$BATS_TEST_TMPDIR/bad.yaml"
    expect_refusal 'start failed: scheduler: .*Nonsense.*logs: '
    expect_no_process "$PARPLAN_KUBERNETES_DIR"
    run_client "$cluster" start --scheduler-config /no/such
    expect_refusal "no file is called '/no/such'"
    PARPLAN_KUBERNETES_CACHE=/no/such run_client "$cluster" start
    expect_refusal '/no/such/kube-apiserver not found: tests/kubernetes/binaries'
    run_client "$cluster" nodes 0
    expect_refusal 'not running'
}

@test "a start that is interrupted leaves nothing" {
    export PARPLAN_KUBERNETES_DIR=$BATS_TEST_TMPDIR/c
    local delay pid code
    for delay in 0.3 1.5; do
        "$cluster" start 3>&- &
        pid=$!
        sleep "$delay"
        kill "$pid"
        code=0
        wait "$pid" || code=$?
        expect "exit status" "$code" 143
        expect_no_process "$PARPLAN_KUBERNETES_DIR"
    done
}

@test "programs that cannot be built are named in one line" {
    printf '#!/bin/bash\necho go1.19.8\n' >"$BATS_TEST_TMPDIR/go"
    chmod +x "$BATS_TEST_TMPDIR/go"
    run_client env PARPLAN_KUBERNETES_CACHE="$BATS_TEST_TMPDIR/none" PATH="$BATS_TEST_TMPDIR:$PATH" \
        "$BATS_TEST_DIRNAME/binaries"
    expect_refusal 'Go 1.19.8 is too old; .* need 1.26.0, which 1.21 or later .* fetches by itself'
    [[ ! -e $BATS_TEST_TMPDIR/none ]]
}

#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Bad days: parts of the control plane and the extender itself fail in the middle of gangs.
load support

setup_file() {
    start_extender_cluster --stale-seconds 5
}

setup() {
    [[ ! ${PARPLAN_KUBERNETES_DIR:-} ]] || heal_cluster
    setup_gangs
}

readonly plan=(tp=8 pp=4 dp=4)

not_ready() {
    ! extender_ready
}

expect_refused_call() {
    run_client curl -s --max-time 5 "$extender_url/healthz"
    expect "health" "$output" ok || return 1
    run_client curl -s --max-time 5 -d "$(print_question)" "$extender_url/parplan/v1/filter"
    expect_match "answer" "$output" '"Error": ?"[^"]'
}

@test "the API server is gone: not ready after the limit, refusals with a reason, then all is well" {
    "$cluster" kill apiserver
    wait_for 60 "loss of readiness" not_ready
    expect_refused_call
    heal_cluster
    wait_for 60 "readiness" extender_ready
    submit_job train 16 "${plan[@]}" gate
    expect_placed train 16
}

@test "the API server hangs: that is heard from its silence" {
    "$cluster" pause apiserver
    wait_for 180 "loss of readiness" not_ready
    expect_refused_call
    "$cluster" resume apiserver
    wait_for 60 "readiness" extender_ready
}

print_question() {
    print_job asked 1 | jq '{Pod: {metadata: (.spec.template.metadata + {name: "asked-0", namespace: "default", uid: "u"}),
        spec: .spec.template.spec}, Nodes: null, NodeNames: ["gpu-00"]}'
}

@test "the API server is killed in the middle of a gang: the gang is bound as planned" {
    submit_job train 64 tp=8 pp=8 dp=8 gate
    "$cluster" kill apiserver
    sleep 1
    heal_cluster
    wait_for 60 "readiness" extender_ready
    wait_bound train 64 90
    expect_planned train 64
    expect_distinct_nodes train 64
}

@test "etcd is restarted: watches go on or begin again, nothing is lost" {
    submit_job train 16 "${plan[@]}" gate
    expect_placed train 16
    "$cluster" restart etcd
    submit_job later 16 "${plan[@]}" gate
    wait_bound later 16 60
    expect_planned later 16
    expect "nodes that it knows" "$(curl -s "$extender_url/metrics" | awk '/^parplan_nodes/ { print $2 }')" 64
}

@test "the extender hangs longer than the scheduler waits: nothing is reserved twice" {
    "$cluster" pause extender
    submit_job train 16 "${plan[@]}"
    sleep 5
    expect "bound" "$(count_bound train)" 0
    "$cluster" resume extender
    wait_bound train 16 60
    expect_planned train 16
    expect_distinct_nodes train 16
}

@test "without the extender GPU pods wait, others are scheduled" {
    "$cluster" kill extender
    submit_job train 16 "${plan[@]}"
    kubectl apply -f - <<END
apiVersion: v1
kind: Pod
metadata: {name: plain}
spec: {containers: [{name: a, image: a}]}
END
    wait_for 60 "plain pod's node" plain_is_bound
    expect_unbound train
    "$cluster" restart extender
    wait_bound train 16 60
    expect_planned train 16
}

plain_is_bound() {
    [[ $(kubectl get pod plain -o jsonpath='{.spec.nodeName}') ]]
}

@test "SIGTERM: it gives up the Lease and ends within 2 s" {
    local pid start=${EPOCHREALTIME/[.,]/}
    pid=$(program_pid extender)
    kill -TERM "$pid"
    while [[ -e /proc/$pid/exe ]]; do sleep 0.02; done
    ((${EPOCHREALTIME/[.,]/} - start < 2000000))
    expect "holder" "$(kubectl get lease -n parplan-system parplan-extender -o jsonpath='{.spec.holderIdentity}')" ""
    "$cluster" restart extender
    wait_for 60 "readiness" extender_ready
}

@test "a leader that is killed is replaced within 15 s, and no gang is lost" {
    local second port etc=$PARPLAN_KUBERNETES_DIR/etc
    port=$(free_port)
    second=$BATS_TEST_TMPDIR/second
    "$cluster" spawn extender-two "$PARPLAN_BUILD/parplan-extender" --kubeconfig "$etc/extender.kubeconfig" \
        --config "$etc/parplan.yaml" --listen "127.0.0.1:$port" --lease-namespace parplan-system --identity two
    wait_for 60 "ready second" curl -sf -o "$second" "http://127.0.0.1:$port/readyz"
    print_extender_config "$port" >"$etc/second.yaml"
    "$cluster" restart scheduler --scheduler-config "$etc/second.yaml"
    submit_job before 16 "${plan[@]}" gate
    expect_placed before 16
    "$cluster" kill extender
    submit_job after 16 "${plan[@]}" gate
    wait_bound after 16 20
    expect_planned after 16
    expect "leader" "$(curl -s "http://127.0.0.1:$port/gangs" | jq .leader)" true
    "$cluster" restart extender
    "$cluster" restart scheduler --scheduler-config "$etc/extender-scheduler.yaml"
}

@test "pods and nodes that come and go while it is away are seen after a restart" {
    submit_job train 16 "${plan[@]}" gate
    expect_placed train 16
    "$cluster" kill extender
    kubectl delete job train --wait=false
    wait_for 60 "end of the pods" no_pods
    kubectl delete node gpu-63
    "$cluster" restart extender
    wait_for 60 "readiness" extender_ready
    submit_job all 63 tp=8 pp=7 dp=9 gate
    expect_placed all 63
    expect "gangs" "$(gangs | jq '.gangs | length')" 1
}

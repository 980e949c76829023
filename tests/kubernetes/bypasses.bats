#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Ways around parplan that the API server lets pass, each with the extender's answer (admission.bats
# has those that it does not).
load support

# shellcheck disable=SC2034 # support's
cluster_nodes=16

setup_file() {
    start_extender_cluster
}

setup() {
    setup_gangs
}

# apply_pod NAME [JQ]: a pod of 8 GPUs, changed by the filter.
apply_pod() {
    print_pod "$1" label= | jq "${2:-.}" | kubectl apply -f -
}

# policy TEXT [LINE]: what parplan.yaml says from now on; returns when the extender has read it again.
policy() {
    local before
    before=$(times_read)
    write_parplan_yaml "$PARPLAN_KUBERNETES_DIR/etc/parplan.yaml" "$@"
    wait_for 20 "look at the policy" read_more_than "$before"
}

times_read() {
    grep -c 'the policy was read again' "$PARPLAN_KUBERNETES_DIR/log/extender.log" || true
}

read_more_than() {
    (($(times_read) > $1))
}

bind_pod() { # pod node
    jq -n --arg pod "$1" --arg node "$2" '{apiVersion: "v1", kind: "Binding", metadata: {name: $pod},
        target: {apiVersion: "v1", kind: "Node", name: $node}}' |
        kubectl create --raw "/api/v1/namespaces/default/pods/$1/binding" -f -
}

@test "a pod with its node set, and one of another scheduler: their GPUs count, no gang is put there" {
    apply_pod sneaked '.spec.nodeName = "gpu-00"'
    apply_pod other '.spec.schedulerName = "another"'
    bind_pod other gpu-01
    submit_job train 16 tp=8 pp=4 dp=4
    expect_event train '14 are free'
    expect_unbound train 1
    kubectl delete pod sneaked other --grace-period=0 --force
    expect_placed train 16
}

# expect_waiting POD REGEX: it is not bound, and an event of it says why.
expect_waiting() {
    wait_for 60 "event of $1 that matches $2" has_event "${1%-*}" "$2" || return 1
    expect "node" "$(kubectl get pod "$1" -o jsonpath='{.spec.nodeName}')" ""
}

@test "require_plan: a pod with GPUs of any vendor and without a plan waits, and is told so" {
    policy 'require_plan: deny'
    apply_pod nvidia-bare
    expect_waiting nvidia-bare 'plan'
    print_node amd-00 amd.com/gpu 8 | kubectl create -f -
    apply_pod amd-bare '.spec.containers[0].resources.limits = {"amd.com/gpu": "8"}'
    expect_waiting amd-bare 'plan'
    kubectl delete node amd-00
    policy 'tp_within: node'
    wait_for 120 "node of nvidia-bare" bound_somewhere nvidia-bare
}

bound_somewhere() {
    [[ $(api "/api/v1/namespaces/default/pods/$1" | jq -r ".spec.nodeName // \"\"") ]]
}

@test "tp=16 on 8 GPUs that no admission policy saw: denied in one sentence, no pod is bound" {
    submit_job wide 16 tp=16 pp=4 dp=2 gate
    expect_event wide 'tp=16'
    expect_unbound wide 1
}

@test "a gang without indexes is refused in one sentence, never placed by guess" {
    kubectl apply -f - <<END
apiVersion: batch/v1
kind: Job
metadata: {name: plain}
spec:
  completions: 4
  parallelism: 4
  template:
    metadata:
      labels: {parplan.io/gang: plain}
      annotations: {parplan.io/tp: "8", parplan.io/size: "4"}
    spec:
      restartPolicy: Never
      containers: [{name: train, image: train, resources: {limits: {nvidia.com/gpu: 8}}}]
END
    expect_event plain 'index'
    expect "bound" "$(kubectl get pods -o json | jq '[.items[] | select(.spec.nodeName)] | length')" 0
}

@test "enabled: false: no gang is placed and require_plan has no effect, until it is true again" {
    policy 'require_plan: deny' 'enabled: false'
    apply_pod bare
    wait_for 60 "node of bare" bound_somewhere bare
    submit_job train 4 tp=8 dp=4 gate
    expect_event train 'enabled: false'
    expect_unbound train 1
    policy 'tp_within: node'
    expect_placed train 4
}

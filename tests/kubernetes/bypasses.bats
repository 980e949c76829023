#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Ways around parplan, each with its answer: admission policies first, the extender for what slips
# past.
load support

setup_file() {
    start_extender_cluster
    [[ ! ${PARPLAN_KUBERNETES_DIR:-} ]] || apply_admission "$PARPLAN_KUBERNETES_DIR/etc/parplan.yaml"
}

setup() {
    setup_gangs
}

# print_pod NAME [JQ...]: a pod of 8 GPUs, changed by the filters.
print_pod() {
    local filter
    print_job "$1" 1 label= | jq --arg name "$1" '{apiVersion: "v1", kind: "Pod", metadata: {name: $name},
        spec: .spec.template.spec}' >"$BATS_TEST_TMPDIR/pod.json"
    for filter in "${@:2}"; do
        jq "$filter" "$BATS_TEST_TMPDIR/pod.json" >"$BATS_TEST_TMPDIR/pod.new"
        mv "$BATS_TEST_TMPDIR/pod.new" "$BATS_TEST_TMPDIR/pod.json"
    done
    cat "$BATS_TEST_TMPDIR/pod.json"
}

apply_pod() {
    print_pod "$@" | kubectl apply -f -
}

# try_pod NAME [JQ...]: sets status, stderr.
try_pod() {
    print_pod "$@" >"$BATS_TEST_TMPDIR/tried.json"
    run_client kubectl apply -f "$BATS_TEST_TMPDIR/tried.json"
}

expect_denied() {
    expect_match "exit status" "$status" '^1$'
    expect_match "message" "$stderr" "$1"
}

# policy LINES: this parplan.yaml from now on, in the admission policies and in the extender.
policy() {
    printf 'schema: parplan.config/1\npolicy: {%s}\n' "$1" >"$PARPLAN_KUBERNETES_DIR/etc/parplan.yaml"
    "$PARPLAN_BUILD/parplan" policy --kubernetes --config "$PARPLAN_KUBERNETES_DIR/etc/parplan.yaml" |
        kubectl apply -f -
    sleep 2
}

@test "a pod with its node set, past the scheduler: its GPUs count, no gang is put there" {
    apply_pod sneaked '.spec.nodeName = "gpu-00"'
    submit_job train 64 tp=8 pp=8 dp=8
    expect_event train '63'
    expect_unbound train
    kubectl delete pod sneaked --grace-period=0 --force
    expect_placed train 64
}

@test "a pod of another scheduler waits there; its GPUs count once it is bound" {
    apply_pod other '.spec.schedulerName = "another"'
    sleep 1
    expect "node" "$(kubectl get pod other -o jsonpath='{.spec.nodeName}')" ""
    kubectl delete pod other --grace-period=0 --force
}

@test "tp=16 on 8 GPUs: refused for a Job and for a pod" {
    print_job wide 16 tp=16 pp=4 dp=2 >"$BATS_TEST_TMPDIR/job.json"
    run_client kubectl apply -f "$BATS_TEST_TMPDIR/job.json"
    expect_denied 'tp-within-node: tp=16 needs 16 GPUs in one node, this pod has 8'
    try_pod wide '.metadata.annotations = {"parplan.io/tp": "16"}'
    expect_denied 'tp-within-node'
}

@test "require_plan: pods without label are refused, also those that ask for amd.com/gpu" {
    policy 'require_plan: deny'
    try_pod bare
    expect_denied 'require-plan|plan'
    try_pod bare '.spec.containers[0].resources.limits = {"amd.com/gpu": "8"}'
    expect_denied 'require-plan|plan'
    policy 'tp_within: node'
    apply_pod bare
    kubectl delete pod bare --grace-period=0 --force
}

@test "outputs are parplan's: a user who sets node-rank is refused" {
    try_pod forged '.metadata.annotations = {"parplan.io/node-rank": "0"}'
    expect_denied 'node-rank|output|parplan.io'
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

@test "forged calls of the scheduler's verbs change nothing" {
    local body='{"PodName":"ghost","PodNamespace":"default","PodUID":"no-such","Node":"gpu-00"}'
    run_client curl -s --max-time 5 -H 'Content-Type: application/json' -d "$body" "$extender_url/parplan/v1/bind"
    expect_match "answer" "$output" '"Error": ?"[^"]'
    run_client curl -s --max-time 5 -d '{"Pod":' "$extender_url/parplan/v1/filter"
    expect_match "answer" "$output" '"Error": ?"[^"]'
    expect "gangs" "$(gangs | jq '.gangs | length')" 0
}

@test "a node agent's token writes its own node's topology, and nothing else" {
    local etc=$PARPLAN_KUBERNETES_DIR/etc token patch='{"metadata":{"annotations":{"parplan.io/topology":"x"}}}'
    kubectl kustomize "$kubernetes_root/manifests/kubernetes/base" | documents_of ServiceAccount ClusterRole ClusterRoleBinding |
        kubectl apply -f -
    kubectl apply -f "$kubernetes_root/manifests/kubernetes/admission/node-agents.yaml"
    token=$(kubectl create token -n parplan-system parplan-node-agent --bound-object-kind Node --bound-object-name gpu-07)
    kubectl config view --raw --minify -o json | jq --arg token "$token" '.users[0].user = {token: $token}' >"$etc/agent.kubeconfig"
    sleep 2
    run_client kubectl --kubeconfig "$etc/agent.kubeconfig" patch node gpu-07 --type merge -p "$patch"
    expect_status 0
    run_client kubectl --kubeconfig "$etc/agent.kubeconfig" patch node gpu-08 --type merge -p "$patch"
    expect_denied 'may not write to node gpu-08'
    run_client kubectl --kubeconfig "$etc/agent.kubeconfig" patch node gpu-07 --type merge -p '{"metadata":{"labels":{"a":"b"}}}'
    expect_denied 'and nothing else'
}

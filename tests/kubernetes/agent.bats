#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# parplan-node-agent against a real API server. The machine is a folder that has sys/: GPUs as AMD's
# driver lists them.
load support

# shellcheck disable=SC2034 # support's
cluster_nodes=2 cluster_options=

setup_file() {
    [[ -x $PARPLAN_BUILD/parplan-node-agent ]] || skip "parplan-node-agent is not built"
    start_cluster
}

setup() {
    agent=$PARPLAN_BUILD/parplan-node-agent
    kubeconfig=$PARPLAN_KUBERNETES_DIR/etc/admin.kubeconfig
    machine=$BATS_TEST_TMPDIR/machine
    node=$(node_name 1)
    kubectl annotate node --all parplan.io/topology- >/dev/null
    write_machine 4
}

teardown() {
    [[ -z ${agent_pid:-} ]] || kill "$agent_pid" 2>/dev/null || true
    [[ ${BATS_TEST_COMPLETED:-} ]] || cat "$BATS_TEST_TMPDIR"/*.log 2>/dev/null || true
}

node_name() {
    kubectl get nodes -o json | jq -r --argjson at "$1" '.items[$at - 1].metadata.name'
}

# One look at the machine.
run_agent() {
    run_client "$agent" --kubeconfig "$kubeconfig" --node "$node" --sysfs "$machine" --once
}

# start_agent: it runs on, a look every second, or every $agent_seconds.
start_agent() {
    "$agent" --kubeconfig "$kubeconfig" --node "$node" --sysfs "$machine" --interval "${agent_seconds:-1}" \
        2>"$BATS_TEST_TMPDIR/agent.log" 3>&- &
    agent_pid=$!
}

annotation() {
    kubectl get node "$1" -o json | jq -r '.metadata.annotations["parplan.io/topology"] // ""'
}

version() {
    kubectl get node "$node" -o jsonpath='{.metadata.resourceVersion}'
}

gpus_written() {
    annotation "$node" | grep -c '^gpu '
}

has_gpus() {
    [[ $(gpus_written) == "$1" ]]
}

# What is written is what another one prints.
is_as_printed() {
    [[ $(annotation "$node") == "$("$agent" --print --sysfs "$machine")" ]]
}

log_has() {
    grep -q -- "$1" "$BATS_TEST_TMPDIR/agent.log"
}

# requests VERB: of the agent to nodes, by the audit log.
requests() {
    jq -r --arg verb "$1" 'select(.userAgent != null and (.userAgent | startswith("parplan-node-agent/"))
        and .stage == "ResponseComplete" and .verb == $verb) | .objectRef.name' \
        "$PARPLAN_KUBERNETES_DIR/log/audit.log" | wc -l
}

@test "what is printed is what is written, once; what is unchanged is not written again" {
    local first
    run_client "$agent" --print --sysfs "$machine"
    expect_status 0
    first=$output
    expect "GPUs printed" "$(grep -c '^gpu ' <<<"$first")" 4
    run_agent
    expect_status 0
    expect_match "said" "$stderr" "^parplan-node-agent: node $node: topology written: 4x-mi300x$"
    expect "annotation" "$(annotation "$node")" "$first"
    first=$(version)
    run_agent
    expect_status 0
    expect_match "said" "$stderr" "its topology is as it was: 4x-mi300x$"
    expect "resource version" "$(version)" "$first"
    expect "annotation of the other node" "$(annotation "$(node_name 2)")" ""
}

@test "a machine that changed is written anew" {
    run_agent
    expect "GPUs" "$(gpus_written)" 4
    write_machine 3
    run_agent
    expect_status 0
    expect_match "said" "$stderr" 'topology written: 3x-mi300x$'
    expect "GPUs" "$(gpus_written)" 3
}

@test "an agent that runs on asks the API server when the machine changes, and else not for an hour" {
    local reads writes
    reads=$(requests get) writes=$(requests patch)
    start_agent
    wait_for 30 "annotation" has_gpus 4
    sleep 3
    expect "reads" "$(($(requests get) - reads))" 1
    expect "writes" "$(($(requests patch) - writes))" 1
    # A look may fall into the change: it is then written in two steps, and the last one is whole.
    write_machine 2
    wait_for 30 "new annotation" is_as_printed
    sleep 1
    reads=$(requests get) writes=$(requests patch)
    sleep 3
    expect "reads" "$(requests get)" "$reads"
    expect "writes" "$(requests patch)" "$writes"
}

@test "SIGTERM ends it at once, with success" {
    local status=0
    agent_seconds=3600 start_agent
    wait_for 30 "annotation" has_gpus 4
    kill "$agent_pid"
    wait_for 30 "end" has_ended "$agent_pid"
    wait "$agent_pid" || status=$?
    agent_pid=
    expect "exit status" "$status" 0
}

@test "an API server that is away: one line, and the node is written when it is back" {
    start_agent
    wait_for 30 "annotation" has_gpus 4
    "$cluster" kill apiserver
    write_machine 3
    wait_for 30 "line of the failure" log_has 'Failed to connect'
    sleep 4
    expect "lines of the failure" "$(grep -c 'Failed to connect' "$BATS_TEST_TMPDIR/agent.log")" 1
    "$cluster" restart apiserver
    wait_for 150 "annotation" has_gpus 3
    expect_match "last line" "$(tail -n 1 "$BATS_TEST_TMPDIR/agent.log")" 'topology written: 3x-mi300x$'
}

@test "a wrong name of the node is one line that says what to set" {
    node=nobody
    run_agent
    expect_status 1
    expect "stderr" "$stderr" \
        "parplan-node-agent: the cluster has no node nobody; NODE_NAME or --node must be this machine's name there"
}

@test "another node's annotation is out of reach of an agent with the shipped rights" {
    local other shipped=$kubernetes_root/manifests/kubernetes
    other=$(node_name 2)
    kubectl apply -f "$shipped/base/namespace.yaml"
    kubectl apply -f "$shipped/node-agent/node-agent.yaml" -f "$shipped/admission/node-agents.yaml"
    write_identity agent parplan-system parplan-node-agent --bound-object-kind Node --bound-object-name "$node"
    kubeconfig=$PARPLAN_KUBERNETES_DIR/etc/agent.kubeconfig
    run_agent
    expect_status 0
    expect "GPUs" "$(gpus_written)" 4
    node=$other
    wait_for 60 "admission policy in force" is_refused
    expect_match "said" "$stderr" "writing node $other: .*may not write to node $other"
    expect "lines" "$(wc -l <<<"$stderr")" 1
    expect "annotation" "$(annotation "$other")" ""
}

is_refused() {
    run_agent
    [[ $status == 1 ]] && return
    kubectl annotate node "$node" parplan.io/topology- >/dev/null
    return 1
}

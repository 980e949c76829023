#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Gangs of Kubernetes' own (PodGroup, 1.36): the scheduler holds them together, parplan says which
# pod goes where.
load support

# shellcheck disable=SC2034 # support's
cluster_nodes=32

setup_file() {
    [[ ! ${PARPLAN_KUBERNETES:-} ]] || return 0
    cluster_options='--kubelet --gates gang' start_extender_cluster
}

setup() {
    needs_newest PodGroup
    setup_gangs
    kubectl delete podgroups --all --wait=false >"$BATS_TEST_TMPDIR/groups"
}

@test "a native gang of 16 is bound whole as planned" {
    submit_native_job train 16 label= tp=8 pp=4 dp=4
    expect_placed train 16
    expect "pipeline links across leaves" "$(count_crossings train 4 4)" 0
}

# waiting_reasons: of the conditions of the PodGroup and of its pods, each once. An answer with Error
# would be SchedulerError.
waiting_reasons() {
    kubectl get pods,podgroups -o json |
        jq -r '.items[] | select(.kind == "PodGroup" or .metadata.labels["batch.kubernetes.io/job-name"] == "train")
        | .status.conditions[]? | select(.status == "False") | .reason' | sort -u | paste -sd' '
}

@test "a native gang that does not fit waits whole; the extender never answers Error" {
    submit_job filler 24 tp=8 pp=4 dp=6 gate
    expect_placed filler 24
    submit_native_job train 16 label= tp=8 pp=4 dp=4
    expect_event train 'needs 16 nodes'
    expect_unbound train
    expect "reasons why it waits" "$(waiting_reasons)" "Unschedulable"
    kubectl delete job filler --wait=false
    wait_bound train 16 90
    expect_planned train 16
}

#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Gangs on a real scheduler with parplan-extender beside it. With the scheduling gate parplan plans
# and then lets all pods go (mode gate); without it the extender alone holds them (mode filter).
load support

# shellcheck disable=SC2034 # support's
cluster_nodes=32

setup_file() {
    start_extender_cluster
}

setup() {
    setup_gangs
    restore_nodes
}

# What a test has done to nodes, it notes in a file.
restore_nodes() {
    [[ -e $BATS_FILE_TMPDIR/changed ]] || return 0
    kubectl uncordon -l nvidia.com/gpu.count >"$BATS_TEST_TMPDIR/uncordoned"
    kubectl taint nodes -l nvidia.com/gpu.count reserved- >"$BATS_TEST_TMPDIR/untainted" 2>&1 || true
    rm "$BATS_FILE_TMPDIR/changed"
}

readonly plan=(tp=8 pp=4 dp=4)
readonly modes="gate filter"

# In both modes at once: job gate-NAME has the gate, filter-NAME has not.
submit_both() {
    local mode
    for mode in $modes; do
        print_job "$mode-$1" "${@:2}" "$mode"
    done | kubectl apply -f -
}

# both COMMAND JOB ARGUMENT...: of both jobs.
both() {
    local mode
    for mode in $modes; do
        "$1" "$mode-$2" "${@:3}" || return 1
    done
}

is_planned_well() {
    expect_placed "$1" 16 || return 1
    expect "pipeline links across leaves" "$(count_crossings "$1" 4 4)" 0 || return 1
    expect "node ranks" "$(annotations_of "$1" node-rank | awk '$1 != $2' | wc -l)" 0 || return 1
    expect "stages" "$(annotations_of "$1" pp-rank | awk '$2 != int($1 / 4)' | wc -l)" 0 || return 1
    expect "replicas" "$(annotations_of "$1" dp-rank | awk '$2 != $1 % 4' | wc -l)" 0 || return 1
    expect "plans" "$(annotations_of "$1" plan-id | awk '{ print $2 }' | sort -u | wc -l)" 1
}

@test "a gang of 16 is bound whole, rank i on the node of the plan, pipelines under one leaf" {
    submit_both train 16 "${plan[@]}"
    both is_planned_well train
    expect "nodes" "$({ pods_of gate-train && pods_of filter-train; } | awk '{ print $2 }' | sort -u | wc -l)" 32
}

@test "a gang that does not fit waits whole, with its reason, and starts when nodes are free" {
    submit_job first 24 tp=8 pp=4 dp=6 gate
    expect_placed first 24
    submit_both second 16 "${plan[@]}"
    both expect_event second 'GangWaiting: .*second.*16'
    both expect_told second 'GangWaiting.*second.*16'
    both expect_unbound second 1
    kubectl delete job first --wait=false
    both expect_placed second 16
}

@test "a gang that lacks a pod waits and says how many it lacks" {
    submit_both short 15 size=16 "${plan[@]}"
    both expect_event short '15 of 16'
    both expect_unbound short 1
}

# other_pod JOB INDEX POD: another pod has that index.
other_pod() {
    local pod
    pod=$(pod_of_index "$1" "$2")
    [[ $pod && $pod != "$3" ]]
}

# lose JOB INDEX: its pod is deleted.
lose() {
    local pod
    pod=$(pod_of_index "$1" "$2")
    pods_of "$1" >"$BATS_TEST_TMPDIR/$1"
    api_pods "$1" | jq -r '.items[].metadata.uid' >"$BATS_TEST_TMPDIR/$1.uids"
    api "/api/v1/namespaces/default/pods/$pod" -X DELETE -o "$BATS_TEST_TMPDIR/deleted"
}

# is_whole JOB LOST: bound, with so many other pods than when one was lost first.
is_whole() {
    is_bound "$1" 8 && (($(api_pods "$1" | jq -r '.items[].metadata.uid' | grep -cvxFf "$BATS_TEST_TMPDIR/$1.uids") == $2))
}

# expect_same JOB LOST: all but those indexes are as they were.
expect_same() {
    expect "others" "$(pods_of "$1" | awk '$1 !~ /^('"$2"')$/')" "$(awk '$1 !~ /^('"$2"')$/' "$BATS_TEST_TMPDIR/$1")"
}

# node_before JOB INDEX
node_before() {
    awk -v wanted="$2" '$1 == wanted { print $2 }' "$BATS_TEST_TMPDIR/$1"
}

replaced_where_it_was() {
    wait_for 60 "replacement in $1" is_whole "$1" 1 && expect_placed "$1" 8 && expect_same "$1" 5 &&
        expect_match "node of rank 5" "$(node_of_index "$1" 5)" "^$(node_before "$1" 5)$"
}

replaced_elsewhere() {
    wait_for 60 "replacement in $1" is_whole "$1" 1 && expect_placed "$1" 8 && expect_same "$1" 6 || return 1
    expect_match "node of rank 6" "$(node_of_index "$1" 6)" '^gpu-' || return 1
    [[ $(node_of_index "$1" 6) != "$(node_before "$1" 6)" ]] || return 1
    expect "node rank" "$(annotation_of "$(pod_of_index "$1" 6)" node-rank)" 6
}

@test "a replacement pod keeps its rank and its node, and goes to a spare where that is lost; the others stay" {
    {
        print_job job 8 tp=8 pp=4 dp=2 gate
        print_set gate-train 8 tp=8 pp=4 dp=2 gate
        print_set filter-train 8 tp=8 pp=4 dp=2
    } | kubectl apply -f -
    expect_placed job 8
    both expect_placed train 8
    lose job 5
    both lose train 5
    both replaced_where_it_was train
    touch "$BATS_FILE_TMPDIR/changed"
    kubectl cordon "$(node_of_index gate-train 6)" "$(node_of_index filter-train 6)"
    both lose train 6
    both replaced_elsewhere train
    replaced_where_it_was job
}

@test "a gang short of CPU or memory waits whole and says so" {
    submit_both idle 16 cpu=500 "${plan[@]}"
    submit_both full 16 memory=5000Gi "${plan[@]}"
    both expect_event idle 'cpu .*a pod asks for 500, the most there is: [0-9]'
    both expect_event full 'memory .*a pod asks for 5000Gi, the most there is: [0-9]'
    both expect_unbound idle 1
    both expect_unbound full 1
}

@test "tainted nodes are left out, and used by a gang that tolerates them" {
    touch "$BATS_FILE_TMPDIR/changed"
    kubectl taint nodes -l fabric.topograph.run/tier-0!=leaf-4 reserved=yes:NoSchedule >"$BATS_TEST_TMPDIR/tainted"
    submit_job shut 16 "${plan[@]}" gate
    expect_event shut 'taint'
    expect_unbound shut
    submit_job open 16 "${plan[@]}" gate toleration=reserved
    expect_placed open 16
    restore_nodes
    expect_placed shut 16
}

@test "a gang that must wait evicts nobody" {
    kubectl create priorityclass high --value 1000 --dry-run=client -o json | kubectl apply -f -
    submit_job low 32 label=
    wait_bound low 32
    submit_job high 15 size=16 "${plan[@]}" priority=high
    # The scheduler has tried it, and looked for victims.
    expect_event high 'FailedScheduling: .*preemption: '
    expect_unbound high
    expect "evicted pods" "$(kubectl get events | grep -c Preempted)" 0
    expect "bound pods of low priority" "$(count_bound low)" 32
}

@test "pods of a gang that go while others are bound hold their GPUs until they are gone" {
    "$cluster" pause kubelet
    submit_job first 32 tp=8 pp=4 dp=8 gate
    expect_placed first 32
    kubectl delete job first --wait=false
    submit_job second 16 "${plan[@]}" gate
    expect_event second 'GangWaiting: .*16'
    expect_unbound second
    "$cluster" resume kubelet
    expect_placed second 16
}

is_on_amd() {
    expect_placed "$1" 4 || return 1
    expect "nodes of $1" "$(pods_of "$1" | awk '$2 !~ /^amd-/')" "" || return 1
    expect "pipeline links across leaves" "$(count_crossings "$1" 2 2)" 0
}

@test "a gang that asks for amd.com/gpu is placed on nodes that have them" {
    local i
    for i in {0..7}; do
        print_node "amd-$i" amd.com/gpu 8 amd.com/gpu.product-name=AMD_Instinct_MI300X_OAM \
            "fabric.topograph.run/tier-0=leaf-$((i % 2 + 100))" fabric.topograph.run/tier-1=block-100
    done | kubectl create -f -
    submit_both train 4 resource=amd.com/gpu tp=8 pp=2 dp=2
    both is_on_amd train
    remove_jobs
    kubectl delete nodes -l amd.com/gpu.product-name
}

@test "one label: the admission policy adds the gate and the variables" {
    needs_newest "MutatingAdmissionPolicy; remote.bats shows the webhook"
    apply_admission "$PARPLAN_KUBERNETES_DIR/etc/parplan.yaml"
    submit_job train 16 "${plan[@]}"
    expect_placed train 16
    local spec
    spec=$(kubectl get pod "$(pod_of_index train 7)" -o json | jq -c .spec)
    expect "variable" "$(jq -r '.containers[0].env[] | select(.name == "PARPLAN_NODE_RANK") | .valueFrom.fieldRef.fieldPath' <<<"$spec")" \
        "metadata.annotations['parplan.io/node-rank']"
    expect "masters" "$(annotations_of train master-addr | awk '{ print $2 }' | sort -u | paste -sd' ')" \
        train-0.parplan-train.default.svc
}

@test "the dry run plans and reserves nothing" {
    wait_for 30 "end of earlier gangs" knows_gangs ""
    print_job train 16 "${plan[@]}" | jq '{size: 16, pod: .spec.template}' >"$BATS_TEST_TMPDIR/plan.json"
    run_client curl -s --max-time 10 --data-binary "@$BATS_TEST_TMPDIR/plan.json" "$extender_url/plan"
    expect "planned nodes" "$(jq '[.pods[].node] | unique | length' <<<"$output")" 16
    knows_gangs ""
}

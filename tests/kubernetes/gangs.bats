#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Gangs on a real scheduler with parplan-extender beside it. With the scheduling gate parplan plans
# and then lets all pods go (mode gate); without it the extender alone holds them (mode filter).
load support

setup_file() {
    start_extender_cluster
}

setup() {
    setup_gangs
    # What a test that failed has left.
    kubectl uncordon -l nvidia.com/gpu.count >"$BATS_TEST_TMPDIR/uncordoned"
    kubectl taint nodes -l nvidia.com/gpu.count reserved- >"$BATS_TEST_TMPDIR/untainted" 2>&1 || true
}

readonly plan=(tp=8 pp=4 dp=4)

both_modes() {
    local mode
    for mode in gate filter; do
        echo "# mode $mode"
        "$1" "$mode" || return 1
        remove_jobs >"$BATS_TEST_TMPDIR/removed"
    done
}

whole_gang() {
    submit_job train 16 "${plan[@]}" "$1"
    expect_placed train 16 || return 1
    expect "pipeline links across leaves" "$(count_crossings train 4 4)" 0 || return 1
    expect "node ranks" "$(annotations_of train node-rank | awk '$1 != $2' | wc -l)" 0 || return 1
    expect "stages" "$(annotations_of train pp-rank | awk '$2 != int($1 / 4)' | wc -l)" 0 || return 1
    expect "replicas" "$(annotations_of train dp-rank | awk '$2 != $1 % 4' | wc -l)" 0 || return 1
    expect "plans" "$(annotations_of train plan-id | awk '{ print $2 }' | sort -u | wc -l)" 1
}

@test "a gang of 16 is bound whole, rank i on the node of the plan, pipelines under one leaf" {
    both_modes whole_gang
}

waits_whole() {
    submit_job first 32 tp=8 pp=4 dp=8 "$1"
    expect_placed first 32 || return 1
    submit_job second 48 tp=8 pp=4 dp=12 "$1"
    expect_event second 'second.*48|48.*second' || return 1
    expect_unbound second || return 1
    kubectl delete job first --wait=false
    expect_placed second 48
}

@test "a gang that does not fit waits whole, with its reason, and starts when nodes are free" {
    both_modes waits_whole
}

race() {
    local bound
    submit_job filler 48 tp=8 pp=4 dp=12 "$1"
    expect_placed filler 48 || return 1
    print_job left 16 "${plan[@]}" "$1" >"$BATS_TEST_TMPDIR/both.json"
    print_job right 16 "${plan[@]}" "$1" >>"$BATS_TEST_TMPDIR/both.json"
    kubectl apply -f "$BATS_TEST_TMPDIR/both.json"
    wait_for 60 "bound gang" one_is_bound || return 1
    sleep 2
    bound="$(count_bound left) $(count_bound right)"
    expect_match "bound pods" "$bound" '^(16 0|0 16)$' || return 1
    kubectl delete job filler --wait=false
    expect_placed left 16 && expect_placed right 16
}

one_is_bound() {
    is_bound left 16 || is_bound right 16
}

@test "two gangs that race for the last nodes: one has them all, the other none" {
    both_modes race
}

missing_member() {
    submit_job short 15 size=16 "${plan[@]}" "$1"
    expect_event short '15.*16' || return 1
    expect_unbound short
}

@test "a gang that lacks a pod waits and says how many it lacks" {
    both_modes missing_member
}

extender_killed() {
    submit_job train 64 tp=8 pp=8 dp=8 "$1"
    wait_for 60 "first bound pod" some_bound train || return 1
    "$cluster" kill extender
    "$cluster" restart extender
    expect_placed train 64 || return 1
    expect "plans" "$(annotations_of train plan-id | awk '{ print $2 }' | sort -u | wc -l)" 1
}

some_bound() {
    (($(count_bound "$1") > 0))
}

@test "the extender is killed while a gang is bound: it goes on with the same plan" {
    both_modes extender_killed
}

@test "the scheduler is restarted in the middle of a gang: the same nodes are proposed again" {
    "$cluster" pause scheduler
    submit_job train 16 "${plan[@]}" gate
    wait_for 60 "plan" has_plan train 16
    annotations_of train node >"$BATS_TEST_TMPDIR/before"
    "$cluster" restart scheduler
    expect_placed train 16
    expect "nodes" "$(annotations_of train node)" "$(<"$BATS_TEST_TMPDIR/before")"
}

has_plan() {
    (($(annotations_of "$1" node | awk '$2 != "-"' | wc -l) == $2))
}

replaced() {
    local node pod
    submit_job train 16 "${plan[@]}" "$1"
    expect_placed train 16 || return 1
    pods_of train >"$BATS_TEST_TMPDIR/before"
    node=$(node_of_index train 5) pod=$(pod_of_index train 5)
    kubectl delete pod "$pod" --wait=false
    wait_for 60 "other pod of index 5" other_pod train 5 "$pod" || return 1
    expect_placed train 16 || return 1
    expect_match "node of rank 5" "$node" "^gpu-" || return 1
    expect "node of rank 5" "$(node_of_index train 5)" "$node" || return 1
    expect "others" "$(pods_of train | awk '$1 != 5')" "$(awk '$1 != 5' "$BATS_TEST_TMPDIR/before")"
}

# other_pod JOB INDEX POD: another pod has that index.
other_pod() {
    [[ $(pod_of_index "$1" "$2") && $(pod_of_index "$1" "$2") != "$3" ]]
}

@test "a replacement pod keeps its rank and its node, the others stay" {
    both_modes replaced
}

node_lost() {
    local node pod
    submit_job train 16 "${plan[@]}" "$1"
    expect_placed train 16 || return 1
    pods_of train >"$BATS_TEST_TMPDIR/before"
    node=$(node_of_index train 5) pod=$(pod_of_index train 5)
    kubectl cordon "$node"
    kubectl delete pod "$pod" --wait=false
    wait_for 60 "other pod of index 5" other_pod train 5 "$pod" || return 1
    expect_placed train 16 || return 1
    [[ $(node_of_index train 5) != "$node" ]] || return 1
    expect "node rank" "$(annotation_of "$(pod_of_index train 5)" node-rank)" 5 || return 1
    expect "others" "$(pods_of train | awk '$1 != 5')" "$(awk '$1 != 5' "$BATS_TEST_TMPDIR/before")" || return 1
    kubectl uncordon "$node"
}

@test "a node is lost: its rank moves to a spare, the others stay" {
    both_modes node_lost
}

@test "a planned node is cordoned before its pod is bound: the gang is bound whole elsewhere" {
    local node
    "$cluster" pause scheduler
    submit_job train 16 "${plan[@]}" gate
    wait_for 60 "plan" has_plan train 16
    node=$(annotations_of train node | awk '$1 == 3 { print $2 }')
    kubectl cordon "$node"
    "$cluster" restart scheduler
    wait_bound train 16 120
    expect_planned train 16
    expect_distinct_nodes train 16
    expect "pods on the cordoned node" "$(pods_of train | grep -c " $node ")" 0
}

short_of() {
    submit_job short 16 "${plan[@]}" "$2" "$1"
    expect_event short "$3" || return 1
    expect_unbound short
}

short_of_cpu() { short_of "$1" cpu=500 '[Cc][Pp][Uu]'; }
short_of_memory() { short_of "$1" memory=5000Gi memory; }

@test "a gang short of CPU or memory waits whole and says so" {
    both_modes short_of_cpu
    both_modes short_of_memory
}

@test "tainted nodes are left out, and used by a gang that tolerates them" {
    local leaf nodes
    for leaf in leaf-1 leaf-2 leaf-3 leaf-4 leaf-5 leaf-6 leaf-7; do
        nodes+=" $(places | awk -v leaf="$leaf" '$2 == leaf { print $1 }' | paste -sd' ')"
    done
    # shellcheck disable=SC2086
    kubectl taint nodes $nodes reserved=yes:NoSchedule >"$BATS_TEST_TMPDIR/tainted"
    submit_job shut 16 "${plan[@]}" gate
    expect_event shut 'taint'
    expect_unbound shut
    submit_job open 16 "${plan[@]}" gate toleration=reserved
    expect_placed open 16
    # shellcheck disable=SC2086
    kubectl taint nodes $nodes reserved- >"$BATS_TEST_TMPDIR/untainted"
    expect_placed shut 16
}

@test "a gang that must wait evicts nobody" {
    kubectl create priorityclass high --value 1000 --dry-run=client -o json | kubectl apply -f -
    submit_job low 64 label=
    wait_bound low 64
    submit_job high 15 size=16 "${plan[@]}" priority=high
    expect_unbound high 5
    expect "evicted pods" "$(kubectl get events | grep -c Preempted)" 0
    expect "bound pods of low priority" "$(count_bound low)" 64
}

@test "pods of a gang that go while others are bound hold their GPUs until they are gone" {
    "$cluster" pause kubelet
    submit_job first 64 tp=8 pp=8 dp=8 gate
    expect_placed first 64
    kubectl delete job first --wait=false
    submit_job second 16 "${plan[@]}" gate
    expect_unbound second 3
    "$cluster" resume kubelet
    expect_placed second 16
}

@test "one label: the admission policy adds the gate and the variables" {
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
    print_job train 16 "${plan[@]}" | jq '{size: 16, pod: .spec.template}' >"$BATS_TEST_TMPDIR/plan.json"
    run_client curl -s --max-time 10 --data-binary "@$BATS_TEST_TMPDIR/plan.json" "$extender_url/plan"
    expect "planned nodes" "$(jq '[.pods[].node] | unique | length' <<<"$output")" 16
    expect "gangs" "$(gangs | jq '.gangs | length')" 0
}

@test "the rights that it used are those that it has: nothing was denied, nothing is spare" {
    local user=system:serviceaccount:parplan-system:parplan-extender
    jq -r --arg user "$user" 'select(.user.username == $user and .objectRef) |
        "\(.annotations["authorization.k8s.io/decision"]) \(.verb) \(.objectRef.resource)"' \
        "$PARPLAN_KUBERNETES_DIR/log/audit.log" | sort | uniq -c >"$BATS_TEST_TMPDIR/used"
    cat "$BATS_TEST_TMPDIR/used"
    expect "denied" "$(grep -c ' forbid ' "$BATS_TEST_TMPDIR/used")" 0
    # Kinds that this cluster does not have cannot be asked about.
    kubectl get clusterrole parplan-extender -o json | jq -r '.rules[]
        | select(.apiGroups - ["", "batch"] == []) | .verbs[] as $verb | .resources[] | "\($verb) \(.)"' |
        sort -u >"$BATS_TEST_TMPDIR/granted"
    expect "unused" "$(awk 'NR == FNR { used[$3 " " $4]; next } !($0 in used)' \
        "$BATS_TEST_TMPDIR/used" "$BATS_TEST_TMPDIR/granted" | paste -sd,)" ""
}

#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Three extenders on one cluster: each answers, one leads. Its end in every form, and an API server
# that does not answer. The scheduler asks one that does not lead.
load support

readonly plan=(tp=8 pp=4 dp=4)
readonly names=(one two three)

setup_file() {
    local name etc
    [[ -x $PARPLAN_BUILD/parplan-extender ]] || return 0
    cluster_nodes=32 start_cluster
    etc=$PARPLAN_KUBERNETES_DIR/etc
    write_parplan_yaml "$etc/parplan.yaml"
    apply_extender_rights
    for name in "${names[@]}"; do
        start_one "$name"
    done
}

# start_one NAME
start_one() {
    local etc=$PARPLAN_KUBERNETES_DIR/etc port
    port=$(free_port)
    echo "$port" >"$etc/$1.port"
    spawn_extender "$1" --listen "127.0.0.1:$port" --stale-seconds 5
    wait_for 60 "ready $1" is_ready "$1"
    print_extender_config "$port" >"$etc/$1-scheduler.yaml"
}

setup() {
    local name
    [[ -x $PARPLAN_BUILD/parplan-extender ]] || skip "parplan-extender is not built"
    lift_block
    for name in apiserver scheduler "${names[@]}"; do
        "$cluster" resume "$name" 2>/dev/null || "$cluster" restart "$name"
    done
    for name in "${names[@]}"; do
        wait_for 60 "ready $name" is_ready "$name"
    done
    remove_jobs >"$BATS_TEST_TMPDIR/removed"
    wait_for 30 "leader" one_leads
    leader=$(leaders)
    for name in "${names[@]}"; do
        [[ $name == "$leader" ]] || asked=$name
    done
    "$cluster" restart scheduler --scheduler-config "$PARPLAN_KUBERNETES_DIR/etc/$asked-scheduler.yaml"
}

teardown() {
    [[ ! ${own_pid:-} ]] || kill -KILL "$own_pid" 2>/dev/null || true
    [[ ! ${watcher:-} ]] || kill "$watcher" 2>/dev/null || true
    [[ ${BATS_TEST_COMPLETED:-} ]] && return
    timeout 10 kubectl get events -o custom-columns=O:.involvedObject.name,R:.reason,M:.message | tail -n 20
    tail -n 12 "$PARPLAN_KUBERNETES_DIR"/log/{one,two,three}.log
}

# --- who leads ---------------------------------------------------------------------

url() {
    echo "http://127.0.0.1:$(<"$PARPLAN_KUBERNETES_DIR/etc/$1.port")"
}

is_ready() {
    [[ $(curl -s --max-time 2 "$(url "$1")/readyz") == ok ]]
}

# leaders: the names of those that say they lead.
leaders() {
    local name found=()
    for name in "${names[@]}"; do
        [[ $(curl -s --max-time 1 "$(url "$name")/gangs" | jq .leader) != true ]] || found+=("$name")
    done
    echo "${found[*]}"
}

one_leads() {
    [[ $(leaders) =~ ^[a-z]+$ ]]
}

# Never two; one that does not answer in time is asked again.
expect_one_leader() {
    expect "leaders" "$(leaders | awk 'NF > 1')" "" && wait_for 30 "leader" one_leads
}

# One of the others than $leader, which is not asked: it may hang.
another_leads() {
    local name
    for name in "${names[@]}"; do
        [[ $name != "$leader" && $(curl -s --max-time 1 "$(url "$name")/gangs" | jq .leader) == true ]] && return
    done
    return 1
}

# measure_next SECONDS: waits until another one leads, and prints how long that took.
measure_next() {
    local start=${EPOCHREALTIME/[.,]/}
    wait_for "$1" "other leader" another_leads || return 1
    echo "# another leads after $(((${EPOCHREALTIME/[.,]/} - start) / 1000)) ms" | tee /dev/fd/3
}

# --- the middle of a gang ----------------------------------------------------------

# block_second_half: the API server refuses what is written to pods of index 8 and more, so that
# the leader stands in the middle of its gang.
block_second_half() {
    kubectl apply -f - <<'END'
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: second-half}
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules: [{operations: [UPDATE], apiGroups: [""], apiVersions: [v1], resources: [pods]}]
  matchConditions:
  - name: index
    expression: int(object.metadata.?labels[?'batch.kubernetes.io/job-completion-index'].orValue('0')) >= 8
  - {name: extender, expression: "request.userInfo.username.endsWith(':parplan-extender')"}
  validations: [{expression: "false", message: "blocked by the test"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: second-half}
spec: {policyName: second-half, validationActions: [Deny]}
END
    print_pod probe label= gate | jq '.metadata.labels["batch.kubernetes.io/job-completion-index"] = "8"' |
        kubectl apply -f -
    wait_for 30 "block" is_blocked
    kubectl delete pod probe --grace-period=0 --force
}

is_blocked() {
    curl -s --max-time 5 --cacert "$PARPLAN_KUBERNETES_DIR/etc/ca.crt" -X PATCH \
        -H "Authorization: Bearer $(jq -r '.users[0].user.token' "$PARPLAN_KUBERNETES_DIR/etc/one.kubeconfig")" \
        -H 'Content-Type: application/merge-patch+json' -d '{"metadata":{"annotations":{"a":"b"}}}' \
        "$kubernetes_server/api/v1/namespaces/default/pods/probe?dryRun=All" | grep -q 'blocked by the test'
}

lift_block() {
    kubectl delete validatingadmissionpolicybinding,validatingadmissionpolicy second-half --ignore-not-found
}

# submit_half: train, of 16 pods, of which the first 8 are bound and the others cannot be.
submit_half() {
    block_second_half
    submit_job train 16 "${plan[@]}" gate
    wait_bound train 8
    expect_event train 'GangPodRefused: .*blocked by the test'
    sleep 1
    expect "bound in the middle" "$(pods_of train | awk '$2 != "-" { printf "%s ", $1 }')" "0 1 2 3 4 5 6 7 "
    annotations_of train node >"$BATS_TEST_TMPDIR/half"
    watch_bindings
}

# watch_bindings: notes each state of a pod of train, until end_watch.
watch_bindings() {
    kubectl get pods -l batch.kubernetes.io/job-name=train --watch -o json >"$BATS_TEST_TMPDIR/states" 3>&- &
    watcher=$!
}

# end_watch: no pod was bound to two nodes; all 16 were seen bound.
end_watch() {
    wait_for 30 "16 bound pods in the watch" has_seen_bindings 16 || return 1
    kill "$watcher"
    watcher=
    expect "bindings" "$(wc -l <"$BATS_TEST_TMPDIR/bindings")" 16 || return 1
    expect "bound pods" "$(awk '{ print $1 }' "$BATS_TEST_TMPDIR/bindings" | sort -u | wc -l)" 16
}

# has_seen_bindings COUNT: the end of the file may be half an object.
has_seen_bindings() {
    { jq -r 'select(.spec.nodeName) | "\(.metadata.uid) \(.spec.nodeName)"' "$BATS_TEST_TMPDIR/states" 2>/dev/null || true; } |
        sort -u >"$BATS_TEST_TMPDIR/bindings"
    (($(wc -l <"$BATS_TEST_TMPDIR/bindings") >= $1))
}

# expect_whole: the gang is bound whole by one plan, on the nodes that it had in the middle already,
# each pod written to once, and pod 0 with the plan before.
expect_whole() {
    wait_bound train 16 60 || return 1
    expect_planned train 16 && expect_distinct_nodes train 16 || return 1
    expect "plans" "$(annotations_of train plan-id | awk '{ print $2 }' | sort -u | wc -l)" 1 || return 1
    expect "plans made" "$(($(plans_so_far) - planned_before))" 1 || return 1
    expect "first half" "$(annotations_of train node | head -n 8)" "$(head -n 8 "$BATS_TEST_TMPDIR/half")" || return 1
    expect "writes by index" "$(writes_of "$(since)" | sed 's/.* train-\([0-9]*\)-.*/\1/' | sort -n | uniq -c | tr -s ' \n' ' ')" \
        " 2 0 $(seq -f '1 %g' -s ' ' 15) "
}

# since: when the pods of train were made
since() {
    kubectl get pods -l batch.kubernetes.io/job-name=train -o json | jq -r '[.items[].metadata.creationTimestamp] | min | rtrimstr("Z")'
}

# writes_of TIME [EXTENDER [RESOURCE]]: "time name" of each write to pods since then that was carried
# out, or to such objects.
writes_of() {
    local token=
    [[ ! ${2:-} ]] || token=$(token_of "$2")
    jq -r --arg since "$1" --arg token "$token" --arg resource "${3:-pods}" 'select(.stage == "ResponseComplete"
            and (.user.username | endswith(":parplan-extender")) and .objectRef.resource == $resource
            and (.verb | IN("update", "patch", "delete")) and .responseStatus.code < 300
            and (.requestURI | contains("dryRun") | not) and .requestReceivedTimestamp >= $since)
        | select($token == "" or .user.extra["authentication.kubernetes.io/credential-id"] == [$token])
        | "\(.requestReceivedTimestamp) \(.objectRef.name)"' "$PARPLAN_KUBERNETES_DIR/log/audit.log"
}

# token_of EXTENDER: how the audit log names its token.
token_of() {
    jq -r '.users[0].user.token' "$PARPLAN_KUBERNETES_DIR/etc/$1.kubeconfig" | cut -d. -f2 | tr -- -_ +/ |
        { base64 -d 2>/dev/null || true; } | jq -r '"JTI=\(.jti)"'
}

plans_so_far() {
    cat "$PARPLAN_KUBERNETES_DIR"/log/{one,two,three}.log | grep -c 'GangPlanned: gang default/train' || true
}

# --- tests -------------------------------------------------------------------------

# answer_of NAME QUESTION
answer_of() {
    curl -s --max-time 5 --data-binary "@$2" "$(url "$1")/parplan/v1/filter" | jq -S .
}

# ask_all WHAT PART JQ: all three give the same PART of an answer about the pod on stdin, changed.
ask_all() {
    local name first question=$BATS_TEST_TMPDIR/question
    kubectl get nodes -o json | jq '[.items[].metadata.name]' >"$BATS_TEST_TMPDIR/nodes"
    jq "$3" | jq --slurpfile nodes "$BATS_TEST_TMPDIR/nodes" \
        '{Pod: ., Nodes: null, NodeNames: $nodes[0]}' >"$question"
    first=$(answer_of "$leader" "$question")
    echo "# $1: $(jq -r '"\(.NodeNames | length) nodes. \(.Error)"' <<<"$first")" | tee /dev/fd/3
    for name in "${names[@]}"; do
        expect "answer of $name about $1" "$(answer_of "$name" "$question" | jq -c "$2")" "$(jq -c "$2" <<<"$first")" || return 1
    done
}

@test "one of three leads, all answer the scheduler the same" {
    expect "in the Lease" "$(lease_holder)" "$leader"
    "$cluster" pause scheduler
    submit_job train 16 "${plan[@]}" gate
    wait_for 30 "plan" has_plan train 16
    submit_job wide 17 tp=8 dp=17 gate
    sleep 2
    kubectl get pod "$(pod_of_index train 5)" -o json | ask_all "a planned pod" . .
    # Only who leads has tried to plan it, and knows why it waits.
    kubectl get pod "$(pod_of_index wide 3)" -o json | ask_all "a pod of a gang that waits" '[.NodeNames, .Error == ""]' .
    kubectl get pod "$(pod_of_index train 5)" -o json | ask_all "one that nobody knows" . \
        '.metadata |= (.uid = "none" | .name = "nobody" | .labels["parplan.io/gang"] = "nobody")'
    kubectl get pod "$(pod_of_index train 5)" -o json | ask_all "one without a gang" . \
        '.metadata |= {name: "lone", namespace: "default", uid: "lone"} | .spec.affinity = null'
}

@test "the leader is killed in the middle of a gang: another one leads within 15 s and goes on" {
    planned_before=$(plans_so_far)
    submit_half
    "$cluster" kill "$leader"
    lift_block
    measure_next 15
    expect_whole
    end_watch
}

# sleep_until EPOCHSECONDS: which may be over.
sleep_until() {
    local left=$(($1 - EPOCHSECONDS))
    ((left <= 0)) || sleep "$left"
}

@test "the leader hangs for 30 s in the middle of a gang: no write of it counts, no second plan" {
    local stopped writes
    planned_before=$(plans_so_far)
    submit_half
    "$cluster" pause "$leader"
    stopped=${EPOCHSECONDS}
    lift_block
    measure_next 15
    expect_whole
    end_watch
    expect_match "writes of the one that hangs" "$(writes_of "$(since)" "$leader" | wc -l)" '^9$'
    submit_job later 16 "${plan[@]}" gate
    expect_placed later 16
    writes=$(writes_of 0 "$leader" | wc -l)
    sleep_until $((stopped + 30))
    expect_one_leader
    "$cluster" resume "$leader"
    wait_for 30 "end of its rule" knows_better
    sleep 5
    expect_one_leader
    expect "writes after it woke" "$(($(writes_of 0 "$leader" | wc -l) - writes))" 0
    expect_planned train 16
    expect_planned later 16
    expect "plans of the later gang" "$(annotations_of later plan-id | awk '{ print $2 }' | sort -u | wc -l)" 1
}

@test "a leader that wakes while another holds the Lease writes nothing, also before it has asked" {
    local old=$leader name woke taken wrote
    "$cluster" pause "$old"
    wait_for 30 "other leader" another_leads
    # Who holds it cannot plan, and the third one cannot take it: a gang waits for whoever thinks that
    # it leads.
    for name in "${names[@]}"; do
        [[ $name == "$old" ]] || "$cluster" pause "$name"
    done
    submit_job train 16 "${plan[@]}" gate
    wait_for 60 "pods" has_pods train 16
    woke=$(date -u +%FT%T.%6N)
    "$cluster" resume "$old"
    wait_for 60 "plan" has_plan train 16
    taken=$(writes_of "$woke" "$old" leases | head -n 1)
    wrote=$(writes_of "$woke" "$old" | head -n 1)
    echo "# it woke at $woke, took the Lease at ${taken% *}, wrote to a pod first at ${wrote% *}" | tee /dev/fd/3
    expect_match "time at which it took the Lease" "$taken" .
    [[ $wrote > $taken ]]
    (($(date -d "${taken% *}" +%s) - $(date -d "${woke}Z" +%s) >= 9)) # it saw it unchanged for 10 s
    for name in "${names[@]}"; do
        "$cluster" resume "$name"
    done
    expect_placed train 16
}

knows_better() {
    [[ $(curl -s --max-time 1 "$(url "$leader")/gangs" | jq .leader) == false ]]
}

# start_four: a leader that the test itself has started, so that its exit status is seen. Sets own_pid
# and port.
start_four() {
    for name in "${names[@]}"; do
        kill -TERM "$(program_pid "$name")"
    done
    port=$(free_port)
    "$PARPLAN_BUILD/parplan-extender" --kubeconfig "$PARPLAN_KUBERNETES_DIR/etc/one.kubeconfig" \
        --config "$PARPLAN_KUBERNETES_DIR/etc/parplan.yaml" --listen "127.0.0.1:$port" \
        --lease-namespace parplan-system --identity four 2>"$BATS_TEST_TMPDIR/four.log" 3>&- &
    own_pid=$!
    wait_for 60 "leader" holds four
    for name in "${names[@]}"; do
        "$cluster" restart "$name"
        wait_for 60 "ready $name" is_ready "$name"
    done
}

@test "SIGTERM of the leader: a request is answered, it ends with 0, the next one leads at once" {
    local start port code=0 answer rest name
    start_four
    begin_request "$port" "$(print_question gpu-00 | jq -c .)"
    kill -TERM "$own_pid"
    sleep 0.3
    printf '%s' "$rest" >&5
    read -r -t 30 answer <&5
    start=${EPOCHREALTIME/[.,]/}
    wait "$own_pid" || code=$?
    own_pid=
    echo "# ended $(((${EPOCHREALTIME/[.,]/} - start) / 1000)) ms after the answer, status $code; the request: $answer" | tee /dev/fd/3
    ((${EPOCHREALTIME/[.,]/} - start < 5000000))
    expect "exit status" "$code" 0
    expect_match "answer" "$answer" '^HTTP/1.1 200'
    leader=four
    measure_next 5
    submit_job train 16 "${plan[@]}" gate
    expect_placed train 16
}

holds() {
    [[ $(lease_holder) == "$1" ]]
}

@test "the API server hangs: not ready after the limit, GPU pods wait with one line, others pass" {
    local url gpu plain
    url=$(url "$asked")
    print_question gpu-00 gpu-01 >"$BATS_TEST_TMPDIR/gpu"
    jq 'del(.Pod.spec.containers[0].resources)' "$BATS_TEST_TMPDIR/gpu" >"$BATS_TEST_TMPDIR/plain"
    expect "nodes for a GPU pod before" "$(answer_of "$asked" "$BATS_TEST_TMPDIR/gpu" | jq -c .NodeNames)" '["gpu-00","gpu-01"]'
    "$cluster" pause apiserver
    wait_for 60 "loss of readiness" is_not_ready
    run_client curl -s --max-time 5 -w '%{http_code}' "$url/readyz"
    echo "# /readyz: ${lines[0]} (${lines[1]})" >&3
    expect "lines and status" "${#lines[@]} ${lines[1]}" "2 503"
    expect_match "why" "${lines[0]}" '^parplan has not heard of the cluster.s [A-Za-z]+ for [0-9]+ s: .*https://'
    gpu=$(answer_of "$asked" "$BATS_TEST_TMPDIR/gpu")
    echo "# a GPU pod: $(jq -r .Error <<<"$gpu")" >&3
    expect_match "answer for a GPU pod" "$(jq -r .Error <<<"$gpu")" '^parplan has not heard of the cluster.s [A-Za-z]+ for [0-9]+ s: .*https://'
    plain=$(answer_of "$asked" "$BATS_TEST_TMPDIR/plain")
    expect "nodes of a pod without GPUs" "$(jq -c '[.NodeNames, .Error]' <<<"$plain")" '[["gpu-00","gpu-01"],""]'
    wait_for 30 "end of all rule" nobody_leads
    "$cluster" resume apiserver
    wait_for 60 "readiness" is_ready "$asked"
    wait_for 30 "leader" one_leads
    submit_job train 16 "${plan[@]}" gate
    expect_placed train 16
}

# All three say so.
nobody_leads() {
    local name
    for name in "${names[@]}"; do
        [[ $(curl -s --max-time 5 "$(url "$name")/gangs" | jq .leader) == false ]] || return 1
    done
}

is_not_ready() {
    ! is_ready "$asked"
}

@test "SIGTERM of the leader while the API server hangs in the middle of its writing: it ends with 0 in 3 s" {
    local start port code=0 name server_pid
    start_four
    server_pid=$(program_pid apiserver)
    submit_job train 16 "${plan[@]}" gate
    until grep -q GangPlanned "$BATS_TEST_TMPDIR/four.log"; do
        ((SECONDS < 300))
        sleep 0.01
    done
    kill -STOP "$server_pid"
    sleep 0.2
    start=${EPOCHREALTIME/[.,]/}
    kill -TERM "$own_pid"
    wait "$own_pid" || code=$?
    own_pid=
    kill -CONT "$server_pid"
    echo "# ended after $(((${EPOCHREALTIME/[.,]/} - start) / 1000)) ms, status $code" | tee /dev/fd/3
    ((${EPOCHREALTIME/[.,]/} - start < 3000000))
    expect "exit status" "$code" 0
}

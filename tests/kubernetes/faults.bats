#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Bad days: parts of the control plane, nodes, pods and the extender itself fail in the middle of
# gangs, and others talk nonsense to it. The name of a test is its row in the table of faults, a
# colon, and what must come of it; the table is printed at the end.
load support

# shellcheck disable=SC2034 # support's
cluster_nodes=32

# Rows that others show: test programs that need no cluster, and leader.bats.
readonly elsewhere='leader killed, hangs, wakes again in the middle of a gang|tests/kubernetes/leader.bats
watch ends with 410, half a line, 5xx, bookmarks only, silence, an older version|tests/unit/k8s_extender/list_watch_test
clock jumps by an hour, either way|tests/property/gang_machine_test
pod events duplicated, reordered, missed|tests/property/gang_machine_test
no memory|PARPLAN_TORTURE=1 of all unit tests'

setup_file() {
    start_extender_cluster --stale-seconds 3
    [[ -x $PARPLAN_BUILD/parplan-extender ]] || return 0
    api /api/v1/nodes >"$BATS_FILE_TMPDIR/nodes.json"
    : >"$BATS_FILE_TMPDIR/table"
    : >"$BATS_FILE_TMPDIR/broken"
}

teardown_file() {
    print_table >&3
    [[ ! ${PARPLAN_KUBERNETES_DIR:-} ]] || "$cluster" stop
}

print_table() {
    [[ -s $BATS_FILE_TMPDIR/table ]] || return 0
    {
        cat "$BATS_FILE_TMPDIR/table"
        awk -F '|' '{ print "-|" $1 "|" $2 }' <<<"$elsewhere"
    } | awk -F '|' '
        { result[NR] = $1; row[NR] = $2; shown[NR] = $3; if (length($2) > width) width = length($2) }
        END { for (i = 1; i <= NR; i++) printf "# | %-4s  %-*s  %s\n", result[i], width, row[i], shown[i] }'
}

setup() {
    [[ -x $PARPLAN_BUILD/parplan-extender ]] || skip "parplan-extender is not built"
    heal_cluster
    setup_gangs
    heal_nodes
    wait_for 60 "readiness" extender_ready
}

teardown() {
    local result=pass
    [[ ${BATS_TEST_COMPLETED:-} ]] || result=FAIL
    printf '%s|%s|%s\n' "$result" "${BATS_TEST_DESCRIPTION%%: *}" "${BATS_TEST_DESCRIPTION#*: }" >>"$BATS_FILE_TMPDIR/table"
    [[ ! ${own_pid:-} ]] || kill -KILL "$own_pid" 2>/dev/null || true
    [[ $result == pass ]] || show_what_was_said
}

readonly plan=(tp=8 pp=4 dp=4)

# --- nodes that a test breaks ------------------------------------------------------

# breaks NODE...: the next test gets it back.
breaks() {
    printf '%s\n' "$@" >>"$BATS_FILE_TMPDIR/broken"
}

heal_nodes() {
    local node
    [[ -s $BATS_FILE_TMPDIR/broken ]] || return 0
    while read -r node; do
        api "/api/v1/nodes/$node" -X DELETE -o "$BATS_TEST_TMPDIR/deleted" || true
        jq --arg node "$node" '.items[] | select(.metadata.name == $node)
            | {apiVersion: "v1", kind: "Node", metadata: (.metadata | {name, labels, annotations}), spec, status}' \
            "$BATS_FILE_TMPDIR/nodes.json" | kubectl create -f -
    done < <(sort -u "$BATS_FILE_TMPDIR/broken")
    : >"$BATS_FILE_TMPDIR/broken"
}

# patch_node NODE PATCH: of its status.
patch_node() {
    kubectl patch node "$1" --subresource=status --type=strategic -p "$2"
}

# --- what the extender says --------------------------------------------------------

not_ready() {
    ! extender_ready
}

lives() {
    curl -sf --max-time 5 -o "$BATS_TEST_TMPDIR/health" "$extender_url/healthz"
}

nothing_is_promised() {
    [[ $(metric promised_nodes) == 0 ]]
}

# ask VERB BODY [OPTION...]: sets output; options of curl.
ask() {
    run_client curl -s --max-time 20 -H 'Content-Type: application/json' --data-binary "$2" "${@:3}" \
        "$extender_url/parplan/v1/$1"
}

# expect_probe PATH STATUS: as an exec probe has it, in at most one line.
expect_probe() {
    run_client "$PARPLAN_BUILD/parplan-extender" --probe "$extender_url/$1"
    expect_status "$2" && expect "lines" "$(grep -c . <<<"${stderr:-}" || true)" "$2"
}

# It lives, answers the scheduler at once, and refuses with a reason; pods without GPUs pass.
expect_refusals() {
    run_client curl -s --max-time 5 "$extender_url/healthz"
    expect "health" "$output" ok || return 1
    ask filter "$(print_question gpu-00)" --max-time 2
    expect_match "answer" "$output" '"Error": ?"parplan [^"]' || return 1
    ask filter "$(print_question gpu-00 | jq 'del(.Pod.spec.containers[].resources)')" --max-time 2
    expect "nodes of a pod without GPUs" "$(jq -c .NodeNames <<<"$output")" '["gpu-00"]'
}

# Kubernetes' own clients would try again after half a minute.
restart_api_server() {
    local program
    for program in apiserver controller-manager scheduler; do
        "$cluster" restart "$program"
    done
}

# --- gangs in the middle -----------------------------------------------------------

some_bound() {
    (($(count_bound "$1") > 0))
}

# bind_in_part JOB PODS: while the scheduler is paused all pods of a gated job get their nodes; then it
# binds all but the last 8: others have their GPUs until let_go.
bind_in_part() {
    local index node
    wait_for 60 "plan of $1" has_plan "$1" "$2"
    annotations_of "$1" node | tail -n 8 | while read -r index node; do
        print_pod "holder-$index" label= | jq --arg node "$node" '.metadata.labels.app = "holder" | .spec.nodeName = $node'
    done | kubectl apply -f -
    "$cluster" resume scheduler
    wait_for 60 "part of $1" is_bound "$1" $(($2 - 8))
    pods_of "$1" >"$BATS_TEST_TMPDIR/part"
}

let_go() {
    api '/api/v1/namespaces/default/pods?labelSelector=app%3Dholder&gracePeriodSeconds=0' -X DELETE -o "$BATS_TEST_TMPDIR/holders"
}

# Those that were bound then are where they were.
expect_part_kept() {
    local now
    now=$(pods_of "$1")
    expect "pods bound before" "$(awk 'NR == FNR { at[$1] = $2 " " $3; next } $2 != "-" { print $1, at[$1] }' \
        <(echo "$now") "$BATS_TEST_TMPDIR/part")" "$(awk '$2 != "-"' "$BATS_TEST_TMPDIR/part")"
}

# --- the control plane -------------------------------------------------------------

@test "API server killed, and away when the extender starts: not ready, refusals with a reason, then all is well" {
    "$cluster" kill apiserver
    wait_for 30 "loss of readiness" not_ready
    expect_refusals
    "$cluster" restart extender
    wait_for 60 "health" lives
    expect_refusals
    not_ready
    expect_probe readyz 1
    expect_probe healthz 0
    restart_api_server
    wait_for 60 "readiness" extender_ready
    expect_probe readyz 0
    submit_job train 16 "${plan[@]}" gate
    expect_placed train 16
}

@test "API server hangs: that is heard from its silence, then all is well" {
    "$cluster" pause apiserver
    wait_for 30 "loss of readiness" not_ready
    expect_refusals
    "$cluster" resume apiserver
    wait_for 60 "readiness" extender_ready
    expect "nodes that it knows" "$(metric nodes)" 32
}

@test "API server killed in the middle of a gang (watches closed): bound as planned" {
    "$cluster" pause scheduler
    submit_job train 24 tp=8 pp=4 dp=6 gate
    bind_in_part train 24
    "$cluster" kill apiserver
    sleep 1
    restart_api_server
    let_go
    expect_placed train 24
    expect_part_kept train
    expect "nodes that it knows" "$(metric nodes)" 32
}

@test "etcd gone: not ready, refusals with a reason; back: nothing is lost" {
    submit_job train 16 "${plan[@]}" gate
    expect_placed train 16
    "$cluster" kill etcd
    wait_for 60 "loss of readiness" not_ready
    expect_refusals
    "$cluster" restart etcd
    wait_for 60 "readiness" extender_ready
    submit_job later 16 "${plan[@]}" gate
    expect_placed later 16
    expect "nodes that it knows" "$(metric nodes)" 32
}

# stop_data: nothing is written any more; etcd's folder is a whole backup then.
stop_data() {
    "$cluster" kill apiserver
    "$cluster" kill etcd
}

start_data() {
    "$cluster" restart etcd
    restart_api_server
    wait_for 60 "readiness" extender_ready
}

@test "etcd restored from a backup: all is read again, what is not there any more is forgotten" {
    local data
    data=$(realpath "$PARPLAN_KUBERNETES_DIR/run/etcd")
    submit_job kept 8 tp=8 pp=1 dp=8 gate
    expect_placed kept 8
    stop_data
    cp -a "$data" "$BATS_TEST_TMPDIR/backup"
    start_data
    submit_job lost 24 tp=8 pp=4 dp=6 gate
    expect_placed lost 24
    stop_data
    rm -rf "$data"
    cp -a "$BATS_TEST_TMPDIR/backup" "$data"
    start_data
    wait_for 60 "end of a gang that was made after the backup" knows_gangs default/kept
    expect "nodes that it knows" "$(metric nodes)" 32
    submit_job train 24 tp=8 pp=4 dp=6 gate
    expect_placed train 24
    expect_planned kept 8
}

@test "kube-scheduler restarted in the middle of a gang: the same nodes are proposed again" {
    "$cluster" pause scheduler
    submit_job train 24 tp=8 pp=4 dp=6 gate
    bind_in_part train 24
    annotations_of train node >"$BATS_TEST_TMPDIR/before"
    "$cluster" kill scheduler
    let_go
    "$cluster" restart scheduler
    expect_placed train 24
    expect_part_kept train
    expect "nodes" "$(annotations_of train node)" "$(<"$BATS_TEST_TMPDIR/before")"
}

# --- the extender ------------------------------------------------------------------

@test "extender killed between two bindings: it goes on with the same plan" {
    "$cluster" pause scheduler
    submit_job gated 16 "${plan[@]}" gate
    bind_in_part gated 16
    submit_job filtered 16 "${plan[@]}" filter
    wait_for 60 "first bound pod" some_bound filtered
    "$cluster" kill extender
    "$cluster" restart extender
    let_go
    expect_placed gated 16
    expect_placed filtered 16
    expect "plans" "$({ annotations_of gated plan-id && annotations_of filtered plan-id; } | awk '{ print $2 }' | sort -u | wc -l)" 2
    expect_part_kept gated
}

# most_held JOB PODS: nodes that are promised, the most that were seen until the gang was bound. While
# the extender is paused the question waits for it.
most_held() {
    local held most=0
    until is_bound "$1" "$2"; do
        held=$(metric promised_nodes)
        ((held <= most)) || most=$held
    done
    echo "$most"
}

@test "scheduler times out (extender paused) and asks again: nothing is reserved twice" {
    "$cluster" pause scheduler
    submit_job train 16 "${plan[@]}" filter
    wait_for 60 "plan" has_plan train 16
    "$cluster" pause extender
    "$cluster" resume scheduler
    expect_event train 'exceeded|Timeout'
    expect "bound" "$(count_bound train)" 0
    most_held train 16 >"$BATS_TEST_TMPDIR/most" 3>&- &
    own_pid=$!
    "$cluster" resume extender
    expect_placed train 16
    wait "$own_pid"
    own_pid=
    expect_match "most nodes promised" "$(<"$BATS_TEST_TMPDIR/most")" '^([1-9]|1[0-6])$'
    wait_for 30 "end of promises" nothing_is_promised
}

@test "extender away: GPU pods wait, others are scheduled" {
    "$cluster" kill extender
    submit_job train 16 "${plan[@]}"
    kubectl apply -f - <<END
apiVersion: v1
kind: Pod
metadata: {name: plain}
spec: {containers: [{name: a, image: a}]}
END
    wait_for 60 "plain pod's node" plain_is_bound
    expect_unbound train 1
    "$cluster" restart extender
    expect_placed train 16
}

plain_is_bound() {
    [[ $(api /api/v1/namespaces/default/pods/plain | jq -r '.spec.nodeName // ""') ]]
}

@test "pods and a node gone while it is away: seen when it is back" {
    submit_job train 16 "${plan[@]}" gate
    expect_placed train 16
    "$cluster" kill extender
    kubectl delete job train --wait=false
    wait_for 60 "end of the pods" no_pods
    breaks gpu-31
    kubectl delete node gpu-31
    "$cluster" restart extender
    wait_for 60 "readiness" extender_ready
    expect "nodes" "$(metric nodes)" 31
    submit_job all 31 tp=8 pp=1 dp=31 gate
    expect_placed all 31
    expect "gangs" "$(gangs | jq '.gangs | length')" 1
}

# --- nodes -------------------------------------------------------------------------

@test "node NotReady, cordoned, deleted, GPU count drops in the middle of a gang: the rest goes elsewhere, that is told" {
    local unbound node
    "$cluster" pause scheduler
    print_set train 24 tp=8 pp=4 dp=6 gate | kubectl apply -f -
    bind_in_part train 24
    mapfile -t unbound < <(annotations_of train node | tail -n 4 | awk '{ print $2 }')
    breaks "${unbound[@]}"
    patch_node "${unbound[0]}" '{"status": {"conditions": [{"type": "Ready", "status": "False"}]}}'
    kubectl cordon "${unbound[1]}"
    kubectl delete node "${unbound[2]}"
    patch_node "${unbound[3]}" '{"status": {"capacity": {"nvidia.com/gpu": "4"}, "allocatable": {"nvidia.com/gpu": "4"}}}'
    let_go
    # A blip is waited for; then the pods that are pinned there go.
    for node in "${unbound[@]}"; do
        wait_for 60 "GangPodStranded for $node" has_event train "GangPodStranded: .*$node"
    done
    expect_placed train 24
    expect_part_kept train
    expect "pods on bad nodes" "$(pods_of train | grep -cE " (${unbound[0]}|${unbound[1]}|${unbound[2]}|${unbound[3]}) ")" 0
    expect_event train 'GangReplanned'
}

# swap_leaves: every other node of a leaf is under the next one now.
swap_leaves() {
    local leaf nodes
    for leaf in 1 2 3 4; do
        nodes=$(awk -v leaf="leaf-$leaf" '$2 == leaf && n++ % 2 { print $1 }' "$BATS_TEST_TMPDIR/places")
        # shellcheck disable=SC2086
        kubectl label --overwrite nodes $nodes "fabric.topograph.run/tier-0=leaf-$((leaf % 4 + 1))" \
            "fabric.topograph.run/tier-1=block-$((leaf % 4 / 2 + 1))"
    done >"$BATS_TEST_TMPDIR/labelled"
}

@test "labels changed in the middle of a gang: its plan stands, the next gang has the new ones" {
    places | sort >"$BATS_TEST_TMPDIR/places"
    "$cluster" pause scheduler
    submit_job train 16 "${plan[@]}" gate
    wait_for 60 "plan" has_plan train 16
    annotations_of train node >"$BATS_TEST_TMPDIR/before"
    swap_leaves
    "$cluster" resume scheduler
    expect_placed train 16
    expect "nodes" "$(annotations_of train node)" "$(<"$BATS_TEST_TMPDIR/before")"
    submit_job next 16 "${plan[@]}" gate
    expect_placed next 16
    expect "pipeline links across leaves" "$(count_crossings next 4 4)" 0
    swap_back
}

swap_back() {
    awk '{ print $1, $2, $3 }' "$BATS_TEST_TMPDIR/places" | while read -r node leaf block; do
        echo "$node" >>"$BATS_TEST_TMPDIR/back.$leaf.$block"
    done
    local file leaf block
    for file in "$BATS_TEST_TMPDIR"/back.*; do
        leaf=${file##*/back.} block=${leaf##*.} leaf=${leaf%.*}
        # shellcheck disable=SC2046
        kubectl label --overwrite nodes $(<"$file") "fabric.topograph.run/tier-0=$leaf" "fabric.topograph.run/tier-1=$block"
    done >"$BATS_TEST_TMPDIR/labelled"
}

# --- pods --------------------------------------------------------------------------

# print_member INDEX: a pod of a gang of 4 that no controller owns.
print_member() {
    print_pod "twin-$1" label=twin tp=8 pp=4 dp=1 size=4 "index=$1" gate
}

members_have_nodes() {
    [[ $(api_pods | jq --arg from "$1" '[.items[] | select(.metadata.name | startswith("twin-"))
        | if $from == "plan" then .metadata.annotations["parplan.io/node"] else .spec.nodeName end
        | select(.)] | length') == 4 ]]
}

@test "pod made again with the same name: known by its uid, the old one's reservation is dropped" {
    local index
    "$cluster" pause scheduler
    for index in 0 1 2 3; do print_member "$index"; done | kubectl apply -f -
    wait_for 60 "plan" members_have_nodes plan
    expect "promised nodes" "$(metric promised_nodes)" 4
    kubectl delete pod twin-2 --grace-period=0 --force
    print_member 2 | kubectl apply -f -
    wait_for 60 "plan" members_have_nodes plan
    expect "promised nodes" "$(metric promised_nodes)" 4
    "$cluster" resume scheduler
    wait_for 60 "bound gang" members_have_nodes bound
    expect "nodes" "$(api_pods | jq -r '[.items[] | select(.spec.nodeName == .metadata.annotations["parplan.io/node"])
        | .spec.nodeName] | unique | length')" 4
    wait_for 30 "end of promises" nothing_is_promised
}

one_is_bound() {
    is_bound left 16 || is_bound right 16
}

@test "two gangs race for the last block: one has it whole, the other none, and a reason" {
    local bound
    submit_job filler 16 "${plan[@]}" gate
    expect_placed filler 16
    {
        print_job left 16 "${plan[@]}" gate
        print_job right 16 "${plan[@]}" filter
    } | kubectl apply -f -
    wait_for 60 "bound gang" one_is_bound
    sleep 1
    bound="$(count_bound left) $(count_bound right)"
    expect_match "bound pods" "$bound" '^(16 0|0 16)$'
    if [[ $bound == "16 0" ]]; then
        expect_event right 'GangWaiting: .*right'
    else
        expect_event left 'GangWaiting: .*left'
    fi
    kubectl delete job filler --wait=false
    expect_placed left 16
    expect_placed right 16
}

# --- pods that users make to hurt --------------------------------------------------

# post_hostile NAME NODE METADATA SPEC: a pod of 8 GPUs on the node, with more members.
post_hostile() {
    printf '{"metadata":{"name":"%s"%s},"spec":{"nodeName":"%s"%s,"containers":[{"name":"a","image":"a",
        "resources":{"limits":{"nvidia.com/gpu":"8"}}%s}]}}' "$1" "$3" "$2" "$4" "$5" >"$BATS_TEST_TMPDIR/hostile"
    api /api/v1/namespaces/default/pods --max-time 60 -H 'Content-Type: application/json' \
        --data-binary "@$BATS_TEST_TMPDIR/hostile" >"$BATS_TEST_TMPDIR/made"
}

# repeat TEXT COUNT
repeat() {
    head -c "$2" /dev/zero | sed "s/\x0/$1/g"
}

@test "pods of deep managedFields, 6 MB of JSON, 100,000 empty members: their GPUs are counted, a gang is placed" {
    post_hostile deep gpu-00 ',"managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1",
        "fieldsType":"FieldsV1","fieldsV1":'"$(repeat '{"f:a":' 40){}$(repeat '}' 40)"'}]' '' ''
    post_hostile large gpu-01 '' '' ',"args":["'"$(repeat '<' 1000000)"'"]'
    post_hostile empties gpu-02 '' ',"imagePullSecrets":[{}'"$(repeat ',{}' 100000)"']' ''
    expect_match "bytes of a pod" "$(api /api/v1/namespaces/default/pods/large | wc -c)" '^[6-9][0-9]{6}$'
    expect_match "levels of a pod" "$(api /api/v1/namespaces/default/pods/deep | grep -o '"f:a"' | wc -l)" '^[4-9][0-9]$'
    "$cluster" restart extender
    wait_for 60 "readiness" extender_ready
    submit_job train 29 tp=8 pp=1 dp=29 gate
    expect_placed train 29
    expect "nodes with hostile pods" "$(api_pods train | jq '[.items[].spec.nodeName | select(IN("gpu-00", "gpu-01", "gpu-02"))] | length')" 0
    expect_match "kilobytes of memory" "$(extender_memory_kilobytes "$(program_pid extender)")" '^([1-9]?[0-9]{4}|1[0-4][0-9]{4})$'
}

# --- forged and broken requests ----------------------------------------------------

# start_own [OPTION...]: another extender, which does not lead, as our child; $own_with is put before
# its command. Sets own_pid, and extender_url for this test.
start_own() {
    local port etc=$PARPLAN_KUBERNETES_DIR/etc
    port=$(free_port)
    # shellcheck disable=SC2086
    ${own_with:-} "$PARPLAN_BUILD/parplan-extender" --kubeconfig "$etc/admin.kubeconfig" \
        --config "$etc/parplan.yaml" --listen "127.0.0.1:$port" --lease-namespace parplan-system \
        --identity own "$@" 2>"${own_log:-$BATS_TEST_TMPDIR/own.log}" 3>&- &
    own_pid=$!
    extender_url=http://127.0.0.1:$port
    wait_for 60 "ready extender of our own" extender_ready
}

# expect_bind NAME UID NODE REGEX
expect_bind() {
    ask bind "$(jq -n --args '{PodName: $ARGS.positional[0], PodNamespace: "default", PodUID: $ARGS.positional[1],
        Node: $ARGS.positional[2]}' -- "${@:1:3}")"
    expect_match "answer" "$(jq -r .Error <<<"$output")" "$4"
}

@test "forged bind and filter (unknown pod, wrong uid, other node): refused, nothing changes" {
    local uid node other before
    "$cluster" pause scheduler
    submit_job train 16 "${plan[@]}" gate
    wait_for 60 "plan" has_plan train 16
    start_own --bind
    uid=$(api_pods train | jq -r "$pod_index"'.items[] | select(pod_index == 3) | .metadata.uid')
    node=$(annotations_of train node | awk '$1 == 3 { print $2 }')
    other=$(annotations_of train node | awk '$1 == 4 { print $2 }')
    before=$(gangs)
    expect_bind ghost no-such gpu-00 'has not heard of pod default/ghost'
    expect_bind "$(pod_of_index train 3)" no-such "$node" 'has not heard of pod'
    expect_bind "$(pod_of_index train 3)" "$uid" "$other" "meant for node $node"
    expect_bind "$(pod_of_index train 3)" "$uid" nowhere "meant for node $node"
    expect_bind $'ghost\nparplan-extender: error: forged \e[31m' "$uid" "$node" '.'
    ask filter "$(print_question gpu-00 gpu-01 | jq '.Pod.metadata += {labels: {"parplan.io/gang": "train",
        "batch.kubernetes.io/job-completion-index": "3"}}')"
    expect_match "answer to an unknown pod of the gang" "$output" '"Error": ?"gang default/train'
    ask filter "$(print_question "$node" nowhere)"
    expect "nodes that are promised or do not exist" "$(jq -c '.NodeNames - ["nowhere"]' <<<"$output")" '[]'
    expect "bound" "$(count_bound train)" 0
    expect "state" "$(gangs)" "$before"
    expect "forged lines" "$(grep -cE '^parplan-extender: error: forged|'$'\e' "$BATS_TEST_TMPDIR/own.log")" 0
    "$cluster" resume scheduler
    expect_placed train 16
}

# Prints a question whose body is BODY in jq's words, of the one about gpu-00 and gpu-01.
changed_question() {
    print_question gpu-00 gpu-01 | jq -c "$1"
}

@test "malformed JSON, Nodes instead of NodeNames, 0 nodes, doubled names, 1 MB name, escapes: an Error, or names that were asked" {
    local body name regex bad=0
    while IFS='~' read -r name body regex; do
        [[ $name ]] || continue
        eval "$body" >"$BATS_TEST_TMPDIR/body"
        ask filter "@$BATS_TEST_TMPDIR/body" >"$BATS_TEST_TMPDIR/said"
        printf '%-28s %.100s\n' "$name" "$(tr -d '\n' <<<"$output")"
        jq -e . <<<"$output" >"$BATS_TEST_TMPDIR/json" && grep -qE -- "$regex" <(jq -c . <<<"$output") || bad=1
    done <<'TABLE'
half of it~changed_question . | head -c 100~"Error":"[^"]
no JSON~echo '<html>'~"Error":"[^"]
nothing~printf ''~"Error":"[^"]
a list~echo '[]'~"Error":"[^"]
deep~printf '{"Pod":%0.s' {1..500}~"Error":"[^"]
NUL~printf '{"Pod":\0}'~"Error":"[^"]
no UTF-8~changed_question . | sed 's/gpu-01/\xff\xfe/'~"Error":"[^"]
whole nodes~changed_question '.NodeNames = null | .Nodes = {items: [{metadata: {name: "gpu-00"}}]}'~"Error":".*nodeCacheCapable
no nodes~changed_question '.NodeNames = []'~"NodeNames":\[\]|"Error":"[^"]
no names~changed_question 'del(.NodeNames)'~"Error":"[^"]
doubled~changed_question '.NodeNames = ["gpu-00", "gpu-00"]'~"NodeNames":\["gpu-00"(,"gpu-00")?\]|"Error":"[^"]
name of 1 MB~changed_question '.NodeNames = ["x" * 1000000]'~"Error":"[^"]
escapes~changed_question '.NodeNames = ["gpu-00", "a\u0000\n\"b"]'~"Error":"[^"]|"NodeNames":\["gpu-00","a\\u0000\\n\\"b"\]
number~changed_question '.NodeNames = [1]'~"Error":"[^"]
no pod~changed_question 'del(.Pod)'~"Error":"[^"]
TABLE
    expect "wrong answers" "$bad" 0
    extender_ready
}

extender_memory_kilobytes() {
    awk '/^VmHWM/ { print $2 }' "/proc/$1/status"
}

# hold_connections COUNT: so many that send a byte now and then, for ever. Sets slow_pid.
hold_connections() {
    local address=${extender_url#http://} slow=() i fd
    (
        for ((i = 0; i < $1; i++)); do
            exec {fd}<>"/dev/tcp/${address%:*}/${address#*:}" || break
            slow+=("$fd")
        done
        trap '' PIPE
        while sleep 0.5; do
            for fd in "${slow[@]}"; do printf 'P' >&"$fd"; done
        done 2>/dev/null
    ) 3>&- &
    slow_pid=$!
}

# send TEXT SECONDS: raw, and prints what comes back within so long; 0: ends the connection at once.
send() {
    local address=${extender_url#http://} fd
    exec {fd}<>"/dev/tcp/${address%:*}/${address#*:}"
    printf '%b' "$1" >&"$fd"
    (($2 == 0)) || timeout "$2" cat <&"$fd" || true
    exec {fd}>&-
}

# status_of BYTES [OPTION...]: of a filter call with so large a body; options of curl.
status_of() {
    head -c "$1" /dev/zero | curl -s -o "$BATS_TEST_TMPDIR/said" -w '%{http_code}' --max-time 20 "${@:2}" \
        "$extender_url/parplan/v1/filter" || true
}

@test "slow loris, 10 MB body, chunked without end, pipelined, truncated: answered or ended, a gang is placed meanwhile" {
    local i
    hold_connections 100
    submit_job train 16 "${plan[@]}" filter
    expect "10 MB, with Expect" "$(status_of 10485760 --data-binary @-)" 413
    expect "10 MB, without" "$(status_of 10485760 --data-binary @- -H 'Expect:')" 413
    expect_match "without end" "$(status_of 1000000000 -X POST -T - -H 'Expect:')" '^(413|000)$'
    expect "pipelined" "$(send 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\nGET /healthz HTTP/1.1\r\nHost: a\r\n\r\n' 2 | grep -c '^ok')" 2
    for i in {1..20}; do send 'POST /parplan/v1/filter HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{' 0; done
    for i in {1..20}; do send 'GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n' 0; done
    expect_placed train 16
    kill "$slow_pid"
    expect_match "kilobytes of memory" "$(extender_memory_kilobytes "$(program_pid extender)")" '^[1-5]?[0-9]{4}$'
}

@test "fd limit 32, log on a full disk: it answers on; SIGTERM during a request: exit 0" {
    local status=0 rest
    # The file is a device that is always full.
    own_with="prlimit --nofile=32" own_log=/dev/full start_own
    hold_connections 60
    sleep 1
    kill "$slow_pid"
    wait_for 30 "readiness after the flood" extender_ready
    ask filter "$(print_question gpu-00)"
    expect "nodes" "$(jq -c .NodeNames <<<"$output")" '["gpu-00"]'
    begin_request "${extender_url##*:}" "$(print_question gpu-00 | jq -c .)"
    kill -TERM "$own_pid"
    wait_for 8 "end, though the rest never comes" has_ended "$own_pid"
    wait "$own_pid" || status=$?
    own_pid=
    expect "exit status" "$status" 0
}

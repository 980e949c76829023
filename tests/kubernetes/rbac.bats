#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# The rights of the shipped manifests are those that are used: extender and node agent run under
# their own accounts and go through all they do, then the API server's audit log is compared with
# what their roles grant.
load support

readonly shipped=$kubernetes_root/manifests/kubernetes
readonly accounts=(parplan-extender parplan-node-agent)
readonly plan=(tp=8 pp=2 dp=2)

setup_file() {
    [[ -x $PARPLAN_BUILD/parplan-extender && ! ${PARPLAN_KUBERNETES:-} ]] || return 0
    cluster_nodes=16 cluster_options='--kubelet --gates gang' start_cluster
    kubectl apply -f "$BATS_TEST_DIRNAME/stand_in_kinds.yaml"
    kubectl apply -k "$shipped/base"
    kubectl wait --for=condition=established --timeout=60s crd --all
    start_extender
    export extender_port extender_url extender_namespace
    wait_for 60 "admission policy in force" admission_heeded
}

setup() {
    needs_newest "PodGroup and MutatingAdmissionPolicy"
    setup_gangs
    kubectl uncordon -l nvidia.com/gpu.count >"$BATS_TEST_TMPDIR/uncordoned"
}

# --- what they do ------------------------------------------------------------------

@test "a gang behind its gate, and one that the extender alone holds" {
    submit_job gated 4 "${plan[@]}"
    expect_placed gated 4
    expect "gates set" "$(kubectl get pods -o json | jq '[.items[].spec.containers[0].env[]
        | select(.name == "PARPLAN_NODE_RANK")] | length')" 4
    submit_job held 4 label= "${plan[@]}"
    expect_placed held 4
}

# submit_members NAME LABEL: two pods that a framework made, with its label.
submit_members() {
    local index
    for index in 0 1; do
        jq -n --arg name "$1" --arg index "$index" --arg key "$2" '{
            apiVersion: "v1", kind: "Pod",
            metadata: {
                name: "\($name)-\($index)", labels: {"parplan.io/gang": "auto", ($key): $name},
                annotations: {"parplan.io/index": $index, "parplan.io/tp": "8"}
            },
            spec: {containers: [{name: "train", image: "train", resources: {limits: {"nvidia.com/gpu": "8"}}}]}
        }'
    done | kubectl apply -f -
}

# members_bound NAME
members_bound() {
    [[ $(kubectl get pods "$1-0" "$1-1" -o json | jq '[.items[] | select(.spec.nodeName)] | length') == 2 ]]
}

# asks_owner APIVERSION KIND LABEL SPEC: a gang of two, whose size that object knows.
asks_owner() {
    local name=${2,,}-${1%%.*}
    jq -n --arg version "$1" --arg kind "$2" --arg name "$name" --argjson spec "$4" \
        '{apiVersion: $version, kind: $kind, metadata: {$name}, $spec}' | kubectl apply -f -
    submit_members "$name" "$3"
    wait_for 60 "bound pods of $name" members_bound "$name"
}

@test "the number of pods is asked of JobSet, PyTorchJob and four kinds of PodGroups" {
    local pod='{"spec":{"containers":[{"name":"a","image":"a","resources":{"limits":{"nvidia.com/gpu":8}}}]}}'
    asks_owner jobset.x-k8s.io/v1alpha2 JobSet jobset.sigs.k8s.io/jobset-name \
        '{"replicatedJobs":[{"name":"a","template":{"spec":{"parallelism":2,"template":'"$pod"'}}}]}'
    asks_owner kubeflow.org/v1 PyTorchJob training.kubeflow.org/job-name \
        '{"pytorchReplicaSpecs":{"Worker":{"replicas":2,"template":'"$pod"'}}}'
    asks_owner scheduling.x-k8s.io/v1alpha1 PodGroup scheduling.x-k8s.io/pod-group '{"minMember":2}'
    remove_jobs >"$BATS_TEST_TMPDIR/removed"
    kubectl delete podgroups.scheduling.x-k8s.io --all
    asks_owner scheduling.sigs.k8s.io/v1alpha1 PodGroup pod-group.scheduling.sigs.k8s.io '{"minMember":2}'
    remove_jobs >"$BATS_TEST_TMPDIR/removed"
    asks_owner scheduling.volcano.sh/v1beta1 PodGroup scheduling.k8s.io/group-name '{"minMember":2}'
    submit_native_job native 4 label= "${plan[@]}"
    expect_placed native 4
}

@test "an event, the same one again after a restart, the Lease given back and taken again" {
    local pid
    submit_job wide 17 tp=8 dp=17
    expect_event wide 'GangWaiting.*17'
    pid=$(program_pid extender)
    kill -TERM "$pid"
    wait_for 30 "end of the extender" has_ended "$pid"
    expect "holder" "$(lease_holder)" nobody
    "$cluster" restart extender
    wait_for 60 "second time of the event" has_counted
    expect "holder" "$(lease_holder)" extender
}

has_counted() {
    kubectl get events -o json | jq -e 'any(.items[]; .source.component == "parplan-extender" and .count > 1)' >/dev/null
}

@test "a pod that is pinned to a node which went bad is deleted" {
    local node pod
    "$cluster" pause scheduler
    submit_job train 4 "${plan[@]}"
    wait_for 60 "released pods" has_plan train 4
    node=$(annotations_of train node | awk '$1 == 2 { print $2 }') pod=$(pod_of_index train 2)
    kubectl cordon "$node"
    wait_for 60 "end of $pod" is_gone "$pod"
    "$cluster" restart scheduler
    expect_placed train 4
}

is_gone() {
    ! kubectl get pod "$1" >/dev/null 2>&1
}

@test "MASTER_ADDR is a name under a headless Service" {
    local address
    submit_job train 4 "${plan[@]}"
    expect_placed train 4
    address=$(annotations_of train master-addr | awk '{ print $2 }' | sort -u)
    expect_match "master" "$address" "^$(pod_of_index train 0 | cut -d- -f1)-0[.a-z0-9-]*\..*"
    expect "its Service" "$(kubectl get service "$(cut -d. -f2 <<<"$address")" -o json |
        jq -r '"\(.spec.clusterIP) \(.spec.publishNotReadyAddresses)"')" "None true"
}

@test "two gangs whose names make one subdomain: the second is told whose the Service is" {
    submit_job one 2 label=Llama tp=8 dp=2
    expect_placed one 2
    submit_job two 2 label=llama tp=8 dp=2
    expect_event two 'GangWithoutMasterName.*gang default/llama.*Service parplan-llama.*gang Llama .Job one.'
    expect_placed two 2
}

@test "the node agent writes its node's topology" {
    local node machine=$BATS_TEST_TMPDIR/machine
    node=$(kubectl get nodes -o name | head -n 1 | cut -d/ -f2)
    write_identity agent parplan-system parplan-node-agent --bound-object-kind Node --bound-object-name "$node"
    write_machine 1
    run_client "$PARPLAN_BUILD/parplan-node-agent" --kubeconfig "$PARPLAN_KUBERNETES_DIR/etc/agent.kubeconfig" \
        --node "$node" --sysfs "$machine" --once
    expect_status 0
    expect_match "said" "$stderr" "node $node: topology written: 1x-mi300x"
    kubectl annotate node "$node" parplan.io/topology-
}

# --- the comparison ----------------------------------------------------------------

# print_granted: "account verb resource.group namespace name" of all that the accounts' roles grant;
# - where a right is not narrowed.
print_granted() {
    kubectl get clusterroles,roles,clusterrolebindings,rolebindings -A -o json | jq -r --args '
        (.items | map(select(.kind | endswith("Role")))) as $roles
        | .items[] | select(.kind | endswith("Binding")) | . as $binding
        | .subjects[]? | select(.kind == "ServiceAccount" and .namespace == "parplan-system") | .name as $account
        | select($ARGS.positional | index($account))
        | $roles[] | select(.kind == $binding.roleRef.kind and .metadata.name == $binding.roleRef.name
            and (.kind == "ClusterRole" or .metadata.namespace == $binding.metadata.namespace))
        | .rules[] | . as $rule | .verbs[] as $verb | .apiGroups[] as $group | .resources[] as $resource
        | ($rule.resourceNames // ["-"])[] as $name
        | [$account, $verb, $resource + (if $group == "" then "" else ".\($group)" end),
            $binding.metadata.namespace // "-", $name] | join(" ")' -- "${accounts[@]}" | sort -u
}

# print_used: the same of every request that the audit log has, and how it ended: ok or refused.
# A request that lost a race (404, 409) was allowed.
print_used() {
    jq -rn --args '
        [inputs | select(.user.username | startswith("system:serviceaccount:parplan-system:"))]
        | group_by(.auditID)[] | last
        | (.user.username | split(":") | last) as $account | select($ARGS.positional | index($account))
        | .objectRef as $object
        | [$account, .verb,
            if $object then $object.resource
                + (if $object.subresource then "/\($object.subresource)" else "" end)
                + (if $object.apiGroup then ".\($object.apiGroup)" else "" end) else .requestURI end,
            $object.namespace // "-", $object.name // "-",
            if .annotations["authorization.k8s.io/decision"] == "forbid"
                or (.responseStatus.code | . == 401 or . == 403 or . == 422) then "refused" else "ok" end]
        | join(" ")' -- "${accounts[@]}" <"$PARPLAN_KUBERNETES_DIR/log/audit.log"
}

# compare GRANTED USED: a line "account verb resource requests refused" for each right, and for each
# kind of request that has none.
compare() {
    awk '
        NR == FNR { key = $1 " " $2 " " $3; rights[++count] = $0; keys[count] = key; next }
        {
            found = 0
            for (i = 1; i <= count && !found; i++) {
                split(rights[i], right)
                if (keys[i] == $1 " " $2 " " $3 && (right[4] == "-" || right[4] == $4) &&
                    (right[5] == "-" || right[5] == $5))
                    found = i
            }
            if (!found) {
                rights[found = ++count] = $1 " " $2 " " $3 " " $4 " " $5
                keys[count] = $1 " " $2 " " $3
            }
            requests[found]++
            refused[found] += $6 == "refused"
        }
        END {
            for (i = 1; i <= count; i++) {
                split(rights[i], right)
                where = right[4] == "-" ? "" : right[4] "/" (right[5] == "-" ? "" : right[5])
                printf "%-19s %-7s %-40s %-32s %8d %8d\n", right[1], right[2], right[3], where,
                    requests[i], refused[i]
            }
        }' "$1" "$2"
}

write_comparison() {
    print_granted >"$BATS_TEST_TMPDIR/granted"
    print_used >"$BATS_TEST_TMPDIR/used"
    compare "$BATS_TEST_TMPDIR/granted" "$BATS_TEST_TMPDIR/used" >"$BATS_TEST_TMPDIR/table"
}

unused() {
    awk '$(NF - 1) == 0 { print $1, $2, $3 }' "$BATS_TEST_TMPDIR/table" | paste -sd,
}

refused() {
    awk '$NF > 0 { print $1, $2, $3 }' "$BATS_TEST_TMPDIR/table" | paste -sd,
}

@test "the rights that are used are those that are granted: none refused, none spare" {
    write_comparison
    {
        printf '# %-19s %-7s %-40s %-32s %8s %8s\n' account verb resource 'only in' requests refused
        sed 's/^/# /' "$BATS_TEST_TMPDIR/table"
    } | tee /dev/fd/3
    expect "rights of both accounts" "$(awk '{ print $1 }' "$BATS_TEST_TMPDIR/granted" | sort -u | wc -l)" 2
    expect "refused" "$(refused)" ""
    expect "unused" "$(unused)" ""
}

@test "a spare right and a refused request do not pass that comparison" {
    kubectl create clusterrole spare --verb=deletecollection --resource=pods
    kubectl create clusterrolebinding spare --clusterrole=spare --serviceaccount=parplan-system:parplan-extender
    run_client kubectl --kubeconfig "$PARPLAN_KUBERNETES_DIR/etc/extender.kubeconfig" get secrets
    expect_status 1
    write_comparison
    expect_match "unused" ",$(unused)," ',parplan-extender deletecollection pods,'
    expect "refused" "$(refused)" "parplan-extender list secrets"
}

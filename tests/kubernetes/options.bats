#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# What the extender does when it is asked to: --label-keys, --bind, and TP groups of two nodes in one
# NVLink domain.
load support

# shellcheck disable=SC2034 # support's
cluster_nodes=16

setup_file() {
    local etc
    [[ -x $PARPLAN_BUILD/parplan-extender ]] || return 0
    start_cluster
    etc=$PARPLAN_KUBERNETES_DIR/etc
    label_nodes >"$etc/labelled"
    printf '%s\n' 'schema: parplan.labels/1' 'domains: [{key: example.com/rack}]' \
        'tiers: [[example.com/leaf]]' >"$etc/labels.yaml"
    write_parplan_yaml "$etc/parplan.yaml" 'tp_within: nvlink_domain'
    start_extender --bind --label-keys "$etc/labels.yaml"
    export extender_port extender_url extender_namespace
}

setup() {
    setup_gangs
    kubectl uncordon -l example.com/leaf >"$BATS_TEST_TMPDIR/uncordoned"
}

# label_nodes: 4 under a leaf in the order of names, which is not topograph's. Beside them 3 racks, each
# an NVLink domain, of 2 nodes of 4 GPUs.
label_nodes() {
    local i
    for ((i = 0; i < cluster_nodes; i++)); do
        kubectl label node "$(printf 'gpu-%02d' "$i")" "example.com/leaf=leaf-$((i / 4))"
    done
    for i in {0..5}; do
        print_node "nvl-$i" nvidia.com/gpu 4 nvidia.com/gpu.product=NVIDIA-GB200 nvidia.com/gpu.count=4 \
            "example.com/rack=rack-$((i / 2))" example.com/leaf=leaf-4
    done | kubectl create -f -
}

@test "--label-keys: pipelines stay under the leaf that those labels name" {
    submit_job train 16 tp=8 pp=4 dp=4 gate
    expect_placed train 16
    expect "pipeline links across leaves" "$(count_crossings train 4 4 example.com/leaf)" 0
}

# racks_of JOB: "index rack"
racks_of() {
    pods_of "$1" | awk 'NR == FNR { rack[$1] = $2; next } { print $1, rack[$2] }' <(places example.com/rack) -
}

group_has_moved() {
    [[ $(racks_of train | awk '$1 >= 2 { print $2 }' | sort | uniq -c | awk '{ print $1, $2 }') =~ ^2\ rack-[0-9]$ &&
        $(racks_of train | awk '$1 == 2 { print $2 }') != "$1" ]]
}

@test "on-no-spare: move: a pod that is lost takes its TP group along, the other group stays" {
    local rack
    kubectl cordon -l '!example.com/rack' >"$BATS_TEST_TMPDIR/cordoned"
    print_set train 4 tp=8 pp=1 dp=2 gpus=4 on-no-spare=move gate | kubectl apply -f -
    expect_placed train 4
    pods_of train | head -n 2 >"$BATS_TEST_TMPDIR/first"
    rack=$(racks_of train | awk '$1 == 3 { print $2 }')
    expect "groups" "$(racks_of train | awk '{ print int($1 / 2), $2 }' | sort -u | wc -l)" 2
    kubectl cordon "$(node_of_index train 3)"
    kubectl delete pod "$(pod_of_index train 3)" --wait=false
    wait_for 120 "group of two in another rack than $rack" group_has_moved "$rack"
    expect_placed train 4
    expect "first group" "$(pods_of train | head -n 2)" "$(<"$BATS_TEST_TMPDIR/first")"
}

# bindings: the pods of those that the extender has written. The scheduler's are not in the audit log.
bindings() {
    jq -r 'select(.stage == "ResponseComplete" and .objectRef.subresource == "binding" and .responseStatus.code == 201
        and (.user.username | endswith(":parplan-extender"))) | .objectRef.name' "$PARPLAN_KUBERNETES_DIR/log/audit.log"
}

@test "--bind and bindVerb: the extender writes the bindings of pods with GPUs, if its account may" {
    local etc=$PARPLAN_KUBERNETES_DIR/etc
    sed 's/^  preemptVerb: .*/&\n  bindVerb: bind/' "$etc/extender-scheduler.yaml" >"$etc/binding-scheduler.yaml"
    "$cluster" restart scheduler --scheduler-config "$etc/binding-scheduler.yaml"
    submit_job train 8 tp=8 pp=4 dp=2 gate
    expect_event train 'the API server refuses the binding: .*cannot create resource "pods/binding"'
    expect_unbound train 1
    kubectl create clusterrole binds --verb=create --resource=pods/binding
    kubectl create clusterrolebinding binds --clusterrole=binds --serviceaccount="$extender_namespace:parplan-extender"
    expect_placed train 8
    submit_job alone 1 label=
    wait_bound alone 1
    expect "pods that the extender bound" "$(bindings | sort)" "$(pods_of train | cat - <(pods_of alone) | awk '{ print $3 }' | sort)"
}

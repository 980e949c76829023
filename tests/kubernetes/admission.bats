#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# What the API server itself refuses: the manifests as they are shipped, the policies that
# `parplan policy --kubernetes` writes, and the ways around them, each with its answer.
# shellcheck disable=SC2034,SC2154
load support

cluster_nodes=2
cluster_options=
manifests=$kubernetes_root/manifests/kubernetes

setup_file() {
    start_cluster
    kubectl apply -f "$BATS_TEST_DIRNAME/stand_in_kinds.yaml"
    print_shipped base | kubectl apply -f -
    local name
    for name in small racks strict lax free; do
        kubectl create namespace "$name"
    done
    kubectl create clusterrole trainer --verb='*' --resource='*.*'
    kubectl create clusterrolebinding trainer --clusterrole=trainer --user=trainer
    write_policy >"$BATS_FILE_TMPDIR/parplan.yaml"
    "$PARPLAN_BUILD/parplan" policy --kubernetes --config "$BATS_FILE_TMPDIR/parplan.yaml" \
        --cluster gb200-nvl72:18 | kubectl apply -f -
    # A policy holds some moments after it was written.
    wait_for 20 "refusal of a plan" refuses "policy tp-within-node" Pod default tp=16
    wait_for 20 "refusal without a plan" refuses "policy require-plan" Pod strict
    wait_for 20 "refusal of an output" refuses "written by parplan alone" Pod default node=x
    ! mutating_policies || wait_for 20 "gate on a pod of a gang" gets_gate
    wait_for 20 "warning" warns
}

write_policy() {
    cat <<'YAML'
schema: parplan.config/1
policy:
  orders: [tp-cp-ep-dp-pp]
  partitions:
    small: {max_tp: 4}
    racks: {tp_within: nvlink_domain}
    strict: {require_plan: deny}
    lax: {on_violation: warn, require_plan: warn}
    free: {tp_within: "off"}
YAML
}

# print_object KIND NAMESPACE [WORD...]: one object of that kind, its pods of 8 GPUs. Words:
#     KEY=VALUE        annotation parplan.io/KEY of its pods
#     .label=VALUE     label parplan.io/gang
#     .gpus=N          how many; 0: none      .resource=NAME   instead of nvidia.com/gpu
#     .init=N          an init container with so many      .sidecar=N   the same, that stays
#     .overrides       a TrainJob says it as before Trainer 2.2   .own   … on itself, not its pods
#     .node=NAME .scheduler=NAME .claims      of the pods
print_object() {
    jq -cn --arg kind "$1" --arg namespace "$2" --args '
        ($ARGS.positional | map(capture("^(?<key>[^=]+)(=(?<value>.*))?$"))) as $words
        | def word($key; $default): [$words[] | select(.key == $key) | .value] | last // $default;
        def has_word($key): any($words[]; .key == $key);
        def limits($count): {resources: {limits: (if $count == "0" then {cpu: "1"}
            else {(word(".resource"; "nvidia.com/gpu")): $count} end)}};
        def without_null: with_entries(select(.value != null));
        ($words | map(select(.key | startswith(".") | not)
            | {key: "parplan.io/\(.key)", value: .value}) | from_entries) as $annotations
        | {
            metadata: {$annotations, labels: ({"parplan.io/gang": word(".label"; null)} | without_null)},
            spec: ({
                restartPolicy: "Never",
                containers: [{name: "train", image: "train"} + limits(word(".gpus"; "8"))],
                initContainers: (if has_word(".init")
                    then [{name: "init", image: "init"} + limits(word(".init"; ""))]
                    elif has_word(".sidecar")
                    then [{name: "side", image: "side", restartPolicy: "Always"} + limits(word(".sidecar"; ""))]
                    else null end),
                nodeName: word(".node"; null), schedulerName: word(".scheduler"; null),
                resourceClaims: (if has_word(".claims")
                    then [{name: "gpus", resourceClaimName: "gpus"}] else null end)
            } | without_null)
        } as $template
        | {
            Pod: {apiVersion: "v1", spec: $template.spec},
            Job: {apiVersion: "batch/v1", spec: {$template}},
            JobSet: {apiVersion: "jobset.x-k8s.io/v1alpha2",
                spec: {replicatedJobs: [{name: "a", template: {spec: {$template}}}]}},
            PyTorchJob: {apiVersion: "kubeflow.org/v1",
                spec: {pytorchReplicaSpecs: {Worker: {$template}}}},
            TrainJob: {apiVersion: "trainer.kubeflow.org/v1alpha1", spec: ({
                trainer: {resourcesPerNode: {limits: $template.spec.containers[0].resources.limits}},
                annotations: (if has_word(".own") then $annotations else null end),
                podTemplateOverrides: (if has_word(".overrides")
                    then [{targetJobs: [{name: "node"}], metadata: $template.metadata}] else null end),
                runtimePatches: (if has_word(".own") or has_word(".overrides") then null else
                    [{manager: "queue"}, {manager: "user", trainingRuntimeSpec: {template: {spec: {replicatedJobs: [
                        {name: "initializer"},
                        {name: "node", template: {spec: {template: {metadata: $template.metadata}}}}]}}}}] end)
            } | without_null)},
            LeaderWorkerSet: {apiVersion: "leaderworkerset.x-k8s.io/v1",
                spec: {leaderWorkerTemplate: {workerTemplate: $template}}},
            Deployment: {apiVersion: "apps/v1",
                spec: {selector: {matchLabels: {a: "b"}}, template: ($template
                    | .metadata.labels.a = "b" | .spec.restartPolicy = "Always")}}
        }[$kind] + {$kind, metadata: ({name: "attempt", $namespace}
            + (if $kind == "Pod" then $template.metadata else {} end))}
        ' -- "${@:3}"
}

# Prints what the API server says to an object: "accepted", parplan's words, or all it said.
answer_to() {
    local said
    said=$(print_object "$@" | kubectl --as=trainer create --dry-run=server -f - 2>&1) || true
    print_answer "$said"
}

print_answer() {
    sed -En -e 's/.* denied request: //p' -e 's/^Warning: .* with binding [^:]*: /warning: /p' \
        -e 's/.*(created|patched|serverside-applied).*/accepted/p' <<<"$1" | grep . || echo "$1"
}

refuses() { # text object…
    [[ $(answer_to "${@:2}") == *"$1"* ]]
}

gets_gate() {
    print_object Pod default .label=g | kubectl --as=trainer create --dry-run=server -o json -f - |
        jq -e '.spec.schedulingGates[0].name == "parplan.io/gang"' >/dev/null
}

warns() {
    [[ $(misplaced Job '.metadata.annotations = {"parplan.io/dp": "2"}') == warning* ]]
}

# expect_answers: a table from stdin, one attempt a line: object words | answer.
expect_answers() {
    local words answer got bad=0
    while IFS='|' read -r words answer; do
        [[ ${words// } ]] || continue
        # shellcheck disable=SC2086
        got=$(answer_to $words | paste -sd' ')
        if [[ $got != "${answer# }" ]]; then
            printf '%s\n  got:    %s\n  wanted: %s\n' "$words" "$got" "${answer# }"
            bad=1
        fi
    done
    return "$bad"
}

@test "the base and every overlay are taken by the API server, as is each example" {
    local folder
    for folder in base $(cd "$manifests" && echo overlays/*); do
        print_shipped "$folder" >"$BATS_TEST_TMPDIR/all.yaml"
        # An address of this cluster's service range.
        sed -i 's/10\.96\.0\.88/10.0.0.88/' "$BATS_TEST_TMPDIR/all.yaml"
        run_client kubectl apply --server-side --force-conflicts --dry-run=server -f "$BATS_TEST_TMPDIR/all.yaml"
        expect_status 0
    done
    for folder in "$manifests"/examples/*.yaml; do
        run_client kubectl --as=trainer create --dry-run=server -f "$folder"
        expect_status 0
    done
}

# print_shipped_objects FOLDER: its objects, one a line.
print_shipped_objects() {
    print_shipped "$1" | kubectl create --dry-run=client -o json -f - | jq -c 'if .kind == "List" then .items[] else . end'
}

@test "the pods of base and overlays meet the level that their namespace enforces" {
    local folder level name
    kubectl create namespace shipped
    for name in parplan-extender parplan-node-agent; do
        kubectl -n shipped create serviceaccount "$name"
    done
    for folder in base $(cd "$manifests" && echo overlays/*); do
        print_shipped_objects "$folder" >"$BATS_TEST_TMPDIR/objects"
        level=$(jq -r 'select(.kind == "Namespace") | .metadata.labels["pod-security.kubernetes.io/enforce"]' \
            "$BATS_TEST_TMPDIR/objects")
        expect "$folder" "$level" "$([[ $folder == base ]] && echo privileged || echo restricted)"
        kubectl label --overwrite namespace shipped "pod-security.kubernetes.io/enforce=$level"
        jq -c 'select(.spec.template.spec.containers) | {apiVersion: "v1", kind: "Pod",
            metadata: {name: .metadata.name, namespace: "shipped"}, spec: .spec.template.spec}' \
            "$BATS_TEST_TMPDIR/objects" >"$BATS_TEST_TMPDIR/pods"
        expect "$folder: pods" "$(grep -c . "$BATS_TEST_TMPDIR/pods")" 2
        run_client kubectl create --dry-run=server -f "$BATS_TEST_TMPDIR/pods"
        expect_status 0
        expect "$folder: budgets" "$(jq -r 'select(.kind == "PodDisruptionBudget") | .spec.unhealthyPodEvictionPolicy' \
            "$BATS_TEST_TMPDIR/objects" | sort -u)" "$([[ $folder == base ]] || echo AlwaysAllow)"
    done
}

@test "the shipped policies are those of the defaults" {
    "$PARPLAN_BUILD/parplan" policy --kubernetes | diff - "$manifests/admission/policy.yaml"
}

@test "TP that leaves its node is refused, whatever makes the pods" {
    expect_answers <<'TABLE'
Pod default tp=8 | accepted
Pod default tp=16 | policy tp-within-node: tp=16 needs 16 GPUs in one node, this pod has 8; use tp=8 or less
Pod default tp=8 etp=16 | policy tp-within-node: tp=16 needs 16 GPUs in one node, this pod has 8; use tp=8 or less for etp too
Pod default tp=3 | policy tp-splits-node: tp=3 does not divide the 8 GPUs of this pod, so that a TP group would lie on two; use one that does, or use tp=2 or less
Pod default tp=16 .resource=amd.com/gpu | policy tp-within-node: tp=16 needs 16 GPUs in one node, this pod has 8; use tp=8 or less
Pod default tp=16 .resource=gpu.intel.example/gpu | policy tp-within-node: tp=16 needs 16 GPUs in one node, this pod has 8; use tp=8 or less
Pod default tp=8 .resource=koordinator.sh/gpu .gpus=800 | policy tp-within-node: tp=8 needs 8 GPUs in one node, this pod has 0; give it GPUs (limits of its containers, as nvidia.com/gpu: 8)
Pod default tp=8 .gpus=0 | policy tp-within-node: tp=8 needs 8 GPUs in one node, this pod has 0; give it GPUs (limits of its containers, as nvidia.com/gpu: 8)
Pod default tp=8 .gpus=1 .init=8 | accepted
Pod default tp=8 .gpus=4 .sidecar=4 | accepted
Pod default tp=8 .gpus=4 .sidecar=1 | policy tp-within-node: tp=8 needs 8 GPUs in one node, this pod has 5; use tp=5 or less
Job default tp=8 | accepted
Job default tp=16 | policy tp-within-node: tp=16 needs 16 GPUs in one node, this pod has 8; use tp=8 or less
JobSet default tp=8 | accepted
JobSet default tp=16 | policy tp-within-node: tp=16 needs 16 GPUs in one node, this pod has 8; use tp=8 or less
PyTorchJob default tp=8 | accepted
PyTorchJob default tp=16 | policy tp-within-node: tp=16 needs 16 GPUs in one node, this pod has 8; use tp=8 or less
LeaderWorkerSet default tp=8 | accepted
LeaderWorkerSet default tp=16 | policy tp-within-node: tp=16 needs 16 GPUs in one node, this pod has 8; use tp=8 or less
TrainJob default tp=8 | accepted
TrainJob default tp=8 .overrides | accepted
TrainJob default tp=16 .overrides | policy tp-within-node: tp=16 needs 16 GPUs in one node, this pod has 8; use tp=8 or less
TrainJob default tp=16 .own | warning: parplan.io/tp stands on the TrainJob itself, where parplan does not see it; write it into the metadata of the pods' template accepted
TrainJob default tp=16 | policy tp-within-node: tp=16 needs 16 GPUs in one node, this pod has 8; use tp=8 or less
Deployment default tp=16 | accepted
TABLE
}

@test "each namespace has its own policy" {
    expect_answers <<'TABLE'
Pod small tp=4 | accepted
Job small tp=8 | policy max-tp: tp=8 is more than the 4 that are allowed; use tp=4 or less
Pod racks tp=16 .gpus=4 | accepted
Pod racks tp=72 .gpus=4 | accepted
Pod racks tp=128 .gpus=4 | policy tp-within-nvlink-domain: tp=128 needs 128 GPUs in one NVLink domain, gb200-nvl72:18 has 72; use tp=72 or less
Pod racks tp=6 .gpus=4 | policy tp-splits-node: tp=6 does not divide the 4 GPUs of this pod, so that a TP group would lie on two; use one that does, or use tp=4 or less
Pod free tp=128 | accepted
Pod lax tp=16 | warning: policy tp-within-node: tp=16 needs 16 GPUs in one node, this pod has 8; use tp=8 or less accepted
Pod lax | warning: policy require-plan: this pod needs a plan with degrees; give them (annotations parplan.io/tp: "8", parplan.io/pp: "4"), or a model to choose them for (parplan.io/model: llama3-8b) accepted
Pod strict | policy require-plan: this pod needs a plan with degrees; give them (annotations parplan.io/tp: "8", parplan.io/pp: "4"), or a model to choose them for (parplan.io/model: llama3-8b)
Job strict | policy require-plan: this pod needs a plan with degrees; give them (annotations parplan.io/tp: "8", parplan.io/pp: "4"), or a model to choose them for (parplan.io/model: llama3-8b)
TrainJob strict tp=8 | accepted
TrainJob strict tp=8 .overrides | accepted
TrainJob strict .label=g | accepted
TrainJob strict .gpus=0 | accepted
TrainJob strict .label=off | policy require-plan: this pod needs a plan with degrees; give them (annotations parplan.io/tp: "8", parplan.io/pp: "4"), or a model to choose them for (parplan.io/model: llama3-8b)
TrainJob strict tp=8 .own | warning: parplan.io/tp stands on the TrainJob itself, where parplan does not see it; write it into the metadata of the pods' template policy require-plan: this pod needs a plan with degrees; give them (annotations parplan.io/tp: "8", parplan.io/pp: "4"), or a model to choose them for (parplan.io/model: llama3-8b)
Pod strict .gpus=0 | accepted
Pod strict tp=8 | accepted
Pod strict .label=g | accepted
Pod strict .label=off | policy require-plan: this pod needs a plan with degrees; give them (annotations parplan.io/tp: "8", parplan.io/pp: "4"), or a model to choose them for (parplan.io/model: llama3-8b)
Pod kube-system tp=16 | accepted
Pod default order=tp-cp-ep-pp-dp | policy order: order=tp-cp-ep-pp-dp is not among the orders that are allowed; use order=tp-cp-ep-dp-pp, and tell the program
Pod default order=auto | accepted
TABLE
}

@test "numbers that are none, outputs, and ways around the scheduler are refused" {
    expect_answers <<'TABLE'
Pod default tp=abc | annotation parplan.io/tp: "abc" is no whole number; write it in digits, as "8"
Pod default tp=08 | annotation parplan.io/tp: "08" is no whole number; write it in digits, as "8"
Pod default tp=99999999999999999999 | annotation parplan.io/tp: "99999999999999999999" is no whole number; write it in digits, as "8"
Pod default tp=<=8 | accepted
Pod default size=-1 | annotation parplan.io/size: "-1" is no whole number; write it in digits, as "8"
Job default global_batch=1e3 | annotation parplan.io/global_batch: "1e3" is no whole number; write it in digits, as "8"
Pod default node-rank=0 | annotation parplan.io/node-rank is written by parplan alone; leave it as it is
Job default plan=v1 | annotation parplan.io/plan is written by parplan alone; leave it as it is
TrainJob default node=x | annotation parplan.io/node is written by parplan alone; leave it as it is
TrainJob default pp=none | annotation parplan.io/pp: "none" is no whole number; write it in digits, as "8"
JobSet default master-addr=me | annotation parplan.io/master-addr is written by parplan alone; leave it as it is
Pod default .label=g .node=gpu-00 | a pod of a gang gets its node from parplan; take spec.nodeName out (a nodeSelector may stay)
Job default tp=8 .node=gpu-00 | a pod of a gang gets its node from parplan; take spec.nodeName out (a nodeSelector may stay)
Pod default .label=g .scheduler=mine | schedulerName mine does not ask parplan about the pods of a gang; use default-scheduler or parplan
Pod default .label=g .scheduler=parplan | accepted
Pod default .label=g .claims .gpus=0 | the GPUs of spec.resourceClaims cannot be counted for a gang; ask for them in limits, as nvidia.com/gpu: 8
Pod default .label=off .node=gpu-00 | accepted
Pod default .node=gpu-00 | accepted
TABLE
}

@test "nonsense for a number is one clear line, whatever it is" {
    local large
    large=$(printf '8%.0s' {1..100000})
    expect_answers <<TABLE
Pod default tp=$large | annotation parplan.io/tp: a text of 100000 characters is no whole number; write it in digits, as "8"
Job default pp=$large | annotation parplan.io/pp: a text of 100000 characters is no whole number; write it in digits, as "8"
PyTorchJob default size=$large | annotation parplan.io/size: a text of 100000 characters is no whole number; write it in digits, as "8"
Pod default tp= | annotation parplan.io/tp: "" is no whole number; write it in digits, as "8"
Pod default tp=0 | annotation parplan.io/tp: "0" is no whole number; write it in digits, as "8"
Pod default tp=-8 | annotation parplan.io/tp: "-8" is no whole number; write it in digits, as "8"
Pod default tp=+8 | annotation parplan.io/tp: "+8" is no whole number; write it in digits, as "8"
Pod default tp=8.0 | annotation parplan.io/tp: "8.0" is no whole number; write it in digits, as "8"
Pod default tp=1e3 | annotation parplan.io/tp: "1e3" is no whole number; write it in digits, as "8"
Pod default tp=0x8 | annotation parplan.io/tp: "0x8" is no whole number; write it in digits, as "8"
Pod default tp=８ | annotation parplan.io/tp: "８" is no whole number; write it in digits, as "8"
Pod default tp=NaN | annotation parplan.io/tp: "NaN" is no whole number; write it in digits, as "8"
Pod default tp=<=8,>=2,<=4 | annotation parplan.io/tp: "<=8,>=2,<=4" is no whole number; write it in digits, as "8"
Pod default order=$large | policy order: order=(no order) is not among the orders that are allowed; use order=tp-cp-ep-dp-pp, and tell the program
TABLE
}

# blank_answer JQ: the answer to a pod whose tp is that.
blank_answer() {
    print_answer "$(print_object Pod default | jq ".metadata.annotations[\"parplan.io/tp\"] = $1" |
        kubectl --as=trainer create --dry-run=server -f - 2>&1)"
}

@test "blanks and line ends in a number are told" {
    expect "blank" "$(blank_answer '" 8"')" 'annotation parplan.io/tp: " 8" is no whole number; write it in digits, as "8"'
    expect "blanks" "$(blank_answer '"   "')" 'annotation parplan.io/tp: "   " is no whole number; write it in digits, as "8"'
    expect "line end" "$(blank_answer '"8\n"')" 'annotation parplan.io/tp: a text of more than one line is no whole number; write it in digits, as "8"'
    expect "two lines" "$(blank_answer '"8\nall is well"')" 'annotation parplan.io/tp: a text of more than one line is no whole number; write it in digits, as "8"'
}

# misplaced KIND JQ: what the API server says to a gang of two annotations that the filter has moved.
misplaced() {
    local said
    said=$(print_object "$1" default .label=g tp=8 pp=2 | jq "$2" |
        kubectl --as=trainer create --dry-run=server -f - 2>&1) || true
    print_answer "$said" | paste -sd' '
}

@test "what parplan would not see is warned of: on the Job itself, or a label for an annotation" {
    local kind moved='walk(if type == "object" then del(.["parplan.io/gang"]) else . end)
        | .metadata.labels = {"parplan.io/gang": "g"}'
    for kind in Job JobSet PyTorchJob TrainJob Deployment; do
        expect "$kind" "$(misplaced "$kind" .)" accepted || return 1
        expect "$kind" "$(misplaced "$kind" '.metadata.labels = {"parplan.io/gang": "g"}')" accepted || return 1
        expect "$kind" "$(misplaced "$kind" "$moved")" "warning: parplan.io/gang stands on the $kind itself, \
where parplan does not see it; write it into the metadata of the pods' template accepted" || return 1
    done
    expect "annotation" "$(misplaced Job '.metadata.annotations = {"parplan.io/dp": "2"}')" "warning: parplan.io/dp \
stands on the Job itself, where parplan does not see it; write it into the metadata of the pods' template accepted" ||
        return 1
    expect "label" "$(misplaced Job '.spec.template.metadata.labels["parplan.io/tp"] = "8"')" "warning: parplan.io/tp \
is a label of the pods, and parplan reads it as an annotation; write it under annotations accepted"
}

# patch_as WHO NAMESPACE OBJECT PATCH: what the API server says to it.
patch_as() {
    local said
    said=$(kubectl --as="$1" -n "$2" patch "$3" --type=merge -p "$4" 2>&1) || true
    print_answer "$said"
}

@test "a pod of a gang: its gate, its label and its outputs are parplan's" {
    local extender=system:serviceaccount:parplan-system:parplan-extender
    # kubectl reads what it patches; the extender does not.
    kubectl create clusterrole reader --verb=get --resource=pods
    kubectl create clusterrolebinding reader --clusterrole=reader \
        --serviceaccount=parplan-system:parplan-extender
    print_object Pod default .label=g tp=8 | jq '.spec.schedulingGates = [{name: "parplan.io/gang"}]' |
        kubectl --as=trainer create -f -
    expect "gate" "$(patch_as trainer default pod/attempt '{"spec":{"schedulingGates":null}}')" \
        "the scheduling gate parplan.io/gang is taken away by parplan once the whole gang has its nodes; to give the gang up, delete its pods"
    expect "label" "$(patch_as trainer default pod/attempt '{"metadata":{"labels":{"parplan.io/gang":null}}}')" \
        "the label parplan.io/gang of a pod stays as it was made; delete the pod and make another"
    expect "output" "$(patch_as trainer default pod/attempt '{"metadata":{"annotations":{"parplan.io/node":"gpu-01"}}}')" \
        "annotation parplan.io/node is written by parplan alone; leave it as it is"
    expect "degree" "$(patch_as trainer default pod/attempt '{"metadata":{"annotations":{"parplan.io/tp":"16"}}}')" \
        "policy tp-within-node: tp=16 needs 16 GPUs in one node, this pod has 8; use tp=8 or less"
    expect "what is not parplan's" "$(patch_as trainer default pod/attempt '{"metadata":{"annotations":{"a":"b"}}}')" accepted
    expect "another's node selector" "$(patch_as trainer default pod/attempt '{"spec":{"nodeSelector":{"a":"b"}}}')" accepted
    expect "extender" "$(patch_as "$extender" default pod/attempt '{"metadata":{"annotations":
        {"parplan.io/node":"gpu-01","parplan.io/plan-id":"0123456789abcdef"}},"spec":{"schedulingGates":null}}')" accepted
    expect "input of a planned pod" "$(patch_as trainer default pod/attempt '{"metadata":{"annotations":{"parplan.io/tp":"4"}}}')" \
        "a pod that has its plan keeps its annotations; delete the gang's pods and make them again"
    expect "input added to it" "$(patch_as trainer default pod/attempt '{"metadata":{"annotations":{"parplan.io/pp":"4"}}}')" \
        "a pod that has its plan keeps its annotations; delete the gang's pods and make them again"
    expect "its other annotations" "$(patch_as trainer default pod/attempt '{"metadata":{"annotations":{"a":"c"}}}')" accepted
    expect "output taken away" "$(patch_as trainer default pod/attempt '{"metadata":{"annotations":{"parplan.io/node":null}}}')" \
        "annotation parplan.io/node is written by parplan alone; leave it as it is"
    kubectl delete pod attempt --grace-period=0 --force
}

@test "an object that was accepted stays when the policy tightens" {
    print_object Job free tp=128 | kubectl --as=trainer create -f -
    sed 's/free: {tp_within: "off"}/free: {max_tp: 2}/' "$BATS_FILE_TMPDIR/parplan.yaml" >"$BATS_TEST_TMPDIR/parplan.yaml"
    "$PARPLAN_BUILD/parplan" policy --kubernetes --config "$BATS_TEST_TMPDIR/parplan.yaml" | kubectl apply -f -
    wait_for 20 "tighter policy" refuses "policy max-tp" Job free tp=128
    expect "a label" "$(patch_as trainer free job/attempt '{"metadata":{"labels":{"a":"b"}}}')" accepted
    kubectl -n free delete job attempt --wait=false
    "$PARPLAN_BUILD/parplan" policy --kubernetes --config "$BATS_FILE_TMPDIR/parplan.yaml" \
        --cluster gb200-nvl72:18 | kubectl apply -f -
    wait_for 20 "first policy" accepts Job free tp=128
}

accepts() {
    [[ $(answer_to "$@") == accepted ]]
}

@test "one label is enough: gate, variables of the ranks, and names" {
    needs_newest "MutatingAdmissionPolicy; remote.bats shows the webhook"
    print_object Pod default .label=My.Gang_1 tp=8 |
        jq '.spec.containers[0].env = [{name: "MASTER_ADDR", value: "mine"}, {name: "A", value: "1"}]
            | .spec.containers += [{name: "log", image: "log"}]' |
        kubectl --as=trainer create --dry-run=server -o json -f - >"$BATS_TEST_TMPDIR/pod.json"
    expect "gate, names" "$(jq -c '[.spec.schedulingGates[].name, .spec.subdomain, .spec.hostname]' \
        "$BATS_TEST_TMPDIR/pod.json")" '["parplan.io/gang","parplan-my-gang-1","attempt"]'
    expect "variables" "$(jq -r '.spec.containers[0].env[] | .name + "=" + (.value // .valueFrom.fieldRef.fieldPath)' \
        "$BATS_TEST_TMPDIR/pod.json" | sort | paste -sd' ')" "A=1 MASTER_ADDR=mine MASTER_PORT=29500 NODE_RANK=metadata.annotations['parplan.io/node-rank'] PARPLAN_CP_RANK=metadata.annotations['parplan.io/cp-rank'] PARPLAN_DP_RANK=metadata.annotations['parplan.io/dp-rank'] PARPLAN_EP_RANK=metadata.annotations['parplan.io/ep-rank'] PARPLAN_NODE_RANK=metadata.annotations['parplan.io/node-rank'] PARPLAN_PLAN_ID=metadata.annotations['parplan.io/plan-id'] PARPLAN_PP_RANK=metadata.annotations['parplan.io/pp-rank'] PARPLAN_TP_RANK=metadata.annotations['parplan.io/tp-rank'] PET_MASTER_ADDR=metadata.annotations['parplan.io/master-addr'] PET_NODE_RANK=metadata.annotations['parplan.io/node-rank']"
    expect "without a GPU" "$(jq -c '.spec.containers[1].env' "$BATS_TEST_TMPDIR/pod.json")" null
    print_object Pod default .label=g | jq '.spec += {schedulingGates: [{name: "kueue.example/a"}],
            hostname: "mine", subdomain: "own"}' |
        kubectl --as=trainer create --dry-run=server -o json -f - >"$BATS_TEST_TMPDIR/pod.json"
    expect "the user's own" "$(jq -c '[[.spec.schedulingGates[].name], .spec.subdomain, .spec.hostname]' \
        "$BATS_TEST_TMPDIR/pod.json")" '[["kueue.example/a","parplan.io/gang"],"own","mine"]'
    expect "names of long and of empty groups" "$(for label in "" true "$(printf 'L%.0s' {1..63})"; do
        print_object Pod default ".label=$label" | kubectl --as=trainer create --dry-run=server -o json -f - |
            jq -r .spec.subdomain
    done | paste -sd' ')" "parplan-auto parplan-auto parplan-$(printf 'l%.0s' {1..54})x"
    expect "without the label" "$(print_object Pod default tp=8 |
        kubectl --as=trainer create --dry-run=server -o json -f - | jq -c '[.spec.schedulingGates, .spec.containers[0].env]')" \
        '[null,null]'
}

@test "the example's 16 pods, made by the Job controller, wait at the gate with their names" {
    needs_newest "MutatingAdmissionPolicy; remote.bats shows the webhook"
    kubectl --as=trainer apply -f "$manifests/examples/indexed-job.yaml"
    wait_for 30 "16 pods" has_pods llama 16
    expect "gates, names" "$(kubectl get pods -l batch.kubernetes.io/job-name=llama -o json | jq -r '.items[].spec |
        "\(.schedulingGates[0].name) \(.subdomain) \(.hostname | sub("-[0-9]+$"; "")) \(.nodeName)"' | sort | uniq -c |
        sed 's/^ *//')" "16 parplan.io/gang llama llama null"
    kubectl delete -f "$manifests/examples/indexed-job.yaml" --wait=false
}

@test "the second scheduler's nodes: its taint is tolerated by pods of gangs, and by no other pod with GPUs" {
    needs_newest MutatingAdmissionPolicy
    kubectl apply -f "$manifests/overlays/second-scheduler/dedicated-nodes.yaml"
    wait_for 20 "another scheduler's name" gets_scheduler
    expect "tolerations" "$(print_object Pod default .label=g | kubectl --as=trainer create --dry-run=server -o json -f - |
        jq -c '[.spec.tolerations[] | select(.key == "parplan.io/dedicated") | .operator + .effect]')" \
        '["ExistsNoSchedule"]'
    expect "a pod with GPUs" "$(tolerating 8 default-scheduler)" "GPUs of nodes with the taint parplan.io/dedicated are given by the scheduler parplan alone; set spec.schedulerName to parplan, or take the toleration out"
    expect "GPUs of an init container" "$(tolerating 0 default-scheduler .init=8)" "GPUs of nodes with the taint parplan.io/dedicated are given by the scheduler parplan alone; set spec.schedulerName to parplan, or take the toleration out"
    expect "GPUs of a sidecar" "$(tolerating 0 default-scheduler .sidecar=8)" "GPUs of nodes with the taint parplan.io/dedicated are given by the scheduler parplan alone; set spec.schedulerName to parplan, or take the toleration out"
    expect "a daemon with an init container" "$(tolerating 0 default-scheduler .init=0)" accepted
    expect "the same for parplan" "$(tolerating 8 parplan)" accepted
    expect "a daemon" "$(tolerating 0 default-scheduler)" accepted
    kubectl delete -f "$manifests/overlays/second-scheduler/dedicated-nodes.yaml"
}

gets_scheduler() {
    print_object Pod default .label=g | kubectl --as=trainer create --dry-run=server -o json -f - |
        jq -e '.spec.schedulerName == "parplan"' >/dev/null &&
        [[ $(tolerating 8 default-scheduler) != accepted ]]
}

# tolerating GPUS SCHEDULER [WORD…]: what is said to a pod that tolerates everything.
tolerating() {
    local said
    said=$(print_object Pod default ".gpus=$1" ".scheduler=$2" "${@:3}" | jq '.spec.tolerations = [{operator: "Exists"}]' |
        kubectl --as=trainer create --dry-run=server -f - 2>&1) || true
    print_answer "$said"
}

# As the node agent of gpu-00.
agent() {
    kubectl --token="$agent_token" --kubeconfig=/dev/null --server="$kubernetes_server" \
        --certificate-authority="$PARPLAN_KUBERNETES_DIR/etc/ca.crt" "$@"
}

patch_as_agent() { # node patch
    local said
    said=$(agent patch node "$1" --type=merge -p "$2" 2>&1) || true
    print_answer "$said"
}

@test "the node agent writes one annotation of its own node" {
    local nothing_else="parplan-node-agent may write the annotation parplan.io/topology of its node, and nothing else"
    jq -n '{apiVersion: "v1", kind: "Pod", metadata: {name: "agent", namespace: "parplan-system"}, spec:
        {nodeName: "gpu-00", serviceAccountName: "parplan-node-agent", containers: [{name: "a", image: "a"}]}}' |
        kubectl create -f -
    agent_token=$(kubectl -n parplan-system create token parplan-node-agent --bound-object-kind Pod \
        --bound-object-name agent)
    expect "its own" "$(patch_as_agent gpu-00 '{"metadata":{"annotations":{"parplan.io/topology":"x"}}}')" accepted
    expect "another's" "$(patch_as_agent gpu-01 '{"metadata":{"annotations":{"parplan.io/topology":"x"}}}')" \
        'parplan-node-agent of node "gpu-00" may not write to node gpu-01'
    expect "a label" "$(patch_as_agent gpu-00 '{"metadata":{"labels":{"a":"b"}}}')" "$nothing_else"
    expect "a label less" "$(patch_as_agent gpu-00 '{"metadata":{"labels":{"nvidia.com/gpu.product":null}}}')" "$nothing_else"
    expect "an annotation" "$(patch_as_agent gpu-00 '{"metadata":{"annotations":{"a":"b"}}}')" "$nothing_else"
    expect "an annotation less" "$(patch_as_agent gpu-00 '{"metadata":{"annotations":{"node.alpha.kubernetes.io/ttl":null}}}')" \
        "$nothing_else"
    expect "cordon" "$(patch_as_agent gpu-00 '{"spec":{"unschedulable":true}}')" "$nothing_else"
    expect_match "list" "$(agent get nodes 2>&1 || true)" 'cannot list resource "nodes"'
    agent_token=$(kubectl -n parplan-system create token parplan-node-agent)
    expect "a token of no node" "$(patch_as_agent gpu-00 '{"metadata":{"annotations":{"parplan.io/topology":"y"}}}')" \
        'parplan-node-agent of node "" may not write to node gpu-00'
}

@test "the extender's account may do what it needs and no more" {
    local extender=system:serviceaccount:parplan-system:parplan-extender verb
    for verb in "list nodes" "watch nodes" "list pods" "watch pods" "patch pods" "delete pods" "create events" \
        "create services" "get services" "get jobs.batch" "get jobsets.jobset.x-k8s.io" \
        "get pytorchjobs.kubeflow.org" "create leases.coordination.k8s.io -n parplan-system" \
        "update leases.coordination.k8s.io/parplan-extender -n parplan-system"; do
        # shellcheck disable=SC2086
        expect "$verb" "$(kubectl auth can-i $verb --as="$extender" || true)" yes
    done
    for verb in "patch nodes" "create pods" "update pods" "create pods --subresource=binding" "get secrets" \
        "list services" "patch services" "delete services" "delete jobs.batch" "create leases.coordination.k8s.io -n default" \
        "update leases.coordination.k8s.io/other -n parplan-system"; do
        # shellcheck disable=SC2086
        expect "$verb" "$(kubectl auth can-i $verb --as="$extender" 2>/dev/null || true)" no
    done
}

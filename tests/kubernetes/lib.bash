# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# What the suites and the demo on a private Kubernetes share: jobs, where their pods went, and the
# extender beside the scheduler. Works on the cluster that `eval "$(cluster env)"` named;
# $PARPLAN_BUILD is the folder of parplan's programs.
# shellcheck disable=SC2154

kubernetes_root=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
kubernetes_cluster=$kubernetes_root/tests/kubernetes/cluster

# api PATH [OPTION...]: what the API server has there, as JSON; options of curl. Whoever waits asks it
# again and again: a kubectl each time would take the machine from those that are waited for.
api() {
    curl -sf --max-time 20 --cacert "$PARPLAN_KUBERNETES_DIR/etc/ca.crt" \
        -H "Authorization: Bearer $(<"$PARPLAN_KUBERNETES_DIR/etc/admin.token")" "${@:2}" "$kubernetes_server$1"
}

# api_pods [JOB]: all pods of the default namespace, or those of a job.
api_pods() {
    api "/api/v1/namespaces/default/pods${1:+?labelSelector=batch.kubernetes.io/job-name%3D$1}"
}

# Of a pod, in jq's words.
pod_index='def pod_index: .metadata.labels | .["batch.kubernetes.io/job-completion-index"] //
    .["apps.kubernetes.io/pod-index"] // "-1" | tonumber;'

# --- jobs --------------------------------------------------------------------------

# print_job NAME PODS [WORD...]: an Indexed Job of pods of 8 GPUs. Words:
#     KEY=VALUE      annotation parplan.io/KEY of its pods
#     label=VALUE    label parplan.io/gang (NAME); label= for none
#     gate, filter   with or without the scheduling gate that the admission policy would set
#     gpus=N         GPUs of a pod (8)      resource=NAME   instead of nvidia.com/gpu
#     cpu=Q memory=Q what else it asks for
#     toleration=KEY scheduler=NAME priority=CLASS     of its pods
print_job() {
    jq -n --arg name "$1" --argjson pods "$2" --args '
        ($ARGS.positional | map(capture("^(?<key>[^=]+)(=(?<value>.*))?$"))) as $words
        | def word($key; $default): [$words[] | select(.key == $key) | .value] | last // $default;
        ["label", "gate", "filter", "gpus", "resource", "cpu", "memory", "toleration", "scheduler", "priority"] as $ours
        | ($words | map(select(.key as $key | $ours | index($key) | not)
            | {key: "parplan.io/\(.key)", value}) | from_entries) as $annotations
        | {
            apiVersion: "batch/v1", kind: "Job", metadata: {name: $name},
            spec: {
                completionMode: "Indexed", completions: $pods, parallelism: $pods, backoffLimit: 100,
                template: {
                    metadata: {
                        annotations: $annotations,
                        labels: (if word("label"; $name) == "" then {}
                            else {"parplan.io/gang": word("label"; $name)} end)
                    },
                    spec: ({
                        restartPolicy: "Never", terminationGracePeriodSeconds: 5,
                        containers: [{
                            name: "train", image: "train",
                            resources: {limits: ({(word("resource"; "nvidia.com/gpu")): word("gpus"; "8")}
                                + ({cpu: word("cpu"; null), memory: word("memory"; null)}
                                    | with_entries(select(.value))))}
                        }]
                    } + (if any($words[]; .key == "gate")
                            then {schedulingGates: [{name: "parplan.io/gang"}]} else {} end)
                      + (if word("toleration"; null)
                            then {tolerations: [{key: word("toleration"; ""), operator: "Exists"}]} else {} end)
                      + ({schedulerName: word("scheduler"; null), priorityClassName: word("priority"; null)}
                            | with_entries(select(.value))))
                }
            }
        }' -- "${@:3}"
}

# print_set NAME PODS [WORD...]: the same pods from a StatefulSet, which makes a lost one again at once
# (a Job waits for 10 s and longer).
print_set() {
    print_job "$@" "size=$2" | jq '.metadata.name as $name | .spec.completions as $pods
        | {
            apiVersion: "apps/v1", kind: "StatefulSet", metadata,
            spec: {
                replicas: $pods, serviceName: $name, podManagementPolicy: "Parallel",
                selector: {matchLabels: {"batch.kubernetes.io/job-name": $name}},
                template: (.spec.template | .metadata.labels["batch.kubernetes.io/job-name"] = $name
                    | .spec.restartPolicy = "Always")
            }
        }'
}

# print_pod NAME [WORD...]: one such pod, of no owner.
print_pod() {
    print_job "$1" 1 "${@:2}" | jq '{apiVersion: "v1", kind: "Pod", metadata: (.spec.template.metadata + {name: .metadata.name}),
        spec: .spec.template.spec}'
}

# print_question NODE...: what a scheduler asks about those nodes for a pod asked-0 with 8 GPUs in no gang.
print_question() {
    print_pod asked-0 label= | jq --args '{Pod: {metadata: {name: .metadata.name, namespace: "default", uid: "u"}, spec},
        Nodes: null, NodeNames: $ARGS.positional}' -- "$@"
}

submit_job() {
    print_job "$@" | kubectl apply -f -
}

# submit_native_job NAME PODS [WORD...]: its pods are one PodGroup of Kubernetes' own, all or none.
submit_native_job() {
    kubectl apply -f - <<END
apiVersion: scheduling.k8s.io/v1alpha2
kind: PodGroup
metadata: {name: $1}
spec: {schedulingPolicy: {gang: {minCount: $2}}}
END
    print_job "$@" | jq --arg name "$1" '.spec.template.spec.schedulingGroup = {podGroupName: $name}' |
        kubectl apply -f -
}

# Prints "index node pod", in the order of indexes; node is - where the pod is not bound.
pods_of() {
    api_pods "$1" | jq -r "$pod_index"'
        .items | map(select(.metadata.deletionTimestamp | not))
        | sort_by(pod_index)[] | "\(pod_index) \(.spec.nodeName // "-") \(.metadata.name)"'
}

count_bound() {
    pods_of "$1" | awk '$2 != "-"' | wc -l
}

count_pods() {
    pods_of "$1" | wc -l
}

# has_pods JOB PODS: so many are there. has_plan JOB PODS: so many have their node by the plan.
has_pods() {
    (($(count_pods "$1") == $2))
}

has_plan() {
    (($(annotations_of "$1" node | awk '$2 != "-"' | wc -l) == $2))
}

# no_pods [JOB]: not even some that terminate.
no_pods() {
    [[ $(api_pods "$@" | jq '.items | length') == 0 ]]
}

# node_of_index JOB INDEX, pod_of_index JOB INDEX
node_of_index() {
    pods_of "$1" | awk -v wanted="$2" '$1 == wanted { print $2 }'
}

pod_of_index() {
    pods_of "$1" | awk -v wanted="$2" '$1 == wanted { print $3 }'
}

# annotations_of JOB KEY: "index value" of parplan.io/KEY, in the order of indexes.
annotations_of() {
    api_pods "$1" | jq -r --arg key "parplan.io/$2" "$pod_index"'.items[]
        | select(.metadata.deletionTimestamp | not)
        | "\(pod_index) \(.metadata.annotations[$key] // "-")"' |
        sort -n
}

# annotation_of POD KEY: parplan.io/KEY, or nothing.
annotation_of() {
    api "/api/v1/namespaces/default/pods/$1" | jq -r --arg key "parplan.io/$2" '.metadata.annotations[$key] // ""'
}

# places [KEY]: prints "node leaf block" of all nodes, or "node VALUE" of that label.
places() {
    api /api/v1/nodes | jq -r --args '
        (if $ARGS.positional == [] then ["fabric.topograph.run/tier-0", "fabric.topograph.run/tier-1"]
            else $ARGS.positional end) as $keys
        | .items[].metadata | [.name, .labels[$keys[]]] | join(" ")' -- "$@"
}

# count_crossings JOB PP DP [KEY]: of the PP-1 x DP links between pods that are next stages of one
# pipeline, how many cross a leaf (of that label); pods hold whole TP groups, numbered dp + DP * pp.
count_crossings() {
    awk -v stages="$2" -v replicas="$3" '
        NR == FNR { leaf[$1] = $2; next }
        { at[$1] = leaf[$2] }
        END {
            for (i = 0; i + replicas < stages * replicas; i++)
                if (at[i] != at[i + replicas]) crossings++
            print crossings + 0
        }' <(places "${@:4}") <(pods_of "$1")
}

# wait_for SECONDS WHAT COMMAND...: until the command succeeds.
wait_for() {
    local deadline=$((${EPOCHREALTIME/[.,]/} + $1 * 1000000))
    until "${@:3}"; do
        if ((${EPOCHREALTIME/[.,]/} > deadline)); then
            echo "no $2 within $1 s" >&2
            return 1
        fi
        sleep 0.1
    done
}

is_bound() {
    (($(count_bound "$1") == $2))
}

# wait_bound JOB PODS [SECONDS]
wait_bound() {
    wait_for "${3:-90}" "$2 bound pods of $1" is_bound "$1" "$2" && return
    echo "bound: $(count_bound "$1") of $(count_pods "$1")"
    events_of "$1" | tail -n 5
    return 1
}

# Prints the messages of the events of a job's pods, each once, the last ones last.
events_of() {
    api "/api/v1/namespaces/default/events?fieldSelector=involvedObject.kind%3DPod" |
        jq -r --arg job "$1" '.items | map(select(.involvedObject.name | startswith($job + "-")))
            | sort_by(.lastTimestamp // .eventTime // .metadata.creationTimestamp)[]
            | "\(.reason): \(.message)"' | awk '!seen[$0]++'
}

# --- the extender ------------------------------------------------------------------

# print_extender_config PORT: kube-scheduler's configuration with the extender of that port, for
# trials: waiting pods are tried again soon.
print_extender_config() {
    cat <<END
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
percentageOfNodesToScore: 100
podInitialBackoffSeconds: 1
podMaxBackoffSeconds: 2
extenders:
- urlPrefix: http://127.0.0.1:$1/parplan/v1
  filterVerb: filter
  prioritizeVerb: prioritize
  preemptVerb: preempt
  weight: 100
  enableHTTPS: false
  httpTimeout: 2s
  nodeCacheCapable: true
  ignorable: false
  managedResources:
  - {name: nvidia.com/gpu, ignoredByScheduler: false}
  - {name: amd.com/gpu, ignoredByScheduler: false}
END
}

# Prints the pid of a program of this cluster: apiserver, extender
program_pid() {
    awk -v name="$1" '$4 == name { print $1 }' "$PARPLAN_KUBERNETES_DIR/run/processes"
}

# free_port: one that nobody listens on.
free_port() {
    (
        # shellcheck disable=SC1091
        source "$kubernetes_root/tests/kubernetes/processes.bash"
        free_ports 1 9000 10200
        # shellcheck disable=SC2154
        echo "${ports[0]}"
    )
}

# write_identity NAME NAMESPACE ACCOUNT [OPTION...]: etc/NAME.kubeconfig with a token of that service
# account; options of kubectl create token.
write_identity() {
    local token
    token=$(kubectl create token -n "$2" "$3" --duration 2h "${@:4}")
    kubectl config view --raw --minify -o json | jq --arg token "$token" \
        '.users[0].user = {token: $token}' >"$PARPLAN_KUBERNETES_DIR/etc/$1.kubeconfig"
}

# documents_of KIND...: of the documents on stdin those of these kinds, as JSON.
documents_of() {
    kubectl create --dry-run=client --validate=ignore -o json -f - | jq --args \
        'if .kind == "List" then .items[] else . end | select(.kind as $kind | $ARGS.positional | index($kind))' \
        -- "$@"
}

# mutating_policies: whether this Kubernetes has MutatingAdmissionPolicy, as ours is written (1.36).
mutating_policies() {
    kubectl get --raw /apis/admissionregistration.k8s.io/v1 |
        jq -e 'any(.resources[]; .name == "mutatingadmissionpolicies")' >/dev/null
}

# print_shipped FOLDER: what kustomize makes of that folder of manifests/kubernetes; for an older
# Kubernetes without what overlays/webhook leaves out there.
print_shipped() {
    local left_out='^$'
    mutating_policies || left_out='(^|\n)kind: MutatingAdmissionPolicy'
    kubectl kustomize "$kubernetes_root/manifests/kubernetes/$1" |
        awk -v RS='---\n' -v ORS='---\n' -v left_out="$left_out" '$0 !~ left_out'
}

# The extender's namespace, service account and rights, as they are shipped.
apply_extender_rights() {
    print_shipped base |
        documents_of Namespace ServiceAccount ClusterRole ClusterRoleBinding Role RoleBinding |
        kubectl apply -f -
}

# apply_admission [CONFIG]: the shipped admission policy that sets gates and variables, and the one
# that parplan writes from parplan.yaml; returns when the API server heeds both.
apply_admission() {
    local config=()
    [[ $# == 0 ]] || config=(--config "$1")
    "$PARPLAN_BUILD/parplan" policy --kubernetes "${config[@]}" | kubectl apply -f -
    kubectl apply -f "$kubernetes_root/manifests/kubernetes/admission/gang-pods.yaml"
    wait_for 60 "admission policy in force" admission_heeded
}

admission_heeded() {
    ! print_job probe 2 tp=16 | kubectl apply --dry-run=server -f - >/dev/null 2>&1 &&
        print_pod probe tp=8 | kubectl apply --dry-run=server -o json -f - |
        jq -e '.spec.schedulingGates' >/dev/null
}

# write_parplan_yaml FILE [POLICY [LINE]]: without one TP groups are only kept within a node.
write_parplan_yaml() {
    printf 'schema: parplan.config/1\npolicy: {%s}\n%s\n' "${2:-tp_within: node}" "${3:-}" >"$1"
}

# spawn_extender NAME OPTION...: parplan-extender of that name under an identity of its own, which the
# audit log tells apart.
spawn_extender() {
    local etc=$PARPLAN_KUBERNETES_DIR/etc namespace=${extender_namespace:-parplan-system}
    write_identity "$1" "$namespace" parplan-extender
    "$kubernetes_cluster" spawn "$1" "$PARPLAN_BUILD/parplan-extender" --kubeconfig "$etc/$1.kubeconfig" \
        --config "$etc/parplan.yaml" --lease-namespace "$namespace" --identity "$1" "${@:2}"
}

# start_extender [OPTION...]: parplan-extender under its own identity, and the scheduler that asks
# it. Sets extender_port and extender_url. Where the cluster has no parplan.yaml it gets the usual one.
start_extender() {
    local etc=$PARPLAN_KUBERNETES_DIR/etc
    extender_namespace=${extender_namespace:-parplan-system}
    extender_port=$(free_port)
    extender_url=http://127.0.0.1:$extender_port
    [[ -e $etc/parplan.yaml ]] || write_parplan_yaml "$etc/parplan.yaml"
    apply_extender_rights >/dev/null
    spawn_extender extender --listen "127.0.0.1:$extender_port" "$@"
    wait_for "${ready_seconds:-60}" "ready extender" extender_ready || return 1
    print_extender_config "$extender_port" >"$etc/extender-scheduler.yaml"
    "$kubernetes_cluster" restart scheduler --scheduler-config "$etc/extender-scheduler.yaml"
}

# gangs: the extender's state as JSON.
gangs() {
    curl -sf --max-time 5 "$extender_url/gangs"
}

# metric NAME: of a metric without labels.
metric() {
    curl -sf --max-time 5 "$extender_url/metrics" | awk -v name="parplan_$1" '$1 == name { print $2 }'
}

# Prints who leads by the Lease: "nobody" where it was given back.
lease_holder() {
    api /apis/coordination.k8s.io/v1/namespaces/parplan-system/leases/parplan-extender |
        jq -r '.spec.holderIdentity | if (. // "") == "" then "nobody" else . end'
}

# knows_gangs NAMES: it has heard of these and no others.
knows_gangs() {
    local known
    known=$(gangs) && [[ $(jq -r '.gangs | keys | join(" ")' <<<"$known") == "$1" ]]
}

extender_ready() {
    curl -sf --max-time 2 -o "$PARPLAN_KUBERNETES_DIR/log/ready" "$extender_url/readyz"
}

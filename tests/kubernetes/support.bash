# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# What the suites on a private Kubernetes share. A suite says `load support`; it then has a cluster
# of $cluster_nodes nodes of its own, from its first test to its last, and kubectl talks to it.
# $cluster_options are its start's. A suite that wants another one defines setup_file itself.
# shellcheck disable=SC2154
bats_require_minimum_version 1.5.0
# shellcheck source=tests/kubernetes/lib.bash disable=SC1091
source "$BATS_TEST_DIRNAME/lib.bash"
# shellcheck source=tests/support/expect.bash disable=SC1091
source "$BATS_TEST_DIRNAME/../support/expect.bash"

cluster=$kubernetes_cluster
cluster_nodes=${cluster_nodes:-64}
cluster_options=${cluster_options:---kubelet}

setup_file() {
    start_cluster
}

teardown_file() {
    [[ ! ${PARPLAN_KUBERNETES_DIR:-} ]] || "$cluster" stop
}

# needs_newest WHAT: skips on an older Kubernetes, which has no such thing.
needs_newest() {
    [[ ! ${PARPLAN_KUBERNETES:-} ]] || skip "Kubernetes $PARPLAN_KUBERNETES has no $1"
}

# On a failure, what the pods were told and the programs had to say.
teardown() {
    [[ ${BATS_TEST_COMPLETED:-} ]] || show_what_was_said
}

show_what_was_said() {
    timeout 10 kubectl get events -o custom-columns=O:.involvedObject.name,R:.reason,M:.message 2>/dev/null | tail -n 20
    tail -n 20 "$PARPLAN_KUBERNETES_DIR"/log/extender*.log 2>/dev/null
}

start_cluster() {
    export PARPLAN_KUBERNETES_DIR=$BATS_FILE_TMPDIR/cluster
    # shellcheck disable=SC2086
    "$cluster" start $cluster_options
    eval "$("$cluster" env)"
    export kubernetes_server scheduler_server
    "$cluster" nodes "$cluster_nodes"
}

# start_extender_cluster: a cluster whose scheduler asks parplan-extender; it is kept in files for
# each test, which is a process of its own.
start_extender_cluster() {
    [[ -x $PARPLAN_BUILD/parplan-extender ]] || return 0
    start_cluster
    start_extender "$@"
    export extender_port extender_url extender_namespace
}

# print_node NAME RESOURCE GPUS [LABEL=VALUE...]: one with other GPUs than the cluster's nodes.
print_node() {
    jq -n --arg name "$1" --arg resource "$2" --arg gpus "$3" --args '{
        apiVersion: "v1", kind: "Node",
        metadata: {$name, labels: ($ARGS.positional | map(capture("^(?<key>[^=]+)=(?<value>.*)$")) | from_entries)},
        status: ({capacity: {($resource): $gpus, cpu: "64", memory: "1Ti", pods: "110"},
            conditions: [{type: "Ready", status: "True"}]} | .allocatable = .capacity)
    }' -- "${@:4}"
}

# The setup of a suite that needs the extender: nothing of the last test is left.
setup_gangs() {
    [[ -x $PARPLAN_BUILD/parplan-extender ]] || skip "parplan-extender is not built"
    remove_jobs >"$BATS_TEST_TMPDIR/removed"
}

# heal_cluster: what a test has paused or killed, or what did not survive that, runs again.
heal_cluster() {
    local program
    for program in etcd apiserver controller-manager scheduler kubelet extender; do
        "$cluster" resume "$program" 2>/dev/null || "$cluster" restart "$program"
    done
}

# remove_jobs: all jobs and pods of the default namespace are gone afterwards.
remove_jobs() {
    api '/apis/batch/v1/namespaces/default/jobs?propagationPolicy=Background' -X DELETE
    api '/apis/apps/v1/namespaces/default/statefulsets?propagationPolicy=Background' -X DELETE
    api '/api/v1/namespaces/default/pods?gracePeriodSeconds=0' -X DELETE
    wait_for 60 "namespace without pods" no_pods
    api /api/v1/namespaces/default/events -X DELETE
}

# expect_event JOB REGEX [SECONDS]: an event of one of its pods that matches.
expect_event() {
    wait_for "${3:-60}" "event of $1 that matches $2" has_event "$1" "$2" && return
    events_of "$1"
    return 1
}

has_event() {
    events_of "$1" | grep -qE -- "$2"
}

# expect_told JOB REGEX: people see it at the job itself.
expect_told() {
    wait_for 30 "event of job $1 that matches $2" is_told "$1" "$2"
}

is_told() {
    kubectl describe job "$1" | grep -qE -- "$2"
}

# expect_unbound JOB [SECONDS]: no pod of it is bound, now and for so long (2).
expect_unbound() {
    local i
    for ((i = 0; i < ${2:-2} * 5; i++)); do
        expect "bound pods of $1" "$(count_bound "$1")" 0 || return 1
        sleep 0.2
    done
}

# expect_planned JOB PODS: each pod runs where its annotation says.
expect_planned() {
    local wrong
    expect "pods of $1" "$(count_pods "$1")" "$2" || return 1
    wrong=$(api_pods "$1" | jq -r '.items[]
        | select(.spec.nodeName != .metadata.annotations["parplan.io/node"])
        | "\(.metadata.name) on \(.spec.nodeName), not \(.metadata.annotations["parplan.io/node"])"')
    expect "pods elsewhere than planned" "$wrong" ""
}

# expect_placed JOB PODS: bound, each where it was planned, each on a node of its own.
expect_placed() {
    wait_bound "$1" "$2" && expect_planned "$1" "$2" && expect_distinct_nodes "$1" "$2"
}

# expect_distinct_nodes JOB PODS: no two pods share a node.
expect_distinct_nodes() {
    expect "nodes of $1" "$(pods_of "$1" | awk '$2 != "-" { print $2 }' | sort -u | wc -l)" "$2"
}

# has_ended PID: it is gone, or a zombie.
has_ended() {
    [[ ! -e /proc/$1/exe ]]
}

# begin_request PORT BODY: a connection on descriptor 5 with a filter request on it, of whose body the
# program there has read the first half. Sets rest.
begin_request() {
    exec 5<>"/dev/tcp/127.0.0.1/$1"
    printf 'POST /parplan/v1/filter HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s' \
        "${#2}" "${2:0:${#2}/2}" >&5
    rest=${2:${#2}/2}
    wait_for 30 "half of a request that is read" has_read "$1"
}

# has_read PORT: there is a connection to it, and all on such ones was read: the kernel counts those
# that were not accepted as of no inode.
has_read() {
    awk -v port=":$(printf %04X "$1")" '
        $2 ~ port "$" && $4 == "01" { found++; split($5, queue, ":"); if ($10 == 0 || queue[2] !~ /^0+$/) left++ }
        END { exit !found || left }' /proc/net/tcp
}

# write_machine GPUS: a machine in the folder $machine, with so many MI300X as AMD's driver lists them, each
# joined with each; there from one moment to the next.
write_machine() {
    local gpu other folder whole nodes
    whole=$(mktemp -d "$BATS_TEST_TMPDIR/gpus.XXXXXX")
    nodes=$whole/sys/class/kfd/kfd/topology/nodes
    mkdir -p "$nodes/0"
    printf 'cpu_cores_count 96\nsimd_count 0\n' >"$nodes/0/properties"
    for ((gpu = 1; gpu <= $1; gpu++)); do
        mkdir -p "$nodes/$gpu/io_links/0" "$nodes/$gpu/mem_banks/0"
        printf '%s\n' 'cpu_cores_count 0' 'simd_count 1216' 'gfx_target_version 90402' \
            'vendor_id 4098' 'device_id 29857' "location_id $((gpu << 8))" 'domain 0' 'hive_id 7' \
            "unique_id $gpu" 'num_xcc 8' >"$nodes/$gpu/properties"
        printf 'heap_type 1\nsize_in_bytes 206141652992\nflags 0\n' >"$nodes/$gpu/mem_banks/0/properties"
        write_link "$nodes/$gpu/io_links/0" "$gpu" 0 2 20
        for ((other = 1; other <= $1; other++)); do
            ((other != gpu)) || continue
            folder=$nodes/$gpu/io_links/$other
            mkdir -p "$folder"
            write_link "$folder" "$gpu" "$other" 11 15
        done
    done
    ln -s "$whole" "$whole.link"
    mv -T "$whole.link" "$machine"
}

# write_link FOLDER FROM TO TYPE WEIGHT
write_link() {
    printf '%s\n' "type $4" "node_from $2" "node_to $3" "weight $5" 'min_bandwidth 64000' \
        'max_bandwidth 64000' >"$1/properties"
}

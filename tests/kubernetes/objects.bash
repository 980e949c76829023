# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# Nodes and pods that exist only as objects of the API, made in bulk, and what a kubelet would say
# of them. Reads etc, run, server; die() and say() are the caller's.
# shellcheck disable=SC2154

readonly leaf_nodes=8 block_leaves=2
readonly gpu_product=NVIDIA-H100-80GB-HBM3
readonly bulk_requests=32     # at once
readonly bulk_batch=1000      # requests of one curl
readonly kubelet_pause=0.1    # seconds after a change: others come with it
readonly watch_seconds=20     # then it looks again

# --- requests in bulk --------------------------------------------------------------

# send_all WHAT: reads lines "method path content-type file" and sends those files, many at once.
# Answers 404 and 409 of pods that are gone meanwhile are fine with WHAT "".
send_all() {
    local what=$1 bad codes=$run/codes.$BASHPID
    awk -v server="$server" -v ca="$etc/ca.crt" -v token="$(<"$etc/kubelet.token")" '
        NR > 1 { print "next" }
        {
            printf "request = \"%s\"\nurl = \"%s%s\"\ncacert = \"%s\"\n", $1, server, $2, ca
            printf "header = \"Authorization: Bearer %s\"\nheader = \"Content-Type: %s\"\n", token, $3
            printf "data-binary = \"@%s\"\noutput = \"/dev/null\"\n", $4
            printf "write-out = \"%%{http_code} %s\\n\"\nsilent\nmax-time = 60\n", $2
        }' >"$codes.config"
    curl -Z --parallel-max "$bulk_requests" -K "$codes.config" >"$codes" 2>"$codes.log" || true
    bad=$(grep -vE '^(2|404|409)' "$codes" | head -n 1) || true
    [[ $what ]] || bad=
    [[ -z $bad ]] || die "$what: the API server answered $bad"
    rm -f "$codes" "$codes.config" "$codes.log"
}

# send_in_batches WHAT: as send_all, of any number.
send_in_batches() {
    local batch
    while mapfile -t -n "$bulk_batch" batch && ((${#batch[@]} > 0)); do
        send_all "$1" < <(printf '%s\n' "${batch[@]}")
    done
}

# --- nodes -------------------------------------------------------------------------

# A node of 8 H100 as JSON, with @NAME@, @LEAF@ and @BLOCK@. A large one is of the size that real
# ones have (23 KB): labels of node feature discovery, images, annotations.
print_node_template() {
    jq -cn --arg product "$gpu_product" --argjson large "${1:-0}" '
        def some(count; f): [range(count * $large) | f];
        def tag: "\(. * 7919 % 10007)";
        {
            apiVersion: "v1", kind: "Node",
            metadata: {
                name: "@NAME@",
                labels: ({
                    "kubernetes.io/hostname": "@NAME@", "kubernetes.io/os": "linux",
                    "kubernetes.io/arch": "amd64", "nvidia.com/gpu.product": $product,
                    "nvidia.com/gpu.count": "8", "nvidia.com/gpu.memory": "81559",
                    "fabric.topograph.run/tier-0": "@LEAF@", "fabric.topograph.run/tier-1": "@BLOCK@"
                } + (some(75; {key: "feature.node.kubernetes.io/cpu-cpuid.FEATURE\(tag)", value: "true"})
                    | from_entries)),
                annotations: ({"node.alpha.kubernetes.io/ttl": "0"}
                    + (some(12; {key: "nfd.node.kubernetes.io/feature-labels-\(.)",
                                 value: ([range(24) | "cpu-cpuid.FEATURE\(tag)"] | join(","))})
                    | from_entries))
            },
            spec: {podCIDR: "10.244.0.0/24", providerID: "test:///@NAME@"},
            status: {
                capacity: {"nvidia.com/gpu": "8", cpu: "192", memory: "2Ti", pods: "110"},
                allocatable: {"nvidia.com/gpu": "8", cpu: "190", memory: "2000Gi", pods: "110"},
                conditions: [{
                    type: "Ready", status: "True", reason: "KubeletReady", message: "a stand-in",
                    lastHeartbeatTime: "2026-01-01T00:00:00Z", lastTransitionTime: "2026-01-01T00:00:00Z"
                }],
                addresses: [{type: "Hostname", address: "@NAME@"}],
                images: some(50; {
                    names: ["images.example/training/workload-\(tag)@sha256:" + ([range(6) | "0123456789a"] | join("")),
                            "images.example/training/workload-\(tag):2026.\(.)"],
                    sizeBytes: (1000000000 + . * 7919)
                }),
                nodeInfo: {
                    machineID: "@NAME@", systemUUID: "@NAME@", bootID: "@NAME@", kernelVersion: "6.1.0",
                    osImage: "Debian GNU/Linux 12", containerRuntimeVersion: "containerd://2.0.0",
                    kubeletVersion: "v1.36.3", kubeProxyVersion: "", operatingSystem: "linux",
                    architecture: "amd64"
                }
            }
        }'
}

# print_node_places COUNT: "name leaf block", in the order of names, which is not the fabric's: next
# names are under different leaves.
print_node_places() {
    awk -v count="$1" -v leaf="$leaf_nodes" -v leaves="$block_leaves" 'BEGIN {
        width = length(count - 1); if (width < 2) width = 2
        step = count % 7919 == 0 ? 1 : 7919
        for (i = 0; i < count; i++) {
            place = (i * step + 5) % count
            printf "gpu-%0*d leaf-%d block-%d\n", width, i, place / leaf + 1, place / (leaf * leaves) + 1
        }
    }'
}

# post_nodes COUNT LARGE
post_nodes() {
    local folder=$run/objects start=$SECONDS
    mkdir -p "$folder"
    print_node_template "${2:-0}" >"$folder/template"
    print_node_places "$1" | awk -v folder="$folder" '
        NR == FNR { template = $0; next }
        {
            text = template
            gsub(/@NAME@/, $1, text); gsub(/@LEAF@/, $2, text); gsub(/@BLOCK@/, $3, text)
            file = folder "/" $1
            print text >file
            close(file)
            print "POST /api/v1/nodes application/json " file
        }' "$folder/template" - >"$folder/requests"
    send_in_batches nodes <"$folder/requests"
    say "$1 nodes of $(($(wc -c <"$folder/template") / 1024)) KB in $((SECONDS - start)) s"
    rm -rf "$folder"
}

# --- pods --------------------------------------------------------------------------

# post_pods COUNT NAMESPACE: one after the other on each node; they ask for CPU and memory only.
post_pods() {
    local folder=$run/objects start=$SECONDS
    mkdir -p "$folder"
    # Names without the rest: of 5,000 large nodes that is 138 MB.
    request -H 'Accept: application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' \
        "$server/api/v1/nodes" | jq -r '.items[].metadata.name' >"$folder/nodes" ||
        die "the nodes cannot be listed"
    [[ -s $folder/nodes ]] || die "there are no nodes to put pods on"
    seq "$1" | awk -v folder="$folder" -v namespace="$2" '
        NR == FNR { node[nodes++] = $1; next }
        {
            file = folder "/pod" $1
            printf "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"filler-%d\"," \
                "\"labels\":{\"app\":\"filler\"}},\"spec\":{\"nodeName\":\"%s\"," \
                "\"containers\":[{\"name\":\"filler\",\"image\":\"filler\",\"resources\":{\"requests\":" \
                "{\"cpu\":\"10m\",\"memory\":\"16Mi\"}}}]}}\n", $1, node[$1 % nodes] >file
            close(file)
            print "POST /api/v1/namespaces/" namespace "/pods application/json " file
        }' "$folder/nodes" - >"$folder/requests"
    send_in_batches pods <"$folder/requests"
    say "$1 pods in $((SECONDS - start)) s"
    rm -rf "$folder"
}

# --- a kubelet's part --------------------------------------------------------------

# Of a list of pods: those that are bound and pending are to run, those that terminate to go. Prints
# "method path content-type body".
print_kubelet_work() {
    jq -r '(now | todate) as $now | .items[]
        | select(.spec.nodeName) | "/api/v1/namespaces/\(.metadata.namespace)/pods/\(.metadata.name)" as $path
        | if .metadata.deletionTimestamp then
            "DELETE \($path) application/json {\"gracePeriodSeconds\":0,\"preconditions\":{\"uid\":\"\(.metadata.uid)\"}}"
          elif .status.phase == "Pending" then
            "PATCH \($path)/status application/strategic-merge-patch+json " + ({
                metadata: {uid: .metadata.uid},
                status: {
                    phase: "Running", startTime: $now,
                    conditions: (["Initialized", "ContainersReady", "Ready"]
                        | map({type: ., status: "True", lastTransitionTime: $now})),
                    containerStatuses: [.spec.containers[] | {
                        name, image, imageID: .image, containerID: "test://\(.name)", ready: true,
                        started: true, restartCount: 0, state: {running: {startedAt: $now}}
                    }]
                }
            } | tojson)
          else empty end'
}

# Sets pods_version, from which on a watch tells what is new.
run_pods() {
    local folder
    folder=$(mktemp -d "$run/kubelet.XXXXXX")
    request "$server/api/v1/pods" >"$folder/pods" || { rm -rf "$folder" && return 1; }
    pods_version=$(jq -r .metadata.resourceVersion "$folder/pods")
    print_kubelet_work <"$folder/pods" | awk -v folder="$folder" '{
        file = folder "/" NR
        body = $0; sub(/^[^ ]+ [^ ]+ [^ ]+ /, "", body)
        print body >file
        close(file)
        print $1, $2, $3, file
    }' >"$folder/requests"
    [[ ! -s $folder/requests ]] || send_in_batches "" <"$folder/requests"
    rm -rf "$folder"
}

# Until a pod changes, or the watch ends.
wait_for_pods() {
    local watch line
    exec {watch}< <(exec curl -sN --max-time "$watch_seconds" --cacert "$etc/ca.crt" \
        -H "Authorization: Bearer $(<"$etc/kubelet.token")" \
        "$server/api/v1/pods?watch=true&resourceVersion=$pods_version&timeoutSeconds=$watch_seconds")
    watcher=$!
    read -r line <&"$watch" || true
    kill "$watcher" 2>/dev/null || true
    watcher=
    exec {watch}<&-
}

# Until its cluster's folder goes.
run_kubelet() {
    trap 'kill $watcher 2>/dev/null; exit' TERM
    watcher= pods_version=
    while [[ -d $run ]]; do
        ! run_pods || wait_for_pods
        sleep "$kubelet_pause"
    done
}

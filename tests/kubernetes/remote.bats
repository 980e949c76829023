#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# The remote form: https with client certificates, the scheduler's configuration of
# overlays/remote, the webhook of overlays/webhook; only addresses and paths are the test's.
load support

# configuration.bash's make_certificate, die its caller's
# shellcheck source=tests/kubernetes/configuration.bash disable=SC1091
source "$BATS_TEST_DIRNAME/configuration.bash"
die() {
    echo "$*" >&2
    return 1
}

readonly overlays=$kubernetes_root/manifests/kubernetes/overlays
readonly plan=(tp=8 pp=4 dp=4)
readonly look_seconds=5 # how often the files are looked at
readonly reload_seconds=30

setup_file() {
    [[ -x $PARPLAN_BUILD/parplan-extender ]] || return 0
    cluster_nodes=32 start_cluster
    export tls=$PARPLAN_KUBERNETES_DIR/etc/tls extender_port extender_url
    extender_port=$(free_port)
    extender_url=https://127.0.0.1:$extender_port
    make_certificates
    start_remote_extender
    ask_remotely
}

setup() {
    setup_gangs
}

# make_authority FOLDER
make_authority() {
    mkdir -p "$tls/$1"
    certificates=$tls/$1 make_certificate ca "/CN=$1" basicConstraints=critical,CA:TRUE \
        keyUsage=critical,keyCertSign,cRLSign
}

# make_client AUTHORITY NAME
make_client() {
    certificates=$tls/$1 make_certificate "$2" "/CN=$2" extendedKeyUsage=clientAuth
}

# make_server NAME: signed by the server's authority
make_server() {
    certificates=$tls/servers make_certificate "$1" "/CN=$1" subjectAltName=IP:127.0.0.1 \
        extendedKeyUsage=serverAuth
}

# make_old_client AUTHORITY NAME: it expired yesterday.
make_old_client() {
    local folder=$tls/$1
    openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -batch -subj "/CN=$2" \
        -config <(printf '[req]\ndistinguished_name=dn\n[dn]\n') -keyout "$folder/$2.key" -out "$folder/$2.csr"
    openssl x509 -req -in "$folder/$2.csr" -CA "$folder/ca.crt" -CAkey "$folder/ca.key" -days -1 \
        -extfile <(echo extendedKeyUsage=clientAuth) -out "$folder/$2.crt"
}

make_certificates() {
    local authority
    for authority in servers clients others; do
        make_authority "$authority"
    done
    make_server first
    make_client clients scheduler
    make_client others stranger
    make_old_client clients old 2>"$tls/log"
    mkdir -p "$tls/served" "$tls/scheduler"
    serve_files servers/first clients/ca
    cp "$tls/servers/ca.crt" "$tls/scheduler/server-ca.crt"
    cp "$tls/clients/scheduler.crt" "$tls/scheduler/client.crt"
    cp "$tls/clients/scheduler.key" "$tls/scheduler/client.key"
}

# serve_files SERVER AUTHORITY: what the extender is given from now on, all at once, as the kubelet
# changes a mounted Secret.
serve_files() {
    local folder
    folder=$(mktemp -d "$tls/version.XXXXXX")
    cp "$tls/$1.crt" "$folder/tls.crt"
    cp "$tls/$1.key" "$folder/tls.key"
    cp "$tls/$2.crt" "$folder/ca.crt"
    use_files "$folder"
}

use_files() {
    ln -s "$1" "$1.link"
    mv -T "$1.link" "$tls/now"
}

start_remote_extender() {
    write_parplan_yaml "$PARPLAN_KUBERNETES_DIR/etc/parplan.yaml"
    apply_extender_rights
    spawn_extender extender --listen "127.0.0.1:$extender_port" \
        --tls-certificate "$tls/now/tls.crt" --tls-key "$tls/now/tls.key" --client-ca "$tls/now/ca.crt"
    wait_for 60 "ready extender" curl -sf --cacert "$tls/servers/ca.crt" "$extender_url/readyz"
}

# The scheduler, with the shipped configuration of the remote form.
ask_remotely() {
    local file=$PARPLAN_KUBERNETES_DIR/etc/remote-scheduler.yaml
    sed "s|https://[0-9.]*:8443/|$extender_url/|; s|/etc/kubernetes/parplan/|$tls/scheduler/|" \
        "$overlays/remote/scheduler.yaml" >"$file"
    "$cluster" restart scheduler --scheduler-config "$file"
}

# ask CLIENT PATH [CURL'S OPTION...]: sets code and answer; CLIENT is AUTHORITY/NAME, or none.
ask() {
    local shown=()
    [[ $1 == none ]] || shown=(--cert "$tls/$1.crt" --key "$tls/$1.key")
    code=$(curl -s --max-time 10 --cacert "$tls/servers/ca.crt" "${shown[@]}" -w '%{http_code}' \
        -o "$BATS_TEST_TMPDIR/answer" "${@:3}" "$extender_url$2") || code="none, curl $?"
    answer=$(cat "$BATS_TEST_TMPDIR/answer" 2>/dev/null) || true
    rm -f "$BATS_TEST_TMPDIR/answer"
    echo "# $1 $2: $code ${answer:0:120}"
}

write_question() {
    print_question gpu-00 gpu-01 >"$BATS_TEST_TMPDIR/question"
}

filter() {
    ask "$1" /parplan/v1/filter --data-binary "@$BATS_TEST_TMPDIR/question"
}

log_lines() {
    grep -c -- "$1" "$PARPLAN_KUBERNETES_DIR/log/extender.log" || true
}

has_lines() {
    (($(log_lines "$1") >= $2))
}

# served_name: the common name of the certificate that new connections see.
served_name() {
    openssl s_client -connect "127.0.0.1:$extender_port" </dev/null 2>/dev/null |
        openssl x509 -noout -subject 2>/dev/null | sed 's/.*CN *= *//'
}

serves() {
    [[ $(served_name) == "$1" ]]
}

@test "a real scheduler with a client certificate places a gang" {
    submit_job train 16 "${plan[@]}" gate
    expect_placed train 16
    submit_job held 16 "${plan[@]}"
    expect_placed held 16
    ask clients/scheduler /metrics
    expect_match "calls over https" "$(grep 'requests_total.*filter.*200' <<<"$answer" | awk '{ print $NF }')" '^[1-9]'
}

@test "no certificate, another authority's, an expired one: refused, but health answers" {
    local client path
    local -A reasons=(
        [none]='a client certificate is needed, and none was shown'
        [others/stranger]='the client certificate is refused: the client CA did not sign it'
        [clients/old]='the client certificate is refused: it has expired')
    write_question
    filter clients/scheduler
    expect "with a good one" "$code" 200
    expect "nodes" "$(jq -r '.NodeNames | join(" ")' <<<"$answer")" "gpu-00 gpu-01"
    for client in none others/stranger clients/old; do
        filter "$client"
        expect "answer to '$client'" "$code $answer" "403 ${reasons[$client]}"
        echo "# certificate $client: $code $answer" >&3
        for path in /parplan/v1/prioritize /parplan/v1/preempt /parplan/v1/bind /plan; do
            ask "$client" "$path" -d '{}'
            expect "$path of '$client'" "$code" 403
        done
        ask "$client" /gangs
        expect "/gangs of '$client'" "$code" 403
        for path in /healthz /readyz /metrics; do
            ask "$client" "$path"
            expect "$path" "$code" 200
        done
    done
}

# call_all_the_time FILE: calls on one connection after another and on one that is kept, until the
# file is gone; it gets a line "code" for each.
call_all_the_time() {
    local options=(-s --max-time 10 --cacert "$tls/servers/ca.crt" --cert "$tls/clients/scheduler.crt"
        --key "$tls/clients/scheduler.key" --data-binary "@$BATS_TEST_TMPDIR/question"
        -w '%{http_code} %{exitcode}\n' -o "$BATS_TEST_TMPDIR/body")
    while [[ -e $1.on ]]; do
        curl "${options[@]}" "$extender_url/parplan/v1/filter" >>"$1" || true
        curl "${options[@]}" --rate 20/s "$extender_url/parplan/v1/filter?[1-20]" >>"$1" || true
    done
}

# has_calls FILE COUNT
has_calls() {
    (($(wc -l <"$1") > $2))
}

@test "a new server certificate is picked up, and no call is lost" {
    local calls=$BATS_TEST_TMPDIR/calls pid start
    write_question
    make_server second
    expect "certificate" "$(served_name)" first
    touch "$calls.on"
    call_all_the_time "$calls" 3>&- &
    pid=$!
    sleep 2
    start=${EPOCHREALTIME/[.,]/}
    serve_files servers/second clients/ca
    wait_for "$reload_seconds" "second certificate" serves second
    echo "# picked up after $(((${EPOCHREALTIME/[.,]/} - start) / 1000)) ms" | tee /dev/fd/3
    sleep 12 # connections under the first one have ended by then
    wait_for 60 "100 calls" has_calls "$calls" 100
    rm "$calls.on"
    wait "$pid"
    echo "# calls meanwhile: $(sort "$calls" | uniq -c | paste -sd, | tr -s ' ')" | tee /dev/fd/3
    expect "calls that failed" "$(grep -vc '^200 0$' "$calls")" 0
    # The scheduler's connection was among them.
    submit_job train 16 "${plan[@]}" gate
    expect_placed train 16
}

@test "a new client authority is picked up: the old one's clients are refused, the new one's pass" {
    write_question
    make_authority successors
    make_client successors scheduler
    is_refused successors/scheduler
    cat "$tls/clients/ca.crt" "$tls/successors/ca.crt" >"$tls/both.crt"
    serve_files servers/first both
    wait_for "$reload_seconds" "answer to the new one" passes successors/scheduler
    passes clients/scheduler
    serve_files servers/first successors/ca
    wait_for 60 "refusal of the old one" is_refused clients/scheduler
    passes successors/scheduler
    serve_files servers/first clients/ca
    wait_for "$reload_seconds" "answer to the first one" passes clients/scheduler
}

passes() {
    filter "$1"
    [[ $code == 200 ]]
}

is_refused() {
    filter "$1"
    [[ $code == 403 ]]
}

@test "a key of another certificate: the old ones stay, and one line says so" {
    local folder
    write_question
    expect "certificate" "$(served_name)" first
    folder=$(mktemp -d "$tls/version.XXXXXX")
    cp "$(realpath "$tls/now")"/* "$folder"
    cp "$tls/others/stranger.key" "$folder/tls.key"
    use_files "$folder"
    wait_for "$reload_seconds" "line" has_lines 'the key belongs to another certificate' 1
    sleep $((2 * look_seconds + 1))
    grep 'certificates stay' "$PARPLAN_KUBERNETES_DIR/log/extender.log" | sed 's/^/# /' | tee /dev/fd/3
    expect "lines" "$(log_lines 'certificates stay as they were')" 1
    expect "certificate" "$(served_name)" first
    passes clients/scheduler
    make_server third
    serve_files servers/third clients/ca
    wait_for "$reload_seconds" "third certificate" serves third
}

@test "to be reached from elsewhere without certificates is refused at the start" {
    run_client "$PARPLAN_BUILD/parplan-extender" --listen 0.0.0.0:0 --kubeconfig "$PARPLAN_KUBERNETES_DIR/etc/extender.kubeconfig"
    expect_status 2
    expect "lines" "$(wc -l <<<"$stderr")" 1
    expect_match "message" "$stderr" '^parplan-extender: --listen: 0.0.0.0 can be reached from elsewhere, and without certificates everybody could decide'
    run_client "$PARPLAN_BUILD/parplan-extender" --listen 0.0.0.0:0 --tls-certificate "$tls/now/tls.crt" --tls-key "$tls/now/tls.key"
    expect_status 2
    expect "lines" "$(wc -l <<<"$stderr")" 1
    expect_match "message" "$stderr" 'schedulers must show a certificate'
}

# apply_webhook: the shipped one, called by address.
apply_webhook() {
    kubectl create --dry-run=client -o json -f "$overlays/webhook/webhook.yaml" |
        jq --arg url "$extender_url/parplan/v1/admit" --arg ca "$(base64 -w 0 "$tls/servers/ca.crt")" \
            '.webhooks[].clientConfig = {$url, caBundle: $ca}' | kubectl apply -f -
    wait_for 30 "webhook in force" webhook_heeded
}

webhook_heeded() {
    print_pod probe label=hooked | kubectl apply --dry-run=server -o json -f - | jq -e .spec.schedulingGates >/dev/null
}

@test "the API server's webhook: one label, and a pod gets gate, variables, subdomain and hostname" {
    local pod
    apply_webhook
    print_pod hooked-0 label=hooked | kubectl apply -f -
    pod=$(kubectl get pod hooked-0 -o json)
    expect "gates" "$(jq -c '.spec.schedulingGates' <<<"$pod")" '[{"name":"parplan.io/gang"}]'
    expect "names" "$(jq -r '"\(.spec.hostname) \(.spec.subdomain)"' <<<"$pod")" "hooked-0 parplan-hooked"
    expect "variables" "$(jq -r '[.spec.containers[0].env[].name] | sort | join(" ")' <<<"$pod")" \
        "MASTER_ADDR MASTER_PORT NODE_RANK PARPLAN_CP_RANK PARPLAN_DP_RANK PARPLAN_EP_RANK PARPLAN_NODE_RANK PARPLAN_PLAN_ID PARPLAN_PP_RANK PARPLAN_TP_RANK PET_MASTER_ADDR PET_NODE_RANK"
    expect "rank" "$(jq -r '.spec.containers[0].env[] | select(.name == "NODE_RANK").valueFrom.fieldRef.fieldPath' <<<"$pod")" \
        "metadata.annotations['parplan.io/node-rank']"
    remove_jobs
    submit_job train 16 "${plan[@]}"
    expect_placed train 16
    kubectl run plain --image=plain
    expect "gates of a pod without the label" "$(kubectl get pod plain -o jsonpath='{.spec.schedulingGates}')" ""
    print_pod forged label=hooked | jq '.metadata.annotations["parplan.io/node"] = "gpu-00"' >"$BATS_TEST_TMPDIR/forged.json"
    run_client kubectl apply -f "$BATS_TEST_TMPDIR/forged.json"
    expect_status 1
    expect_match "refusal" "$stderr" 'parplan.io/node'
}

@test "without the extender the webhook's pods are refused, others made" {
    apply_webhook
    "$cluster" kill extender
    print_pod away label=hooked >"$BATS_TEST_TMPDIR/pod.json"
    run_client kubectl apply -f "$BATS_TEST_TMPDIR/pod.json"
    expect_status 1
    expect_match "refusal" "$stderr" 'failed calling webhook "gang-pods.parplan.io"'
    kubectl run plain --image=plain
    "$cluster" restart extender
    wait_for 30 "pod" kubectl apply -f "$BATS_TEST_TMPDIR/pod.json"
    kubectl delete mutatingwebhookconfiguration parplan-gang-pods
}

#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# What the image from scratch holds is enough: the programs in a root that image_root laid out, with
# nothing else in it, as the image's user. (manifests/kubernetes/Dockerfile lays out the same.)
load support

# shellcheck disable=SC2034 # support's
cluster_nodes=4 cluster_options=--kubelet

setup_file() {
    [[ -x $PARPLAN_BUILD/parplan-extender && $EUID == 0 ]] || return 0
    export image=$BATS_FILE_TMPDIR/image extender_port extender_url extender_pid
    "$kubernetes_root/manifests/kubernetes/image_root" "$image" \
        "$PARPLAN_BUILD"/parplan{,-extender,-node-agent}
    start_cluster
    start_extender_of_image
    print_extender_config "$extender_port" >"$PARPLAN_KUBERNETES_DIR/etc/extender-scheduler.yaml"
    "$cluster" restart scheduler \
        --scheduler-config "$PARPLAN_KUBERNETES_DIR/etc/extender-scheduler.yaml"
}

teardown_file() {
    [[ ! ${extender_pid:-} ]] || kill "$extender_pid" || true
    [[ ! ${PARPLAN_KUBERNETES_DIR:-} ]] || "$cluster" stop
}

setup() {
    ((EUID == 0)) || skip "root alone may change its root"
    setup_gangs
}

# With the shipped rights; what it reads lies inside as a mounted volume would.
start_extender_of_image() {
    apply_extender_rights
    write_identity extender parplan-system parplan-extender
    install -D -m 644 {,"$image"}"$PARPLAN_KUBERNETES_DIR/etc/extender.kubeconfig"
    install -D -m 644 {,"$image"}"$PARPLAN_KUBERNETES_DIR/etc/ca.crt"
    write_parplan_yaml "$image/parplan.yaml"
    chmod 644 "$image/parplan.yaml"
    extender_port=$(free_port)
    extender_url=http://127.0.0.1:$extender_port
    chroot --userspec=65532:65532 "$image" /parplan-extender \
        --kubeconfig "$PARPLAN_KUBERNETES_DIR/etc/extender.kubeconfig" \
        --config /parplan.yaml --listen "127.0.0.1:$extender_port" \
        --lease-namespace parplan-system --identity image \
        >"$PARPLAN_KUBERNETES_DIR/log/extender.log" 2>&1 </dev/null 3>&- &
    extender_pid=$!
    wait_for 60 "ready extender" extender_ready || {
        cat "$PARPLAN_KUBERNETES_DIR/log/extender.log"
        return 1
    }
}

inside() {
    run_client chroot --userspec=65532:65532 "$image" "$@"
}

@test "the image's extender places a gang, as a user that owns nothing" {
    submit_job train 4 tp=8 pp=2 dp=2 gate
    expect_placed train 4
    expect "user" "$(awk '$1 == "Uid:" { print $2 }' "/proc/$extender_pid/status")" 65532
    expect "root" "$(readlink "/proc/$extender_pid/root")" "$image"
    expect "what it may write" "$(find "$image" ! -type l \( -user 65532 -o -perm -o+w \))" ""
}

@test "its probe tells a ready one from none" {
    inside /parplan-extender --probe "$extender_url/readyz"
    expect_status 0
    inside /parplan-extender --probe "http://127.0.0.1:$(free_port)/readyz"
    expect_status 1
    expect "lines" "$(wc -l <<<"$stderr")" 1
}

@test "its command line plans with the data that it carries" {
    inside /parplan plan --model llama2-7b --cluster dgx-h100:2 --set global_batch=256
    expect_status 0
    inside /parplan-node-agent --version
    expect_status 0
    expect "programs" "$(cd "$image" && find . -path './lib*' -prune -o -type f -perm -u+x -print |
        sort | paste -sd' ')" "./parplan ./parplan-extender ./parplan-node-agent"
}

@test "one file names the images of all folders" {
    local copy=$BATS_TEST_TMPDIR/kubernetes folder images
    cp -r "$kubernetes_root/manifests/kubernetes" "$copy"
    sed -i 's|newName: |newName: registry.test/|' "$copy/images/kustomization.yaml"
    for folder in base overlays/{second-scheduler,remote,native-gang,webhook}; do
        images=$(kubectl kustomize "$copy/$folder" | sed -n 's/^ *image: //p')
        [[ $images == *registry.test/parplan:* ]]
        ! grep -v '^registry.test/' <<<"$images" || false
    done
}

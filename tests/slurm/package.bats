#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# The Debian package: the same bytes twice, its files where docs/admin-guide.md says, its plugin in
# a real Slurm; installed, upgraded and removed with dpkg in a root of its own.
# shellcheck disable=SC2154,SC2030,SC2031 # bats sets status, output and stderr
load support

project=$BATS_TEST_DIRNAME/../..

setup_file() {
    export OUT=$BATS_FILE_TMPDIR/out
    export TREE=$BATS_FILE_TMPDIR/tree
    command -v dpkg-shlibdeps >/dev/null || return 0
    "$project/manifests/debian/build" "$PARPLAN_BUILD" 0.1.0 "$OUT" >"$BATS_FILE_TMPDIR/names"
    dpkg-deb -x "$OUT"/parplan_0.1.0_*.deb "$TREE"
    # bats closes its folder to other users, and doctor would say so
    chmod 755 "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR" "$TREE"
}

setup() {
    command -v dpkg-shlibdeps >/dev/null || skip "dpkg-dev is not installed; make deps"
    package=$(echo "$OUT"/parplan_0.1.0_*.deb)
}

teardown_file() {
    PARPLAN_CLUSTER_DIR=$BATS_FILE_TMPDIR/cluster "$cluster" stop
}

# package_root: an empty root for dpkg, in `root`
package_root() {
    root=$BATS_TEST_TMPDIR/root
    mkdir -p "$root"/var/lib/dpkg/{info,updates,parts} "$root/etc/slurm/plugstack.conf.d"
    : >"$root/var/lib/dpkg/status"
}

in_root() {
    run_client dpkg --root="$root" --log="$BATS_TEST_TMPDIR/log" --force-script-chrootless \
        --force-depends --force-not-root --force-confdef "$@"
}

@test "two builds are the same, byte for byte" {
    "$project/manifests/debian/build" "$PARPLAN_BUILD" 0.1.0 "$BATS_TEST_TMPDIR/again"
    cmp "$package" "$BATS_TEST_TMPDIR/again/${package##*/}"
}

@test "it asks for the Slurm that its plugin was built for" {
    local release
    release=$(echo '#include <slurm/slurm_version.h>
SLURM_VERSION_NUMBER' | gcc -E -P - | tail -n 1)
    release=$(printf '%d.%02d' $((release >> 16)) $((release >> 8 & 255)))
    dpkg-deb -f "$package" Depends | tee "$BATS_TEST_TMPDIR/depends"
    grep -qF "slurm-wlm-basic-plugins (>= $release), slurm-wlm-basic-plugins (<< $release.99)" \
        "$BATS_TEST_TMPDIR/depends"
    grep -q 'libhwloc15 (>= .*libjson-c5 .*libyaml-0-2' "$BATS_TEST_TMPDIR/depends"
}

@test "its files are where the admin's guide says" {
    local path count=0
    while read -r path; do
        echo "$path"
        [[ -e ${TREE}${path/x86_64-linux-gnu/$(dpkg-architecture -qDEB_HOST_MULTIARCH)} ]]
        count=$((count + 1))
    done < <(grep -oE '/(usr|etc/parplan)/[A-Za-z0-9_./-]+[a-z]' "$project/docs/admin-guide.md" |
        sort -u)
    ((count >= 6))
    expect "conffiles" "$(dpkg-deb -I "$package" conffiles)" /etc/parplan/parplan.yaml
    expect "files of others" "$(find "$TREE" -perm /022 -not -type l)" ""
}

@test "its manuals, unit and example are whole" {
    local page
    for page in "$project"/docs/man/*; do
        gzip -cd "$TREE/usr/share/man/man${page##*.}/${page##*/}.gz" | cmp - "$page"
    done
    expect "unit" "$(grep ^ExecStart= "$TREE/usr/lib/systemd/system/parplan-node-cache.service")" \
        "ExecStart=/usr/bin/parplan topology --write-cache /run/parplan/node.cache"
    expect "example" "$("$TREE/usr/bin/parplan" check --config "$TREE/etc/parplan/parplan.yaml" \
        --plan tp=16 --cluster dgx-h100:2 2>&1 | grep -c tp-within-node)" 1
    (cd "$TREE" && dpkg-deb -I "$package" md5sums | md5sum --quiet -c -)
}

@test "its plugin runs in a real Slurm, and the doctor is content with it" {
    local plugin
    plugin=$(echo "$TREE"/usr/lib/*/slurm-wlm/spank_parplan.so)
    export PARPLAN_CLUSTER_SPANK=$plugin PARPLAN_CLUSTER_GRES_TYPE=h100
    PARPLAN_CLUSTER_SPANK_ARGS="config=$TREE/etc/parplan/parplan.yaml owner=$(id -u)"
    export PARPLAN_CLUSTER_SPANK_ARGS
    start_cluster 1
    # shellcheck disable=SC2016 # the task's variable
    run_srun -N1 --ntasks-per-node=2 --gres=gpu:8 --parplan=tp=2 sh -c 'echo "$RANK"'
    expect_status 0
    expect "ranks" "$(sort <<<"$output" | xargs)" "0 1"
    run_client "$TREE/usr/bin/parplan" doctor
    expect_match "file" "$output" "ok +plugin-file +$plugin"
    expect_match "version" "$output" "ok +plugin-version "
    expect_match "config" "$output" "ok +config +$TREE/etc/parplan/parplan.yaml"
}

@test "installed, upgraded with the admins' changes kept, removed" {
    package_root
    in_root -i "$package"
    expect_status 0
    sed -i 's/^enabled: true/enabled: false/' "$root/etc/parplan/parplan.yaml"
    in_root -i "$package"
    expect_status 0
    grep -q '^enabled: false' "$root/etc/parplan/parplan.yaml"
    in_root -r parplan
    expect_status 0
    [[ ! -e $root/usr/bin/parplan && -e $root/etc/parplan/parplan.yaml ]]
    in_root -P parplan
    expect_status 0
    [[ ! -e $root/etc/parplan/parplan.yaml ]]
}

@test "it is not removed while plugstack.conf names its plugin" {
    package_root
    in_root -i "$package"
    expect_status 0
    cp "$root/usr/share/parplan/zz-parplan.conf" "$root/etc/slurm/plugstack.conf.d/"
    in_root -r parplan
    expect_status 1
    expect_match "why" "$stderr" "zz-parplan.conf still names spank_parplan.so"
    [[ -e $root/usr/bin/parplan ]]
    in_root -i "$package" # an upgrade is no removal
    expect_status 0
    rm "$root/etc/slurm/plugstack.conf.d/zz-parplan.conf"
    in_root -r parplan
    expect_status 0
}

@test "nor is the job_submit plugin's while slurm.conf names that" {
    package_root
    echo ' jobsubmitplugins = lua,parplan' >"$root/etc/slurm/slurm.conf"
    DPKG_ROOT=$root run_client "$project/manifests/debian/job-submit.prerm" remove
    expect_status 1
    expect_match "why" "$stderr" "JobSubmitPlugins in $root/etc/slurm/slurm.conf still names parplan"
    DPKG_ROOT=$root run_client "$project/manifests/debian/job-submit.prerm" upgrade
    expect_status 0
    echo '#JobSubmitPlugins=parplan' >"$root/etc/slurm/slurm.conf"
    DPKG_ROOT=$root run_client "$project/manifests/debian/job-submit.prerm" remove
    expect_status 0
}

@test "make uninstall leaves nothing" {
    local to=$BATS_TEST_TMPDIR/to
    env -u MAKEFLAGS -u MFLAGS make -s -C "$project" install-files BUILD="$PARPLAN_BUILD" \
        DESTDIR="$to" prefix=/usr
    [[ -e $to/usr/bin/parplan ]]
    env -u MAKEFLAGS -u MFLAGS make -s -C "$project" uninstall DESTDIR="$to" prefix=/usr
    expect "left" "$(find "$to" -type f)" ""
}

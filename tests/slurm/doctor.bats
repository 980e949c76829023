#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# parplan doctor on a real cluster: all well, then one thing after the other is not.
# shellcheck disable=SC2154,SC2030,SC2031 # bats sets status, output and stderr
load support

# bats' own folders are closed to other users, and doctor would say so.
setup_file() {
    OPEN=$(mktemp -d /tmp/parplan.XXXXXX)
    chmod 755 "$OPEN"
    export OPEN ETC=$OPEN/etc PARPLAN_CLUSTER_DIR=$OPEN/cluster
    mkdir -p "$ETC"
    cp "$PARPLAN_BUILD/spank_parplan.so" "$ETC/spank_parplan.so"
    export PARPLAN_CLUSTER_SPANK=$ETC/spank_parplan.so
    export PARPLAN_CLUSTER_GRES_TYPE=h100
    export PARPLAN_CLUSTER_CONF=KillOnBadExit=1
    PARPLAN_CLUSTER_SPANK_ARGS="config=$ETC/parplan.yaml cache=$ETC/node.cache owner=$(id -u)"
    export PARPLAN_CLUSTER_SPANK_ARGS
    start_cluster 2
}

teardown_file() {
    "$cluster" stop
    rm -rf "$OPEN"
}

setup() {
    chmod 755 "$ETC" "$ETC/spank_parplan.so"
    printf 'schema: parplan.config/1\n' >"$ETC/parplan.yaml"
    rm -f "$ETC/node.cache"
    parplan topology --node dgx-h100 --write-cache "$ETC/node.cache"
    echo "required $PARPLAN_CLUSTER_SPANK $PARPLAN_CLUSTER_SPANK_ARGS" \
        >"$PARPLAN_CLUSTER_DIR/etc/plugstack.conf"
    wait_until_idle
}

# doctor STATUS: what n01 says; its lines that are not ok are in `trouble`.
doctor() {
    SLURMD_NODENAME=n01 run_client parplan doctor "${@:2}"
    expect_status "$1"
    trouble=$(grep -E '^(warning|fault) ' <<<"$output" || true)
}

# expect_trouble STATE POINT TEXT: that alone
expect_trouble() {
    expect "lines" "$(wc -l <<<"$trouble")" 1
    expect_match "line" "$trouble" "^$1 +$2 +.*$3"
}

@test "all is well, on this machine and in a step of each node" {
    doctor 0
    expect "trouble" "$trouble" ""
    expect_match "summary" "$output" '12 ok, 0 warnings, 0 faults'
    run_srun -N2 --ntasks-per-node=1 --label parplan doctor
    expect_status 0
    expect "summaries" "$(grep -c ' 12 ok, 0 warnings, 0 faults' <<<"$output")" 2
}

@test "as a document" {
    doctor 0 --format json
    expect "schema" "$(jq -r '.schema, .host, .counts.ok' <<<"$output" | xargs)" \
        "parplan.doctor/1 n01 12"
}

@test "a plugin that others can write" {
    chmod 757 "$PARPLAN_CLUSTER_SPANK"
    doctor 1
    expect_trouble fault plugin-file "writable by others .*chmod go-w"
}

@test "a plugin that is not there, and a line that is not there" {
    sed -i s/spank_parplan.so/gone.so/ "$PARPLAN_CLUSTER_DIR/etc/plugstack.conf"
    SLURMD_NODENAME=n01 run_client parplan doctor
    expect_status 1
    expect_match "plugstack" "$output" 'fault +plugstack +.*do not name spank_parplan.so'
}

@test "pyxis behind parplan, in a file that is included" {
    echo "include plugstack.conf.d/*" >>"$PARPLAN_CLUSTER_DIR/etc/plugstack.conf"
    mkdir -p "$PARPLAN_CLUSTER_DIR/etc/plugstack.conf.d"
    echo "optional /nowhere/spank_pyxis.so" >"$PARPLAN_CLUSTER_DIR/etc/plugstack.conf.d/zzz.conf"
    doctor 1
    expect_trouble fault plugstack "zzz.conf:1: pyxis comes behind"
    rm -r "$PARPLAN_CLUSTER_DIR/etc/plugstack.conf.d"
}

@test "the line says optional" {
    sed -i s/^required/optional/ "$PARPLAN_CLUSTER_DIR/etc/plugstack.conf"
    doctor 0
    expect_trouble warning plugstack "write required"
}

@test "an admins' file that is broken, unsafe or switched off" {
    echo 'polcy: {}' >>"$ETC/parplan.yaml"
    doctor 1
    expect_trouble fault config "parplan.yaml:2: polcy"
    printf 'schema: parplan.config/1\n' >"$ETC/parplan.yaml"
    chmod 666 "$ETC/parplan.yaml"
    doctor 1
    expect_trouble fault config "writable by others"
    chmod 644 "$ETC/parplan.yaml"
    echo 'enabled: false' >>"$ETC/parplan.yaml"
    doctor 0
    expect_trouble warning config "switched off"
}

@test "an admins' file that root can read and users cannot" {
    ((EUID == 0)) || skip "what is one's own, one reads"
    local user=(setpriv --reuid=1 --regid=1 --clear-groups)
    cd /
    chmod 600 "$ETC/parplan.yaml"
    doctor 1
    expect_trouble fault config "parplan.yaml .mode 0600. shuts out all users; run chmod 644"
    run_client "${user[@]}" srun -N1 -n2 --parplan=tp=2 id -u
    expect_status 1
    expect "lines of ours" "$(grep -c 'parplan: ' <<<"$stderr")" 1
    expect_match "line" "$stderr" 'parplan.yaml: no permission to read it; parplan doctor says why'
    run_client "${user[@]}" srun -N1 -n2 id -u
    expect_status 0
    chmod 644 "$ETC/parplan.yaml"
    chmod 711 "$ETC"
    doctor 1
    expect_trouble fault config "etc .mode 0711. shuts out all users; run chmod 755"
    run_client "${user[@]}" srun -N1 -n2 --parplan=tp=2 id -u
    expect_status 1
    expect_match "line" "$stderr" "$ETC: no permission to read it"
}

@test "arguments that the plugin does not take: doctor and srun agree" {
    local conf=$PARPLAN_CLUSTER_DIR/etc/plugstack.conf argument
    for argument in conf=/x owner=root config=x; do
        echo "required $PARPLAN_CLUSTER_SPANK cache=$ETC/node.cache $argument" >"$conf"
        SLURMD_NODENAME=n01 run_client parplan doctor --config "$ETC/parplan.yaml"
        expect_status 1
        expect_match "$argument" "$output" "fault +plugstack +$conf:1: "
        run_srun -N1 -n2 --parplan=tp=2 true
        expect_status 1
    done
    echo "required $PARPLAN_CLUSTER_SPANK $PARPLAN_CLUSTER_SPANK_ARGS # ours" >"$conf"
    doctor 0
    expect "trouble" "$trouble" ""
    run_srun -N1 -n2 --parplan=tp=2 true
    expect_status 0
}

@test "defaults and scopes that cannot work here" {
    printf 'policy: {partitions: {gpuu: {max_tp: 4}}}\ndefaults: {parplan: tp=16}\n' >>"$ETC/parplan.yaml"
    doctor 0
    expect_match "defaults" "$trouble" 'warning +defaults +.*parplan.yaml:3: .*tp=16 needs 16 GPUs'
    expect_match "scopes" "$trouble" 'warning +policy +.*gpuu: the cluster has no such partition; did you mean gpu'
    run_srun -N1 -n2 true
    expect_status 1
}

@test "a cache of another boot, and none" {
    sed -i 's/^boot .*/boot 1/' "$ETC/node.cache"
    SLURMD_NODENAME=n01 run_client parplan doctor
    expect_match "stale" "$output" 'warning +node-cache +.*written in another boot'
    rm "$ETC/node.cache"
    SLURMD_NODENAME=n01 run_client parplan doctor
    expect_match "missing" "$output" 'warning +node-cache +.*node.cache does not exist'
}

@test "other GPUs than Slurm gives out" {
    rm "$ETC/node.cache"
    parplan topology --node dgx-a100 --write-cache "$ETC/node.cache"
    doctor 1
    expect_trouble fault gpus "Slurm calls the GPUs h100, they are a100"
}

@test "a plan is required, and jobs are not asked when they are submitted" {
    echo 'policy: {require_plan: deny}' >>"$ETC/parplan.yaml"
    doctor 0
    expect_trouble warning job-submit "JobSubmitPlugins=parplan"
}

@test "slurmctld stands still: one line, within ten seconds" {
    local pid
    pid=$(awk '$4 == "slurmctld" { print $1 }' "$PARPLAN_CLUSTER_DIR/run/processes")
    kill -STOP "$pid"
    SECONDS=0
    SLURMD_NODENAME=n01 run_client parplan doctor
    local took=$SECONDS
    kill -CONT "$pid"
    expect_status 1
    expect "trouble" "$(grep -cE '^(warning|fault) ' <<<"$output")" 1
    expect_match "line" "$output" 'fault +slurmctld +no answer.*within 5 s'
    ((took < 10))
}

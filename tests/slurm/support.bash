# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# What the suites on a private Slurm share. A suite says `load support`; it then has a cluster of
# $cluster_nodes nodes of its own, from its first test to its last, and srun talks to it. A suite
# that wants another one defines setup_file itself and calls start_cluster.
# shellcheck disable=SC2154
bats_require_minimum_version 1.5.0
# shellcheck source=tests/support/expect.bash disable=SC1091
source "$BATS_TEST_DIRNAME/../support/expect.bash"

cluster=$BATS_TEST_DIRNAME/cluster
cluster_nodes=${cluster_nodes:-2}

setup_file() {
    start_cluster "$cluster_nodes"
}

teardown_file() {
    "$cluster" stop
}

setup() {
    wait_until_idle
}

# On a failure, what the daemons had to say.
teardown() {
    [[ ${BATS_TEST_COMPLETED:-} ]] && return
    grep -h error: "$PARPLAN_CLUSTER_DIR"/log/*.log 2>/dev/null | grep -v pmi | tail -n 20
}

start_cluster() {
    export PARPLAN_CLUSTER_DIR=${PARPLAN_CLUSTER_DIR:-$BATS_FILE_TMPDIR/cluster}
    export PARPLAN_CLUSTER_SPANK=${PARPLAN_CLUSTER_SPANK-$PARPLAN_BUILD/spank_parplan.so}
    "$cluster" start "$1"
    eval "$("$cluster" env)"
}

# start_h100_cluster N: nodes of 8 H100, whose names alternate between the leaves, under a
# parplan.yaml of the file's own.
start_h100_cluster() {
    export PARPLAN_CLUSTER_SPANK=$PARPLAN_BUILD/spank_parplan.so
    export PARPLAN_CLUSTER_GRES_TYPE=h100
    export PARPLAN_CLUSTER_TOPOLOGY=$BATS_TEST_DIRNAME/data/interleaved-topology.conf
    mkdir -p "$BATS_FILE_TMPDIR/etc"
    printf 'schema: parplan.config/1\n' >"$BATS_FILE_TMPDIR/etc/parplan.yaml"
    export PARPLAN_CLUSTER_SPANK_ARGS=config=$BATS_FILE_TMPDIR/etc/parplan.yaml
    start_cluster "$1"
}

# wait_until WHAT COMMAND...: until the command succeeds, 10 seconds at most
wait_until() {
    local i
    for ((i = 0; i < 200; i++)); do
        ! "${@:2}" || return 0
        sleep 0.05
    done
    echo "no $1 within 10 s: $(timeout 10 sinfo -hNo '%N %T %E' | head -n 5 | paste -sd';')"
    return 1
}

all_idle() {
    # "planned": idle, and the scheduler's last pass had a job in mind that is gone by now.
    [[ $(timeout 10 sinfo -ho %T | sed s/planned/idle/ | sort -u) == idle ]]
}

job_runs() {
    [[ $(timeout 10 squeue -h -t R -o %i) ]]
}

# Nodes stay "completing" for a moment after a job; the next srun would be queued, and say so.
wait_until_idle() {
    wait_until "idle nodes" all_idle
}

wait_until_job_runs() {
    wait_until "running job" job_runs
}

run_srun() {
    run_client srun "$@"
}

# Prints the pid of a daemon of this cluster: slurmctld, munged, n01
daemon_pid() {
    awk -v name="$1" '$4 == name { print $1 }' "$PARPLAN_CLUSTER_DIR/run/processes"
}

# compile_stand_in FILE: tests/support/stand_in_plugin.c, a plugin that stands before or after ours.
compile_stand_in() {
    ${CC:-gcc} -D_GNU_SOURCE -shared -fPIC -o "$1" "$BATS_TEST_DIRNAME/../support/stand_in_plugin.c"
}

# stack_plugins FILE ARGUMENTS OURS [NAME]: a folder of plugstack files, read by an include of all
# of it: FILE with its arguments (in pyxis.conf), and our plugin with OURS in NAME
# (zz-parplan.conf). Each step reads them again.
stack_plugins() {
    local folder=$PARPLAN_CLUSTER_DIR/etc/plugstack.conf.d
    rm -rf "$folder"
    mkdir -p "$folder"
    echo "include $folder/*.conf" >"$PARPLAN_CLUSTER_DIR/etc/plugstack.conf"
    echo "required $1 $2" >"$folder/pyxis.conf"
    echo "required $PARPLAN_CLUSTER_SPANK $3" >"$folder/${4:-zz-parplan.conf}"
}

# write_cache FILE NODE: the node's cache, of data/NODE.yaml.
write_cache() {
    rm -f "$1"
    parplan topology --from "$BATS_TEST_DIRNAME/data/$2.yaml" --write-cache "$1"
}

# column NAME: of show_devices' lines in $output the value of that name, by the task's local number.
column() {
    sort -n <<<"$output" | sed -n "s/.* $1=\([^ ]*\).*/\1/p"
}

needs_torch() { # to import it takes seconds
    /usr/bin/python3 -c 'import importlib.util as u, sys; sys.exit(u.find_spec("torch") is None)' ||
        skip "python3-torch is not installed"
}

# since YEAR.MONTH: this Slurm is of that release or a later one.
since() {
    local version
    version=$(srun -V)
    version=${version##* }
    [[ $(printf '%s\n' "$1" "$version" | sort -V | head -n 1) == "$1" ]]
}

#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Programs that number themselves by SLURM_PROCID: place=slurm inside an allocation gives them the
# plan's places, and under place=env they never get an order that they would not see.
# shellcheck disable=SC2154,SC2030,SC2031 # bats sets status, output and stderr
load support

cluster_nodes=10
show=$BATS_TEST_DIRNAME/show_rank

setup_file() {
    export groups=$BATS_FILE_TMPDIR/mpi_groups
    mpicc.mpich -O1 -o "$groups" "$BATS_TEST_DIRNAME/mpi_groups.c" || rm -f "$groups"
    start_h100_cluster "$cluster_nodes"
}

# in_job COMMANDS: as run_client, inside four nodes of eight tasks, of two leaves: those of $nodes.
in_job() {
    run_client salloc -Q -w "${nodes:-n[01-04]}" -N4 --ntasks-per-node=8 --gres=gpu:8 bash -c "$1"
}

# mapped NODES PLAN: "RANK node" as parplan map has it.
mapped() {
    parplan map --plan "$2" --node dgx-h100 --fabric "$PARPLAN_CLUSTER_TOPOLOGY" --nodes "$1" \
        --format json | jq -r '.ranks[] | "\(.rank) \(.node)"'
}

# expect_placed NODES PLAN: show_rank's lines have RANK = SLURM_PROCID, at the plan's nodes.
expect_placed() {
    expect "RANKs that are not SLURM_PROCID" "$(awk '$1 != $9' <<<"$output")" ""
    expect "places" "$(awk '{ print $1, $2 }' <<<"$output" | sort -n)" "$(mapped "$1" "$2")"
    expect "masters" "$(awk '{ sub(/:.*/, "", $10); print $10 }' <<<"$output" | sort -u)" \
        "$(address_of "$(awk '$1 == 0 { print $2 }' <<<"$output")")"
}

address_of() {
    scontrol show node "$1" | grep -o 'NodeAddr=[^ ]*' | cut -d= -f2
}

# blocks: the nodes of show_rank's lines by RANK, each block once.
blocks() {
    awk '$3 == 0 { print $1, $2 }' <<<"$output" | sort -n | awk '{ print $2 }' | paste -sd' '
}

# Two nodes of each leaf, whose names are in the order of the leaves: every Slurm's order, and not
# the one of tp=8,pp=2,dp=2, each of whose pipelines stays under one leaf.
by_leaves='n[01,03-04,06]'

need_mpi() {
    export UCX_LOG_LEVEL=fatal # it misses /sys in a root, and says so on standard output
    [[ -x $groups ]] || skip "mpich's compiler is not installed; make deps"
}

@test "place=slurm: tasks are where the plan has its ranks, SLURM_PROCID is RANK" {
    in_job "srun --parplan=tp=8,pp=4,place=slurm $show"
    expect_status 0
    expect_placed "n[01-04]" tp=8,pp=4
    expect "blocks, in another order than Slurm's" "$(blocks)" "n01 n03 n02 n04"
    expect_match "notice" "$stderr" "parplan: plan [0-9a-f]{16}: tp=8,pp=4"
}

@test "place=slurm: an MPI program meets the plan's groups, and they sum right" {
    need_mpi
    in_job "srun --mpi=pmi2 --parplan=tp=8,pp=2,dp=2,place=slurm $groups; echo =
        srun --mpi=pmi2 --parplan=tp=4,pp=8,place=slurm $groups"
    expect_status 0
    local whole=$output plan=tp=8,pp=2,dp=2
    for output in "${whole%%$'\n='*}" "${whole##*=$'\n'}"; do
        expect "ranks that are wrong" "$(grep -v ' right$' <<<"$output")" ""
        expect "places" "$(awk '{ print $1, $3 }' <<<"$output" | sort -n)" \
            "$(mapped "n[01-04]" "$plan")"
        plan=tp=4,pp=8
    done
}

@test "place=slurm, inherited from sbatch: each step is placed, a helper passes" {
    cat >"$BATS_TEST_TMPDIR/job.sh" <<EOF
#!/bin/bash
srun $show
srun -N1 -n1 bash -c 'echo helper \${RANK:--} \${SLURM_HOSTFILE:--}'
EOF
    run_client sbatch -W -o "$BATS_TEST_TMPDIR/out" -w "n[01-04]" -N4 --ntasks-per-node=8 \
        --gres=gpu:8 --parplan=tp=8,pp=4,place=slurm "$BATS_TEST_TMPDIR/job.sh"
    expect_status 0
    output=$(grep '^[0-9]' "$BATS_TEST_TMPDIR/out")
    expect_placed "n[01-04]" tp=8,pp=4
    expect_match "helper" "$(<"$BATS_TEST_TMPDIR/out")" "helper - -"
    expect_match "notice" "$(<"$BATS_TEST_TMPDIR/out")" "this step runs without a plan"
}

@test "place=slurm: nothing of the list of hosts reaches the tasks" {
    in_job "srun -n8 --ntasks-per-node=8 --parplan=tp=8,place=slurm \
        bash -c 'echo \${SLURM_HOSTFILE:--} \$SLURM_JOB_NUM_NODES \$SLURM_NNODES \$SLURM_NTASKS'"
    expect_status 0
    expect "variables" "$(sort -u <<<"$output")" "- 4 1 8"
}

@test "place=slurm: a step smaller than its job takes the nodes that suit best" {
    local line
    for line in "-N2 -n16" "-n16" "-n 16 --ntasks-per-node=8" "--nodes=2"; do
        # From 23.11 on Slurm takes no number of nodes beside an order of them.
        if since 23.11 && [[ $line == -*N* || $line == --nodes* ]]; then
            in_job "srun $line --parplan=tp=8,pp=2,place=slurm $show"
            expect_match "refusal" "$stderr" "takes no -N with it; use -n"
            continue
        fi
        in_job "srun $line --parplan=tp=8,pp=2,place=slurm $show"
        expect_status 0
        expect_placed "n[01,03]" tp=8,pp=2
    done
}

@test "place=slurm: one task per node, torchrun's node rank is SLURM_PROCID" {
    # shellcheck disable=SC2016
    in_job "srun --ntasks-per-node=1 -n4 --parplan=tp=8,pp=4,place=slurm \
        bash -c 'echo \$PET_NODE_RANK \$SLURM_PROCID \$SLURMD_NODENAME'"
    expect_status 0
    expect "node ranks" "$(sort -n <<<"$output" | paste -sd,)" "0 0 n01,1 1 n03,2 2 n02,3 3 n04"
}

@test "place=slurm: two steps at once, each on the nodes that the other leaves" {
    in_job "srun --exact -x n[02,04] -n16 --parplan=tp=8,pp=2,place=slurm $show >$BATS_TEST_TMPDIR/a &
        srun --exact -x n[01,03] -n16 --parplan=tp=8,pp=2,place=slurm $show >$BATS_TEST_TMPDIR/b
        wait"
    expect_status 0
    output=$(<"$BATS_TEST_TMPDIR/a")
    expect_placed "n[01,03]" tp=8,pp=2
    output=$(<"$BATS_TEST_TMPDIR/b")
    expect_placed "n[02,04]" tp=8,pp=2
}

@test "spare: the nodes that suit least have no ranks" {
    in_job "srun --parplan=tp=8,pp=3,place=slurm,spare=1 $show; echo =
        srun --parplan=tp=8,pp=2,place=slurm,spare=2 $show; echo =
        srun --parplan=tp=8,place=slurm,spare=4 $show"
    local whole=$output
    output=${whole%%=*}
    expect "blocks" "$(blocks)" "n01 n03 n02"
    output=${whole#*=}
    expect "blocks" "$(blocks)" "n01 n03"
    expect_status 1
    expect_match "refusal" "$stderr" "spare=4 leaves none of the job's 4 nodes"
}

@test "spare: a node that the job has lost is one of them" {
    run_client salloc -Q --no-kill -w "n[01-04]" -N4 --ntasks-per-node=8 --gres=gpu:8 bash -c "
        scontrol update nodename=n03 state=down reason=test
        srun --parplan=tp=8,dp=3,place=slurm,spare=1 $show; status=\$?
        scontrol update nodename=n03 state=resume
        exit \$status"
    expect_status 0
    expect "nodes" "$(awk '{ print $2 }' <<<"$output" | sort -u | paste -sd' ')" "n01 n02 n04"
    expect "RANKs that are not SLURM_PROCID" "$(awk '$1 != $9' <<<"$output")" ""
}

@test "place=slurm without an allocation is refused with the remedy" {
    run_srun -w "n[01-04]" -N4 --ntasks-per-node=8 --gres=gpu:8 --parplan=tp=8,place=slurm "$show"
    expect_status 1
    expect_match "refusal" "$stderr" "start srun inside salloc or sbatch, or use place=env"
    expect "output" "$output" ""
}

@test "spare without place=slurm is refused with the remedy" {
    in_job "srun --parplan=tp=8,spare=1 $show"
    expect_status 1
    expect_match "refusal" "$stderr" "use place=slurm with spare"
}

@test "a step that does not come out as planned is refused, and no task starts" {
    local line nodes=$by_leaves
    printf 'n%02d\n' 1 3 4 6 >"$BATS_TEST_TMPDIR/nodes"
    for line in "-r1 -N3 -n24 --parplan=tp=1" "-w $nodes --parplan=tp=1" "-w n06,n04,n03,n01 --parplan=tp=1" "-n20 --parplan=tp=1" \
        "-N3-4 --parplan=tp=1" "-F $BATS_TEST_TMPDIR/nodes --parplan=tp=8,pp=2,dp=2"; do
        in_job "srun $line,place=slurm $show"
        expect "exit status of srun $line" "$status" 1
        expect_match "refusal" "$stderr" "parplan: place=slurm"
        expect "output" "$output" ""
    done
}

@test "a user's own list of hosts is not overruled" {
    printf 'n04\n%.0s' {1..8} >"$BATS_TEST_TMPDIR/hosts"
    in_job "SLURM_HOSTFILE=$BATS_TEST_TMPDIR/hosts srun -n8 --parplan=tp=8,place=slurm $show"
    expect_status 1
    expect_match "refusal" "$stderr" "leave -w, -r and SLURM_HOSTFILE out"
}

@test "place=env and --mpi: Slurm's order stays, and is the plan's" {
    need_mpi
    local nodes=$by_leaves
    in_job "srun --mpi=pmi2 --parplan=tp=8,pp=2,dp=2 $groups; echo =
        SLURM_MPI_TYPE=pmi2 srun --parplan=tp=8,pp=2,dp=2 $show"
    expect_status 0
    local whole=$output
    output=${whole%%=*}
    expect "ranks that are wrong" "$(grep -v ' right$' <<<"$output" | grep .)" ""
    output=${whole#*=$'\n'}
    expect "RANKs that are not SLURM_PROCID" "$(awk '$1 != $9' <<<"$output")" ""
    expect "blocks" "$(blocks)" "n01 n03 n04 n06"
    expect_match "notice" "$stderr" "place=slurm"
}

@test "place=env and --mpi: tasks that are no blocks are refused" {
    in_job "srun --mpi=pmi2 -m cyclic --parplan=tp=8,pp=4 $show"
    expect_status 1
    expect_match "refusal" "$stderr" "--mpi: ranks are numbered by SLURM_PROCID"
    in_job "srun -m cyclic --parplan=tp=8,pp=4 $show"
    expect_status 0
}

@test "the shell of salloc is not placed" {
    export PARPLAN_CLUSTER_CONF=$'LaunchParameters=use_interactive_step\n'
    "$cluster" stop
    start_cluster "$cluster_nodes"
    SHELL=/bin/bash run_client script -qec "salloc -Q -w n[01-04] -N4 --ntasks-per-node=8 --gres=gpu:8 \
        --parplan=tp=8,pp=4,place=slurm" /dev/null <<<"echo shell \${SLURM_HOSTFILE:--} \$SLURM_NTASKS; exit"
    expect_match "shell" "$output" "shell - "
}

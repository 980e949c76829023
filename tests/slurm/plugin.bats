#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# The plugin on a real Slurm: what tasks get, and what agrees with `parplan map`.
# shellcheck disable=SC2154,SC2030,SC2031 # bats sets status, output and stderr
load support

cluster_nodes=10
show=$BATS_TEST_DIRNAME/show_rank

setup_file() {
    start_h100_cluster "$cluster_nodes"
}

# places: "RANK node LOCAL_RANK" of show_rank's lines, by RANK.
places() {
    awk '{ print $1, $2, $3 }' <<<"$output" | sort -n
}

# mapped NODES PLAN: the same from parplan map, for that node list.
mapped() {
    parplan map --plan "$2" --node dgx-h100 --fabric "$PARPLAN_CLUSTER_TOPOLOGY" --nodes "$1" \
        --format json |
        /usr/bin/python3 -c 'import json, sys
for r in json.load(sys.stdin)["ranks"]: print(r["rank"], r["node"], r["local_rank"])'
}

# expect_whole N: RANKs 0…N-1 once each, and MASTER_ADDR is the address of RANK 0's node.
expect_whole() {
    expect "ranks" "$(awk '{ print $1 }' <<<"$output" | sort -n | tr '\n' ' ')" \
        "$(seq 0 $(($1 - 1)) | tr '\n' ' ')"
    expect "masters" "$(awk '{ sub(/:.*/, "", $10); print $10 }' <<<"$output" | sort -u)" \
        "$(address_of "$(awk '$1 == 0 { print $2 }' <<<"$output")")"
}

address_of() {
    scontrol show node "$1" | grep -o 'NodeAddr=[^ ]*' | cut -d= -f2
}

@test "given degrees: every task agrees with parplan map, RANK 0's node is the master" {
    run_srun -w "n[01-08]" -N8 --ntasks-per-node=8 --gres=gpu:8 --parplan=tp=8,pp=4,dp=2 "$show"
    expect_status 0
    expect_whole 64
    expect "places" "$(places)" "$(mapped "n[01-08]" tp=8,pp=4,dp=2)"
    expect_match "notice" "$stderr" "parplan: plan [0-9a-f]{16}: tp=8,pp=4,dp=2"
}

@test "given degrees: each pipeline under one leaf switch, each TP group on one node" {
    run_srun -w "n[01-08]" -N8 --ntasks-per-node=8 --gres=gpu:8 --parplan=tp=8,pp=4,dp=2 "$show"
    expect_status 0
    expect "leaves of each replica" \
        "$(awk '{ print $8, $13 }' <<<"$output" | sort -u | awk '{ print $1 }' | uniq -c | awk '{ print $1 }' | tr '\n' ' ')" \
        "1 1 "
    expect "nodes of each TP group" \
        "$(awk '{ print $7 "." $8, $2 }' <<<"$output" | sort -u | wc -l)" 8
}

@test "the other rank order: the same places agree with parplan map" {
    run_srun -w "n[01-08]" -N8 --ntasks-per-node=8 --gres=gpu:8 \
        --parplan=tp=8,pp=4,dp=2,order=tp-cp-ep-pp-dp "$show"
    expect_status 0
    expect_whole 64
    expect "places" "$(places)" "$(mapped "n[01-08]" tp=8,pp=4,dp=2,order=tp-cp-ep-pp-dp)"
}

@test "--export=NONE: ranks arrive" {
    run_srun -w "n[01-04]" -N4 --ntasks-per-node=8 --gres=gpu:8 --export=NONE \
        --parplan=tp=8,pp=4 "$show"
    expect_status 0
    expect_whole 32
    expect "places" "$(places)" "$(mapped "n[01-04]" tp=8,pp=4)"
}

@test "nodes named in any order: places agree with parplan map" {
    run_srun -w n07,n02,n05,n04 -N4 --ntasks-per-node=8 --gres=gpu:8 --parplan=tp=4,pp=4,dp=2 \
        "$show"
    expect_status 0
    expect_whole 32
    expect "places" "$(places)" "$(mapped "n[02,04-05,07]" tp=4,pp=4,dp=2)"
}

@test "auto with a model: planned, and the report says why" {
    run_srun -w "n[01-08]" -N8 --ntasks-per-node=8 --gres=gpu:8 \
        --parplan=auto,model=llama3-8b,global_batch=512 \
        --parplan-report="$BATS_TEST_TMPDIR/report.txt" "$show"
    expect_status 0
    expect_whole 64
    expect_match "report" "$(<"$BATS_TEST_TMPDIR/report.txt")" "llama3-8b"
    expect_match "report" "$(<"$BATS_TEST_TMPDIR/report.txt")" "the simpler one takes"
}

@test "auto alone: locality only, no degrees set, and how to name a model" {
    run_srun -w "n[01-04]" -N4 --ntasks-per-node=8 --gres=gpu:8 --parplan "$show"
    expect_status 0
    expect_whole 32
    expect "tp ranks" "$(awk '{ print $5 }' <<<"$output" | sort -u)" "-"
    expect_match "notice" "$stderr" "--parplan=auto,model="
}

@test "degrees in the command's own flags are used by auto, and reported" {
    run_srun -w "n[01-04]" -N4 --ntasks-per-node=8 --gres=gpu:8 --parplan=auto "$show" \
        --tensor-model-parallel-size 8 --pipeline-model-parallel-size=4
    expect_status 0
    expect "places" "$(places)" "$(mapped "n[01-04]" tp=8,pp=4)"
    expect_match "notice" "$stderr" "tensor-model-parallel-size"
}

@test "one task per node: torchrun's variables, one block each" {
    # shellcheck disable=SC2016
    run_srun -w "n[01-08]" -N8 --ntasks-per-node=1 --gres=gpu:8 --parplan=tp=8,pp=4,dp=2 bash -c \
        'echo $PET_NODE_RANK $SLURMD_NODENAME $PET_NNODES $PET_NPROC_PER_NODE $PET_RDZV_BACKEND ${RANK:--} $PET_MASTER_ADDR'
    expect_status 0
    expect "blocks" "$(awk '{ print $1, $2 }' <<<"$output" | sort -n)" \
        "$(mapped "n[01-08]" tp=8,pp=4,dp=2 | awk '$3 == 0 { print $1 / 8, $2 }')"
    expect "sizes" "$(awk '{ print $3, $4, $5, $6 }' <<<"$output" | sort -u)" "8 8 static -"
    expect "master" "$(awk '{ print $7 }' <<<"$output" | sort -u)" \
        "$(address_of "$(awk '$1 == 0 { print $2 }' <<<"$output")")"
}

@test "salloc: srun inside inherits the option; its own option wins" {
    run_client salloc -Q -w "n[01-04]" -N4 --ntasks-per-node=8 --gres=gpu:8 --parplan=tp=8,pp=4 \
        bash -c "srun $show; echo =; srun --parplan=tp=4,pp=8 $show"
    expect_status 0
    local whole=$output
    output=${whole%%=*}
    output=${output%$'\n'}
    expect "inherited" "$(places)" "$(mapped "n[01-04]" tp=8,pp=4)"
    output=${whole##*=$'\n'}
    expect "own" "$(places)" "$(mapped "n[01-04]" tp=4,pp=8)"
}

@test "sbatch with two concurrent steps: one plan each, of the step's own nodes" {
    cat >"$BATS_TEST_TMPDIR/job.sh" <<EOF
#!/bin/bash
srun -N4 -n32 --exact -w "n[01-04]" --parplan=tp=8,pp=4 --gres=gpu:8 $show >$BATS_TEST_TMPDIR/a &
srun -N4 -n32 --exact -w "n[05-08]" --parplan=tp=8,pp=2,dp=2 --gres=gpu:8 $show >$BATS_TEST_TMPDIR/b &
wait
EOF
    run_client sbatch -Q -W -w "n[01-08]" -N8 --ntasks-per-node=8 --gres=gpu:8 \
        -o "$BATS_TEST_TMPDIR/out" "$BATS_TEST_TMPDIR/job.sh"
    cat "$BATS_TEST_TMPDIR/out"
    expect_status 0
    output=$(<"$BATS_TEST_TMPDIR/a")
    expect_whole 32
    expect "first step" "$(places)" "$(mapped "n[01-04]" tp=8,pp=4)"
    output=$(<"$BATS_TEST_TMPDIR/b")
    expect_whole 32
    expect "second step" "$(places)" "$(mapped "n[05-08]" tp=8,pp=2,dp=2)"
    expect "ports" "$(awk '{ print $10 }' "$BATS_TEST_TMPDIR/a" "$BATS_TEST_TMPDIR/b" | sed 's/.*://' | sort -u | wc -l)" 2
}

@test "an inherited option lets a helper step pass, with one notice" {
    run_client salloc -Q -w "n[01-04]" -N4 --ntasks-per-node=8 --gres=gpu:8 --parplan=tp=8,pp=4 \
        srun -N1 -n1 "$show"
    expect_status 0
    expect_match "no rank" "$output" "^- n0"
    expect_match "notice" "$stderr" "runs without a plan"
}

@test "an inherited option refuses a step of the whole job, however its tasks are counted" {
    local shape
    for shape in "" "--ntasks-per-node=8" "--ntasks-per-node=1"; do
        # shellcheck disable=SC2086 # words
        run_client salloc -Q -N2 --exclusive --gres=gpu:8 --parplan=tp=8,pp=4 srun $shape "$show"
        expect_status 1
        expect_match "refusal" "$stderr" "needs a multiple of 32 ranks"
        expect "output" "$output" ""
    done
    run_client salloc -Q -N2 --ntasks-per-node=8 --gres=gpu:8 --parplan=tp=8,pp=4 \
        srun -n2 --ntasks-per-node=1 "$show"
    expect_status 1
    run_client salloc -Q -N2 --exclusive --gres=gpu:8 --parplan=tp=8,pp=4 \
        srun -N2 -n2 --gres=gpu:1 "$show"
    expect_status 0
    expect_match "notice" "$stderr" "runs without a plan"
}

# asked ARGUMENT…: what that srun asks slurmctld about its step beyond what it asks without --parplan
asked() {
    local option
    for option in off "${!#}"; do
        timeout 10 sdiag -r >/dev/null
        timeout 60 srun --ntasks-per-node=8 "${@:1:$#-1}" --parplan="$option" true 2>/dev/null
        wait_until_idle
        timeout 10 sdiag | grep -oE 'REQUEST_[A-Z_]*(INFO|LAYOUT)(_SINGLE)? .*count:[0-9]+' |
            sed 's/ .*count:/ /' | sort >"$BATS_TEST_TMPDIR/${option%%=*}"
    done
    comm -13 "$BATS_TEST_TMPDIR/off" "$BATS_TEST_TMPDIR/tp" | grep -vE '_(STATS|PARTITION|JOB|NODE)_INFO '
}

@test "slurmctld is asked for each fact once, and for the topology where it counts" {
    local facts=$'REQUEST_JOB_STEP_INFO 1\nREQUEST_NODE_INFO_SINGLE 1\nREQUEST_STEP_LAYOUT 1'
    expect "two nodes" "$(asked -w "n[01-02]" -N2 --gres=gpu:8 tp=8,dp=2)" \
        "$facts"$'\nREQUEST_TOPO_INFO 1'
    expect "one node" "$(asked -w n01 -N1 --gres=gpu:8 tp=8)" "$facts"
}

@test "no option: nothing changes" {
    run_srun -N2 --ntasks-per-node=2 env
    expect_status 0
    expect "our variables" "$(grep -cE '^(PARPLAN_[A-Z]+_(RANK|SIZE|ID)|PARPLAN_ORDER|RANK|LOCAL_RANK|MASTER_ADDR|SLURM_PARPLAN.*)=' <<<"$output")" 0
    expect "stderr" "$stderr" ""
}

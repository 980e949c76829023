#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# The command line beside a running controller: the fabric that Slurm itself has.
load support

# shellcheck disable=SC2034 # support.bash reads it
cluster_nodes=16

setup() {
    :
}

@test "the controller's topology is read through scontrol" {
    run --separate-stderr parplan topology --from slurm --format json
    [[ $status == 0 ]]
    [[ $(jq -c '[.kind, .tiers, (.nodes | length), .nodes[0].path, .nodes[15].path]' <<< "$output") == \
        '["fabric",["leaf","spine"],16,["leaf1","spine"],["leaf2","spine"]]' ]]
}

@test "a map on the controller's fabric keeps replicas under one leaf" {
    run --separate-stderr parplan map --node dgx-h100 --fabric slurm --plan tp=8,pp=8,dp=2 \
        --format json
    [[ $status == 0 ]]
    [[ $(jq -c '[.ranks | group_by(.dp)[] | map(.node) | unique | [first, last]]' <<< "$output") == \
        '[["n01","n08"],["n09","n16"]]' ]]
}

@test "without a controller it says so in one line and exits 1" {
    SLURM_CONF=/nonexistent run --separate-stderr timeout 60 parplan topology --from slurm
    [[ $status == 1 ]]
    # shellcheck disable=SC2154 # bats sets it
    [[ ${#stderr_lines[@]} == 1 ]]
    [[ ${stderr_lines[0]} == "parplan: scontrol: "* ]]
}

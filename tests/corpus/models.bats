#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Published configurations and their counts: every row of ../shared/truth/model_parameters.csv
# through its config.json, and through the preset of that name where there is one.

truth=${BATS_TEST_DIRNAME}/../../../shared/truth

setup()
{
    [[ -d $truth/model_configs ]] || skip "../shared/truth is not there"
}

# "model total active", from the columns before the first quoted one.
rows()
{
    awk -F, '
        NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
        { print $column["model"], $column["computed_total"], $column["computed_active"] }
    ' "$truth/model_parameters.csv"
}

counts() # NAME|FILE: "total active"
{
    parplan models --model "$1" --format json |
        jq -r '"\(.parameters.total) \(.parameters.active)"'
}

@test "config.json: every count is exact" {
    local model total active got checked=0 wrong=0
    while read -r model total active; do
        got=$(counts "$truth/model_configs/${model/\//--}.json")
        checked=$((checked + 1))
        if [[ $got != "$total $active" ]]; then
            echo "$model: $got, published $total $active"
            wrong=$((wrong + 1))
        fi
    done < <(rows)
    echo "$checked checked, $wrong wrong"
    ((checked >= 20 && wrong == 0))
}

@test "presets: every count is exact" {
    local model total active got checked=0 wrong=0
    while read -r model total active; do
        got=$(counts "$model" 2> /dev/null) || continue
        [[ -n $got ]] || continue
        checked=$((checked + 1))
        if [[ $got != "$total $active" ]]; then
            echo "$model: $got, published $total $active"
            wrong=$((wrong + 1))
        fi
    done < <(rows)
    echo "$checked checked, $wrong wrong"
    ((checked >= 20 && wrong == 0))
}

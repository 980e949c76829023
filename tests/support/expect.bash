# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# What the suites on a real Slurm and on a real Kubernetes share: a client that is run with a time
# limit of $client_seconds, and comparisons that say what was got and what was wanted. Sourced by
# their support.bash.
# shellcheck disable=SC2154
client_seconds=${client_seconds:-60}

# run_client COMMAND ARGUMENT...: bats' run within client_seconds; sets status, output and lines
# (stdout), stderr. What it did is shown when the test fails.
run_client() {
    printf '$'
    printf ' %q' "$@"
    echo
    run --separate-stderr timeout --kill-after=5 "$client_seconds" "$@"
    printf '%s\n' "$output" "${stderr:-}" "exit status $status"
    if ((status == 124 || status == 137)); then
        echo "no end within $client_seconds s"
        return 1
    fi
}

# expect WHAT GOT WANTED
expect() {
    [[ $2 == "$3" ]] && return
    printf '%s\n  got:    %s\n  wanted: %s\n' "$1" "$2" "$3"
    return 1
}

# expect_match WHAT GOT REGEX
expect_match() {
    [[ $2 =~ $3 ]] && return
    printf '%s\n  got:     %s\n  matches: %s not\n' "$1" "$2" "$3"
    return 1
}

expect_status() {
    expect "exit status" "$status" "$1"
}

# Prints the processes that run in a folder or were started there.
processes_in() {
    { find /proc -maxdepth 2 -path '/proc/[0-9]*/cwd' -lname "$1*" 2>/dev/null || true; } |
        sed 's|/proc/\([0-9]*\)/cwd|\1|'
}

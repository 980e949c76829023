# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# The processes of a private cluster. $run/processes has a line "pid since program name" for each.
# A pid is ours only while its start (boot and clock tick) and its program are those written there.
# Reads run, log, processes; die() is the caller's.
# shellcheck disable=SC2154

# Sets since, where the process lives.
read_since() {
    local stat
    { read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 1
    read -ra stat <<<"${stat##*) }"
    [[ ${stat[0]} != [ZX] ]] || return 1
    since=$(</proc/sys/kernel/random/boot_id)/${stat[19]}
}

runs_program() {
    [[ /proc/$1/exe -ef $2 ]] || [[ $(readlink "/proc/$1/exe") == "$2 (deleted)" ]]
}

is_ours() {
    local since
    read_since "$1" && [[ $since == "$2" ]] && runs_program "$1" "$3"
}

# Sets living and dead: names of what still runs, and of what does not; pid_of: pids by name;
# since_of: where a pid lives.
look_at_processes() {
    local pid since program name
    living=() dead=()
    declare -gA pid_of=() since_of=()
    [[ -f $processes ]] || return 0
    while read -r pid since program name; do
        if is_ours "$pid" "$since" "$program"; then
            living+=("$name")
            pid_of[$name]=$pid
            since_of[$pid]=$since
        else
            dead+=("$name")
        fi
    done <"$processes"
}

close_files() {
    local path fd
    for path in /proc/self/fd/*; do
        fd=${path##*/}
        ((fd <= 2 || fd == 255)) || exec {fd}>&-
    done
}

# Signals wait for this, lest a program be started but not written down.
end_if_interrupted() {
    ((interrupted == 0)) || exit "$interrupted"
}

# forget NAME: its line goes.
forget() {
    [[ -f $processes ]] || return 0
    awk -v name="$1" '$4 != name' "$processes" >"$processes.new"
    mv "$processes.new" "$processes"
}

# spawn NAME PROGRAM ARGUMENT...: it holds none of our files, for whose end a caller may wait.
spawn() {
    local name=$1 program since pid
    end_if_interrupted
    program=$(realpath "$(command -v "$2")") || die "$2 not found"
    forget "$name"
    (
        cd "$run" || exit
        close_files
        exec "${@:2}"
    ) </dev/null >>"$log/$name.log" 2>&1 &
    pid=$!
    read_since "$pid" || return 0 # it ended at once: its log says why
    echo "$pid $since $program $name" >>"$processes"
    until runs_program "$pid" "$program" || ! kill -0 "$pid" 2>/dev/null; do
        sleep 0.002
    done
}

# end SECONDS NAME...: asks them to end together, and ends those that have not after so long. A
# stopped process hears nothing before it goes on.
end() {
    local name pid deadline
    local asked=()
    deadline=$((${EPOCHREALTIME/[.,]/} + $1 * 1000000))
    look_at_processes
    for name in "${@:2}"; do
        pid=${pid_of[$name]:-}
        [[ $pid ]] || continue
        asked+=("$pid")
        kill -TERM "$pid" 2>/dev/null || true
        kill -CONT "$pid" 2>/dev/null || true
    done
    for pid in "${asked[@]}"; do
        while lives "$pid" && ((${EPOCHREALTIME/[.,]/} < deadline)); do
            sleep 0.01
        done
        end_now "$pid"
    done
}

# end_now PID: SIGKILL, and waits until it is gone (2 s at most: what hangs in the kernel stays).
end_now() {
    local i
    for ((i = 0; i < 200; i++)); do
        lives "$1" || return 0
        kill -KILL "$1" 2>/dev/null || true
        sleep 0.01
    done
}

# lives PID: it is still the process that was found by that number.
lives() {
    local since
    read_since "$1" && [[ $since == "${since_of[$1]}" ]]
}

# Prints the pids of programs that match PATTERN and still are in the folder where we started them:
# those whose folder was deleted.
strays() {
    local pattern=$1 cwd pid
    {
        find /proc -maxdepth 2 -path '/proc/[0-9]*/cwd' \
            \( -lname "$run" -o -lname "$run (deleted)" \) 2>/dev/null || true
    } | while read -r cwd; do
        pid=${cwd#/proc/}
        pid=${pid%/cwd}
        # The pattern is one.
        # shellcheck disable=SC2053
        [[ $(readlink "/proc/$pid/exe") != */$pattern ]] || echo "$pid"
    done
}

# --- ports -------------------------------------------------------------------------

# free_ports COUNT FIRST LAST: sets ports to so many that nobody listens on, beginning anywhere.
free_ports() {
    local count=$1 first=$2 last=$3 used port i span
    span=$((last - first + 1))
    used=" $({ cat /proc/net/tcp /proc/net/tcp6 2>/dev/null || true; } |
        awk '$2 ~ /:/ { sub(/.*:/, "", $2); print $2 }' | sort -u | xargs) "
    ports=()
    port=$((first + SRANDOM % span))
    for ((i = 0; i < span && ${#ports[@]} < count; i++)); do
        [[ $used == *" $(printf %04X "$port") "* ]] || ports+=("$port")
        port=$((first + (port - first + 1) % span))
    done
    ((${#ports[@]} == count)) || die "no free ports from $first to $last"
}

# shellcheck shell=bash
# Functions of the scripts that test faults of a cluster on one machine. To be sourced, with BIN = folder of the programs.
#
#   enter_namespaces "$@"     restarts the script in its own PID and network namespaces: only loopback is reachable,
#                             every port is free, and all its processes end with it, however it ends
#   start_host NAME [--net] COMMAND...   starts a "host": COMMAND in its own PID and UTS (and network) namespaces
#   in_host NAME COMMAND...              runs a command on a host
#   lose_host NAME                       ends a host as a power loss would
#   rank_process NAME RANK               prints the process id of a rank on a host
#   wait_until SECONDS COMMAND...        waits for the command to succeed; fails after that time
#   verdict PASS|FAIL CASE FIGURES       prints the line of a case
#   conclude                             ends the script with the summary
#
# Status 77: skipped, with the reason.

source "$(dirname "${BASH_SOURCE[0]}")/../tests/tools/run_lib.sh"
declare -A host_process=()
failures=0 tried=0

skip() { echo "SKIPPED: $*"; exit 77; }

# Prints why namespaces are not available, or nothing.
why_no_namespaces() {
  [ "$(id -u)" = 0 ] || { echo "namespaces require root"; return; }
  command -v ip >/dev/null || { echo "ip is missing: apt install iproute2"; return; }
  unshare --pid --uts --net --fork --mount-proc ip link set lo up 2>/dev/null || echo "namespaces are not allowed here"
}

enter_namespaces() {
  local reason
  reason="$(why_no_namespaces)"
  [ -z "$reason" ] || skip "$reason"
  [ -n "${LIE_IN_NAMESPACES:-}" ] ||
    LIE_IN_NAMESPACES=1 exec unshare --pid --net --fork --mount-proc --kill-child "scripts/$(basename "$0")" "$@"
  mount -t tmpfs tmpfs /dev/shm  # Open MPI names its segments by process ids, which occur in other namespaces too
  ip link set lo up
  ip address add 192.0.2.1/32 dev lo  # with 127.0.0.1 alone, getaddrinfo regards the machine as offline
  export OMPI_MCA_oob_tcp_if_include=lo OMPI_MCA_btl_tcp_if_include=lo
}

make_work_directory() {
  WORK="$(mktemp -d)"
  trap clean_up EXIT
  trap 'exit 130' INT TERM
}

clean_up() {
  local name
  for name in "${!host_process[@]}"; do lose_host "$name"; done
  rm -rf "$WORK"
}

start_host() {
  local name="$1" net=()
  shift
  if [ "$1" = --net ]; then net=(--net); shift; fi
  unshare --pid --uts "${net[@]}" --fork --mount-proc --kill-child \
    sh -c 'hostname "$0"; ip link set lo up; exec "$@"' "$name" "$@" &
  host_process[$name]=$!
}

first_process() { pgrep --parent "${host_process[$1]}"; }
in_host() { nsenter --target "$(first_process "$1")" --pid --uts --net --mount "${@:2}"; }
processes_of_host() { pgrep --ns "$(first_process "$1")" --nslist pid . ; }

lose_host() {
  kill -9 "$(first_process "$1")" 2>/dev/null  # the kernel ends the rest of a PID namespace with its first process
  wait "${host_process[$1]}" 2>/dev/null
  unset "host_process[$1]"
}

rank_process() {
  local pid
  for pid in $(processes_of_host "$1"); do
    if grep -qzE "^(PMIX_RANK|OMPI_COMM_WORLD_RANK)=$2$" "/proc/$pid/environ" 2>/dev/null &&
      [ "$(cat "/proc/$pid/comm")" = lie_cluster ]; then echo "$pid"; return; fi
  done
  return 1
}

wait_until() {
  local end=$((SECONDS + $1))
  until "${@:2}"; do
    [ "$SECONDS" -lt "$end" ] || return 1
    sleep 0.1
  done
}

steps_of() { { wc -l <"$1/metrics.jsonl"; } 2>/dev/null || echo 0; }  # number of lines of a run's metrics
steps_done() { [ "$(steps_of "$1")" -gt "$2" ]; }

since() {  # prints the seconds since an EPOCHREALTIME
  local tenths=$(((${EPOCHREALTIME/[.,]/} - ${1/[.,]/}) / 100000))
  echo "$((tenths / 10)).$((tenths % 10))"
}

# Checks that two runs have the same trajectories, weights and metrics. Prints what differs.
same_run() {  # directory, reference
  [ "$(digest "$1")" = "$(digest "$2")" ] || { echo "digests differ: $(digest "$1") | $(digest "$2")"; return 1; }
  cmp -s <(timeless_metrics "$1") <(timeless_metrics "$2") || { echo "metrics differ"; return 1; }
}

verdict() {
  tried=$((tried + 1))
  if [ "$1" = FAIL ]; then failures=$((failures + 1)); fi
  printf '%-16s%-29s%s\n' "$1" "$2" "$3"
}

conclude() {
  echo "$tried cases, $failures failed"
  [ "$failures" = 0 ]
  exit
}

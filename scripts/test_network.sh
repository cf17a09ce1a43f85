#!/usr/bin/env bash
# Tests runs over three hosts by TCP, all on this machine: a link goes down and up again, a process is stopped for a while, a
# host's processes die, or a host becomes unresponsive. Prints one line per case. Each run must be bit-identical to one on a
# single host. If a host is lost, one report must name it.
#
#   scripts/test_network.sh [BIN [CASE...]]      BIN: folder of the programs [build/release/bin]
set -uo pipefail
[ $# = 0 ] || set -- "$(realpath "$1")" "${@:2}"
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
BIN="${1:-$PWD/build/release/bin}"
source scripts/fault_lib.sh
command -v mpirun >/dev/null || skip "mpirun is missing: apt install openmpi-bin"
enter_namespaces "$@"
make_work_directory
steps=30
bound=60  # seconds after which a run that has lost a host counts as hanging

# The hosts h1, h2 and h3 have the addresses 10.77.0.1 to 10.77.0.3 and share a bridge. A host's link is the bridge's end of
# its cable.
bring_host() {  # number
  ip link delete "h$1" 2>/dev/null
  start_host "h$1" --net sleep infinity >/dev/null 2>&1
  wait_until 10 host_is_up "h$1" || fail "h$1 does not start"
  ip link add "h$1" type veth peer name eth0 netns "$(first_process "h$1")"
  ip link set "h$1" master bridge up
  in_host "h$1" ip address add "10.77.0.$1/24" dev eth0
  in_host "h$1" ip link set eth0 up
  write_agent
}

host_is_up() { in_host "$1" ip link set lo up; } 2>/dev/null

# Writes the launch agent with which mpirun starts its daemons instead of ssh: agent ADDRESS COMMAND...
write_agent() {
  local name
  {
    echo '#!/usr/bin/env bash'
    for name in "${!host_process[@]}"; do echo "[ \$1 != 10.77.0.${name#h} ] || host=$(first_process "$name")"; done
    echo 'exec nsenter --target "$host" --pid --uts --net --mount sh -c "${*:2}"'
  } >"$WORK/agent"
  chmod +x "$WORK/agent"
}

# start NAME HOSTS [HOST]: starts a run in the background, with mpirun and rank 0 on HOST [h1]; sets run, log, launcher
start() {
  run="$WORK/$1" log="$WORK/$1.log"
  nsenter --target "$(first_process "${3:-h1}")" --uts --net mpirun --mca plm_rsh_agent "$WORK/agent" --host "$2" -n 4 \
    "$BIN/lie_cluster" train "$small" --set "run.directory=$run" --set "run.steps=$steps" >>"$log" 2>&1 &
  launcher=$!
}

all_hosts=10.77.0.1:1,10.77.0.2:2,10.77.0.3:1

running() { kill -0 "$launcher" 2>/dev/null; }
ended() { ! running; }
in_step() { wait_until 100 steps_done "$run" "$1"; }
end_launcher() { kill -9 "$launcher" 2>/dev/null; wait "$launcher" 2>/dev/null; }

# finish NAME GRADE FIGURES: waits for the run's end and prints the verdict
finish() {
  local differs
  if ! wait_until 200 ended; then verdict FAIL "$1" "still running; $3"; end_launcher; return; fi
  if ! wait "$launcher"; then verdict FAIL "$1" "status not 0; $3"; tail -n 20 "$log" | sed 's/^/    | /'; return; fi
  if ! differs="$(same_run "$run" "$WORK/reference")"; then verdict FAIL "$1" "$differs; $3"; return; fi
  verdict "$2" "$1" "same bits as on one host${3:+; $3}"
}

# --- the cases -------------------------------------------------------------------------------------------------------

three_hosts() {
  start "$1" "$all_hosts"
  in_step 1
  finish "$1" PASS "ranks on $(grep -oE '^(.learner 0. )?ranks? .* h[0-9] ' "$log" | grep -o 'h[0-9]' | sort -u | paste -sd' ')"
}

link_down_and_up() {
  local start before
  start "$1" "$all_hosts"
  in_step 5
  ip link set h2 down
  sleep 5  # the fault itself: a link that is down for five seconds
  before="$(steps_of "$run")" start="$EPOCHREALTIME"
  ip link set h2 up
  wait_until "$bound" steps_done "$run" "$before"
  finish "$1" PASS "down for 5 s, continues $(since "$start") s after it is up"
}

# Checks a run that has lost a host since $start: all its processes must end by themselves, with one report that names the
# host. Then resumes the run.
after_loss() {  # name, lost host, hosts to resume with, launcher's host
  local grade=PASS figures reports
  if wait_until "$bound" no_rank_on_other_hosts_than "$2"; then figures="ranks ended after $(since "$start") s"
  else grade=FAIL figures="ranks still waiting after $bound s"; fi
  if wait_until "$bound" ended; then figures+=", mpirun after $(since "$start") s"
  else grade=FAIL figures+=", mpirun still waiting"; fi
  reports="$(grep -c '^error on rank' "$log")"
  if [ "$reports" = 1 ] && grep -q "^error on rank.* host $2[,:]" "$log"; then figures+="; $(grep -o '^error on rank.*' "$log")"
  else grade=FAIL figures+=", $reports reports, none or not one that names $2"; fi
  end_launcher
  lose_host "$2"
  bring_host "${2#h}"
  start "$1" "$3" "$4"
  finish "$1" "$grade" "$figures"
}

no_rank_on_other_hosts_than() {  # lost host
  local name
  for name in h1 h2 h3; do
    [ "$name" = "$1" ] || ! processes_of_host "$name" | xargs -r ps -o stat=,comm= -p | grep -q '^[^Z].* lie_cluster' || return 1
  done
}

# A host whose kernel responds is not lost, however long its process is unresponsive.
process_stopped() {
  local pid before start
  start "$1" "$all_hosts"
  in_step 3
  pid="$(rank_process h3 3)"
  kill -STOP "$pid"
  sleep 40  # the fault itself, longer than the detection of an unresponsive host takes
  before="$(steps_of "$run")" start="$EPOCHREALTIME"
  kill -CONT "$pid"
  wait_until "$bound" steps_done "$run" "$before"
  finish "$1" PASS "stopped for 40 s, continues after $(since "$start") s; $(grep -c '^error' "$log") errors"
}

# lose NAME HOST LAUNCHER'S-HOST HOSTS-TO-RESUME-WITH FAULT...
lose() {
  start "$1" "$all_hosts" "$3"
  in_step 5
  start="$EPOCHREALTIME"
  "${@:5}"
  after_loss "$1" "$2" "$4" "$3"
}

power_off() { kill -9 "$(first_process "$1")"; }
silence() { ip link set "$1" down; }

host_dies() { lose "$1" h2 h1 10.77.0.1:2,10.77.0.3:2 power_off h2; }
host_falls_silent() { lose "$1" h2 h1 10.77.0.1:2,10.77.0.3:2 silence h2; }
first_host_dies() { lose "$1" h1 h3 10.77.0.3:2,10.77.0.2:2 power_off h1; }
first_host_falls_silent() { lose "$1" h1 h3 10.77.0.3:2,10.77.0.2:2 silence h1; }

cases=(three_hosts link_down_and_up process_stopped host_dies host_falls_silent first_host_dies first_host_falls_silent)
[ $# -le 1 ] || cases=("${@:2}")
train 4 "$WORK/reference" --set "run.steps=$steps" >"$WORK/reference.log" 2>&1 || { cat "$WORK/reference.log"; fail "one host"; }
ip link add bridge type bridge
ip link set bridge up
export OMPI_MCA_oob_tcp_if_include=eth0 OMPI_MCA_btl_tcp_if_include=eth0
for name in "${cases[@]}"; do
  for number in 1 2 3; do [ -n "${host_process[h$number]:-}" ] || bring_host "$number"; done
  "$name" "$name"
done
conclude

#!/usr/bin/env bash
# One run over three hosts by TCP, all on this machine: what happens when a link goes down and up again, a host's
# processes die, or a host falls silent. One line per case; each run must end with the bits of one on a single host.
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

# Hosts h1, h2, h3 at 10.77.0.1 and so on, joined by a bridge; a host's link is the bridge's end of its cable.
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

# What mpirun starts its daemons with in place of ssh: agent ADDRESS COMMAND...
write_agent() {
  local name
  {
    echo '#!/usr/bin/env bash'
    for name in "${!host_process[@]}"; do echo "[ \$1 != 10.77.0.${name#h} ] || host=$(first_process "$name")"; done
    echo 'exec nsenter --target "$host" --pid --uts --net --mount sh -c "${*:2}"'
  } >"$WORK/agent"
  chmod +x "$WORK/agent"
}

# start NAME HOSTS: a run in the background, mpirun and two ranks on h1; sets run, log, launcher
start() {
  run="$WORK/$1" log="$WORK/$1.log"
  nsenter --target "$(first_process h1)" --uts --net mpirun --mca plm_rsh_agent "$WORK/agent" --host "$2" -n 4 \
    "$BIN/lie_cluster" train "$small" --set "run.directory=$run" --set "run.steps=$steps" >>"$log" 2>&1 &
  launcher=$!
}

all_hosts=10.77.0.1:2,10.77.0.2:1,10.77.0.3:1
without_h2=10.77.0.1:2,10.77.0.3:2

running() { kill -0 "$launcher" 2>/dev/null; }
ended() { ! running; }
in_step() { wait_until 100 steps_done "$run" "$1"; }
end_launcher() { kill -9 "$launcher" 2>/dev/null; wait "$launcher" 2>/dev/null; }

# finish NAME GRADE FIGURES: the run's end, and the verdict on it
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

# A run that has lost h2: did it end by itself within the bound, with a report that names the host?
after_loss() {  # name
  local start="$EPOCHREALTIME" grade=PASS figures
  if wait_until "$bound" ended; then
    figures="ended after $(since "$start") s"
    if grep -E 'error|lost|silent' "$log" | grep -q 'h2\|10\.77\.0\.2'; then figures+=", report names the host"
    else grade='TODO(report)' figures+=", no report names the host"; fi
  else
    grade='TODO(heartbeat)' figures="still waiting after $bound s, no report"
  fi
  end_launcher
  start "$1" "$without_h2"
  finish "$1" "$grade" "$figures; continued without the host"
}

host_dies() {
  start "$1" "$all_hosts"
  in_step 5
  lose_host h2
  after_loss "$1"
}

host_falls_silent() {
  start "$1" "$all_hosts"
  in_step 5
  ip link set h2 down
  after_loss "$1"
  lose_host h2
}

cases=(three_hosts link_down_and_up host_falls_silent host_dies)
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

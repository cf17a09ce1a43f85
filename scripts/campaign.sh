#!/usr/bin/env bash
# Injects faults into a run at random moments. The run is restarted after each fault until it is done. Then digests, metrics
# (except times) and the set of trajectories must equal those of an undisturbed run. Finally prints the number of responses
# beyond those of undisturbed runs, which can only be those in flight at a fault, and the data that flipped bits destroyed.
#
#   scripts/campaign.sh SEED COUNT [LEARNERS]
#   scripts/campaign.sh sft SEED COUNT [LEARNERS]
#
# The second form injects the faults into a fine-tuning run. LEARNERS is 1 or 2 [1]. LIE_BIN: folder of the programs
# [build/release/bin]; LIE_FAULTS: only these faults; LIE_SETTINGS: more settings of the run, for example
# "roles.placement=colocated update.zero_stage=2". A seed always draws the same faults, but their times depend on the machine.
set -uo pipefail
[ $# -ge 2 ] || { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
BIN="$(realpath "${LIE_BIN:-$(dirname "${BASH_SOURCE[0]}")/../build/release/bin}")"
export LIE_BIN="$BIN"
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
source scripts/fault_lib.sh
[ -n "$(why_no_namespaces)" ] || enter_namespaces "$@"
make_work_directory
launcher=""
trap '{ kill -9 "$launcher"; umount "$WORK/disk"; } 2>/dev/null; clean_up' EXIT
command=train
if [ "$1" = sft ]; then command=sft; shift; fi
RANDOM="$1" count="$2" learners="${3:-1}"
run="$WORK/disk/run" log="$WORK/log"
kept="build/campaign-$command-$1"
touch "$log" "$log.last"

draw() { drawn=$((RANDOM % $1)); }  # not in $(...), because a subshell does not advance RANDOM
pause() { draw "$1"; sleep "$((drawn / 1000)).$(printf %03d $((drawn % 1000)))"; }  # up to so many milliseconds

prepare_train() {
  ranks=$((3 + learners))
  settings=("$small" --set run.steps=16 --set "roles.learners=$learners")
  case "${LIE_SETTINGS:-}" in *placement=colocated*) ranks=$((1 + learners)) ;; esac
  for setting in ${LIE_SETTINGS:-}; do settings+=(--set "$setting"); done
}
prepare_sft() {
  ranks="$learners"
  settings=("$WORK/sft.yaml")
  head -n 64 assets/count_pairs/train.jsonl | sed 's/"prompt":/"response":"\\\\boxed{1}","prompt":/' >"$WORK/sft.jsonl"
  cat >"$WORK/sft.yaml" <<EOF
run: {directory: overridden, steps: 40}
model: {path: assets/count_pairs/model}
data: {train_file: $WORK/sft.jsonl}
sft: {batch_sequences: 8}
optimizer: {warmup: 0}
checkpoint: {every: 3, keep_last: 2}
EOF
  faults=(rank_killed all_killed launcher_killed rank_signalled launcher_signalled rank_paused second_start
    killed_in_metrics killed_in_checkpoint killed_in_part killed_in_file flipped_bits failed_call)
  digest() { (cd "$1/checkpoints" && sha256sum step-000040/*); }
  count_trajectories() { echo "no trajectories"; }
}
# Sets `training` to the command that trains in a directory. Further arguments go to mpirun.
set_command() {
  training=(mpirun --oversubscribe -n "$ranks" "${@:2}" "$BIN/lie_cluster" "$command" "${settings[@]}" --set "run.directory=$1")
}
start() {
  local preload=(-x "LD_PRELOAD=$BIN/io_faults.so" -x "LIE_IO_FAULT=$call" -x "LIE_IO_UNDER=$run" -x "LIE_IO_LOG=$WORK/failed_call")
  cat "$log.last" >>"$log"
  rm -f "$WORK/failed_call"
  set_command "$run" ${call:+"${preload[@]}"}
  env LIE_FAULT_LOG="$WORK/points" ${point:+"LIE_FAULT=$point"} "${training[@]}" >"$log.last" 2>&1 &
  launcher=$!
}
ended() { ! kill -0 "$launcher" 2>/dev/null; }
is_gone() { ! kill -0 "$@" 2>/dev/null; }  # whether no process is left
find_ranks() { mapfile -t pids < <(pgrep --parent "$launcher" --exact lie_cluster); [ "${#pids[@]}" = "$ranks" ]; }
draw_rank() { draw "$ranks"; rank="$drawn"; }
draw_signal() { draw 3; signals=(TERM INT USR1); signal="${signals[$drawn]}"; }

# --- the faults: each sets `what` to a description, and fails if the run was already over -----------------------------

rank_killed() { draw_rank; what="rank $rank"; kill -9 "${pids[$rank]}"; }
all_killed() { what="all ranks"; kill -9 "${pids[@]}"; }
launcher_killed() { what="mpirun"; kill -9 "$launcher"; }
rank_signalled() { draw_rank; draw_signal; what="SIG$signal to rank $rank"; kill "-$signal" "${pids[$rank]}"; }
launcher_signalled() { draw_signal; what="SIG$signal to mpirun"; kill "-$signal" "$launcher"; }

# The run stops at the end of a step, or was in its last step.
# A signal that arrives before a rank has installed its handlers kills the rank.
after_rank_signalled() {
  [[ "$status" = 0 || "$status" = 75 ]] || ! grep -q '^\[learner 0\]' "$log.last" || fault_fails "status $status after a signal"
}

rank_paused() {
  draw_rank
  what="rank $rank stopped for a while"
  kill -STOP "${pids[$rank]}" && pause 2000
  kill -CONT "${pids[$rank]}"
}

# Kills learner 0 at a fault point of common/base/fault.h. The start has the fault in its environment and dies at the point.
killed_in() {
  what="at $point"
  wait_until "$bound" ended 2>/dev/null || fault_fails "still running after $bound s"
  grep -qE 'signal 9|died without a report' "$log.last"
}
killed_in_journal() { killed_in; }
killed_in_metrics() { killed_in; }
killed_in_checkpoint() { killed_in; }
killed_in_part() { killed_in; }
killed_in_segment_cut() { killed_in; }
killed_in_file() { killed_in; }
draw_point() {
  point=""
  [[ "$fault" = killed_in_* ]] || return
  local -A most=([killed_in_journal]=40 [killed_in_segment_cut]=1 [killed_in_file]=8)  # passes that a start reaches
  draw "${most[$fault]:-4}"
  point="${fault#killed_in_}:$((drawn + 1))"
}

# Makes a call of a rank that opens, writes, synchronizes, renames or removes a file of the run fail as on a failing or full
# disk (tests/tools/io_faults.cpp). Half of the calls are among the first of a start.
failed_call() {
  what="$call"
  wait_until "$bound" ended 2>/dev/null || fault_fails "still running after $bound s"
  [ -s "$WORK/failed_call" ]
}
draw_call() {
  call=""
  [ "$fault" = failed_call ] || return
  local ranks_and_calls=("${!calls[@]}") most lasting=("" "" "" :lasting) errors=(5 28)
  draw "${#ranks_and_calls[@]}"
  call="${ranks_and_calls[$drawn]}"
  most="${calls[$call]}"
  draw 2
  if [ "$drawn" = 0 ] && [ "$most" -gt 12 ]; then most=12; fi
  draw "$most"
  call="${call/ /:}:$((drawn + 1))"
  draw 2
  call="$call:${errors[$drawn]}"
  draw 4
  call="$call${lasting[$drawn]}"
}
# A run that fails must name the file and the system's reason, or the folder with which the file was removed.
after_failed_call() {
  local path
  path="$(head -n 1 "$WORK/failed_call")"
  what="$what ${path#* "$run/"}"
  [ "$status" = 0 ] ||
    grep -E "Input/output error|No space left on device" "$log.last" | grep -qFf <(sed -E 's/\.partial//g; s/^unlink .*\/([^/]+)\/([^/]+)$/\1\n\2/; s/.*\///' "$WORK/failed_call") ||
    fault_fails "the error does not name the file and the reason"
}
# Counts the calls of an undisturbed run by "RANK CALL".
count_calls() {
  local number rank name
  while read -r number rank name; do calls["$rank $name"]="$number"; done < <(sort "$WORK/reference.calls" | uniq -c)
}

# Shrinks the disk to slightly more than its content, until the run has ended.
disk_full() {
  local used
  used="$(df --output=used -k "$WORK/disk" | tail -n 1)"
  draw 2000
  what="$drawn KiB left on the disk"
  mount -o "remount,size=$((used + drawn))k" "$WORK/disk" 2>/dev/null
}
after_disk_full() {
  mount -o remount,size=1g "$WORK/disk"
  [ "$status" = 0 ] || grep -qE 'No space left|File too large' "$log.last" || fault_fails "the full disk is not named"
  [ "$status" -le 1 ] || fault_fails "status $status on a full disk"
}

# Starts the run twice. One start must be refused. It may be the first if it has not locked the directory yet.
second_start() {
  what="the same command in the live directory"
  timeout --signal=KILL "$bound" "${training[@]}" >"$log.second" 2>&1 || return 0
  what="$what, whose run ended first"
  was_finished && return
  what="the same command, which is first to lock the directory"
  if ! wait_until "$bound" ended || ! is_refused "$log.last"; then fault_fails "neither start is refused"; fi
}
after_second_start() {
  if [ "$status" = 0 ] && was_finished; then return; fi
  if [ "$status" = 0 ]; then is_refused "$log.second"; else is_refused "$log.last"; fi ||
    fault_fails "the second start harms the first run: status $status"
}
was_finished() { grep -qE 'is finished: it has all|resumes after step 40 of 40' "$log.second"; }
is_refused() { grep -q 'is being written by "lie_cluster '"$command"'" on host .*, process' "$1"; }

checkpoints_of() { ls -d "$1"/checkpoints/step-* | grep -E '/step-[0-9]+$'; }  # not those that were renamed as damaged

# A fine-tuning run has no log from which it could relearn the steps of its only checkpoint. It then ends with an error.
flipped_bits() {
  local checkpoints
  mapfile -t checkpoints < <(checkpoints_of "$run")
  if [ "$command" = sft ] && [ "${#checkpoints[@]}" = 1 ]; then checkpoints=(none); fi
  flip_in checkpoint "${checkpoints[-1]}"/*
}
# Flips a bit in data that a start reads again: segments that begin after the last checkpoint. Lost groups are regenerated.
flipped_log_bits() {
  local segments=("$run"/trajectories/*.h5) checkpoints behind=()
  mapfile -t checkpoints < <(checkpoints_of "$run")
  for segment in "${segments[@]}"; do
    if [[ ! "${segment##*-}" < "${checkpoints[-1]##*-}" ]]; then behind+=("$segment"); fi
  done
  flip_in "segment behind the checkpoint" "${behind[@]:-none}"
}
flipped_journal_bits() { flip_in journal "$run"/journal/*; }

# Kills all processes, then flips a bit in each of 64 bytes of one of the files.
flip_in() {
  kill -9 "${pids[@]}"
  wait_until 10 is_gone "${pids[@]}"
  what="all ranks killed; no $1 yet to flip bits in"
  [ -f "$2" ] || return 0
  draw 32768
  what="64 bytes of $(python3 - "$drawn" "${@:2}" <<'PYTHON'
import os, random, sys
seed, files = int(sys.argv[1]), sorted(sys.argv[2:])
random.seed(seed)
name = random.choice(files)
with open(name, "r+b") as f:
    size = os.path.getsize(f.name)
    for place in random.sample(range(size), min(64, size)):
        f.seek(place)
        byte = f.read(1)[0]
        f.seek(place)
        f.write(bytes([byte ^ 1 << random.randrange(8)]))
print("/".join(name.split("/")[-2:]))
PYTHON
)"
}

# --- the checks -------------------------------------------------------------------------------------------------------

# Ends the campaign and keeps the evidence.
fault_fails() {
  rm -rf "$kept"
  mkdir -p "$kept"
  ps -eo pid,stat,time,wchan:20,args >"$kept/processes"
  cp -r "$run" "$WORK/reference" "$log"* "$kept/" || true
  fail "$1, after $injected faults (the last: $fault, $what); run, reference and log are kept in $kept"
}

# Prints the number of trajectories in the log and of duplicates among them. Needs h5py.
count_trajectories() {
  "$python" - "$1" <<'PYTHON'
import collections, glob, sys
import h5py
keys = collections.Counter()
for path in glob.glob(sys.argv[1] + "/trajectories/*.h5"):
    with h5py.File(path, swmr=True) as f:
        keys.update(zip(*(f["sample/" + name][:] for name in ("purpose", "step", "group", "sample"))))
print(f"{sum(keys.values())} trajectories, {sum(n > 1 for n in keys.values())} twice")
PYTHON
}

find_python() {
  for python in python3 /usr/bin/python3; do
    if "$python" -c 'import h5py' 2>/dev/null; then return; fi
  done
  python=":"
  echo "trajectories are not counted: h5py is missing (apt install python3-h5py)"
}

# Checks that a finished run equals the undisturbed one.
check_run() {
  local differs
  runs=$((runs + 1))
  differs="$(same_run "$run" "$WORK/reference")" || fault_fails "$differs"
  [ "$(count_trajectories "$run")" = "$expected" ] || fault_fails "$(count_trajectories "$run"), not $expected"
  rm -rf "$run"
}

# Waits for the run's end, which must also be the end of all its processes. Sets status and took (seconds).
wait_for_end() {
  local since_when="$EPOCHREALTIME"
  wait_until "$bound" ended 2>/dev/null || fault_fails "still running after $bound s"
  wait "$launcher" 2>/dev/null  # bash reports a launcher that was killed
  status=$?
  launcher=""
  wait_until 10 is_gone "${pids[@]}" || fault_fails "ranks outlive mpirun"
  took="$(since "$since_when")"
}

# Starts the run once with one fault, unless the run ends first.
one_fault() {
  local hit="" before
  before="$(steps_of "$run")"
  draw_point
  draw_call
  start
  draw 6
  if [ -z "$point$call" ]; then
    wait_until 60 steps_done_or_ended $((before + drawn - 1)) 2>/dev/null
    pause 800
  fi
  if wait_until 20 found_or_ended && { [ -n "$point$call" ] || ! ended; } && "$fault"; then hit=yes; fi
  wait_for_end
  if [ -n "$hit" ]; then
    hits[$fault]=$((${hits[$fault]:-0} + 1))
    injected=$((injected + 1))
    if declare -F "after_$fault" >/dev/null; then "after_$fault"; fi
    printf '%4d  %-22s%-45s step %2d, status %3d, ended after %s s\n' "$injected" "$fault" "$what" "$(steps_of "$run")" "$status" "$took"
  fi
  if [ "$status" = 0 ]; then check_run
  elif [ -z "$hit" ]; then fault_fails "an undisturbed start ended with status $status"; fi
}

steps_done_or_ended() { steps_done "$run" "$1" || ended; }
found_or_ended() { find_ranks || ended; }

summary() {
  local fault
  for fault in "${faults[@]}"; do echo "  ${hits[$fault]:-0} $fault"; done
  echo "$injected faults in $runs runs: bits, metrics and trajectories ($expected) of the undisturbed run;" \
    "$(passes response "$WORK/points") responses were generated, $((runs * responses)) without faults; $((SECONDS / 60)) minutes"
}

bound=180  # seconds within which a run must have ended after a fault, or be done
faults=(rank_killed all_killed launcher_killed rank_signalled launcher_signalled rank_paused second_start
  killed_in_journal killed_in_metrics killed_in_checkpoint killed_in_part killed_in_segment_cut killed_in_file
  flipped_bits flipped_log_bits flipped_journal_bits failed_call)
"prepare_$command"
mkdir "$WORK/disk"
if [ -n "${LIE_IN_NAMESPACES:-}" ] && mount -t tmpfs -o size=1g tmpfs "$WORK/disk"; then faults+=(disk_full)
else echo "without full disks: $(why_no_namespaces)"; fi
[ -z "${LIE_FAULTS:-}" ] || read -ra faults <<<"$LIE_FAULTS"
declare -A hits=() calls=()
injected=0 runs=0 fault="" what="" point="" call=""
find_python
set_command "$WORK/reference" -x "LD_PRELOAD=$BIN/io_faults.so" -x "LIE_IO_UNDER=$WORK/reference" -x "LIE_IO_LOG=$WORK/reference.calls"
LIE_FAULT_LOG="$WORK/reference.points" "${training[@]}" >"$WORK/reference.log" 2>&1 || { cat "$WORK/reference.log"; fail "undisturbed run"; }
count_calls
expected="$(count_trajectories "$WORK/reference")"
responses="$(passes response "$WORK/reference.points")"
while [ "$injected" -lt "$count" ]; do
  draw "${#faults[@]}"
  fault="${faults[$drawn]}"
  one_fault
done
if [ -d "$run" ]; then
  point="" call=""
  start
  wait_until 20 found_or_ended
  wait_for_end
  [ "$status" = 0 ] || fault_fails "the last start ended with status $status"
  check_run
fi
summary

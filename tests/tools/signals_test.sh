#!/usr/bin/env bash
# A run that receives a stop signal ends after or within a step with status 75. It saves a
# checkpoint after the last complete step and keeps the groups of the next step that had started.
# Restarted repeatedly, it ends bit-identical to an uninterrupted run, and no group is generated
# twice. A run that reaches its time limit behaves likewise. A full disk gives one error report.
# The exit status is then 1.
# signals_test.sh BIN WORK [STOPS] [RANDOM_SEED]
set -euo pipefail
source "$(dirname "$0")/begin.sh"
stops="${3:-2}"
RANDOM="${4:-1}"
steps=8

# Checkpoints are due after step 6 and after the last step. All others come from stops.
layout() {  # ranks
  options=(--set "run.steps=$steps" --set checkpoint.every=6)
  [ "$1" != 5 ] || options+=(--set roles.learners=2)
}

# Starts a run and sets launcher. Sets pids once all ranks exist.
begin() {  # ranks, directory
  train "$1" "$2" "${options[@]}" >"$log" 2>&1 &
  launcher=$!
  until find_ranks "$1"; do kill -0 "$launcher" 2>/dev/null || return 0; done
}
find_ranks() {  # ranks: children of the subshell "launcher", or of its mpirun
  mapfile -t pids < <(pgrep --exact --parent "$(pgrep --parent "$launcher" mpirun || echo "$launcher")" lie_cluster)
  [ "${#pids[@]}" = "$1" ]
}
export LIE_FAULT_LOG="$WORK/points"
responses_dispatched() { passes response "$LIE_FAULT_LOG"; }
lines_of() { { wc -l <"$1/metrics.jsonl"; } 2>/dev/null || echo 0; }
last_step() { tail -n 1 "$1/metrics.jsonl" | grep -oP '"step":\K[0-9]+'; }

# Waits for the run to end. Expects status 75 after the last step in its metrics, or status 0 after
# the last step of the run.
expect_stop() {  # directory, words
  local status=0
  wait "$launcher" || status=$?
  if [ "$status" = 0 ]; then return; fi  # the signal came too late
  [ "$status" = 75 ] || { cat "$log"; fail "$2: status $status, not 75"; }
  tail -n 1 "$1/starts.jsonl" | grep -q '"event":"end",.*"status":75,' || { cat "$1/starts.jsonl"; fail "$2: the exit status is not recorded"; }
  local last within
  last="$(last_step "$1")" within=", within step $((last + 1)), whose groups so far are kept"
  grep -qE "stopped at step $last$2($within)?; start the same command again to resume" "$log" || { cat "$log"; fail "$2: the stop is not reported"; }
  [ "$last" = 0 ] || [ -d "$1/checkpoints/step-$(printf %06d "$last")" ] || { ls "$1/checkpoints"; fail "$2: no checkpoint at step $last"; }
  if grep -q "$within" "$log"; then inside=$((inside + 1)); fi
  stopped=$((stopped + 1))
}

expect_complete() {  # directory, reference
  [ "$(digest "$1")" = "$(digest "$2")" ] || fail "$1: $(digest "$1"), uninterrupted: $(digest "$2")"
  diff <(timeless_metrics "$2") <(timeless_metrics "$1") || fail "$1: metrics differ"
}

log="$WORK/log"
for ranks in 1 4 5; do
  layout "$ranks"
  rm -f "$LIE_FAULT_LOG"
  train "$ranks" "$WORK/whole$ranks" "${options[@]}" >"$log" 2>&1 || { cat "$log"; fail "the uninterrupted run failed"; }
  responses="$(responses_dispatched)" inside=0
  rm "$LIE_FAULT_LOG"
  stopped=0 starts="$ranks" run="$WORK/run$ranks"
  while [ "$stopped" -lt "$stops" ]; do
    signals=(TERM INT USR1)
    signal="${signals[$((starts % 3))]}" before="$(lines_of "$run")" starts=$((starts + 1))
    begin "$ranks" "$run"
    more=$((RANDOM % 3 + 1)) one=$((RANDOM % ranks))
    while kill -0 "$launcher" 2>/dev/null && [ "$(lines_of "$run")" -lt $((before + more)) ]; do sleep 0.02; done
    kill "-$signal" "${pids[$one]}" 2>/dev/null || true
    expect_stop "$run" " by SIG$signal"
    # A run that ended before the signal is started anew, so that every stop counts.
    if [ "$(last_step "$run")" = "$steps" ]; then expect_complete "$run" "$WORK/whole$ranks" && rm -rf "$run" "$LIE_FAULT_LOG"; fi
  done
  train "$ranks" "$run" "${options[@]}" >"$log" 2>&1 || { cat "$log"; fail "the resumed run failed"; }
  expect_complete "$run" "$WORK/whole$ranks"
  [ "$(responses_dispatched)" = "$responses" ] || fail "$(responses_dispatched) responses were generated, uninterrupted: $responses"
  echo "$ranks ranks: $stopped stops, $inside within a step, in $((starts - ranks)) starts: bit-identical to the uninterrupted run, with its $responses responses"
done

# No start has time for a full step. Each keeps the groups that it has started for the next start.
rm -f "$LIE_FAULT_LOG"
train 1 "$WORK/reference" --set run.steps=3 >"$log" 2>&1
responses="$(responses_dispatched)" starts=0
rm "$LIE_FAULT_LOG"
until train 1 "$WORK/limited" --set run.steps=3 --set run.time_limit_minutes=0.1 >"$log" 2>&1; do
  [ "$?" = 75 ] || { cat "$log"; fail "time limit: expected status 75"; }
  grep -qE "stopped at step .* (the time is nearly over, within|the next step and its checkpoint could take .* s,) .*; start the same command again" "$log" ||
    { cat "$log"; fail "time limit: the stop is not reported"; }
  starts=$((starts + 1))
  [ "$starts" -lt 30 ] || fail "time limit: the starts make no progress"
done
[ "$starts" -ge 3 ] || fail "time limit: only $starts stops"
expect_complete "$WORK/limited" "$WORK/reference"
[ "$(responses_dispatched)" = "$responses" ] || fail "time limit: $(responses_dispatched) responses were generated, uninterrupted: $responses"
unset LIE_FAULT_LOG

# The disk fills up at several moments. ulimit bounds the file size in KiB, and writes beyond it
# fail.
trap '' XFSZ
for kibibytes in 8 20 40 80 120 200; do
  status=0
  (ulimit -f "$kibibytes" && train 1 "$WORK/full" >"$WORK/full.log" 2>&1) || status=$?
  [ "$status" = 1 ] || { cat "$WORK/full.log"; fail "$kibibytes KiB: status $status, not 1"; }
  [ "$(grep -c 'error' "$WORK/full.log")" = 1 ] || { cat "$WORK/full.log"; fail "$kibibytes KiB: expected exactly one error"; }
  grep -qE "^error on rank 0 .*$WORK/full/.*(File too large|No space left)" "$WORK/full.log" || { cat "$WORK/full.log"; fail "$kibibytes KiB: the message does not name the file and the reason"; }
  rm -rf "$WORK/full"
done
echo "time limits and full disks end runs as expected"

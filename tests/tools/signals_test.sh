#!/usr/bin/env bash
# A run that is signalled to stop ends at the end of a step with status 75 and a checkpoint there, started again and again
# it ends with the bits of an undisturbed one; so does a run whose time is over; and a full disk is one error, status 1.
# signals_test.sh BIN WORK [STOPS] [RANDOM_SEED]
set -euo pipefail
BIN="$(realpath "$1")" WORK="$2" stops="${3:-3}"
RANDOM="${4:-1}"
rm -rf "$WORK" && mkdir -p "$WORK" && WORK="$(realpath "$WORK")"
source "$(dirname "$0")/run_lib.sh"
steps=12

# Checkpoints are due behind step 8 and the last: the others are those of stops.
layout() {  # ranks
  options=(--set "run.steps=$steps" --set checkpoint.every=8)
  [ "$1" != 5 ] || options+=(--set roles.learners=2)
}

begin() {  # ranks, directory: sets launcher and pids (of the ranks), once all ranks are there
  train "$1" "$2" "${options[@]}" >"$log" 2>&1 &
  launcher=$!
  until find_ranks "$1"; do kill -0 "$launcher" 2>/dev/null || return 0; done
}
find_ranks() {
  if [ "$1" = 1 ]; then mapfile -t pids < <(pgrep --exact --parent $$ lie_cluster || pgrep --exact --parent "$launcher" lie_cluster)
  else mapfile -t pids < <(pgrep --parent "$(pgrep --exact --parent "$launcher" mpirun || echo "$launcher")" --exact lie_cluster); fi
  [ "${#pids[@]}" = "$1" ]
}
lines_of() { { wc -l <"$1/metrics.jsonl"; } 2>/dev/null || echo 0; }
last_step() { tail -n 1 "$1/metrics.jsonl" | grep -oP '"step":\K[0-9]+'; }

# Ends the run with status 75 behind the last step that its metrics have, or with 0 behind its last.
expect_stop() {  # directory, words
  local status=0
  wait "$launcher" || status=$?
  if [ "$status" = 0 ]; then return; fi  # the signal came too late
  [ "$status" = 75 ] || { cat "$log"; fail "$2: status $status, not 75"; }
  grep -q "stopped at step $(last_step "$1")$2; *start the same command again to go on" "$log" || { cat "$log"; fail "$2: not said"; }
  [ -d "$1/checkpoints/step-$(printf %06d "$(last_step "$1")")" ] || { ls "$1/checkpoints"; fail "$2: no checkpoint at the last step"; }
  stopped=$((stopped + 1))
}

expect_whole() {  # directory, reference
  [ "$(digest "$1")" = "$(digest "$2")" ] || fail "$1: $(digest "$1"), undisturbed: $(digest "$2")"
  diff <(timeless_metrics "$2") <(timeless_metrics "$1") || fail "$1: metrics differ"
}

log="$WORK/log"
for ranks in 1 4 5; do
  layout "$ranks"
  train "$ranks" "$WORK/whole$ranks" "${options[@]}" >"$log" 2>&1 || { cat "$log"; fail "undisturbed run"; }
  stopped=0 starts=0 run="$WORK/run$ranks"
  while [ "$stopped" -lt "$stops" ]; do
    signals=(TERM INT USR1)
    signal="${signals[$((starts % 3))]}" before="$(lines_of "$run")" starts=$((starts + 1))
    begin "$ranks" "$run"
    more=$((RANDOM % 3 + 1)) one=$((RANDOM % ranks))
    while kill -0 "$launcher" 2>/dev/null && [ "$(lines_of "$run")" -lt $((before + more)) ]; do sleep 0.02; done
    kill "-$signal" "${pids[$one]}" 2>/dev/null || true
    expect_stop "$run" " by SIG$signal"
    # A run that was over before the signal came is begun anew, so that every stop counts.
    if [ "$(last_step "$run")" = "$steps" ]; then expect_whole "$run" "$WORK/whole$ranks" && rm -rf "$run"; fi
  done
  train "$ranks" "$run" "${options[@]}" >"$log" 2>&1 || { cat "$log"; fail "resume"; }
  expect_whole "$run" "$WORK/whole$ranks"
  echo "$ranks ranks: $stopped stops in $starts starts, the bits of the undisturbed run"
done

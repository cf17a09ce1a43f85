#!/usr/bin/env bash
# Invariants E2 and E7. A run whose ranks are killed (SIGKILL) repeatedly ends bit-identical to an
# uninterrupted one. Only the groups in flight at a kill are generated again, no matter how old the
# last checkpoint is.
# resume_test.sh BIN WORK [KILLS] [RANDOM_SEED] [RANKS] [--set KEY=VALUE...]
set -euo pipefail
source "$(dirname "$0")/begin.sh"
kills="${3:-3}"
RANDOM="${4:-1}"

ranks="${5:-4}"
long=(--set run.steps=12 "${@:6}")
train "$ranks" "$WORK/whole" "${long[@]}" >"$WORK/whole.log" 2>&1 || { cat "$WORK/whole.log"; fail "the uninterrupted run failed"; }

# Kills one random rank of the mpirun with process id $1, up to a second and a half after its log $2
# begins. Before that ranks still connect: mpirun 4.1 can hang for ever if one is killed then.
kill_a_rank() {
  local launcher="$1" pids
  while kill -0 "$launcher" 2>/dev/null && ! grep -q '^\[learner 0\]' "$2"; do sleep 0.02; done
  sleep "$(printf '%d.%03d' $((RANDOM % 2)) $((RANDOM % 500)))"
  mapfile -t pids < <(pgrep -P "$launcher" || true)
  [ "${#pids[@]}" -gt 0 ] || return 1
  kill -9 "${pids[$((RANDOM % ${#pids[@]}))]}" 2>/dev/null
}

mkdir "$WORK/killed" && touch "$WORK/killed/config.yaml.partial"  # left by a start that was killed at once
killed=0 attempts=0
while [ "$killed" -lt "$kills" ]; do
  attempts=$((attempts + 1))
  log="$WORK/attempt-$attempts.log"
  mpirun --oversubscribe -n "$ranks" "$BIN/lie_cluster" train "$small" --set "run.directory=$WORK/killed" \
    "${long[@]}" >"$log" 2>&1 &
  launcher=$!
  if kill_a_rank "$launcher" "$log"; then killed=$((killed + 1)); fi
  # A run that ended before the kill is started anew, so that every kill counts.
  if wait "$launcher"; then rm -rf "$WORK/killed"; fi
done
train "$ranks" "$WORK/killed" "${long[@]}" >>"$WORK/killed.log" 2>&1 || { tail -40 "$WORK/killed.log"; fail "the resumed run failed"; }

[ "$(digest "$WORK/killed")" = "$(digest "$WORK/whole")" ] ||
  fail "after $killed kills: $(digest "$WORK/killed"), uninterrupted: $(digest "$WORK/whole")"
diff <(timeless_metrics "$WORK/whole") <(timeless_metrics "$WORK/killed") || fail "metrics differ after $killed kills"
[ ! -e "$WORK/killed/journal" ] || fail "a finished run has a journal"
"$BIN/lie_analyze" --close "$WORK/killed" >/dev/null || fail "lie_analyze --close failed"
[ "$(digest "$WORK/killed")" = "$(digest "$WORK/whole")" ] || fail "closing changed the trajectories"
echo "$killed kills in $attempts attempts: bit-identical to the uninterrupted run"

# The run dies at fixed points and writes no checkpoint before its end. Each of the two actors
# generates one group at a time. When the run dies, each actor has at most one group in generation
# and one in transit. At most one more group is torn in the journal.
export LIE_FAULT_LOG="$WORK/points"
few=(--set run.steps=8 --set checkpoint.every=0 --set rollout.slots=4 --set rollout.weights=bfloat16)
train 4 "$WORK/few" "${few[@]}" >"$WORK/few.log" 2>&1 || { cat "$WORK/few.log"; fail "the uninterrupted run failed"; }
responses="$(passes response "$LIE_FAULT_LOG")" faults=(journal:5 metrics:3 journal:17 journal:1 metrics:1 journal:20 checkpoint:1)
rm "$LIE_FAULT_LOG"
for fault in "${faults[@]}"; do
  ! LIE_FAULT="$fault" train 4 "$WORK/faults" "${few[@]}" >"$WORK/faults.log" 2>&1 || fail "$fault: the run does not die"
done
train 4 "$WORK/faults" "${few[@]}" >"$WORK/faults.log" 2>&1 || { cat "$WORK/faults.log"; fail "the run did not resume after faults"; }
[ "$(digest "$WORK/faults")" = "$(digest "$WORK/few")" ] || fail "after faults: $(digest "$WORK/faults"), uninterrupted: $(digest "$WORK/few")"
diff <(timeless_metrics "$WORK/few") <(timeless_metrics "$WORK/faults") || fail "metrics differ after faults"
handed="$(passes response "$LIE_FAULT_LOG")" bound=$((responses + ${#faults[@]} * 5 * 4))  # 4 samples per group
[ "$handed" -le "$bound" ] || fail "$handed responses were generated, uninterrupted: $responses, expected at most $bound"
echo "${#faults[@]} faults: $handed responses were generated, $responses by the uninterrupted run"

# The run dies while it writes a checkpoint in the background of the next step. The previous
# checkpoint and the log after it must still exist. This is tested twice, since a run that relearns
# its log also writes checkpoints.
kept=("${long[@]}" --set checkpoint.keep_last=1 --set trajectories.keep_last_steps=1)
for point in 3 4; do
  ! LIE_FAULT="checkpoint:$point" train "$ranks" "$WORK/beside" "${kept[@]}" >"$WORK/beside.log" 2>&1 || fail "checkpoint:$point: the run does not die"
  [ "$(ls "$WORK/beside/checkpoints")" = step-00000$((2 * (point - 2))) ] || { ls -a "$WORK/beside/checkpoints"; fail "checkpoint:$point: unexpected checkpoints"; }
done
rm "$LIE_FAULT_LOG"
train "$ranks" "$WORK/beside" "${kept[@]}" >"$WORK/beside.log" 2>&1 || { cat "$WORK/beside.log"; fail "the run did not resume after a kill within a checkpoint"; }
[ "$(digest "$WORK/beside" | grep weights)" = "$(digest "$WORK/whole" | grep weights)" ] || fail "weights differ after a kill within a checkpoint"
diff <(timeless_metrics "$WORK/whole") <(timeless_metrics "$WORK/beside") || fail "metrics differ after a kill within a checkpoint"
[ "$(ls "$WORK/beside/checkpoints")" = step-000012 ] || fail "older checkpoints were not removed"
echo "2 kills within a checkpoint that is written in the background: identical weights and metrics"

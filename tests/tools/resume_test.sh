#!/usr/bin/env bash
# Invariant E2: a run whose ranks are killed (SIGKILL) again and again ends with the bits of an uninterrupted one.
# resume_test.sh BIN WORK [KILLS] [RANDOM_SEED] [RANKS] [--set KEY=VALUE...]
set -euo pipefail
BIN="$(realpath "$1")" WORK="$2" kills="${3:-3}"
RANDOM="${4:-1}"
rm -rf "$WORK" && mkdir -p "$WORK" && WORK="$(realpath "$WORK")"
source "$(dirname "$0")/run_lib.sh"

ranks="${5:-4}"
long=(--set run.steps=12 "${@:6}")
train "$ranks" "$WORK/whole" "${long[@]}" >"$WORK/whole.log" 2>&1 || { cat "$WORK/whole.log"; fail "uninterrupted run"; }

# Kills one random rank of the mpirun with process id $1 after a random moment of up to two seconds.
kill_a_rank() {
  local launcher="$1" pids
  sleep "$((RANDOM % 2)).$(printf %03d $((RANDOM % 1000)))"
  mapfile -t pids < <(pgrep -P "$launcher" || true)
  [ "${#pids[@]}" -gt 0 ] || return 1
  kill -9 "${pids[$((RANDOM % ${#pids[@]}))]}" 2>/dev/null
}

mkdir "$WORK/killed" && touch "$WORK/killed/config.yaml.partial"  # what a start that was killed at once leaves
killed=0 attempts=0
while [ "$killed" -lt "$kills" ]; do
  attempts=$((attempts + 1))
  mpirun --oversubscribe -n "$ranks" "$BIN/lie_cluster" train "$small" --set "run.directory=$WORK/killed" \
    "${long[@]}" >>"$WORK/killed.log" 2>&1 &
  launcher=$!
  if kill_a_rank "$launcher"; then killed=$((killed + 1)); fi
  # A run that was over before the kill came is begun anew, so that every kill counts.
  if wait "$launcher"; then rm -rf "$WORK/killed"; fi
done
train "$ranks" "$WORK/killed" "${long[@]}" >>"$WORK/killed.log" 2>&1 || { tail -40 "$WORK/killed.log"; fail "resume"; }

[ "$(digest "$WORK/killed")" = "$(digest "$WORK/whole")" ] ||
  fail "after $killed kills: $(digest "$WORK/killed"), uninterrupted: $(digest "$WORK/whole")"
diff <(timeless_metrics "$WORK/whole") <(timeless_metrics "$WORK/killed") || fail "metrics differ after $killed kills"
"$BIN/lie_analyze" --close "$WORK/killed" >/dev/null || fail "lie_analyze --close"
[ "$(digest "$WORK/killed")" = "$(digest "$WORK/whole")" ] || fail "closing changed the trajectories"
echo "$killed kills in $attempts attempts: the same bits as the uninterrupted run"

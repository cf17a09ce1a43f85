#!/usr/bin/env bash
# Dynamic sampling: a step consists of the same groups on any number of ranks, after kills, and in a
# replay of the log.
# dynamic_sampling_test.sh BIN WORK
set -euo pipefail
source "$(dirname "$0")/begin.sh"

dynamic=(--set rollout.dynamic_sampling.enabled=true --set rollout.temperature=2 --set run.steps=5)
# run RANKS NAME [overrides...]
run() {
  train "$1" "$WORK/$2" "${dynamic[@]}" "${@:3}" >"$WORK/$2.log" 2>&1 || { cat "$WORK/$2.log"; fail "$2"; }
}
equals_uninterrupted() {
  [ "$(digest "$WORK/$1")" = "$(digest "$WORK/whole")" ] || fail "$1 is not bit-identical to the reference run"
  diff <(timeless_metrics "$WORK/whole") <(timeless_metrics "$WORK/$1") || fail "$1 differs from the reference run in metrics"
}
same_weights() {
  for file in model optimizer; do
    cmp "$WORK/$1/checkpoints/step-000005/$file.safetensors" "$WORK/$2/checkpoints/step-000005/$file.safetensors" ||
      fail "$1 and $2 differ in weights"
  done
}

run 1 whole
for ranks in 2 4; do
  run "$ranks" "n$ranks"
  equals_uninterrupted "n$ranks"
done

# Every step trains only on groups with signal. The log also holds all other groups.
python3 - "$WORK/whole/metrics.jsonl" <<'PY' || fail "the metrics are incorrect"
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
steps = [row for row in rows if row["step"] > 0]
for row in steps:
    assert row["groups_missing"] == 0 and row["groups_mixed_share"] == 1.0, row
    assert row["groups_generated"] == 6 + row["groups_dropped_all_correct"] + row["groups_dropped_all_incorrect"] + row["groups_surplus"], row
assert sum(row["groups_generated"] for row in steps) > 6 * len(steps), "nothing was dropped"
PY
"$BIN/lie_replay" score "$WORK/whole" >"$WORK/score.log" 2>&1 || { cat "$WORK/score.log"; fail "lie_replay score failed"; }
generated="$(sed -nE 's/.*"groups_generated":([0-9]+).*/\1/p' "$WORK/whole/metrics.jsonl" | awk '{sum += $1} END {print sum}')"
responses=$((generated * 4 + 3 * 8))  # and three evaluations
grep -q "all values of $responses responses equal the logged ones" "$WORK/score.log" || { cat "$WORK/score.log"; fail "score does not cover $responses responses"; }

# The run is killed within a step, in the first and in a later round, and before any checkpoint.
for fault in journal:3 journal:8 metrics:2 journal:11; do
  ! LIE_FAULT="$fault" train 4 "$WORK/killed" "${dynamic[@]}" --set checkpoint.every=0 >"$WORK/killed.log" 2>&1 || fail "$fault: the run does not die"
done
run 2 killed --set checkpoint.every=0
equals_uninterrupted killed
run 4 few_checkpoints --set checkpoint.every=0
rm -r "$WORK/few_checkpoints/checkpoints"
run 1 few_checkpoints --set checkpoint.every=0
grep -q 'steps 1 to 5 are learned again from the log' "$WORK/few_checkpoints.log" || fail "the steps are not learned again from the log"
same_weights whole few_checkpoints

# A replay of the log gives the same weights, also after it was killed.
replay() { "$BIN/lie_replay" train "$WORK/$1" --run-directory "$WORK/$2" "${@:3}" >"$WORK/$2.log" 2>&1; }
replay whole again --warn-below 0 || { cat "$WORK/again.log"; fail "the replay failed"; }
grep -q 'all advantages and log-probs equal those of' "$WORK/again.log" || fail "the replay differs"
same_weights whole again
! LIE_FAULT=metrics:3 replay whole resumed || fail "the replay does not die"
replay whole resumed || { cat "$WORK/resumed.log"; fail "the replay after a kill failed"; }
same_weights whole resumed
[ "$(digest "$WORK/resumed")" = "$(digest "$WORK/again")" ] || fail "a killed and resumed replay differs in its log"
replay whole other --set reward.length.eta=0.02 || { cat "$WORK/other.log"; fail "the replay with other rewards failed"; }

# With two learners, the log of the first one holds the dropped groups.
for again in a b; do run 5 "two_$again" --set roles.learners=2; done
[ "$(digest "$WORK/two_a")" = "$(digest "$WORK/two_b")" ] || fail "two runs with two learners differ"

# With one round, a step trains on the available groups, and the run warns once.
run 2 bound --set rollout.dynamic_sampling.max_rounds=1
[ "$(grep -c 'trains on these' "$WORK/bound.log")" = 1 ] || { cat "$WORK/bound.log"; fail "expected exactly one warning"; }
grep -q '"groups_missing":[1-9]' "$WORK/bound/metrics.jsonl" || fail "expected a step with missing groups"
run 1 bound_again --set rollout.dynamic_sampling.max_rounds=1
[ "$(digest "$WORK/bound")" = "$(digest "$WORK/bound_again")" ] || fail "with one round: not bit-identical"

# Groups whose responses are all correct or all incorrect have no signal. The run logs them and does
# not change the weights.
run 4 none --set rollout.dynamic_sampling.max_rounds=2 --set rollout.max_response_tokens=1 --set run.steps=2 --set roles.learners=2
grep -q '"groups_missing":6' "$WORK/none/metrics.jsonl" || fail "a step unexpectedly has groups with signal"
cmp <(tail -c 1000 assets/count_pairs/model/model.safetensors) <(tail -c 1000 "$WORK/none/checkpoints/step-000002/model-00002-of-00002.safetensors") ||
  fail "the weights have changed"
! train 1 "$WORK/one" "${dynamic[@]}" --set rollout.samples_per_prompt=1 >"$WORK/one.log" 2>&1 || fail "groups of one response are accepted"
grep -q 'set rollout.samples_per_prompt to 2 or more' "$WORK/one.log" || fail "the message does not explain groups of one response"
echo "dynamic sampling: the same groups on 1, 2 and 4 ranks, after kills, and from the log"

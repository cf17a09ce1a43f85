#!/usr/bin/env bash
# A run's log is scored and learned again: scores and weights are bit-identical to the run's, and under other rewards to those of
# a run that has them.
# replay_test.sh BIN WORK
set -euo pipefail
source "$(dirname "$0")/begin.sh"
source scripts/python_lib.sh

# run RANKS NAME [overrides...]
run() {
  train "$1" "$WORK/$2" "${@:3}" >"$WORK/$2.log" 2>&1 || { cat "$WORK/$2.log"; fail "$2"; }
}
# score NAME [options...], its words to score.log
score() { "$BIN/lie_replay" score "$WORK/$1" "${@:2}" >"$WORK/score.log" 2>&1; }
# replay RUN NEW [options...]
replay() {
  "$BIN/lie_replay" train "$WORK/$1" --run-directory "$WORK/$2" "${@:3}" >"$WORK/$2.log" 2>&1 || { cat "$WORK/$2.log"; fail "$2"; }
}
same_checkpoints() {
  local checkpoint file
  [ "$(ls "$WORK/$1/checkpoints")" = "$(ls "$WORK/$2/checkpoints")" ] || fail "$2 has other checkpoints than $1"
  for checkpoint in "$WORK/$1"/checkpoints/*; do
    for file in "$checkpoint"/*.safetensors; do  # of several learners a part each
      cmp "$file" "$WORK/$2/checkpoints/${checkpoint##*/}/${file##*/}" || fail "$2: other bits"
    done
  done
}
all_equal='all values of .* responses equal the logged ones, bit for bit'
# refuses "words" COMMAND...
refuses() {
  ! "${@:2}" >"$WORK/refused.log" 2>&1 || fail "not refused: ${*:2}"
  grep -qF -- "$1" "$WORK/refused.log" || { cat "$WORK/refused.log"; fail "no \"$1\""; }
}

# Unchanged: every value, and the weights and moments of every checkpoint; also if the run was killed, or the replay.
run 4 whole
score whole || { cat "$WORK/score.log"; fail "score"; }
grep -q "$all_equal" "$WORK/score.log" || fail "score does not say that all is equal"
replay whole again --warn-below 0
same_checkpoints whole again
grep -q 'all advantages and log-probs equal those of' "$WORK/again.log" || fail "the replay does not compare with the log"
! grep -q 'OFF POLICY' "$WORK/again.log" || fail "a warning without a bound"
score again || { cat "$WORK/score.log"; fail "score of a replay"; }

! LIE_FAULT=journal:40 train 1 "$WORK/killed" >"$WORK/killed.log" 2>&1 || fail "the run does not die"
run 1 killed
score killed || { cat "$WORK/score.log"; fail "score of a run that was killed"; }
for fault in metrics:3 checkpoint:1; do
  ! LIE_FAULT="$fault" "$BIN/lie_replay" train "$WORK/killed" --run-directory "$WORK/resumed" >"$WORK/resumed.log" 2>&1 ||
    fail "$fault: the replay does not die"
done
replay killed resumed
same_checkpoints whole resumed
[ "$(digest "$WORK/resumed")" = "$(digest "$WORK/again")" ] || fail "a killed replay has another log"
diff <(timeless_metrics "$WORK/again") <(timeless_metrics "$WORK/resumed") || fail "a killed replay has other metrics"

# Further runs, for below.
run 1 fresh_seed --set run.seed=4 --set run.steps=3 --set reward.redundancy.threshold=2
run 1 cold --set rollout.temperature=0.5 --set run.steps=1
run 1 onward --set "model.path=$WORK/whole/checkpoints/step-000002" --set run.steps=1

# Two learners by two learners, and by one: the same bits.
run 5 two --set roles.learners=2 --set run.steps=3
mpirun --oversubscribe -n 2 "$BIN/lie_replay" train "$WORK/two" --run-directory "$WORK/two_again" >"$WORK/two_again.log" 2>&1 ||
  { cat "$WORK/two_again.log"; fail "two learners"; }
same_checkpoints two two_again
replay two two_by_one
[ "$(digest "$WORK/two_by_one" | grep weights)" = "$(digest "$WORK/two" | grep weights)" ] || fail "two_by_one: other weights"

# Other rewards: the first step's responses do not depend on them, so a fresh run is what the replay must be.
other=(--set reward.redundancy.threshold=2 --set reward.length.eta=0.02)
run 1 fresh "${other[@]}" --set run.steps=1
replay whole other "${other[@]}" --set run.steps=1
same_checkpoints fresh other
score whole "${other[@]}" --json "$WORK/whole.json" --html "$WORK/whole.html" || fail "other rewards are no error"
mpirun --oversubscribe -n 3 "$BIN/lie_replay" score "$WORK/whole" "${other[@]}" --json "$WORK/ranks.json" >"$WORK/ranks.log" 2>&1 ||
  { cat "$WORK/ranks.log"; fail "score by 3 ranks"; }
cmp "$WORK/whole.json" "$WORK/ranks.json" || fail "3 ranks give another comparison than one"
score fresh --json "$WORK/fresh.json" || { cat "$WORK/score.log"; fail "fresh"; }
python3 - "$WORK/whole.json" "$WORK/fresh.json" <<'PY' || fail "the rewards of step 1 are not those of a fresh run"
import json, sys
scored, fresh = (json.load(open(path)) for path in sys.argv[1:])
def step_1(report, side):
    row = next(row for row in report["steps"] if row["step"] == 1)
    return {name: value for name, value in row[side].items() if name != "eval_accuracy"}  # of the policy after it
assert step_1(scored, "now") == step_1(fresh, "logged"), (step_1(scored, "now"), step_1(fresh, "logged"))
assert step_1(scored, "now") != step_1(scored, "logged")
assert scored["differing_values"] > 0 and fresh["differing_values"] == 0
assert any(row["turned_groups_share"] > 0 for row in scored["steps"])
assert all(row["turned_groups_share"] == 0 for row in fresh["steps"])
PY

for words in 'reward.redundancy.threshold=2, reward.length.eta=0.02: ' 'advantage_mass_redundancy' 'turned_groups_share'; do
  grep -qF "$words" "$WORK/whole.html" || fail "the page of scores lacks $words"
done

# From a log: the metrics say how far off policy, and one warning.
replay whole far --set optimizer.learning_rate=1e-2 --warn-below 1
[ "$(grep -c 'FAR OFF POLICY' "$WORK/far.log")" = 1 ] || { cat "$WORK/far.log"; fail "not one warning"; }
[ "$(grep -c '"effective_sample_share":' "$WORK/far/metrics.jsonl")" = 6 ] || fail "a step without its effective sample size"

# From a checkpoint of the run: the later ones have its bits; also if the replay is killed before its first.
same_later_checkpoints() {  # run, replay, step...
  local step file
  for step in "${@:3}"; do
    for file in model.safetensors optimizer.safetensors; do
      cmp "$WORK/$1/checkpoints/step-00000$step/$file" "$WORK/$2/checkpoints/step-00000$step/$file" || fail "$2: other bits"
    done
  done
}
! LIE_FAULT=metrics:1 "$BIN/lie_replay" train "$WORK/whole" --run-directory "$WORK/later" \
  --from-checkpoint "$WORK/whole/checkpoints/step-000002" >"$WORK/later.log" 2>&1 || fail "the replay does not die"
replay whole later --from-checkpoint "$WORK/whole/checkpoints/step-000002"
grep -q 'all advantages and log-probs equal those of' "$WORK/later.log" || { cat "$WORK/later.log"; fail "later"; }
! grep -q 'LACKS' "$WORK/later.log" || { cat "$WORK/later.log"; fail "steps before the checkpoint are said to be lost"; }
[ "$(ls "$WORK/later/checkpoints" | xargs)" = "step-000004 step-000006" ] || fail "later: other checkpoints"
same_later_checkpoints whole later 4 6
diff <(timeless_metrics "$WORK/again" | grep -E '"step":[3-6]') <(timeless_metrics "$WORK/later") || fail "later: other metrics"
refuses 'is of a run with seed 3, not of' "$BIN/lie_replay" train "$WORK/fresh_seed" --run-directory "$WORK/none" \
  --from-checkpoint "$WORK/whole/checkpoints/step-000002"
refuses 'the log of' "$BIN/lie_replay" train "$WORK/whole" --run-directory "$WORK/none" \
  --from-checkpoint "$WORK/whole/checkpoints/step-000002" --set run.steps=2

# Chosen steps: the first ones are the run's own; any others are numbered anew.
replay whole first --steps 1-4
same_later_checkpoints whole first 2 4
replay whole last --steps 3-6 --groups mixed
[ "$(grep -c '"effective_sample_share":' "$WORK/last/metrics.jsonl")" = 4 ] || fail "not four steps"
score last || { cat "$WORK/score.log"; fail "score of chosen steps"; }
refuses 'its log lacks step 1, the one after the start model' "$BIN/lie_replay" train "$WORK/later" --run-directory "$WORK/none"
refuses '--steps 7-: ' "$BIN/lie_replay" train "$WORK/whole" --run-directory "$WORK/none" --steps 7-
refuses '--groups right: give all, mixed or a range' "$BIN/lie_replay" train "$WORK/whole" --run-directory "$WORK/none" --groups right

# Several runs: each step of both, in one order, whether the replay is killed or not; a run twice is each step twice.
replay whole both "$WORK/fresh_seed"
! LIE_FAULT=checkpoint:1 "$BIN/lie_replay" train "$WORK/whole" "$WORK/fresh_seed" --run-directory "$WORK/both_killed" \
  >"$WORK/both_killed.log" 2>&1 || fail "the replay of two does not die"
replay whole both_killed "$WORK/fresh_seed"
same_checkpoints both both_killed
[ "$(digest "$WORK/both")" = "$(digest "$WORK/both_killed")" ] || fail "a killed replay of two has another log"
"$python" tests/tools/check_replay_of_two.py "$WORK" || fail "not the groups of both runs in order"
refuses 'run.replay_of: there' "$BIN/lie_replay" train "$WORK/fresh_seed" "$WORK/whole" \
  --run-directory "$WORK/both"
refuses 'differ in rollout.temperature' "$BIN/lie_replay" train "$WORK/whole" "$WORK/cold" --run-directory "$WORK/none"
refuses 'began with other weights (SHA-256' "$BIN/lie_replay" train "$WORK/whole" "$WORK/onward" --run-directory "$WORK/none"
refuses '--programs: programs receive the row' "$BIN/lie_replay" train "$WORK/whole" --run-directory "$WORK/none" --programs --steps 2-

# Programs run only if asked to; without them their answers are the log's.
command="python3 examples/reward_program.py --ngram 2 --threshold 3 --beta 0.5"
run 1 program --set "reward.command=$command" --set reward.coverage.unit=words --set reward.coverage.ngram=2 --set run.steps=2
replay program program_again
same_checkpoints program program_again
for with in "" --programs; do
  score program $with || { cat "$WORK/score.log"; fail "program $with"; }
  grep -q "$all_equal" "$WORK/score.log" || fail "program $with: not equal"
  grep -q "programs were ${with:+run again}" "$WORK/score.log" || fail "program $with: not said"
done
refuses 'only with --programs' "$BIN/lie_replay" score "$WORK/program" --set "reward.command=$command --ngram 3"
score program --programs --set "reward.command=$command --ngram 3" || { cat "$WORK/score.log"; fail "another program"; }
grep -q 'differ from the logged ones; the first: step 1, training group' "$WORK/score.log" || fail "another program: all is equal"

# What the log cannot answer is refused, before anything is written.
refuses 'rollout.temperature: no score depends on it' "$BIN/lie_replay" score "$WORK/whole" --set rollout.temperature=2
refuses 'rollout.temperature: the logged responses' "$BIN/lie_replay" train "$WORK/whole" --run-directory "$WORK/none" \
  --set rollout.temperature=2
refuses 'the log of' "$BIN/lie_replay" train "$WORK/whole" --run-directory "$WORK/none" --set run.steps=7
refuses 'whose weights have SHA-256' "$BIN/lie_replay" train "$WORK/whole" --run-directory "$WORK/none" --set model.path=/nowhere
refuses 'its weights have SHA-256' "$BIN/lie_replay" train "$WORK/whole" --run-directory "$WORK/none" \
  --set "model.path=$WORK/whole/checkpoints/step-000002"
refuses 'holds no run' "$BIN/lie_replay" score "$WORK"
[ ! -e "$WORK/none" ] || fail "something was written"
refuses 'holds a run of another config (optimizer.learning_rate' "$BIN/lie_replay" train "$WORK/whole" \
  --run-directory "$WORK/again" --set optimizer.learning_rate=1e-5
refuses 'holds a run of another config (run.replay_of' "$BIN/lie_replay" train "$WORK/whole" --run-directory "$WORK/killed"
refuses 'resume it with lie_replay train' "$BIN/lie_cluster" train "$WORK/again/config.yaml"

# A log that says other than its run's settings give is found out.
cp -r "$WORK/whole" "$WORK/edited"
sed -i 's/threshold: 3/threshold: 2/' "$WORK/edited/config.yaml"
refuses 'differ from the logged ones; the first: step ' "$BIN/lie_replay" score "$WORK/edited"

echo "scores and weights of a log have the run's bits, and those of a fresh run under other rewards"

#!/usr/bin/env bash
# lie_replay scores a run's log and trains on it again. Scores and weights are bit-identical to
# those of the run. Under other rewards they are bit-identical to those of a run with these rewards.
# replay_test.sh BIN WORK
set -euo pipefail
source "$(dirname "$0")/begin.sh"
source scripts/python_lib.sh

# run RANKS NAME [overrides...]
run() {
  train "$1" "$WORK/$2" "${@:3}" >"$WORK/$2.log" 2>&1 || { cat "$WORK/$2.log"; fail "$2"; }
}
# score NAME [options...]: writes its output to score.log
score() { "$BIN/lie_replay" score "$WORK/$1" "${@:2}" >"$WORK/score.log" 2>&1; }
# replay RUN NEW [options...]
replay() {
  "$BIN/lie_replay" train "$WORK/$1" --run-directory "$WORK/$2" "${@:3}" >"$WORK/$2.log" 2>&1 || { cat "$WORK/$2.log"; fail "$2"; }
}
same_checkpoints() {
  local checkpoint file
  [ "$(ls "$WORK/$1/checkpoints")" = "$(ls "$WORK/$2/checkpoints")" ] || fail "$1 and $2 have different checkpoints"
  for checkpoint in "$WORK/$1"/checkpoints/*; do
    for file in "$checkpoint"/*.safetensors; do  # with several learners, one file per learner
      cmp "$file" "$WORK/$2/checkpoints/${checkpoint##*/}/${file##*/}" || fail "$2: not bit-identical to $1"
    done
  done
}
all_equal='all values of .* responses equal the logged ones, bit for bit'
# refuses "words" COMMAND...
refuses() {
  ! "${@:2}" >"$WORK/refused.log" 2>&1 || fail "not refused: ${*:2}"
  grep -qF -- "$1" "$WORK/refused.log" || { cat "$WORK/refused.log"; fail "the message lacks \"$1\""; }
}

# Without changes, a replay reproduces every value and the weights and moments of every checkpoint,
# also if the run or the replay was killed.
run 4 whole
score whole || { cat "$WORK/score.log"; fail "lie_replay score failed"; }
grep -q "$all_equal" "$WORK/score.log" || fail "score does not report that all values are equal"
replay whole again --warn-below 0
same_checkpoints whole again
grep -q 'all advantages and log-probs equal those of' "$WORK/again.log" || fail "the replay does not report that it equals the log"
! grep -q 'least effective sample size.* in step 0$' "$WORK/again.log" || fail "a sample size of no step"
! grep -q 'OFF POLICY' "$WORK/again.log" || fail "a warning despite --warn-below 0"
score again || { cat "$WORK/score.log"; fail "lie_replay score failed on a replay"; }

# Another loss has its own aggregation and divisor, not those in the config of the run.
replay whole other_loss --set policy_loss.algorithm=cispo
grep -q '  aggregation: token-mean' "$WORK/other_loss/config.yaml" || fail "cispo has the aggregation of gspo"
replay whole luspo --set policy_loss.algorithm=luspo
limit="$(sed -n 's/^  max_response_tokens: //p' "$WORK/whole/config.yaml" | head -n 1)"
grep -q "  constant_divisor: $limit\$" "$WORK/luspo/config.yaml" || fail "luspo has the divisor of gspo"

! LIE_FAULT=journal:40 train 1 "$WORK/killed" >"$WORK/killed.log" 2>&1 || fail "the run does not die"
run 1 killed
score killed || { cat "$WORK/score.log"; fail "lie_replay score failed on a run that was killed"; }
for fault in metrics:3 checkpoint:1; do
  ! LIE_FAULT="$fault" "$BIN/lie_replay" train "$WORK/killed" --run-directory "$WORK/resumed" >"$WORK/resumed.log" 2>&1 ||
    fail "$fault: the replay does not die"
done
replay killed resumed
same_checkpoints whole resumed
[ "$(digest "$WORK/resumed")" = "$(digest "$WORK/again")" ] || fail "a killed and resumed replay differs in its log"
diff <(timeless_metrics "$WORK/again") <(timeless_metrics "$WORK/resumed") || fail "a killed and resumed replay differs in metrics"

# Further runs for the tests below.
run 1 fresh_seed --set run.seed=4 --set run.steps=3 --set reward.redundancy.threshold=2
run 1 cold --set rollout.temperature=0.5 --set run.steps=1
run 1 onward --set "model.path=$WORK/whole/checkpoints/step-000002" --set run.steps=1

# Replays of a run of two learners by two learners and by one are bit-identical.
run 5 two --set roles.learners=2 --set run.steps=3
mpirun --oversubscribe -n 2 "$BIN/lie_replay" train "$WORK/two" --run-directory "$WORK/two_again" >"$WORK/two_again.log" 2>&1 ||
  { cat "$WORK/two_again.log"; fail "the replay by two learners failed"; }
same_checkpoints two two_again
replay two two_by_one
[ "$(digest "$WORK/two_by_one" | grep weights)" = "$(digest "$WORK/two" | grep weights)" ] || fail "two_by_one: weights differ"

# The responses of the first step do not depend on the rewards. So a replay with other rewards must
# equal a new run with them.
other=(--set reward.redundancy.threshold=2 --set reward.length.eta=0.02)
run 1 fresh "${other[@]}" --set run.steps=1
replay whole other "${other[@]}" --set run.steps=1
same_checkpoints fresh other
score whole "${other[@]}" --json "$WORK/whole.json" --html "$WORK/whole.html" || fail "score failed with other rewards"
mpirun --oversubscribe -n 3 "$BIN/lie_replay" score "$WORK/whole" "${other[@]}" --json "$WORK/ranks.json" >"$WORK/ranks.log" 2>&1 ||
  { cat "$WORK/ranks.log"; fail "lie_replay score failed on 3 ranks"; }
cmp "$WORK/whole.json" "$WORK/ranks.json" || fail "the comparison differs between 3 ranks and one"
score fresh --json "$WORK/fresh.json" || { cat "$WORK/score.log"; fail "lie_replay score failed on the new run"; }
python3 - "$WORK/whole.json" "$WORK/fresh.json" <<'PY' || fail "the rewards of step 1 differ from those of a new run"
import json, sys
scored, fresh = (json.load(open(path)) for path in sys.argv[1:])
def step_1(report, side):
    row = next(row for row in report["steps"] if row["step"] == 1)
    return {name: value for name, value in row[side].items() if not name.startswith("eval_")}  # of the policy after this step
assert step_1(scored, "now") == step_1(fresh, "logged"), (step_1(scored, "now"), step_1(fresh, "logged"))
assert step_1(scored, "now") != step_1(scored, "logged")
assert scored["differing_values"] > 0 and fresh["differing_values"] == 0
assert any(row["turned_groups_share"] for row in scored["steps"])
assert all(row["turned_groups_share"] == (0 if row["groups"] else None) for row in fresh["steps"])
step_0 = scored["steps"][0]
assert step_0["step"] == 0 and step_0["responses"] == 0 and step_0["evaluation_responses"] > 0
PY

for words in 'reward.redundancy.threshold=2, reward.length.eta=0.02: ' 'advantage_mass_redundancy' 'turned_groups_share'; do
  grep -qF "$words" "$WORK/whole.html" || fail "the HTML page of scores lacks $words"
done

# A replay of a log reports in its metrics how far off policy it is, and warns once.
replay whole far --set optimizer.learning_rate=1e-2 --warn-below 1
[ "$(grep -c 'FAR OFF POLICY' "$WORK/far.log")" = 1 ] || { cat "$WORK/far.log"; fail "expected exactly one warning"; }
[ "$(grep -c '"effective_sample_share":' "$WORK/far/metrics.jsonl")" = 6 ] || fail "a step lacks its effective sample size"

# A replay from a checkpoint of the run reproduces the later checkpoints bit for bit, also if the
# replay is killed before its first checkpoint.
same_later_checkpoints() {  # run, replay, step...
  local step file
  for step in "${@:3}"; do
    for file in model.safetensors optimizer.safetensors; do
      cmp "$WORK/$1/checkpoints/step-00000$step/$file" "$WORK/$2/checkpoints/step-00000$step/$file" || fail "$2: not bit-identical to $1"
    done
  done
}
! LIE_FAULT=metrics:1 "$BIN/lie_replay" train "$WORK/whole" --run-directory "$WORK/later" \
  --from-checkpoint "$WORK/whole/checkpoints/step-000002" >"$WORK/later.log" 2>&1 || fail "the replay does not die"
replay whole later --from-checkpoint "$WORK/whole/checkpoints/step-000002"
grep -q 'all advantages and log-probs equal those of' "$WORK/later.log" || { cat "$WORK/later.log"; fail "later: the replay does not report that it equals the log"; }
! grep -q 'LACKS' "$WORK/later.log" || { cat "$WORK/later.log"; fail "steps before the checkpoint are reported as lost"; }
[ "$(ls "$WORK/later/checkpoints" | xargs)" = "step-000004 step-000006" ] || fail "later: the checkpoints differ"
same_later_checkpoints whole later 4 6
diff <(timeless_metrics "$WORK/again" | grep -E '"step":[3-6]') <(timeless_metrics "$WORK/later") || fail "later: the metrics differ"
refuses 'is of a run with seed 3, not of' "$BIN/lie_replay" train "$WORK/fresh_seed" --run-directory "$WORK/none" \
  --from-checkpoint "$WORK/whole/checkpoints/step-000002"
refuses 'the log of' "$BIN/lie_replay" train "$WORK/whole" --run-directory "$WORK/none" \
  --from-checkpoint "$WORK/whole/checkpoints/step-000002" --set run.steps=2

# A replay of the first steps equals the run. Other selected steps are renumbered.
replay whole first --steps 1-4
same_later_checkpoints whole first 2 4
replay whole last --steps 3-6 --groups mixed
[ "$(grep -c '"effective_sample_share":' "$WORK/last/metrics.jsonl")" = 4 ] || fail "expected four steps"
score last || { cat "$WORK/score.log"; fail "lie_replay score failed on selected steps"; }
refuses 'its log lacks step 1, the one after the start model' "$BIN/lie_replay" train "$WORK/later" --run-directory "$WORK/none"
refuses '--steps 7-: ' "$BIN/lie_replay" train "$WORK/whole" --run-directory "$WORK/none" --steps 7-
refuses '--groups right: give all, mixed or a range' "$BIN/lie_replay" train "$WORK/whole" --run-directory "$WORK/none" --groups right

# A replay of several runs has each step of both in a fixed order, whether it is killed or not. A
# run that is given twice contributes each step twice.
replay whole both "$WORK/fresh_seed"
! LIE_FAULT=checkpoint:1 "$BIN/lie_replay" train "$WORK/whole" "$WORK/fresh_seed" --run-directory "$WORK/both_killed" \
  >"$WORK/both_killed.log" 2>&1 || fail "the replay of two does not die"
replay whole both_killed "$WORK/fresh_seed"
same_checkpoints both both_killed
[ "$(digest "$WORK/both")" = "$(digest "$WORK/both_killed")" ] || fail "a killed and resumed replay of two differs in its log"
"$python" tests/tools/check_replay_of_two.py "$WORK" || fail "expected the groups of both runs in order"
refuses 'run.replay_of: there' "$BIN/lie_replay" train "$WORK/fresh_seed" "$WORK/whole" \
  --run-directory "$WORK/both"
refuses 'differ in rollout.temperature' "$BIN/lie_replay" train "$WORK/whole" "$WORK/cold" --run-directory "$WORK/none"
refuses 'began with other weights (SHA-256' "$BIN/lie_replay" train "$WORK/whole" "$WORK/onward" --run-directory "$WORK/none"
refuses '--programs: programs receive the row' "$BIN/lie_replay" train "$WORK/whole" --run-directory "$WORK/none" --programs --steps 2-

# Reward programs run only with --programs. Otherwise their logged answers are used.
command="python3 examples/reward_program.py --ngram 2 --threshold 3 --beta 0.5"
run 1 program --set "reward.command=$command" --set 'evaluation.budgets=[5, 12]' --set reward.coverage.unit=words --set reward.coverage.ngram=2 --set run.steps=2
replay program program_again
same_checkpoints program program_again
for with in "" --programs; do
  score program $with || { cat "$WORK/score.log"; fail "lie_replay score failed: program $with"; }
  grep -q "$all_equal" "$WORK/score.log" || fail "program $with: values differ"
  grep -q "programs were ${with:+run again}" "$WORK/score.log" || fail "program $with: the use of programs is not reported"
done
refuses 'only with --programs' "$BIN/lie_replay" score "$WORK/program" --set "reward.command=$command --ngram 3"
score program --programs --set "reward.command=$command --ngram 3" || { cat "$WORK/score.log"; fail "lie_replay score failed with another program"; }
grep -q 'differ from the logged ones; the first: step 1, training group' "$WORK/score.log" || fail "another program: no value differs"

# Settings that the log cannot support are refused before anything is written.
refuses 'rollout.temperature: no score depends on it' "$BIN/lie_replay" score "$WORK/whole" --set rollout.temperature=2
refuses 'rollout.temperature: the logged responses' "$BIN/lie_replay" train "$WORK/whole" --run-directory "$WORK/none" \
  --set rollout.temperature=2
refuses 'the log of' "$BIN/lie_replay" train "$WORK/whole" --run-directory "$WORK/none" --set run.steps=7
refuses 'whose weights have SHA-256' "$BIN/lie_replay" train "$WORK/whole" --run-directory "$WORK/none" --set model.path=/nowhere
refuses 'its weights have SHA-256' "$BIN/lie_replay" train "$WORK/whole" --run-directory "$WORK/none" \
  --set "model.path=$WORK/whole/checkpoints/step-000002"
refuses 'holds no run' "$BIN/lie_replay" score "$WORK"
[ ! -e "$WORK/none" ] || fail "a refused replay wrote something"
refuses 'holds a run of another config (optimizer.learning_rate' "$BIN/lie_replay" train "$WORK/whole" \
  --run-directory "$WORK/again" --set optimizer.learning_rate=1e-5
refuses 'holds a run of another config (run.replay_of' "$BIN/lie_replay" train "$WORK/whole" --run-directory "$WORK/killed"
refuses 'resume it with lie_replay train' "$BIN/lie_cluster" train "$WORK/again/config.yaml"

# Accuracy within budgets is scored again, too. What a log lacks is named, and training stops before a gap.
run 1 budgets --set 'evaluation.budgets=[5, 12]' --set run.steps=4 --set checkpoint.every=1
score budgets || { cat "$WORK/score.log"; fail "lie_replay score failed on a run with budgets"; }
grep -q "$all_equal" "$WORK/score.log" || { cat "$WORK/score.log"; fail "budgets: values differ"; }
rm "$WORK/budgets/trajectories/learner-000-segment-000001.h5"
score budgets || { cat "$WORK/score.log"; fail "lie_replay score failed on a log with a gap"; }
grep -q 'warning: .*segment-000001.h5' "$WORK/score.log" || { cat "$WORK/score.log"; fail "score does not name the lost file"; }
for steps in "" --steps=1-3; do
  refuses 'its log lacks step 2, but holds later ones' "$BIN/lie_replay" train "$WORK/budgets" --run-directory "$WORK/none" $steps
done
replay budgets before_gap --steps 1

# The steps of a run whose settings were changed are scored with the settings that they had.
run 1 changed --set run.steps=2
run 1 changed --set run.steps=4 --set run.resume=changed --set reward.redundancy.threshold=2
score changed || { cat "$WORK/score.log"; fail "lie_replay score failed on a run with changed settings"; }
grep -q "$all_equal" "$WORK/score.log" || { cat "$WORK/score.log"; fail "changed settings: values differ"; }
grep -q 'steps 0 to 2 are scored with the settings of that time' "$WORK/score.log" || { cat "$WORK/score.log"; fail "score does not name the former settings"; }

# Other coverage settings show coverage.
score whole --set 'coverage.metric_ngrams=[8]' || { cat "$WORK/score.log"; fail "lie_replay score failed with coverage.metric_ngrams"; }
for metric in c_context_mean c_context_8_mean largest_repeat_mean; do
  grep -q "^$metric " "$WORK/score.log" || { cat "$WORK/score.log"; fail "the table lacks $metric"; }
done

# A log that does not agree with the settings of its run is detected.
cp -r "$WORK/whole" "$WORK/edited"
sed -i 's/threshold: 3/threshold: 2/' "$WORK/edited/config.yaml"
refuses 'differ from the logged ones; the first: step ' "$BIN/lie_replay" score "$WORK/edited"

echo "scores and weights of a log are bit-identical to the run's, and under other rewards to a new run's"

#!/usr/bin/env bash
# The length of a run: run.epochs counts passes over the prompts, run.stop_when ends at a goal.
# length_test.sh BIN WORK
set -euo pipefail
source "$(dirname "$0")/begin.sh"

# run RANKS NAME [overrides...]: writes its output to NAME.log
run() { train "$1" "$WORK/$2" "${@:3}" >"$WORK/$2.log" 2>&1 || { cat "$WORK/$2.log"; fail "$2: the run failed"; }; }
# refuses "words" [overrides...]
refuses() {
  ! train 1 "$WORK/refused" "${@:2}" >"$WORK/refused.log" 2>&1 || fail "not refused: ${*:2}"
  grep -qF -- "$1" "$WORK/refused.log" || { cat "$WORK/refused.log"; fail "the message lacks \"$1\""; }
}
# says "words" NAME
says() { grep -qF -- "$1" "$WORK/$2.log" || { cat "$WORK/$2.log"; fail "$2 does not say \"$1\""; }; }

# 20 prompts, 6 a step: two passes fill 7 steps.
refuses 'run.steps and run.epochs are both set' --set run.epochs=2
head -n 20 assets/count_pairs/train.jsonl >"$WORK/rows.jsonl"
sed '/^  steps: 6/d' "$small" >"$WORK/epochs.yaml"
small="$WORK/epochs.yaml"
short=(--set "data.train_file=$WORK/rows.jsonl" --set rollout.max_response_tokens=8 --set evaluation.every=0)
run 4 epochs "${short[@]}" --set run.epochs=2
says "run.epochs 2: 40 prompts of $WORK/rows.jsonl, 6 a step, are 7 steps" epochs
says 'done: all 7 steps' epochs
run 1 epochs "${short[@]}" --set run.epochs=2
says 'is finished: it has all 7 steps' epochs
refuses 'run.epochs is set, but with rollout.dynamic_sampling' --set run.epochs=2 --set rollout.dynamic_sampling.enabled=true
run 1 one "${short[@]}" --set run.steps=1
says 'a new run of 1 step' one
says 'done: all 1 step' one
small=tests/tools/small.yaml

# The first evaluation of a training step is after step 3, and a checkpoint after step 2.
refuses 'run.stop_when: no evaluation gives eval_acuracy; did you mean eval_accuracy?' --set 'run.stop_when=eval_acuracy >= 0'
refuses 'spaces between them' --set 'run.stop_when=eval_accuracy>=0'
refuses 'nothing is evaluated' --set 'run.stop_when=eval_accuracy >= 0' --set evaluation.every=0
goal=(--set 'run.stop_when=eval_accuracy >= 0')
run 1 whole
run 4 goal "${goal[@]}"
says 'done: 3 of 6 steps, until eval_accuracy >= 0' goal
[ -e "$WORK/goal/checkpoints/step-000003" ] || fail "the last step has no checkpoint"
run 1 goal "${goal[@]}"
says 'is finished: it has 3 of 6 steps, until eval_accuracy >= 0' goal
"$BIN/lie_analyze" "$WORK/goal" | grep -qF 'finished: step 3 of 6, eval_accuracy >= 0' || fail "lie_analyze does not know that the run is finished"

# A run that dies between its goal and the checkpoint ends at its goal.
! LIE_FAULT=checkpoint:3 train 1 "$WORK/killed" "${goal[@]}" >"$WORK/killed.log" 2>&1 || fail "the run does not die"
[ "$(ls "$WORK/killed/checkpoints")" = step-000002 ] || fail "unexpected checkpoints: $(ls "$WORK/killed/checkpoints")"
run 1 killed "${goal[@]}"
says 'done: 3 of 6 steps, until eval_accuracy >= 0' killed
[ "$(digest "$WORK/killed")" = "$(digest "$WORK/goal")" ] || fail "the killed run differs"

# A goal that is not met changes nothing, and without it the run continues as if it had never stopped.
run 1 goal --set 'run.stop_when=eval_accuracy >= 2'
says 'done: all 6 steps' goal
[ "$(digest "$WORK/goal")" = "$(digest "$WORK/whole")" ] || fail "the continued run differs"
echo "runs end after their epochs and at their goals"

#!/usr/bin/env bash
# Exports the responses of a run as data sets. The rows equal those that check_export.py selects
# itself, and training reads them.
# export_test.sh BIN WORK
set -euo pipefail
source "$(dirname "$0")/begin.sh"
source scripts/python_lib.sh

# exports FILE RUN... [options...]
exports() {
  "$python" -m lie_cluster.export "${@:2}" --output "$WORK/$1" >"$WORK/export.log" 2>&1 || { cat "$WORK/export.log"; fail "$*"; }
}
refuses() {
  ! "$python" -m lie_cluster.export "$WORK/run" "${@:2}" >"$WORK/refused.log" 2>&1 || fail "not refused: ${*:2}"
  grep -qF -- "$1" "$WORK/refused.log" || { cat "$WORK/refused.log"; fail "the message lacks \"$1\""; }
}
described() { "$BIN/lie_cluster" data "$1" | sed '1s/^.*: \([0-9]* rows, .* bad rows\);.*/\1/'; }

train 1 "$WORK/run" --set data.prompt_template=chatml --set 'rollout.end_of_sequence_tokens=[<|endoftext|>]' \
  --set rollout.max_prompt_tokens=128 >"$WORK/run.log" 2>&1 || { cat "$WORK/run.log"; fail "the run failed"; }
command="python3 examples/reward_program.py --ngram 2 --threshold 3 --beta 0.5"
train 1 "$WORK/program" --set run.steps=1 --set "reward.command=$command" --set reward.coverage.unit=words >"$WORK/program.log" 2>&1 || fail "the run with a reward program failed"

exports responses.jsonl "$WORK/run" --kind all
exports tokens.jsonl "$WORK/run" --columns step,tokens,response_ids,prompt_ids,behavior_log_probs,learner_log_probs,reward
exports two_runs.jsonl "$WORK/program" "$WORK/run" --columns run,step,reward_accuracy,reward_command
exports sft.jsonl "$WORK/run" --as sft
exports messages.jsonl "$WORK/run" --as messages --best 0 --steps 2-3
exports pairs.jsonl "$WORK/run" --as pairs --messages --kind all
grep -q 'groups without a right response left out' "$WORK/export.log" || { cat "$WORK/export.log"; fail "skipped groups are not reported"; }
exports problems.jsonl "$WORK/run" --as problems --least-accuracy 0.25 --most-accuracy 0.5
grep -qE '; [0-9]+ problems of an accuracy out of bounds left out' "$WORK/export.log" || { cat "$WORK/export.log"; fail "skipped problems are not reported"; }
python3 tests/tools/check_export.py "$WORK" || fail "the exported rows differ from the selection of check_export.py"

if "$python" -m lie_cluster.export "$WORK/run" --output "$WORK/problems.parquet" --as problems --least-accuracy 0.25 \
  --most-accuracy 0.5 >"$WORK/parquet.log" 2>&1; then
  [ "$(described "$WORK/problems.jsonl")" = "$(described "$WORK/problems.parquet")" ] || fail "Parquet and JSONL differ"
else
  grep -q 'Parquet needs pyarrow' "$WORK/parquet.log" || { cat "$WORK/parquet.log"; fail "the Parquet export failed"; }
fi
train 1 "$WORK/on" --set "data.train_file=$WORK/problems.jsonl" --set run.steps=1 >"$WORK/on.log" 2>&1 ||
  { cat "$WORK/on.log"; fail "training on the exported problems failed"; }

refuses 'exists: name another file, or give --overwrite' --output "$WORK/sft.jsonl"
exports sft.jsonl "$WORK/run" --as sft --overwrite
refuses '--columns rewrd: no such column; there are run, step,' --output "$WORK/none.jsonl" --columns rewrd
refuses 'nothing is written: 0 rows of 0 groups' --output "$WORK/none.jsonl" --steps 7-
refuses '--steps x: expected a range' --output "$WORK/none.jsonl" --steps x
refuses '--best: only' --output "$WORK/none.jsonl" --as pairs --best 2
refuses 'rows are written as FILE.parquet or FILE.jsonl' --output "$WORK/none.csv"
refuses 'an export only reads' --output "$WORK/none.jsonl" --set reward.length.eta=1
refuses 'no row of its data files gives the prompt of step 1' --output "$WORK/none.jsonl" --as messages \
  --set data.train_file=assets/count_pairs/eval.jsonl
[ -z "$(ls "$WORK" | grep -E 'none|partial')" ] || fail "a refused export left a file"

"$BIN/lie_replay" export "$WORK/run" --output "$WORK/none.jsonl" >"$WORK/refused.log" 2>&1 && fail "lie_replay export succeeds"
grep -q "python3 -m lie_cluster.export" "$WORK/refused.log" || { cat "$WORK/refused.log"; fail "the new command is not named"; }

echo "exports hold the expected rows"

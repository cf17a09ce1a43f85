#!/usr/bin/env bash
# eval, reference-lengths and forecast give bit-identical results on any number of ranks and after kills at
# any moment.
# eval_test.sh BIN WORK
set -euo pipefail
source "$(dirname "$0")/begin.sh"

cat >"$WORK/eval.yaml" <<EOF
run: {directory: $WORK/overridden}
model: {path: assets/count_pairs/model}
data: {evaluation_file: assets/count_pairs/eval.jsonl}
rollout: {max_prompt_tokens: 32, slots: 8}
evaluation: {prompts: 300, samples_per_prompt: 4, max_response_tokens: 40, budgets: [16, 24, 400], ks: [1, 2, 4]}
EOF

# evaluation RANKS DIRECTORY [overrides...]
evaluation() {
  local ranks="$1" directory="$2"
  shift 2
  mpirun --oversubscribe -n "$ranks" "$BIN/lie_cluster" eval "$WORK/eval.yaml" --set "run.directory=$directory" "$@"
}

# Prints the results that must be equal: tables, texts and the digest of the trajectories.
results() { cat "$1/table.txt" "$1/table.json" "$1/samples.jsonl"; digest "$1"; }

"$BIN/lie_cluster" eval "$WORK/eval.yaml" --set "run.directory=$WORK/n1" >"$WORK/n1.out" 2>"$WORK/n1.log" ||
  { cat "$WORK/n1.log"; fail "eval failed on one rank"; }
grep -q 'all problems  *300  *1200' "$WORK/n1.out" || { cat "$WORK/n1.out"; fail "the table is incorrect"; }
! grep -q 'budget@400' "$WORK/n1.out" || fail "a budget above the response limit has a column"
[ "$(wc -l <"$WORK/n1/samples.jsonl")" = 1200 ] || fail "expected one line per sample"
evaluation 3 "$WORK/n3" >"$WORK/n3.log" 2>&1 || { cat "$WORK/n3.log"; fail "eval failed on three ranks"; }
diff <(results "$WORK/n1") <(results "$WORK/n3") >"$WORK/n3.diff" || { head "$WORK/n3.diff"; fail "one and three ranks differ"; }

# An evaluation that is killed repeatedly resumes with other numbers of ranks. Saved responses are
# not generated again.
sizes=() attempts=0
mkdir "$WORK/killed" && touch "$WORK/killed/config.yaml.partial" # left by a start that was killed at once
while [ "${#sizes[@]}" -lt 3 ] && [ "$attempts" -lt 40 ]; do
  attempts=$((attempts + 1))
  evaluation $((1 + attempts % 3)) "$WORK/killed" >>"$WORK/killed.log" 2>&1 &
  launcher=$!
  wanted=$((${#sizes[@]} == 0 ? 17 : sizes[-1] + 1))
  while kill -0 "$launcher" 2>/dev/null && [ "$(stat -c %s "$WORK/killed/responses.log" 2>/dev/null || echo 0)" -lt "$wanted" ]; do
    sleep 0.02
  done
  for pid in $(pgrep -P "$launcher" || true); do kill -9 "$pid" 2>/dev/null || true; done
  if wait "$launcher" 2>/dev/null; then rm -rf "$WORK/killed"; sizes=(); continue; fi
  sizes+=("$(stat -c %s "$WORK/killed/responses.log")")
done
[ "${#sizes[@]}" = 3 ] || fail "the evaluation was over before it could be killed three times"
head -c 116 "$WORK/n1/responses.log" | tail -c 100 >>"$WORK/killed/responses.log" # after the header; simulates a process killed in the middle of a write
evaluation 2 "$WORK/killed" >>"$WORK/killed.log" 2>&1 || { tail -20 "$WORK/killed.log"; fail "the resumed evaluation failed"; }
diff <(results "$WORK/n1") <(results "$WORK/killed") >/dev/null || fail "results differ after kills (${sizes[*]} bytes)"

# Other budgets and fewer prompts need no new responses. Another model, seed or data file is
# refused.
before="$(sha256sum <"$WORK/n1/responses.log")"
evaluation 2 "$WORK/n1" --set evaluation.budgets=[20] --set rollout.slots=4 --set rollout.prefill_tokens=9 >"$WORK/again.log" 2>&1 || { cat "$WORK/again.log"; fail "eval with another budget failed"; }
grep -q 'budget@20' "$WORK/n1/table.txt" || fail "the table lacks the new budget"
[ "$(sha256sum <"$WORK/n1/responses.log")" = "$before" ] || fail "responses were generated again"
evaluation 1 "$WORK/n1" --set evaluation.prompts=20 >"$WORK/fewer.log" 2>&1 || { cat "$WORK/fewer.log"; fail "eval with fewer prompts failed"; }
grep -q 'all problems  *20  *80' "$WORK/n1/table.txt" || { cat "$WORK/n1/table.txt"; fail "the table does not show fewer prompts"; }
if evaluation 1 "$WORK/n1" --set run.seed=9 >"$WORK/seed.log" 2>&1; then fail "another seed was accepted"; fi
grep -q 'run.seed: there 1, here 9' "$WORK/seed.log" || { cat "$WORK/seed.log"; fail "the message does not name the seed"; }

# lengths RANKS OUTPUT
lengths() {
  mpirun --oversubscribe -n "$1" "$BIN/lie_cluster" reference-lengths "$small" --output "$2" --samples 3 \
    --set data.train_file=assets/count_pairs/eval.jsonl
}
lengths 1 "$WORK/l1.jsonl" >"$WORK/l1.log" 2>&1 || { cat "$WORK/l1.log"; fail "reference-lengths failed on one rank"; }
[ "$(grep -c '"reference_length":' "$WORK/l1.jsonl")" = 512 ] || fail "expected one length per prompt"
for accuracy in 0.0 1.0; do
  grep -q "\"accuracy\":$accuracy[,}]" "$WORK/l1.jsonl" || fail "no prompt has the accuracy $accuracy"
done
"$BIN/lie_cluster" train "$small" --dry-run --set "data.train_file=$WORK/l1.jsonl" --set data.accuracy_field=accuracy \
  --set 'data.accuracy_bands=[0.3-1,0-0.4]' >"$WORK/bands.log" 2>&1 || { cat "$WORK/bands.log"; fail "measured accuracies give no curriculum"; }
lengths 3 "$WORK/l3.jsonl" >"$WORK/l3.log" 2>&1 || { cat "$WORK/l3.log"; fail "reference-lengths failed on three ranks"; }
cmp "$WORK/l1.jsonl" "$WORK/l3.jsonl" || fail "lengths differ between one and three ranks"
lengths 2 "$WORK/lk.jsonl" >"$WORK/lk.log" 2>&1 &
launcher=$!
while kill -0 "$launcher" 2>/dev/null && [ "$(cat "$WORK"/lk.jsonl.progress-* 2>/dev/null | wc -c)" -lt 20000 ]; do sleep 0.01; done
for pid in $(pgrep -P "$launcher" || true); do kill -9 "$pid" 2>/dev/null || true; done
wait "$launcher" 2>/dev/null && echo "note: the lengths were measured before the kill"
lengths 2 "$WORK/lk.jsonl" >>"$WORK/lk.log" 2>&1 || { cat "$WORK/lk.log"; fail "reference-lengths failed after a kill"; }
cmp "$WORK/l1.jsonl" "$WORK/lk.jsonl" || fail "lengths after a kill differ"
[ -z "$(find "$WORK" -name 'lk.jsonl.progress*')" ] || fail "the progress file was not removed"
train 1 "$WORK/run" --set "data.train_file=$WORK/l1.jsonl" --set run.steps=1 >"$WORK/run.log" 2>&1 ||
  { cat "$WORK/run.log"; fail "train does not accept the lengths"; }
# A field of data.reference_length_field is measured anew, and the next command reads it.
head -4 assets/count_pairs/eval.jsonl | sed 's/}$/, "l_ref": 99, "share": 0.5}/' >"$WORK/named.jsonl"
"$BIN/lie_cluster" reference-lengths "$small" --output "$WORK/ln.jsonl" --samples 1 --set "data.train_file=$WORK/named.jsonl" \
  --set data.reference_length_field=l_ref --set data.accuracy_field=share --set 'data.accuracy_bands=[0-1]' >"$WORK/ln.log" 2>&1 ||
  { cat "$WORK/ln.log"; fail "reference-lengths failed on named fields"; }
[ "$(grep -c '"l_ref":' "$WORK/ln.jsonl")" = 4 ] || fail "expected the field l_ref in every row"
if grep -E '"l_ref":99[,}]|"share":0.5|"reference_length"|"accuracy"' "$WORK/ln.jsonl"; then fail "outdated or further fields next to the named ones"; fi
next="$(sed -n 's/^ *next  *//p' "$WORK/ln.log")"
expected="lie_cluster train $small --set data.reference_length_field=l_ref --set data.accuracy_field=share --set 'data.accuracy_bands=[0-1]' --set data.train_file=$WORK/ln.jsonl --set reward.length.target=reference"
[ "${next##*/bin/}" = "$expected" ] || { cat "$WORK/ln.log"; fail "the next command is not: $expected"; }
# A build with Parquet support reads and writes it. The fourth row of this file is invalid.
parquet=tests/dataset/golden/verl.parquet
if "$BIN/lie_cluster" data "$parquet" >"$WORK/data.txt" 2>&1; then
  grep -q '4 rows, 3 prompts, 1 bad row' "$WORK/data.txt" || { cat "$WORK/data.txt"; fail "the data command counts rows incorrectly"; }
  "$BIN/lie_cluster" reference-lengths "$small" --output "$WORK/l.parquet" --samples 2 --set "data.train_file=$parquet" \
    --set data.skip_bad_rows=true --set rollout.max_prompt_tokens=4 >"$WORK/lp.log" 2>&1 ||
    { cat "$WORK/lp.log"; fail "reference-lengths failed on Parquet"; }
  grep -q 'of 3 prompts are longer than rollout.max_prompt_tokens 4' "$WORK/lp.log" ||
    { cat "$WORK/lp.log"; fail "truncated prompts are not reported"; }
  train 2 "$WORK/run_parquet" --set "data.train_file=$WORK/l.parquet" --set data.skip_bad_rows=true --set run.steps=1 \
    --set data.prompt_template=chatml --set rollout.end_of_sequence_ids=[256] --set rollout.max_prompt_tokens=100 >"$WORK/rp.log" 2>&1 ||
    { cat "$WORK/rp.log"; fail "train does not accept the lengths in Parquet"; }
  grep -q 'warning: 1 of 4 rows skipped' "$WORK/rp.log" || { cat "$WORK/rp.log"; fail "the skipped row is not reported"; }
else
  grep -q 'does not read Parquet' "$WORK/data.txt" || { cat "$WORK/data.txt"; fail "the data command does not report missing Parquet support"; }
fi

# Several greedy responses to a prompt are equal.
"$BIN/lie_cluster" eval "$WORK/eval.yaml" --set "run.directory=$WORK/greedy" --set evaluation.temperature=0 --dry-run >/dev/null 2>"$WORK/greedy.log" ||
  { cat "$WORK/greedy.log"; fail "the dry run at temperature 0 failed"; }
grep -q 'evaluation.temperature is 0: all 4 responses to a prompt are equal' "$WORK/greedy.log" || { cat "$WORK/greedy.log"; fail "greedy samples: no warning"; }
# forecast: one process and three ranks print and write the same.
for ranks in 1 3; do
  mpirun --oversubscribe -n "$ranks" "$BIN/lie_cluster" forecast "$small" --prompts 40 --samples 4 --lengths 30 \
    --json "$WORK/f$ranks.json" --html "$WORK/f$ranks.html" >"$WORK/f$ranks.txt" 2>"$WORK/f$ranks.log" ||
    { cat "$WORK/f$ranks.log"; fail "forecast failed on $ranks ranks"; }
done
status=0
"$BIN/lie_cluster" forecast "$small" --prompts 40 --samples 4 --lengths 30 --exit-code --json "$WORK/fx.json" >"$WORK/fx.log" 2>&1 || status=$?
case "$(sed -n 's/.*"outcome": "\(.*\)".*/\1/p' "$WORK/fx.json")" in
  length_pays) expected=0 ;; lengthens_by_itself) expected=10 ;; length_does_not_pay) expected=11 ;; undecided) expected=12 ;; *) expected=none ;;
esac
[ "$status" = "$expected" ] || { cat "$WORK/fx.log"; fail "forecast --exit-code: status $status, expected $expected"; }
for kind in txt json html; do cmp "$WORK/f1.$kind" "$WORK/f3.$kind" || fail "forecast differs between one and three ranks"; done
jq -e '.prompts == 40 and .forced[0].mean_tokens >= 30 and .mean_tokens < 30' "$WORK/f1.json" >"$WORK/jq.out" ||
  { cat "$WORK/f1.json"; fail "forced responses are not longer"; }
if train 1 "$WORK/forced" --set rollout.min_response_tokens=9 >"$WORK/forced.log" 2>&1; then fail "train accepts forced lengths"; fi
grep -q 'rollout.min_response_tokens is 9: responses of a forced length are not drawn from the policy' "$WORK/forced.log" ||
  { cat "$WORK/forced.log"; fail "train does not explain why it refuses forced lengths"; }
echo "eval, reference-lengths and forecast: identical on 1 and 3 ranks and after kills (${sizes[*]} bytes)"

#!/usr/bin/env bash
# eval and reference-lengths: the same results for any number of ranks, and after kills at any moment.
# eval_test.sh BIN WORK
set -euo pipefail
source "$(dirname "$0")/begin.sh"

cat >"$WORK/eval.yaml" <<EOF
run: {directory: $WORK/overridden}
eval: {file: assets/count_pairs/eval.jsonl, prompts: 300, samples_per_prompt: 4}
model: {path: assets/count_pairs/model}
rollout: {max_response_tokens: 40, max_prompt_tokens: 32, slots: 8}
table: {budgets: [16, 24], ks: [1, 2, 4], resamples: 500}
EOF

# evaluation RANKS DIRECTORY [overrides...]
evaluation() {
  local ranks="$1" directory="$2"
  shift 2
  mpirun --oversubscribe -n "$ranks" "$BIN/lie_cluster" eval "$WORK/eval.yaml" --set "run.directory=$directory" "$@"
}

# What must be equal: tables, texts, and the trajectories' digest.
results() { cat "$1/table.txt" "$1/table.json" "$1/samples.jsonl"; digest "$1"; }

"$BIN/lie_cluster" eval "$WORK/eval.yaml" --set "run.directory=$WORK/n1" >"$WORK/n1.out" 2>"$WORK/n1.log" ||
  { cat "$WORK/n1.log"; fail "one rank"; }
grep -q 'all problems  *300  *1200' "$WORK/n1.out" || { cat "$WORK/n1.out"; fail "the table"; }
[ "$(wc -l <"$WORK/n1/samples.jsonl")" = 1200 ] || fail "a line a sample"
evaluation 3 "$WORK/n3" >"$WORK/n3.log" 2>&1 || { cat "$WORK/n3.log"; fail "three ranks"; }
diff <(results "$WORK/n1") <(results "$WORK/n3") >"$WORK/n3.diff" || { head "$WORK/n3.diff"; fail "one and three ranks differ"; }

# Killed again and again, with other numbers of ranks, it goes on; what is there is not generated again.
sizes=() attempts=0
mkdir "$WORK/killed" && touch "$WORK/killed/config.yaml.partial" # as a start killed at once leaves it
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
head -c 116 "$WORK/n1/responses.log" | tail -c 100 >>"$WORK/killed/responses.log" # behind the header: as a process killed in the middle of a write
evaluation 2 "$WORK/killed" >>"$WORK/killed.log" 2>&1 || { tail -20 "$WORK/killed.log"; fail "resume"; }
diff <(results "$WORK/n1") <(results "$WORK/killed") >/dev/null || fail "after kills (${sizes[*]} bytes) it differs"

# Budgets and fewer prompts may be asked anew without generating; another model, seed or data is refused.
before="$(sha256sum <"$WORK/n1/responses.log")"
evaluation 2 "$WORK/n1" --set table.budgets=[20] --set rollout.slots=4 --set rollout.prefill_tokens=9 >"$WORK/again.log" 2>&1 || { cat "$WORK/again.log"; fail "again"; }
grep -q 'budget@20' "$WORK/n1/table.txt" || fail "the new budget"
[ "$(sha256sum <"$WORK/n1/responses.log")" = "$before" ] || fail "it generated again"
evaluation 1 "$WORK/n1" --set eval.prompts=20 >"$WORK/fewer.log" 2>&1 || { cat "$WORK/fewer.log"; fail "fewer prompts"; }
grep -q 'all problems  *20  *80' "$WORK/n1/table.txt" || { cat "$WORK/n1/table.txt"; fail "fewer prompts"; }
if evaluation 1 "$WORK/n1" --set eval.seed=9 >"$WORK/seed.log" 2>&1; then fail "another seed was taken"; fi
grep -q 'eval.seed: there 1, here 9' "$WORK/seed.log" || { cat "$WORK/seed.log"; fail "no word on the seed"; }

lines_in() { { wc -l <"$1"; } 2>/dev/null || echo 0; }

# lengths RANKS OUTPUT
lengths() {
  mpirun --oversubscribe -n "$1" "$BIN/lie_cluster" reference-lengths "$small" --output "$2" --samples 3 \
    --set data.train_file=assets/count_pairs/eval.jsonl
}
lengths 1 "$WORK/l1.jsonl" >"$WORK/l1.log" 2>&1 || { cat "$WORK/l1.log"; fail "lengths"; }
[ "$(grep -c '"reference_length":' "$WORK/l1.jsonl")" = 512 ] || fail "a length for each prompt"
lengths 3 "$WORK/l3.jsonl" >"$WORK/l3.log" 2>&1 || { cat "$WORK/l3.log"; fail "lengths on three ranks"; }
cmp "$WORK/l1.jsonl" "$WORK/l3.jsonl" || fail "lengths of one and three ranks differ"
lengths 2 "$WORK/lk.jsonl" >"$WORK/lk.log" 2>&1 &
launcher=$!
while kill -0 "$launcher" 2>/dev/null && [ "$(lines_in "$WORK/lk.jsonl.progress")" -lt 20 ]; do sleep 0.01; done
for pid in $(pgrep -P "$launcher" || true); do kill -9 "$pid" 2>/dev/null || true; done
wait "$launcher" 2>/dev/null && echo "note: the lengths were measured before the kill came"
lengths 2 "$WORK/lk.jsonl" >>"$WORK/lk.log" 2>&1 || { cat "$WORK/lk.log"; fail "lengths after a kill"; }
cmp "$WORK/l1.jsonl" "$WORK/lk.jsonl" || fail "lengths after a kill differ"
[ ! -e "$WORK/lk.jsonl.progress" ] || fail "the progress file is left"
train 1 "$WORK/run" --set "data.train_file=$WORK/l1.jsonl" --set run.steps=1 >"$WORK/run.log" 2>&1 ||
  { cat "$WORK/run.log"; fail "train does not take the lengths"; }
# Parquet in, Parquet out, where the build reads it: the fourth row is bad.
parquet=tests/dataset/golden/verl.parquet
if "$BIN/lie_cluster" data "$parquet" >"$WORK/data.txt" 2>&1; then
  grep -q '4 rows, 3 prompts, 1 bad rows' "$WORK/data.txt" || { cat "$WORK/data.txt"; fail "the data command"; }
  "$BIN/lie_cluster" reference-lengths "$small" --output "$WORK/l.parquet" --samples 2 --set "data.train_file=$parquet" \
    --set data.skip_bad_rows=true --set rollout.max_prompt_tokens=4 >"$WORK/lp.log" 2>&1 ||
    { cat "$WORK/lp.log"; fail "lengths of Parquet"; }
  grep -q 'of 3 prompts are longer than rollout.max_prompt_tokens 4' "$WORK/lp.log" ||
    { cat "$WORK/lp.log"; fail "no word on truncated prompts"; }
  train 2 "$WORK/run_parquet" --set "data.train_file=$WORK/l.parquet" --set data.skip_bad_rows=true --set run.steps=1 \
    --set data.prompt_template=chatml --set rollout.end_of_sequence_ids=[256] --set rollout.max_prompt_tokens=100 >"$WORK/rp.log" 2>&1 ||
    { cat "$WORK/rp.log"; fail "train does not take the lengths in Parquet"; }
  grep -q 'warning: 1 of 4 rows skipped' "$WORK/rp.log" || { cat "$WORK/rp.log"; fail "the skipped row is not told"; }
else
  grep -q 'does not read Parquet' "$WORK/data.txt" || { cat "$WORK/data.txt"; fail "the data command"; }
fi
echo "eval and reference-lengths: equal on 1 and 3 ranks, and after kills (${sizes[*]} bytes)"

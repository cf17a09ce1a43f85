#!/usr/bin/env bash
# Runs a study of two rows and two seeds whose runs die, and which is then stopped and resumed.
# Finished runs are skipped. The runs are bit-identical to runs started by hand, and the table
# agrees with their metrics.
# study_test.sh BIN WORK
set -euo pipefail
source "$(dirname "$0")/begin.sh"

tiny=(--set run.steps=3 --set rollout.prompts_per_step=4 --set rollout.samples_per_prompt=4 --set rollout.max_response_tokens=40
  --set update.mini_batch_prompts=2 --set evaluation.every=1 --set evaluation.prompts=16 --set evaluation.max_response_tokens=40
  --set optimizer.learning_rate=2e-3 --set reward.length.eta=0.05)
export LIE_BIN="$BIN"
study() { scripts/study.sh --seeds 7-8 "${tiny[@]}" "$@" "$WORK/study"; }

study --rows gspo,no-such-row >"$WORK/log" 2>&1 && fail "an unknown row is accepted"
grep -q "no row is named no-such-row" "$WORK/log" || fail "an unknown row is not named: $(cat "$WORK/log")"

# Both runs die in their first step.
LIE_FAULT=metrics:2 study --rows gspo --jobs 2 >"$WORK/log" 2>&1 && fail "a study whose runs died succeeds"
grep -q "not done: gspo/seed-" "$WORK/log" || fail "runs that died are not named: $(cat "$WORK/log")"
grep -q "^note: .*seed-8: left out: " "$WORK/log" || fail "a run that died is not reported as skipped: $(cat "$WORK/log")"

# The study is stopped as soon as one run is done.
(exec scripts/study.sh --seeds 7-8 "${tiny[@]}" --rows gspo,gspo-lie --jobs 1 "$WORK/study") >"$WORK/log" 2>&1 &
script=$!
until [ -e "$WORK/study/gspo/seed-7.done" ] || ! kill -0 "$script" 2>/dev/null; do sleep 0.05; done
kill "$script"
status=0
wait "$script" || status=$?
[ "$status" = 75 ] || fail "a stopped study exits with status $status: $(cat "$WORK/log")"
[ ! -e "$WORK/study/gspo-lie/seed-8.done" ] || fail "the study ended before it was stopped"
before="$(stat -c %Y.%i "$WORK/study/gspo/seed-7/metrics.jsonl")"

study --rows gspo,gspo-lie >"$WORK/log" 2>&1 || fail "$(cat "$WORK/log")"
grep -q "gspo/seed-7: already done" "$WORK/log" || fail "a finished run is not skipped"
[ "$(stat -c %Y.%i "$WORK/study/gspo/seed-7/metrics.jsonl")" = "$before" ] || fail "a finished run was started again"

# Other settings than those of a finished run are refused; an empty file of a former version has none.
study --rows gspo --set run.steps=4 >"$WORK/log" 2>&1 && fail "other settings than those of a finished run are accepted"
grep -q "gspo/seed-7 is finished with other settings: it had run.steps=3, and now has run.steps=4" "$WORK/log" ||
  fail "the difference to a finished run is not named: $(cat "$WORK/log")"
for seed in 7 8; do : >"$WORK/study/gspo/seed-$seed.done"; done
study --rows gspo --set run.steps=4 >"$WORK/log" 2>&1 || fail "$(cat "$WORK/log")"
grep -q "gspo/seed-8: already done" "$WORK/log" || fail "a finished run without its settings is not skipped"

for seed in 7 8; do
  "$BIN/lie_cluster" train configs/demo.yaml "${tiny[@]}" --set "run.seed=$seed" --set "run.directory=$WORK/by-hand-$seed" \
    --set reward.length.enabled=false --set reward.redundancy.enabled=false >"$WORK/by-hand.log" 2>&1 || fail "$(cat "$WORK/by-hand.log")"
  [ "$(digest "$WORK/study/gspo/seed-$seed")" = "$(digest "$WORK/by-hand-$seed")" ] || fail "seed $seed: not bit-identical to a run by hand"
done
python3 tests/tools/check_study.py "$WORK/study"
grep -q "gspo-lie" "$WORK/study/study.html" || fail "the page lacks a row"

# The former command names its successor.
"$BIN/lie_analyze" study "$WORK/study" --json "$WORK/x.json" >"$WORK/log" 2>&1 && fail "lie_analyze study succeeds"
grep -q "python3 -m lie_cluster.study" "$WORK/log" || fail "lie_analyze study does not name its successor: $(cat "$WORK/log")"

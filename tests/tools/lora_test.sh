#!/usr/bin/env bash
# Runs that train an adapter (model.lora), RL and sft: bit-identical on any number of ranks and
# learners, after kills and in a replay; checkpoints in PEFT's format that other commands read.
# lora_test.sh BIN WORK
set -euo pipefail
source "$(dirname "$0")/begin.sh"

lora=(--set model.lora.rank=4 --set model.lora.alpha=6 --set optimizer.learning_rate=1e-2 --set policy_loss.kl_coefficient=0.02)
# run RANKS NAME [overrides...]
run() {
  train "$1" "$WORK/$2" "${lora[@]}" "${@:3}" >"$WORK/$2.log" 2>&1 || { cat "$WORK/$2.log"; fail "$2"; }
}
# refuses "words" COMMAND...
refuses() {
  ! "${@:2}" >"$WORK/refused.log" 2>&1 || fail "not refused: ${*:2}"
  tr -s '\n ' ' ' <"$WORK/refused.log" | grep -qF -- "$1" || { cat "$WORK/refused.log"; fail "the message lacks \"$1\""; }
}
model=assets/count_pairs/model

# E1, E3, E4: one result for any layout.
run 1 n1
expected="$(digest "$WORK/n1")"
for layout in 4x1 5x2 6x4; do
  run "${layout%x*}" "$layout" --set "roles.learners=${layout#*x}"
  [ "$(digest "$WORK/$layout")" = "$expected" ] || fail "$layout: not bit-identical: $(digest "$WORK/$layout")"
  diff <(timeless_metrics "$WORK/n1") <(timeless_metrics "$WORK/$layout") || fail "metrics differ in $layout"
done
run 4 own --set roles.share_weights=false --set update.max_micro_batch_tokens=64
[ "$(digest "$WORK/own")" = "$expected" ] || fail "weights of each actor's own and small micro-batches change the result"
run 1 narrow1 --set model.device=cpu-bf16 --set run.steps=3
run 4 narrow4 --set model.device=cpu-bf16 --set run.steps=3
[ "$(digest "$WORK/narrow4")" = "$(digest "$WORK/narrow1")" ] || fail "4 ranks are not bit-identical with matmuls in bf16"


# A base in NF4 keeps all of this.
nf4=(--set model.lora.quantize_base=nf4)
run 1 nf4_1 "${nf4[@]}"
in_nf4="$(digest "$WORK/nf4_1")"
[ "$in_nf4" != "$expected" ] || fail "the base is not quantized"
for layout in 4x1 5x2 6x4; do
  run "${layout%x*}" "nf4_$layout" "${nf4[@]}" --set "roles.learners=${layout#*x}"
  [ "$(digest "$WORK/nf4_$layout")" = "$in_nf4" ] || fail "NF4, $layout: not bit-identical"
done
run 4 nf4_own "${nf4[@]}" --set roles.share_weights=false --set update.max_micro_batch_tokens=64
[ "$(digest "$WORK/nf4_own")" = "$in_nf4" ] || fail "NF4: weights of each actor's own and small micro-batches change the result"
run 1 nf4_narrow1 "${nf4[@]}" --set model.device=cpu-bf16 --set run.steps=3
run 4 nf4_narrow4 "${nf4[@]}" --set model.device=cpu-bf16 --set run.steps=3
[ "$(digest "$WORK/nf4_narrow4")" = "$(digest "$WORK/nf4_narrow1")" ] || fail "NF4: 4 ranks are not bit-identical with matmuls in bf16"
tr -s '\n ' ' ' <"$WORK/nf4_1.log" >"$WORK/nf4_1.line"
grep -q 'QLoRA (base in NF4) of rank 4' "$WORK/nf4_1.line" || fail "the start does not name the base in NF4"

# E5: sampler and learner compute one policy, in each step.
for name in n1 4x1 narrow1 nf4_1 nf4_5x2 nf4_narrow1; do
  ! grep -q '"first_minibatch_ratio_max_deviation":[^,}]*[1-9]' "$WORK/$name/metrics.jsonl" || fail "$name: the importance ratio is not exactly 1"
done
grep -q '"reference_kl":[^,}]*[1-9]' "$WORK/n1/metrics.jsonl" || fail "the policy does not leave its base"
tr -s '\n ' ' ' <"$WORK/n1.log" >"$WORK/n1.line"
grep -q 'LoRA of rank 4, alpha 6, on all-linear: [0-9]* trained parameters' "$WORK/n1.line" || fail "the start does not name the adapter"
grep -q 'reference policy: the base without the adapter, in the same memory' "$WORK/n1.line" || fail "the reference policy has memory of its own"

# E2: killed, also within a checkpoint, and resumed with other numbers of learners.
for fault in 1:1:metrics:2 4:2:journal:2 5:2:part:1; do
  IFS=: read -r ranks learners point <<<"$fault"
  ! LIE_FAULT="$point" train "$ranks" "$WORK/killed" "${lora[@]}" --set "roles.learners=$learners" >"$WORK/killed.log" 2>&1 || fail "$fault: the run does not die"
done
run 4 killed
[ "$(digest "$WORK/killed")" = "$expected" ] || fail "killed and resumed: not bit-identical"
! LIE_FAULT=part:1 train 5 "$WORK/nf4_killed" "${lora[@]}" "${nf4[@]}" --set roles.learners=2 >"$WORK/nf4_killed.log" 2>&1 || fail "NF4: the run does not die"
run 1 nf4_killed "${nf4[@]}"
[ "$(digest "$WORK/nf4_killed")" = "$in_nf4" ] || fail "NF4, killed and resumed: not bit-identical"
diff <(timeless_metrics "$WORK/n1") <(timeless_metrics "$WORK/killed") || fail "metrics differ after kills"

# E11: the log reproduces the adapter.
for name in 4x1 nf4_4x1; do
  "$BIN/lie_replay" train "$WORK/$name" --run-directory "$WORK/again_$name" >"$WORK/again.log" 2>&1 || { cat "$WORK/again.log"; fail "the replay of $name failed"; }
  for step in 000002 000004 000006; do
    for file in adapter_model.safetensors optimizer.safetensors; do
      cmp "$WORK/$name/checkpoints/step-$step/$file" "$WORK/again_$name/checkpoints/step-$step/$file" || fail "the replay of $name differs"
    done
  done
done

# Checkpoints hold the adapter alone, and other commands read it.
saved="$WORK/n1/checkpoints/step-000006"
[ ! -e "$saved/model.safetensors" ] && [ -e "$saved/adapter_config.json" ] || { ls "$saved"; fail "not a checkpoint of an adapter"; }
[ "$(ls "$WORK/5x2/checkpoints/step-000006" | grep -c adapter_model)" = 1 ] || fail "two learners wrote several adapters"
"$BIN/lie_analyze" --check "$WORK/n1" >"$WORK/check.log" 2>&1 || { cat "$WORK/check.log"; fail "lie_analyze --check finds faults"; }
echo '{"prompt_ids": [1, 5, 9, 4, 7], "response_ids": [2, 6, 8, 11, 10, 12]}' >"$WORK/row.jsonl"
score() { "$BIN/lie_cluster" score "$@" 2>>"$WORK/score.log" || { cat "$WORK/score.log" >&2; fail "score $1"; }; }
score "$saved" "$WORK/row.jsonl" >"$WORK/checkpoint.scores"
score "$model" "$WORK/row.jsonl" --adapter "$saved" >"$WORK/adapter.scores"
score "$model" "$WORK/row.jsonl" >"$WORK/base.scores"
cmp "$WORK/checkpoint.scores" "$WORK/adapter.scores" || fail "checkpoint and adapter give other log-probs"
! cmp -s "$WORK/checkpoint.scores" "$WORK/base.scores" || fail "the adapter changes nothing"
"$BIN/lie_cluster" merge "$saved" "$WORK/merged" >"$WORK/merge.log" 2>&1 || { cat "$WORK/merge.log"; fail "merge failed"; }
score "$WORK/merged" "$WORK/row.jsonl" >"$WORK/merged.scores"
# A checkpoint on a base in NF4 says so, and merges into the dequantized base.
nf4_saved="$WORK/nf4_1/checkpoints/step-000006"
score "$nf4_saved" "$WORK/row.jsonl" >"$WORK/nf4_checkpoint.scores"
"$BIN/lie_cluster" merge "$nf4_saved" "$WORK/nf4_merged" >"$WORK/merge.log" 2>&1 || { cat "$WORK/merge.log"; fail "merge failed"; }
score "$WORK/nf4_merged" "$WORK/row.jsonl" >"$WORK/nf4_merged.scores"
for kind in "" nf4_; do
  python3 - "$WORK/${kind}merged.scores" "$WORK/${kind}checkpoint.scores" <<'PY' || fail "the merged model gives other log-probs"
import json, sys
merged, policy = (json.loads(open(path).read())["log_probs"] for path in sys.argv[1:])
assert max(abs(a - b) for a, b in zip(merged, policy, strict=True)) < 1e-4, (merged, policy)
PY
done
refuses 'is there already' "$BIN/lie_cluster" merge "$saved" "$WORK/merged"
cat >"$WORK/eval.yaml" <<YAML
run: {directory: $WORK/eval}
model: {path: $saved}
data: {evaluation_file: assets/count_pairs/eval.jsonl}
rollout: {max_prompt_tokens: 32, slots: 8}
evaluation: {prompts: 20, samples_per_prompt: 2, max_response_tokens: 40}
YAML
"$BIN/lie_cluster" eval "$WORK/eval.yaml" >"$WORK/eval.out" 2>"$WORK/eval.log" || { cat "$WORK/eval.log"; fail "eval of a checkpoint failed"; }
"$BIN/lie_cluster" eval "$WORK/eval.yaml" --set "model.path=$model" --set "model.adapter=$saved" --set "run.directory=$WORK/eval2" \
  >"$WORK/eval2.out" 2>"$WORK/eval2.log" || { cat "$WORK/eval2.log"; fail "eval of base and adapter failed"; }
cmp "$WORK/eval/samples.jsonl" "$WORK/eval2/samples.jsonl" || fail "checkpoint and adapter are evaluated differently"

# A run begins with an adapter, of a checkpoint or beside its base.
run 1 further --set "model.path=$saved" --set run.steps=1
run 1 further2 --set "model.adapter=$saved" --set run.steps=1
[ "$(digest "$WORK/further")" = "$(digest "$WORK/further2")" ] || fail "an adapter as model.path and as model.adapter begin other runs"
[ "$(digest "$WORK/further")" != "$expected" ] || fail "the adapter was not read"

# What does not go together is refused with a reason.
start=("$BIN/lie_cluster" train "$small" --set "run.directory=$WORK/refused")
refuses 'pairs have no dropout' "${start[@]}" --set model.lora.rank=4 --set model.lora.dropout=0.1
refuses 'rounding it would save little' "${start[@]}" --set model.lora.rank=4 --set rollout.weights=bfloat16
refuses 'outside of the blocks' "${start[@]}" --set model.lora.rank=4 --set 'model.lora.targets=[lm_head]'
refuses 'merge it first' "${start[@]}" --set "model.adapter=$saved"
refuses 'has rank 4' "${start[@]}" --set model.lora.rank=8 --set "model.adapter=$saved"
refuses 'model.lora.rank: there 4, here 0' "$BIN/lie_cluster" train "$small" --set "run.directory=$WORK/n1"
refuses 'model.lora.rank: there 4, here 8' "$BIN/lie_cluster" train "$small" --set "run.directory=$WORK/n1" "${lora[@]}" --set model.lora.rank=8
refuses 'model.lora.quantize_base: there none, here nf4' "$BIN/lie_cluster" train "$small" --set "run.directory=$WORK/n1" "${lora[@]}" "${nf4[@]}"
refuses 'model.lora.quantize_base: there nf4, here none' "$BIN/lie_cluster" train "$small" --set "run.directory=$WORK/nf4_1" "${lora[@]}"
refuses 'only the frozen base of an adapter can be quantized' "${start[@]}" "${nf4[@]}"
refuses 'was trained on a base in NF4, but model.lora.quantize_base is none' "${start[@]}" "${lora[@]}" --set "model.adapter=$nf4_saved"
refuses 'that is not quantized, but model.lora.quantize_base is nf4' "${start[@]}" "${lora[@]}" "${nf4[@]}" --set "model.adapter=$saved"
refuses 'so its rank is at most 64; lower the rank' "${start[@]}" --set model.lora.rank=65
refuses 'model.lora.rank' "${start[@]}" --set model.lora.rank=-1
refuses 'expected all-linear or' "${start[@]}" --set model.lora.rank=4 --set 'model.lora.targets=[qkv_proj]'
cp -r "$model" "$WORK/base"
run 1 moved --set "model.path=$WORK/base" --set run.steps=2
cp "$WORK/merged/model.safetensors" "$WORK/base/"
refuses "model.path $WORK/base: its weights have SHA-256" "$BIN/lie_cluster" train "$small" --set "run.directory=$WORK/moved" \
  "${lora[@]}" --set "model.path=$WORK/base" --set run.steps=4
for command in "score $WORK/base $WORK/row.jsonl" "merge $WORK/base $WORK/merged2" "generate $WORK/base $WORK/row.jsonl"; do
  refuses 'was trained on a base whose weights have SHA-256' "$BIN/lie_cluster" $command --adapter "$saved"
done
refuses 'was trained on a base whose weights have SHA-256' "${start[@]}" "${lora[@]}" --set "model.path=$WORK/base" --set "model.adapter=$saved"

# An adapter that is cut short, lacks a file, or belongs to another model is named.
damaged() { rm -rf "$WORK/adapter" && mkdir "$WORK/adapter" && cp "$saved"/adapter_* "$WORK/adapter"; }
named() { refuses "$1" "${start[@]}" "${lora[@]}" --set "model.adapter=$WORK/adapter"; }
for length in 4000 40 0; do
  damaged && head -c "$length" "$saved/adapter_model.safetensors" >"$WORK/adapter/adapter_model.safetensors"
  named "$WORK/adapter/adapter_model.safetensors"
done
damaged && rm "$WORK/adapter/adapter_config.json" && named 'holds no adapter_config.json'
damaged && rm "$WORK/adapter/adapter_model.safetensors" && named adapter_model.safetensors
damaged && head -c 90 "$saved/adapter_config.json" >"$WORK/adapter/adapter_config.json" && named "$WORK/adapter/adapter_config.json"
damaged && sed -i 's/"use_rslora": false/"use_rslora": true/' "$WORK/adapter/adapter_config.json" && named use_rslora
refuses 'holds no adapter_config.json' "${start[@]}" "${lora[@]}" --set "model.adapter=$WORK/nowhere"
refuses 'adapter_model.safetensors: tensor "' "$BIN/lie_cluster" merge tests/model/golden/hf_tiny/qwen3 "$WORK/merged2" --adapter "$saved"
[ ! -e "$WORK/refused" ] && [ ! -e "$WORK/merged2" ] || fail "a refused start wrote a directory"

# sft trains an adapter, too.
cat >"$WORK/sft.yaml" <<YAML
model: {path: $model, lora: {rank: 4, targets: [q_proj, v_proj, down_proj]}}
data: {train_file: $WORK/sft.jsonl}
run: {steps: 6}
sft: {batch_sequences: 4}
optimizer: {learning_rate: 1.0e-2, warmup: 0}
checkpoint: {every: 2}
YAML
for i in 1 2 3 4 5 6 7 8; do echo "{\"prompt\": \"$i 3 5 7\", \"response\": \"3+$i=8 no\"}"; done >"$WORK/sft.jsonl"
tune() {  # ranks, name, overrides
  mpirun --oversubscribe -n "$1" "$BIN/lie_cluster" sft "$WORK/sft.yaml" --set "run.directory=$WORK/$2" "${@:3}" >"$WORK/$2.log" 2>&1
}
same_adapter() { cmp "$WORK/$1/checkpoints/step-000006/adapter_model.safetensors" "$WORK/$2/checkpoints/step-000006/adapter_model.safetensors"; }
tune 1 sft1 || { cat "$WORK/sft1.log"; fail "sft failed"; }
tune 3 sft3 || { cat "$WORK/sft3.log"; fail "sft failed on three ranks"; }
same_adapter sft1 sft3 || fail "sft: three ranks are not bit-identical"
! LIE_FAULT=checkpoint:3 tune 2 sft_killed || fail "sft does not die"
tune 1 sft_killed || { cat "$WORK/sft_killed.log"; fail "sft did not resume"; }
same_adapter sft1 sft_killed || fail "sft: killed and resumed is not bit-identical"
tune 1 sft_nf4_1 "${nf4[@]}" || { cat "$WORK/sft_nf4_1.log"; fail "sft failed on a base in NF4"; }
tune 2 sft_nf4_2 "${nf4[@]}" || { cat "$WORK/sft_nf4_2.log"; fail "sft failed on a base in NF4 on two ranks"; }
same_adapter sft_nf4_1 sft_nf4_2 || fail "sft on a base in NF4: two ranks are not bit-identical"
! same_adapter sft1 sft_nf4_1 >/dev/null || fail "sft does not quantize the base"
python3 - "$WORK/sft1/metrics.jsonl" <<'PY' || fail "sft does not learn"
import json, sys
losses = [json.loads(line)["loss"] for line in open(sys.argv[1])]
assert losses[-1] < losses[0], losses
PY
echo "an adapter, on a base as stored and in NF4: bit-identical on 1, 4 and 5 ranks with 1 and 2 learners, in bf16, after kills and in a replay; read by score, merge, eval, train and sft"

#!/usr/bin/env bash
# A base model that sft taught a chat template ends its own responses in train and eval. Both stop
# at the end token that sft taught, and the checkpoints name this token for other programs.
# chat_test.sh BIN WORK
set -euo pipefail
source "$(dirname "$0")/begin.sh"

# Turns the embedded model into a base model like Qwen3's: the tokenizer has the tokens of ChatML,
# and the configs name only <|endoftext|>.
cp -r assets/count_pairs/model "$WORK/base"
chat_token() { echo ",{\"id\": $1, \"content\": \"$2\", \"special\": true, \"normalized\": false, \"single_word\": false, \"lstrip\": false, \"rstrip\": false}"; }
sed -i "0,/^ \],/s//$(chat_token 299 '<|im_start|>')$(chat_token 300 '<|im_end|>')\n&/" "$WORK/base/tokenizer.json"
echo '{"eos_token_id": 256, "top_k": 20}' >"$WORK/base/generation_config.json"
head -n 256 assets/count_pairs/train.jsonl | sed 's/"prompt":/"response":"\\\\boxed{1}","prompt":/' >"$WORK/sft.jsonl"

cat >"$WORK/sft.yaml" <<EOF
run: {directory: $WORK/sft, steps: 40}
model: {path: $WORK/base}
data: {train_file: $WORK/sft.jsonl, prompt_template: chatml}
optimizer: {learning_rate: 2.0e-3, warmup: 4}
EOF
"$BIN/lie_cluster" sft "$WORK/sft.yaml" >"$WORK/sft.log" 2>&1 || { cat "$WORK/sft.log"; fail "sft failed"; }
grep -q 'end at <|endoftext|> (256), <|im_end|> (300)' "$WORK/sft.log" || { cat "$WORK/sft.log"; fail "sft does not report its end tokens"; }
chat="$WORK/sft/checkpoints/step-000040"

# names_its_end_tokens CHECKPOINT: checks the end tokens in config.json and generation_config.json, which
# transformers and vLLM read.
names_its_end_tokens() {
  for file in config generation_config; do
    tr -d ' \n' <"$1/$file.json" | grep -q '"eos_token_id":\[256,300\]' || { cat "$1/$file.json"; fail "$1/$file.json lacks the end tokens"; }
  done
  grep -q '"top_k": *20' "$1/generation_config.json" || fail "generation_config.json lost a key"
}
names_its_end_tokens "$chat"

# metric RUN STEP NAME
metric() { grep "\"step\":$2," "$1/metrics.jsonl" | sed -E "s/.*\"$3\":([^,}]*).*/\1/"; }

# answers NAME [overrides...]: trains two steps from the fine-tuned model, then evaluates that
# model. Prints the truncation rates of both.
answers() {
  local name="$1"
  shift
  train 2 "$WORK/$name" --set "model.path=$chat" --set data.prompt_template=chatml --set rollout.max_prompt_tokens=64 \
    --set run.steps=2 --set optimizer.learning_rate=1e-6 "$@" >"$WORK/$name.log" 2>&1 || { cat "$WORK/$name.log"; fail "$name: train failed"; }
  cat >"$WORK/eval.yaml" <<EOF
run: {directory: $WORK/$name-eval}
model: {path: $chat}
data: {evaluation_file: assets/count_pairs/eval.jsonl, prompt_template: chatml}
rollout: {max_prompt_tokens: 64}
evaluation: {prompts: 50, max_response_tokens: 40, temperature: 1.0, budgets: [], ks: [1]}
EOF
  "$BIN/lie_cluster" eval "$WORK/eval.yaml" "$@" >"$WORK/$name-eval.log" 2>&1 || { cat "$WORK/$name-eval.log"; fail "$name: eval failed"; }
  echo "$(metric "$WORK/$name" 1 truncation_rate) $(sed -nE 's/.*"truncated_share": *([0-9.e-]+).*/\1/p' "$WORK/$name-eval/table.json" | head -n 1)"
}

read -r train_cut eval_cut <<<"$(answers by_template)"
grep -q 'end at <|endoftext|> (256), <|im_end|> (300)' "$WORK/by_template.log" || fail "train does not report its end tokens"
grep -q 'end at <|endoftext|> (256), <|im_end|> (300)' "$WORK/by_template-eval.log" || fail "eval does not report its end tokens"
names_its_end_tokens "$WORK/by_template/checkpoints/step-000002"
read -r train_before eval_before <<<"$(answers base_end --set 'rollout.end_of_sequence_tokens=[<|endoftext|>]')"
grep -q 'end at <|endoftext|> (256)$' "$WORK/base_end.log" || { cat "$WORK/base_end.log"; fail "the overridden end token is not reported"; }

# at_most SHARE LIMIT
at_most() { awk -v share="$1" -v limit="$2" 'BEGIN { exit !(share <= limit) }'; }
if ! at_most "$train_cut" 0.1 || ! at_most "$eval_cut" 0.1; then
  fail "responses truncated at the limit: train $train_cut, eval $eval_cut"
fi
if ! at_most 0.9 "$train_before" || ! at_most 0.9 "$eval_before"; then
  fail "with only the base model's end token, responses should reach the limit: train $train_before, eval $eval_before"
fi
echo "chat: truncated share $train_cut in train and $eval_cut in eval; with <|endoftext|> alone $train_before and $eval_before"

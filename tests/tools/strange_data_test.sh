#!/usr/bin/env bash
# Unusual data and models, which a user hardly intended, are reported, and nothing is misread.
# strange_data_test.sh BIN WORK
set -uo pipefail
source "$(dirname "$0")/begin.sh"
model=assets/count_pairs/model

# names "words" COMMAND...: the command's output must contain the words.
names() {
  local words="$1" output
  shift
  output="$("$@" 2>&1)"
  [[ "$output" == *"$words"* ]] || { echo "$output"; fail "the output of $* lacks \"$words\""; }
}
rows() { printf '%s\n' "$@" >"$WORK/rows.jsonl"; }
data() { "$BIN/lie_cluster" data "$WORK/rows.jsonl" "$@"; }
score() { echo '{"prompt_ids":[12,40],"response_ids":[7]}' | "$BIN/lie_cluster" score "$1" -; }

rows '{"prompt": "q", "gold": 18446744073709551617}'
names 'gold: 18446744073709551617' data --show
rows '{"prompt": "q", "gold": "\\frac{1}{"}' '{"prompt": "q", "gold": 5}'
names 'the verifier cannot read 1 of 2 correct answers' data
names 'the first: row 1, "\\frac{1}{"' data
rows '{"prompt": "what is <|endoftext|>?", "gold": 5}'
names 'the texts of 1 prompt hold special tokens of the tokenizer (<|endoftext|>)' data --model "$model"
rows '{"prompt": "[{\"role\": \"user\", \"content\": \"q\"}]", "gold": 5}'
names '1 of 1 prompts are the JSON text of chat messages' data

rows '{"prompt": "What is 2?", "gold": 5}' '{"prompt": "What\u00a0is 2\u200b?", "gold": 6}'
names '1 prompt has different correct answers' data
rows '{"prompt": "q", "gold": "nan"}' '{"prompt": "r", "gold": "\frac12"}' '{"prompt": "s", "gold": 1, "answer": 2}'
names '1 of 3 correct answers are the text of a missing value' data
names '1 of 3 rows have a control character where LaTeX has a command' data
names '1 of 3 rows have different correct answers in the fields gold and answer' data

# Ids beside other texts are used, and remarked; those that generate wrote are not.
mixed() {
  echo '{"prompt_ids":[12,40],"prompt":"q","response_ids":[7],"response":"zz"}' | "$BIN/lie_cluster" score "$model" -
}
names '1 row has prompt_ids that are not those of the prompt' mixed
names '1 row has response_ids that are not those of the response' mixed
head -n 1 assets/count_pairs/train.jsonl | "$BIN/lie_cluster" generate "$model" - --max-response-tokens 12 >"$WORK/made.jsonl" \
  2>"$WORK/made.log" || { cat "$WORK/made.log"; fail "generate"; }
"$BIN/lie_cluster" score "$model" "$WORK/made.jsonl" >/dev/null 2>"$WORK/scored.log" || { cat "$WORK/scored.log"; fail "score"; }
! grep "are not those of" "$WORK/scored.log" || fail "rows of generate are remarked"

# A pair file of lie_verify keeps the digits, too.
echo '{"gold": 18446744073709551617, "response": "\\boxed{18446744073709551617}"}' >"$WORK/pairs.jsonl"
names '"correct":true' "$BIN/lie_verify" "$WORK/pairs.jsonl"
echo '{"gold": 18446744073709551617, "response": "\\boxed{18446744073709551616}"}' >"$WORK/pairs.jsonl"
names '"correct":false' "$BIN/lie_verify" "$WORK/pairs.jsonl"

# Lists of 10^6 levels crash no reader.
deep() { python3 -c 'print("[" * 10**6 + "]" * 10**6)'; }
cp -r "$model" "$WORK/deep_model" && deep >"$WORK/deep_model/tokenizer.json"
names 'tokenizer.json: lists and objects nest more than 512 levels deep' data --model "$WORK/deep_model"
echo "{\"gold\": 1, \"response\": \"1\", \"x\": $(deep)}" >"$WORK/pairs.jsonl"
names 'lists and objects nest too deep' "$BIN/lie_verify" "$WORK/pairs.jsonl"

# No text of a data file reaches the terminal as a control sequence.
rows '{"prompt": "q\u001b]0;title\u0007", "gold": 5, "data_source": "a\u001b[31m"}'
names 'a\x1b[31m' data
names 'q\x1b]0;title\x07' data --show

# The reading of a large file is not silent.
python3 -c 'for i in range(200001): print("{\"prompt\": \"%d\", \"gold\": 1}" % i)' >"$WORK/large.jsonl"
names "[data 0] reading $WORK/large.jsonl: 200000 rows so far" "$BIN/lie_cluster" data "$WORK/large.jsonl"

# Data files of a run.
head -n 3 assets/count_pairs/train.jsonl >"$WORK/three.jsonl"
dry() { train 1 "$WORK/run" --dry-run --set "data.train_file=$WORK/three.jsonl" "$@"; }
names "has 3 prompts, fewer than rollout.prompts_per_step" dry
names 'evaluation prompts are training prompts' dry --set "data.evaluation_file=$WORK/three.jsonl"
names 'its advantage has no baseline, or is 0' dry --set rollout.samples_per_prompt=1

# Model directories.
cp -r "$model" "$WORK/model"
echo '{"peft_type": "LORA"}' >"$WORK/model/adapter_config.json"
names 'adapter_model.safetensors: cannot be opened' score "$WORK/model"
names 'adapter_config.json: r: ' dry --set "model.path=$WORK/model"
rm "$WORK/model/adapter_config.json"
echo '{"weight_map": {}}' >"$WORK/model/model.safetensors.index.json"
names 'holds both model.safetensors and model.safetensors.index.json' score "$WORK/model"
sed 's/"vocab_size": *[0-9]*/"vocab_size": 260/' "$model/config.json" >"$WORK/model/config.json"
names "its largest token id is" dry --set "model.path=$WORK/model"

# --set takes several values, before and after the config.
names 'steps: 2' "$BIN/lie_cluster" train --dry-run --set run.steps=2 "run.directory=$WORK/dry" configs/demo.yaml
names 'samples_per_prompt: 8' "$BIN/lie_cluster" train configs/demo.yaml --dry-run --set run.steps=2 "run.directory=$WORK/dry" rollout.samples_per_prompt=8
# A start that failed before its first step does not block its directory, and nothing of it is deleted.
broken() { train 1 "$WORK/again" --set run.steps=1 --set reward.command=false; }
broken >"$WORK/broken.log" 2>&1 && fail "a reward program that ends at once is accepted"
names 'is now' train 1 "$WORK/again" --set run.steps=1
[ -s "$WORK/again/metrics.jsonl" ] || fail "the corrected command has not run"
[ -e "$WORK/again.failed/config.yaml" ] || fail "the failed start was deleted"
names 'holds a run of another config' train 1 "$WORK/again" --set run.steps=1 --set run.seed=77

# --help KEY explains that key only; misspelled commands and options are named.
names 'rollout.temperature' "$BIN/lie_cluster" train --help rollout.temperature
[ "$("$BIN/lie_cluster" train --help rollout.temperature | wc -l)" -le 6 ] || fail "--help KEY prints more than the key"
names 'did you mean train?' "$BIN/lie_cluster" trian
names 'There is no option --bogus' "$BIN/lie_cluster" train --bogus
echo "strange data: all reported"

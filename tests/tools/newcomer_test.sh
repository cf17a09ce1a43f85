#!/usr/bin/env bash
# What a newcomer types first: names of keys, help, hints, several benchmarks, chat rows. A line of the table below is a
# command and words that its output must contain.
# newcomer_test.sh BIN WORK
set -uo pipefail
source "$(dirname "$0")/begin.sh"
model="$PWD/assets/count_pairs/model" data="$PWD/assets/count_pairs" PATH="$BIN:$PATH"
cd "$WORK" || exit 1

head -n 6 "$data/eval.jsonl" >a.jsonl
tail -n 5 "$data/eval.jsonl" | sed 's/"data_source": *"[^"]*",* *//; s/, *}/}/' >b.jsonl
cat >eval.yaml <<EOF
run: {directory: eval}
model: {path: $model}
data: {evaluation_file: [a.jsonl, b.jsonl]}
rollout: {max_prompt_tokens: 32}
evaluation: {samples_per_prompt: 2}
EOF
cat >old_eval.yaml <<EOF
run: {directory: old_eval}
model: {path: $model}
eval: {file: a.jsonl, prompts: 2, seed: 4}
table: {budgets: [16], ks: [1]}
rollout: {temperature: 0.5, max_response_tokens: 24, max_prompt_tokens: 32}
coverage: {unit: tokens}
EOF
cat >verl.yaml <<EOF
data:
  train_files: a.parquet
actor_rollout_ref:
  model: {path: Qwen}
  actor: {use_torch_compile: true}
  rollout: {name: vllm, n: 5}
algorithm: {adv_estimator: grpo, use_kl_in_reward: false}
trainer: {total_epochs: 15}
EOF
echo '{"conversations": [{"from": "human", "value": "1 2 target 3:"}, {"from": "gpt", "value": "1+2=3"}]}' >share_gpt.jsonl
cat >sft.yaml <<EOF
run: {directory: sft, steps: 1}
model: {path: $model}
data: {train_file: share_gpt.jsonl, messages_field: conversations}
optimizer: {warmup: 0}
EOF
cat >old_sft.yaml <<EOF
run: {directory: old_sft}
model: {path: $model}
sft: {data: share_gpt.jsonl, messages_field: conversations, steps: 3, seed: 5, optimizer: {learning_rate: 0.25}, checkpoint: {every: 7}}
EOF
echo '{"prompt": [{"role": "system", "content": "s"}, {"role": "user", "content": "1 2 target 3:"}]}' >chat.jsonl
echo '{"question": "1 2 target 3:", "answer": 3}' >question.jsonl
echo '{"prompt": "1 2 target 3:", "tools": [{"name": "search"}]}' >tools.jsonl
printf '%s\n' '{"question": "1 2 target 3:", "answer": "1 + 2 = <<1+2=3>>3\n#### 3"}' '{"answer": 3}' >gsm8k.jsonl
mkdir alone && head -n 64 "$data/train.jsonl" >alone/rows.jsonl
cp -r "$model" chat_model
printf '%s\n' '{"chat_template": "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"}' >chat_model/tokenizer_config.json
printf '\xef\xbb\xbf{"prompt": "q", "gold": 5}\n' >bom.jsonl
printf '%s\n' '{"prompt": "q", "gold": 5}' '{bad' >broken.jsonl
gzip -c a.jsonl >a.jsonl.gz
printf 'prompt,gold\nq,5\n' >rows.csv
echo '[{"prompt": "q", "gold": 5}]' >array.json

failures=0
while IFS='|' read -r command words; do
  [ -n "$words" ] || continue
  output="$(eval "$command" 2>&1 </dev/null)"
  [[ "$output" == *"$words"* ]] || { echo "$command: lacks \"$words\":"$'\n'"$output"; failures=$((failures + 1)); }
done <<'TABLE'
lie_cluster eval eval.yaml|all problems
cat eval/table.txt|mean of sources
grep '^b ' eval/table.txt|b
cat eval/config.yaml|max_response_tokens: 224
cat eval/config.yaml|budgets: []
lie_cluster eval eval.yaml --dry-run --set run.directory=new rollout.max_prompt_tokens=1024|max_prompt_tokens: 128
lie_cluster eval eval.yaml --dry-run --set run.directory=new rollout.max_prompt_tokens=1024 evaluation.max_response_tokens=40|max_prompt_tokens: 216
lie_cluster eval old_eval.yaml --dry-run|old_eval.yaml:3: eval.file is now called data.evaluation_file
lie_cluster eval old_eval.yaml --dry-run|table.budgets is now called evaluation.budgets
lie_cluster eval old_eval.yaml --dry-run|coverage.unit is now called reward.coverage.unit
lie_cluster eval old_eval.yaml --dry-run|max_response_tokens: 24
lie_cluster eval old_eval.yaml --dry-run|seed: 4
lie_cluster sft sft.yaml|done: all 1 step
lie_cluster sft old_sft.yaml --dry-run|sft.data is now called data.train_file
lie_cluster sft old_sft.yaml --dry-run|sft.optimizer.learning_rate is now called optimizer.learning_rate
lie_cluster sft old_sft.yaml --dry-run|learning_rate: 0.25
lie_cluster sft old_sft.yaml --dry-run|every: 7
lie_cluster generate $model chat.jsonl --max-response-tokens 2|"finish"
lie_cluster generate chat_model chat.jsonl --max-tokens 2 --set data.prompt_template=model|"finish"
lie_cluster generate $model question.jsonl --max-response-tokens 2 --set data.prompt_field=question|"finish"
lie_cluster generate $model question.jsonl|has neither "prompt_ids" nor "prompt", but answer, question
lie_cluster generate $model tools.jsonl --max-tokens 2|1 of 1 rows have the field tools, which is not rendered
lie_cluster generate $model chat.jsonl --set data.prompt_tmplate=x|did you mean data.prompt_template?
lie_cluster data question.jsonl|1 row, 1 prompt, 0 bad rows
lie_cluster data question.jsonl|fields found, which a config must name: data.prompt_field=question
lie_cluster data question.jsonl --set data.prompt_field=question|1 prompt, 0 bad rows
lie_cluster data question.jsonl --set data.prompt_field=task|set data.prompt_field=question
lie_cluster data gsm8k.jsonl --show|the verifier reads: 3
lie_cluster data gsm8k.jsonl|bad row: gsm8k.jsonl:2: field question: expected a prompt, found nothing
lie_cluster data none.jsonl|error: cannot read none.jsonl
lie_cluster data bom.jsonl|1 prompt, 0 bad rows
lie_cluster data a.jsonl.gz|unpack it with gunzip
lie_cluster data rows.csv|to_parquet('rows.parquet')
lie_cluster data array.json|jq -c '.[]'
lie_cluster train eval.yaml --set rollout.n=8|verl's rollout.n is rollout.samples_per_prompt here
lie_cluster train eval.yaml --set num_generations=8|TRL's num_generations is rollout.samples_per_prompt here
lie_cluster train eval.yaml --set max_completion_length=8|rollout.max_response_tokens here
lie_cluster train eval.yaml --set save_steps=8|checkpoint.every here
lie_cluster train eval.yaml --set gradient_accumulation_steps=8|update.mini_batch_prompts, in prompts here
lie_cluster train eval.yaml --set bf16=true|model.device: cpu-bf16, or cuda, which computes in bf16 here
lie_cluster train eval.yaml --set optimizer.lr=1|optimizer.learning_rate here
lie_cluster train eval.yaml --set rollout.max_new_tokens=1|rollout.max_response_tokens here
lie_cluster train eval.yaml --set policy_loss.beta=1|TRL's beta is policy_loss.kl_coefficient here
lie_cluster train eval.yaml --set report_to=wandb|TRL's report_to is run.directory, which holds TensorBoard files
lie_cluster train eval.yaml --set use_vllm=true|TRL's use_vllm is nothing to choose: the program samples itself
lie_cluster train eval.yaml --set use_kl_in_reward=true|the KL term is in the loss, never in the reward here
lie_cluster train eval.yaml --set algorithm.adv_estimator=grpo|verl's algorithm.adv_estimator is advantage.estimator: group-relative, the default
lie_cluster train verl.yaml|verl.yaml: 8 keys or sections are unknown
lie_cluster train verl.yaml|verl.yaml:2: unknown key data.train_files; verl's data.train_files is data.train_file
lie_cluster train verl.yaml|verl.yaml:4: unknown key actor_rollout_ref.model.path; verl's model.path is model.path
lie_cluster train verl.yaml|verl.yaml:5: unknown key actor_rollout_ref.actor.use_torch_compile
lie_cluster train verl.yaml|verl.yaml:6: unknown key actor_rollout_ref.rollout.name; verl's rollout.name is nothing to choose
lie_cluster train verl.yaml|verl.yaml:8: unknown key trainer.total_epochs; verl's trainer.total_epochs is run.epochs here
lie_cluster train --help|The keys that most runs set:
lie_cluster train --help|rollout: max_staleness
lie_cluster train --help all|rollout.max_staleness  
lie_cluster train --help nope|No key contains "nope"; --help all lists all keys
lie_cluster train --help rollout.max_stalness|did you mean rollout.max_staleness?
lie_cluster train --help num_generations|rollout.samples_per_prompt here
lie_cluster reference-lengths --help temperature|rollout.temperature
lie_cluster plan --help temperature|rollout.temperature
lie_cluster trian|did you mean train?
lie_replay scroe|did you mean score?
lie_verify '-\frac12' '\boxed{-0.5}'|correct (equal)
lie_verify -5 '\boxed{-5}'|correct (equal)
lie_verify 5 '-\boxed{5}'|correct (equal)
lie_cluster init $model a.jsonl --set run.steps=5|unknown key run.steps
lie_cluster init $model a.jsonl --samples 0 --set prompt_field=nope|data.prompt_field
lie_cluster train --bogus|There is no option --bogus
lie_cluster train eval.yaml --run.steps 3|Set a key of the config with --set KEY=VALUE
lie_cluster data broken.jsonl|bad row: broken.jsonl:2: not valid JSON at column
TABLE

# A refused command line has a status above 100 in every program.
for line in 'lie_cluster' 'lie_cluster trian' 'lie_cluster train' 'lie_cluster train --bogus' 'lie_analyze' 'lie_analyze --bogus' \
  'lie_analyze --digest' 'lie_analyze judge' 'lie_analyze --group x' 'lie_replay' 'lie_replay scroe' 'lie_verify' 'lie_verify --bogus'; do
  status=0
  $line >refused.log 2>&1 || status=$?
  [ "$status" -gt 100 ] || { cat refused.log; echo "$line: status $status"; failures=$((failures + 1)); }
done

# lines N COMMAND...: the command prints at most N lines.
lines() {
  local most="$1"
  shift
  [ "$("$@" 2>&1 | wc -l)" -le "$most" ] || { echo "$*: prints more than $most lines"; failures=$((failures + 1)); }
}
lines 1 lie_cluster train --help nope
lines 4 lie_cluster train --help rollout.temperature
lines 90 lie_cluster train --help
[ "$(lie_cluster train --help | grep -c '^    *default ')" = 15 ] || { echo "train --help explains not 15 keys"; failures=$((failures + 1)); }

# Fewer prompts of each file need no new responses.
before="$(sha256sum <eval/responses.log)"
lie_cluster eval eval.yaml --set evaluation.prompts=3 >fewer.log 2>&1
if ! grep -q '^all problems  *6  *12 ' eval/table.txt || [ "$(sha256sum <eval/responses.log)" != "$before" ]; then
  cat fewer.log eval/table.txt && failures=$((failures + 1))
fi

# The first config names no held-out prompts. Its hint on them works, and evaluations have the limits of training.
lie_cluster init "$model" alone/rows.jsonl --samples 1 >alone/my.yaml 2>alone/init.log
grep -q 'evaluation_file: "" *# none found; with one, add evaluation: {every: 10}' alone/my.yaml || { cat alone/my.yaml; fail "init gives no hint"; }
sed -i 's/evaluation_file: ""/evaluation_file: a.jsonl/' alone/my.yaml && echo 'evaluation: {every: 10}' >>alone/my.yaml
lie_cluster train alone/my.yaml --set run.directory=alone/run run.steps=1 rollout.prompts_per_step=2 >alone/run.log 2>&1 ||
  { cat alone/run.log; fail "the hint of init does not work"; }
grep -q '^  held out ' alone/run.log || { cat alone/run.log; fail "the hint of init evaluates nothing"; }
[ "$(grep -c "^  max_response_tokens: $(sed -n 's/^  max_response_tokens: \([0-9]*\) .*/\1/p' alone/my.yaml)\$" alone/run/config.yaml)" = 2 ] ||
  { cat alone/run/config.yaml; fail "an evaluation has another limit than training"; }
grep -q '^16/16 prompts | ' alone/init.log || { cat alone/init.log; fail "init shows no progress"; }

# It warns of correct answers that the verifier cannot read, which reward no response.
sed '1s/"gold": *"[^"]*"/"gold":"\\\\frac{1}{"/' alone/rows.jsonl >alone/unreadable.jsonl
lie_cluster init "$model" alone/unreadable.jsonl --samples 1 >alone/warned.yaml 2>/dev/null
grep -q '^# Warning: the verifier cannot read 1 of' alone/warned.yaml || fail "init does not warn of a correct answer that cannot be read"

# A chat row is rendered by the model's template.
rendered="$(lie_cluster generate chat_model chat.jsonl --max-response-tokens 1 --set data.prompt_template=model 2>/dev/null |
  python3 -c 'import json; print(json.dumps(json.loads(input())["prompt_ids"]))')"
meant="$(printf '%s\n' '"system: s\nuser: 1 2 target 3:\n"' | lie_cluster tokenize --json chat_model - | sed 's/,/, /g; s/  */ /g')"
if [ -z "$meant" ] || [ "$rendered" != "$meant" ]; then echo "rendered $rendered, meant $meant" && failures=$((failures + 1)); fi

# The lengths of the embedded model reach a limit of 8 tokens.
lie_cluster reference-lengths "$OLDPWD/tests/tools/small.yaml" --output l.jsonl --samples 1 --set "data.train_file=$PWD/a.jsonl" \
  --set "model.path=$model" --set rollout.max_response_tokens=8 >lengths.log 2>&1
for words in 'is a lower bound; raise the limit' 'next' 'train .* data.train_file=l.jsonl'; do
  grep -q "$words" lengths.log || { cat lengths.log; echo "reference-lengths does not say: $words"; failures=$((failures + 1)); }
done

[ "$failures" = 0 ] || fail "$failures of a newcomer's commands lack the expected output"
echo "a newcomer's commands: all have the expected output"

#!/usr/bin/env bash
# Settings that are mistakes are refused, or warned of, with the key and the remedy. A line of the table below is a
# command, "error" or "warning", and words that a line of this kind must contain. "none" demands that no line has them.
# mistakes_test.sh BIN WORK
set -uo pipefail
source "$(dirname "$0")/begin.sh"
model="$PWD/assets/count_pairs/model" PATH="$BIN:$PATH"
cd "$WORK" || exit 1

printf '{"prompt": "%s target 3:\\n", "gold": "%s", "response": "1", "data_source": "%s", "reference_length": 12}\n' '1 2' 1 math500 '2 2' 2 math500 '3 2' 3 aime24 '4 2' 1 aime24 >rows.jsonl
cp rows.jsonl copy.jsonl && ln -s rows.jsonl link.jsonl
{ tail -n 1 rows.jsonl && sed 's/target 3/target 4/' rows.jsonl; } >overlap.jsonl
sed 's/target 3/target 4/' rows.jsonl >apart.jsonl
head -n 1 rows.jsonl | sed 's/"gold": "1"/"gold": "3"/' >other_golds.jsonl
sed 's/"reference_length": 12/"num_tokens": 1500/' rows.jsonl >columns.jsonl
sed 's/"response": "1"/&, "completion": "2"/' rows.jsonl >two_answers.jsonl
echo '{"prompt": "1+1 is", "choices": ["2", "3", "4"], "gold": "2", "reference_length": 12}' >numbers.jsonl
echo '{"prompt": [{"role": "user", "content": "1+1?"}, {"role": "assistant", "content": "2"}, {"role": "user", "content": "2+1?"}], "gold": "3"}' >turns.jsonl
echo '{"messages": [{"role": "user", "content": "1?"}, {"role": "assistant", "content": "1"}, {"role": "user", "content": "2?"}, {"role": "assistant", "content": "2"}]}' >talk.jsonl
cp -r "$model" chat && printf '{{ messages[0].content }}' >chat/chat_template.jinja
cat >train.yaml <<END
run: {directory: train, steps: 1}
model: {path: $model}
data: {train_file: rows.jsonl}
rollout: {prompts_per_step: 4, samples_per_prompt: 2, max_prompt_tokens: 32, max_response_tokens: 20}
update: {mini_batch_prompts: 4}
reward: {length: {enabled: false}, redundancy: {enabled: false}}
optimizer: {warmup: 0}
END
cat >sft.yaml <<END
run: {directory: sft}
model: {path: $model}
data: {train_file: rows.jsonl}
END
cat >eval.yaml <<END
run: {directory: eval}
model: {path: $model}
data: {evaluation_file: rows.jsonl}
evaluation: {samples_per_prompt: 2, max_response_tokens: 12, temperature: 1}
END
sed 's/^reward: .*/reward: \&off {length: {enabled: false}}\nevaluation:\n  <<: *off/' train.yaml >merge.yaml
sed 's/^evaluation: .*/<<: {seed: 1}/' eval.yaml >merge_top.yaml
sed 's/directory: eval/directory: "${WORK}\/eval"/' eval.yaml >variable.yaml

train() { lie_cluster train train.yaml --dry-run --set "$@"; }
sft() { lie_cluster sft sft.yaml --dry-run --set "$@"; }
evaluate() { lie_cluster eval eval.yaml --dry-run --set "$@"; }
failures=0 checks=0
while IFS='|' read -r command kind words; do
  [ -n "$words" ] || continue
  checks=$((checks + 1))
  status=0
  output="$(eval "$command" 2>&1 </dev/null)" || status=$?
  case "$kind" in
    error) grep 'error on rank' <<<"$output" | grep -qF -- "$words" && [ "$status" != 0 ] ;;
    warning) grep 'warning: ' <<<"$output" | grep -qF -- "$words" && [ "$status" = 0 ] ;;
    none) ! grep -qF -- "$words" <<<"$output" && [ "$status" = 0 ] ;;
  esac || { echo "$command ($kind, status $status): \"$words\":"$'\n'"$output"; failures=$((failures + 1)); }
done <<'TABLE'
train data.train_weights=[1,2]|error|data.train_weights has 2 weights for 1 file; give one weight for each file
train 'data.train_file=[rows.jsonl,apart.jsonl]' 'data.train_weights=[1,2]' data.shuffle=false|error|needs data.shuffle: true
train 'data.train_file=[rows.jsonl,apart.jsonl]' 'data.train_weights=[1,0]'|error|data.train_weights: expected
train 'data.train_file=[rows.jsonl,apart.jsonl]' 'data.train_weights=[1,900]'|error|file 1 of data.train_file has 4 prompts for 0 of the 8 draws of a pass
train 'data.accuracy_bands=[0-1]'|error|data.accuracy_bands is set but data.accuracy_field is not
train data.accuracy_field=accuracy|error|data.accuracy_field is set but data.accuracy_bands is not
train data.accuracy_field=accuracy 'data.accuracy_bands=[0-1]'|error|rows.jsonl:1: field accuracy is missing
train data.accuracy_field=reference_length 'data.accuracy_bands=[0-1]'|error|expected an accuracy from 0 to 1, found 12
train data.accuracy_field=target 'data.accuracy_bands=[50-100]'|error|data.accuracy_bands: "50-100" is not a range of accuracies
train policy_loss.clip_low=-0.2|error|policy_loss.clip_low: expected
train policy_loss.clip_low=-abc|error|policy_loss.clip_low: expected
train policy_loss.clip_high=-0.5|error|policy_loss.clip_high: expected
train policy_loss.clip_low=-1|none|clip_low: -1
train 'run.directory=$SCRATCH/run'|error|$SCRATCH/run: variables are not expanded in paths
train 'data.train_file=${WORK}/rows.jsonl'|error|${WORK}/rows.jsonl: variables are not expanded in paths
lie_cluster eval variable.yaml|error|variable.yaml:1: run.directory: ${WORK}/eval: variables are not expanded in paths
lie_cluster train merge.yaml|error|merge.yaml:8: evaluation.<<: merge keys (<<) are not supported
lie_cluster eval merge_top.yaml|error|merge_top.yaml:4: <<: merge keys (<<) are not supported
evaluate 'evaluation.sources=[math500,aime2024]'|error|no row of rows.jsonl has the data source aime2024; they have aime24, math500
evaluate 'evaluation.sources=[math500,aime24]'|none|no row of
evaluate data.data_source_field=benchmark|warning|no row has the field benchmark, which data.data_source_field names
evaluate evaluation.temperature=0|warning|evaluation.temperature is 0: all 2 responses to a prompt are equal
evaluate evaluation.temperature=0 evaluation.samples_per_prompt=1|none|are equal
evaluate evaluation.top_k=1|warning|evaluation.top_k is 1: all 2 responses to a prompt are equal
evaluate evaluation.max_response_tokens=256|error|evaluation.max_response_tokens 256 leaves no position for a prompt: the model has 256
evaluate rollout.max_prompt_tokens=200 evaluation.max_response_tokens=100|error|is more than the model's 256 positions
train data.evaluation_file=apart.jsonl evaluation.every=1 evaluation.temperature=0 evaluation.samples_per_prompt=4|warning|evaluation.temperature is 0: all 4 responses
train rollout.top_k=1|warning|rollout.top_k is 1: all responses to a prompt are equal
train 'run.directory=$(pwd)/run'|error|$(pwd)/run: variables are not expanded in paths
train 'run.directory=`pwd`/run'|error|`pwd`/run: commands in backticks are not run in paths
sft optimizer.learning_rate=1|warning|optimizer.learning_rate is 1: an update replaces the weights
train data.evaluation_file=copy.jsonl evaluation.every=1|warning|4 of 4 evaluation prompts are training prompts
train data.evaluation_file=link.jsonl evaluation.every=1|warning|4 of 4 evaluation prompts are training prompts
train data.evaluation_file=rows.jsonl evaluation.every=1|warning|4 of 4 evaluation prompts are training prompts
train 'data.evaluation_file=[apart.jsonl,overlap.jsonl]' evaluation.every=1|warning|1 of 9 evaluation prompts are training prompts
train data.evaluation_file=apart.jsonl evaluation.every=1|none|are training prompts
sft data.evaluation_file=overlap.jsonl|warning|1 of 5 evaluation examples are training examples
sft data.evaluation_file=apart.jsonl|none|are training examples
train policy_loss.clip_low=0.2 policy_loss.clip_high=0.28|warning|the clip range 0.28 is one for token ratios
train policy_loss.clip_low=0.2|warning|nothing will be clipped below
train policy_loss.algorithm=luspo policy_loss.clip_high=0.2|warning|the clip range 0.2 is one for token ratios
train policy_loss.algorithm=grpo policy_loss.clip_low=3e-4 policy_loss.clip_high=4e-4|warning|nearly every token will be clipped
train policy_loss.algorithm=grpo policy_loss.clip_low=0.2 policy_loss.clip_high=0.28|none|the clip range
train policy_loss.algorithm=grpo policy_loss.clip_low=3e-4|warning|nearly every token will be clipped below 1
train reward.length.enabled=true|warning|L_target (L_ref, 12 tokens on average, plus reward.length.delta_tokens 500) is above rollout.max_response_tokens 20 for 4 of 4
train reward.length.enabled=true data.train_file=columns.jsonl|warning|L_target (L_ref, 500 tokens on average
train reward.length.enabled=true reward.length.target=absolute|warning|reward.length.target_tokens 7692) is above rollout.max_response_tokens 20
train reward.gr3.enabled=true advantage.estimator=gdpo|error|reward.gr3.enabled is true, which replaces the accuracy
train reward.cosine.enabled=true advantage.per_term=true|error|reward.cosine.enabled is true, which replaces the accuracy
train reward.cosine.enabled=true|none|replaces the accuracy
train advantage.estimator=gdpo 'advantage.gdpo.weights=[accuracy=2]'|none|gdpo.weights
train advantage.estimator=gdpo 'advantage.gdpo.weights=[length=0.5]'|error|advantage.gdpo.weights: "length" is not a reward term that is on; those are accuracy
train reward.length.enabled=true data.train_file=turns.jsonl|error|data.train_file turns.jsonl: row 1 of the training prompts: no reference length
train reward.length.enabled=true reward.length.cap_target_at_limit=true|none|L_target
train reward.length.enabled=true reward.length.delta_tokens=8|none|L_target
train reward.length.delta_tokens=100000|none|L_target
train optimizer.schedule=cosine|error|the rate decay, but optimizer.decay_until is not set
train optimizer.schedule=linear|error|the rate decay, but optimizer.decay_until is not set
train optimizer.schedule=linear optimizer.decay_until=9|none|decay_until is not set
train optimizer.schedule=cosine optimizer.decay_until=9|none|decay_until is not set
train optimizer.schedule=cosine optimizer.decay_until=1 optimizer.warmup=0 run.steps=2|error|after it the learning rate is 0 and nothing is learned
train optimizer.schedule=cosine optimizer.decay_until=1 optimizer.warmup=0 optimizer.min_ratio=0.5 run.steps=2|warning|the others have 0.5 of the learning rate
train optimizer.min_ratio=0.5|warning|min_ratio has no effect, because schedule is constant
train verifier.boxed_priority=50|warning|verifier: boxed_priority has no effect, because mode is reward
train verifier.boxed_priority=50 verifier.mode=lenient|none|has no effect
train reward.overlong.penalty=5|warning|reward.overlong: penalty has no effect, because enabled is false
train 'data.train_file=[rows.jsonl,other_golds.jsonl]'|warning|data.train_file: 1 prompt has different correct answers in different files
train optimizer.warmup=1000|warning|optimizer.warmup is 1000, but the run has 1 update: it ends within the warm-up
train optimizer.warmup=1 update.mini_batch_prompts=2|none|it ends within the warm-up
sft optimizer.schedule=constant|warning|optimizer.warmup is 100, but the run has 1 update: it ends within the warm-up
sft optimizer.learning_rate=1e-4|warning|the run of 1 update would end within the default warm-up of 100: the warm-up is 0 updates long
sft run.steps=50|warning|the run of 50 updates would end within the default warm-up of 100: the warm-up is 5 updates long
sft optimizer.warmup=60 run.steps=50|error|the schedule ends (decay_until 50) before its warmup does (60)
sft optimizer.warmup=60 run.steps=61|none|warm-up
train 'data.train_file=[rows.jsonl,link.jsonl]'|error|data.train_file: rows.jsonl and link.jsonl are one file
train 'data.train_file=[rows.jsonl,./rows.jsonl]' 'data.train_weights=[1,2]'|error|name it once, and set data.train_weights
evaluate 'data.evaluation_file=[apart.jsonl,apart.jsonl]'|error|data.evaluation_file: apart.jsonl and apart.jsonl are one file
sft 'data.evaluation_file=[apart.jsonl,./apart.jsonl]'|error|are one file, and its rows would be read twice; name it once
sft data.train_file=two_answers.jsonl|warning|4 of 4 rows have another text in the field completion than in response
sft data.train_file=rows.jsonl|none|another text
train 'data.prompt_suffix=\nBox it.'|warning|data.prompt_suffix has \n as two characters
evaluate 'data.prompt_suffix=\nBox it.'|warning|data.prompt_suffix has \n as two characters
train $'data.prompt_suffix=\nBox it.'|none|as two characters
train data.train_file=numbers.jsonl data.choices_field=choices|error|the correct answer is "2": the number of the choice "3", or the text of another; write the letter, B or A
train data.train_file=turns.jsonl|warning|1 of 1 rows are conversations with earlier answers
train data.train_file=turns.jsonl model.path=chat data.prompt_template=model|none|conversations with earlier answers
train data.train_file=turns.jsonl model.path=chat data.prompt_template=model|warning|turns.jsonl: the template model leaves out a system or user message of 1 of 1 rows
train model.path=chat data.prompt_template=model|none|leaves out
lie_cluster generate chat rows.jsonl --max-tokens 1|warning|data.prompt_template is plain, but chat has a chat template
lie_cluster generate chat rows.jsonl --max-tokens 1 --set data.prompt_template=model|none|chat template
lie_cluster score chat rows.jsonl|warning|data.prompt_template is plain, but chat has a chat template
sft data.train_file=talk.jsonl|warning|1 of 1 rows are conversations with earlier answers
train data.prompt_template=octothinker|error|prompt_template octothinker begins prompts with "<|begin_of_text|>", which is not a token
train policy_loss.recompute_old_log_probs=true policy_loss.tis_cap=0.5|error|policy_loss.tis_cap is 0.5: below 1
train model.path=chat|warning|data.prompt_template is plain, but chat has a chat template
sft model.path=chat|warning|data.prompt_template is plain, but chat has a chat template
evaluate model.path=chat|warning|data.prompt_template is plain, but chat has a chat template
TABLE
[ -z "$(find . -maxdepth 1 -name '*$*')" ] || { ls; fail "a directory is named like a variable"; }

# A short fine-tuning with the defaults runs to its end.
lie_cluster sft sft.yaml >sft.log 2>&1 || { cat sft.log; fail "fine-tuning with the default warm-up"; }

# Names of data sources in other scripts stay apart in the metrics.
sed 's/math500/数学/; s/aime24/物理/' apart.jsonl >named.jsonl
lie_cluster train train.yaml --set data.evaluation_file=named.jsonl evaluation.every=1 >named.log 2>&1 || { cat named.log; fail "sources in another script"; }
for name in 数学 物理; do grep -q "eval_accuracy_on_$name\"" train/metrics.jsonl || fail "metrics lack the source $name"; done

# An allocation beyond the limit of memory ends the run with the settings that need less. ASan reserves more than that.
if ! nm "$BIN/lie_cluster" 2>/dev/null | grep -q __asan_init; then
  for limit in 300000 450000 600000 800000; do
    rm -rf memory
    (ulimit -v "$limit"; lie_cluster train train.yaml --set run.directory=memory model.threads=2 >memory.log 2>&1) && break
    grep -q 'cannot allocate memory in static TLS\|MPI_Init\|loading shared libraries' memory.log && continue
    grep 'error on rank' memory.log | grep -q 'out of memory.*lower rollout.slots' && found=1 || { cat memory.log; echo "ulimit -v $limit"; failures=$((failures + 1)); }
  done
  [ "${found:-0}" = 1 ] || { cat memory.log; fail "no limit of memory was met"; }
fi

[ "$failures" = 0 ] || fail "$failures checks"
echo "$checks mistakes are refused or warned of as documented"

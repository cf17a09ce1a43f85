#!/usr/bin/env bash
# Invariant E12: a run resumes only on the inputs that it began with, compared by content. Each kind
# of exchange of the table in docs/how-to/resume.md is refused or allowed as the table says.
# inputs_test.sh BIN WORK
set -euo pipefail
source "$(dirname "$0")/begin.sh"
kinds=0

# fresh: the inputs as the runs begin with them.
fresh() {
  rm -rf "$WORK"/{m,t} && cp -r assets/count_pairs/model "$WORK/m" && cp -r "$WORK/m" "$WORK/t"
  printf '{"prompt": "%s", "gold": "%s", "response": "%s", "data_source": "%s"}\n' '1 2 3' 1 1 a '2 2 5' 2 2 a '4 4 7' 3 3 b '9 1 2' 4 4 b >"$WORK/rows.jsonl"
  cp "$WORK/rows.jsonl" "$WORK/heldout.jsonl"
  cp examples/reward_program.py "$WORK/program.py"
  [ ! -e "$WORK/adapter.kept" ] || { rm -rf "$WORK/adapter" && cp -r "$WORK/adapter.kept" "$WORK/adapter"; }
  printf '{%% for m in messages %%}{{ m["content"] }}\n{%% endfor %%}' >"$WORK/m/chat_template.jinja"
}
zeros() {
  python3 - "$1" <<'END'
import json, struct, sys
path = sys.argv[1]
data = open(path, "rb").read()
length = 8 + struct.unpack("<Q", data[:8])[0]
open(path, "wb").write(data[:length] + bytes(len(data) - length))
END
}
cat >"$WORK/train.yaml" <<END
run: {steps: 1}
model: {path: $WORK/m}
data: {train_file: $WORK/rows.jsonl, evaluation_file: $WORK/heldout.jsonl, prompt_template: model}
rollout: {prompts_per_step: 4, samples_per_prompt: 2, max_prompt_tokens: 32, max_response_tokens: 12}
evaluation: {every: 1, samples_per_prompt: 1, max_response_tokens: 12}
update: {mini_batch_prompts: 4}
reward: {length: {enabled: false}, redundancy: {enabled: false}}
policy_loss: {kl_coefficient: 0.1}
optimizer: {learning_rate: 3e-4, warmup: 0}
checkpoint: {every: 1}
END
cat >"$WORK/sft.yaml" <<END
run: {steps: 1}
model: {path: $WORK/m}
data: {train_file: $WORK/rows.jsonl, evaluation_file: $WORK/heldout.jsonl, prompt_template: model}
sft: {batch_sequences: 2}
optimizer: {schedule: constant, warmup: 0}
checkpoint: {every: 1}
END
cat >"$WORK/eval.yaml" <<END
model: {path: $WORK/m}
data: {evaluation_file: $WORK/heldout.jsonl, prompt_template: model}
evaluation: {samples_per_prompt: 1, max_response_tokens: 12, temperature: 1}
END

# start COMMAND [overrides...]: in the copy of the finished run, or in a new directory
start() { "$BIN/lie_cluster" "$1" "$WORK/$1.yaml" --set "run.directory=$WORK/run" "${@:2}" >"$WORK/log" 2>&1; }
begin() { # COMMAND [overrides...]
  fresh
  rm -rf "$WORK/run" "$WORK/run".*
  start "$@" || { cat "$WORK/log"; fail "$*: the first run failed"; }
  cp -r "$WORK/run" "$WORK/run.$1"
}
again() { rm -rf "$WORK/run" && cp -r "$WORK/run.$1" "$WORK/run"; }
more() { [ "$1" = eval ] || echo --set run.steps=2; }

# refuses COMMAND KIND "words" EXCHANGE [overrides...]: EXCHANGE changes the inputs. The start is
# refused, and so is its dry run. Nothing is written, and the old inputs still resume.
refuses() {
  local command="$1" kind="$2" words="$3"
  kinds=$((kinds + 1))
  again "$command"
  eval "$4"
  shift 4
  ! start "$command" $(more "$command") "$@" || { cat "$WORK/log"; fail "$command, $kind: resumed"; }
  grep 'error on rank' "$WORK/log" | grep -qF -- "$words" || { cat "$WORK/log"; fail "$command, $kind: the message lacks \"$words\""; }
  ! start "$command" --dry-run $(more "$command") "$@" || fail "$command, $kind: the dry run resumes"
  grep 'error on rank' "$WORK/log" | grep -qF -- "$words" || { cat "$WORK/log"; fail "$command, $kind: the dry run has another error"; }
  diff -r "$WORK/run" "$WORK/run.$command" || fail "$command, $kind: a refused start changed the directory"
  fresh
}
# allows COMMAND KIND "words" EXCHANGE [overrides...]
allows() {
  local command="$1" kind="$2" words="$3"
  kinds=$((kinds + 1))
  again "$command"
  eval "$4"
  shift 4
  start "$command" $(more "$command") "$@" || { cat "$WORK/log"; fail "$command, $kind: refused"; }
  grep -qF -- "$words" "$WORK/log" || { cat "$WORK/log"; fail "$command, $kind: the log lacks \"$words\""; }
  fresh
}

weights='zeros "$WORK/m/model.safetensors"'
rope='sed -i "s/\"rope_theta\": [0-9.]*/\"rope_theta\": 5000.0/" "$WORK/m/config.json"; grep -q 5000.0 "$WORK/m/config.json"'
tokenizer='echo " " >>"$WORK/m/tokenizer.json"'
ends='echo "{\"eos_token_id\": [256, 120]}" >"$WORK/m/generation_config.json"'
tokens='echo "{\"<x>\": 300}" >"$WORK/m/added_tokens.json"'
chat='echo "{{ bos_token }}" >>"$WORK/m/chat_template.jinja"'

# model COMMAND: the exchanges of a model directory, and one that was moved
model() {
  refuses "$1" 'weights elsewhere' "model.path $WORK/other: its weights have SHA-256" 'rm -rf "$WORK/other"; cp -r "$WORK/m" "$WORK/other"; zeros "$WORK/other/model.safetensors"' --set "model.path=$WORK/other"
  allows "$1" 'moved model' resumes 'rm -rf "$WORK/other"; mv "$WORK/m" "$WORK/other"' --set "model.path=$WORK/other"
  rm -rf "$WORK/other"
  refuses "$1" weights "model.path $WORK/m: its weights have SHA-256" "$weights"
  refuses "$1" architecture "$WORK/m/config.json describes" "$rope"
  refuses "$1" tokenizer "$WORK/m/tokenizer.json has SHA-256" "$tokenizer"
  refuses "$1" 'special tokens' 'names other special tokens' "$tokens"
  refuses "$1" ends 'eos_token_id of' "$ends"
  refuses "$1" template "the chat template of $WORK/m is" "$chat"
}

begin train
model train
refuses train 'rows changed' 'row 2: another prompt' 'sed -i "2s/\"gold\": \"2\"/\"gold\": \"99\"/" "$WORK/rows.jsonl"'
refuses train 'rows appended' "1 row is appended to its 4; restore its rows, or learn the new ones in a run of its own: another run.directory, with model.path=$WORK/run/checkpoints/" \
  'echo "{\"prompt\": \"8\", \"gold\": \"8\"}" >>"$WORK/rows.jsonl"'
refuses train 'rows removed' 'it has 3 rows instead of 4' 'sed -i 4d "$WORK/rows.jsonl"'
refuses train 'rows reordered' 'its rows are in another order' 'sort -r -o "$WORK/rows.jsonl" "$WORK/rows.jsonl"'
refuses train 'rows with run.resume=changed' 'row 2: another prompt' 'sed -i "2s/\"gold\": \"2\"/\"gold\": \"99\"/" "$WORK/rows.jsonl"' --set run.resume=changed
refuses train 'evaluation rows' 'set run.resume=changed to continue with the new ones' 'sed -i "1s/1 2 3/1 2 4/" "$WORK/heldout.jsonl"'
allows train 'evaluation rows, changed' 'the settings change after step 1: other rows in data.evaluation_file' 'sed -i "1s/1 2 3/1 2 4/" "$WORK/heldout.jsonl"' --set run.resume=changed
refuses train 'evaluation file' "data.evaluation_file $WORK/other.jsonl is not the one" 'sed 1d "$WORK/heldout.jsonl" >"$WORK/other.jsonl"' --set "data.evaluation_file=$WORK/other.jsonl"
allows train 'evaluation file, changed' 'the settings change after step 1' true --set "data.evaluation_file=$WORK/other.jsonl" --set run.resume=changed
refuses train 'reward terms' 'set run.resume=changed' true --set reward.redundancy.enabled=true
refuses train 'reward program' 'reward.command: there none, here' true --set "reward.command=$WORK/program.py"
refuses train 'config copy' 'config.yaml: does not fit its checksum' 'sed -i "s/  seed: 1/  seed: 9/" "$WORK/run/config.yaml"; cp "$WORK/run/config.yaml" "$WORK/run.train/config.yaml"'
sed -i 's/  seed: 9/  seed: 1/' "$WORK/run.train/config.yaml"
refuses train 'reference model' 'its weights have SHA-256' "$weights" # the KL term reads model.path again
refuses train 'link to another model' 'its weights have SHA-256' 'mv "$WORK/m" "$WORK/m.there"; ln -sfn m.there "$WORK/m"; zeros "$WORK/m.there/model.safetensors"'
rm -rf "$WORK/m.there"
allows train 'link to the same model' 'resumes after step 1' 'mv "$WORK/m" "$WORK/m.there"; ln -sfn m.there "$WORK/m"'
rm -rf "$WORK/m.there"
allows train 'equal weights in another file' 'resumes after step 1' 'touch "$WORK/m/model.safetensors"; sed -i "s/^{/{ /" "$WORK/rows.jsonl"'

# Files that were moved are the same inputs, also for steps that are learned again with former settings.
elsewhere=(--set "model.path=$WORK/moved" --set "data.train_file=$WORK/moved.jsonl" --set "data.evaluation_file=$WORK/moved-heldout.jsonl")
moved='rm -rf "$WORK/moved"; mv "$WORK/m" "$WORK/moved"; mv "$WORK/rows.jsonl" "$WORK/moved.jsonl"; mv "$WORK/heldout.jsonl" "$WORK/moved-heldout.jsonl"'
allows train 'moved files' 'resumes after step 1' "$moved" "${elsewhere[@]}"
grep -q "path: $WORK/moved" "$WORK/run/config.yaml" || fail "config.yaml names the old model"
refuses train 'rows elsewhere' "data.train_file $WORK/moved.jsonl is not the one" 'sed 1d "$WORK/rows.jsonl" >"$WORK/moved.jsonl"' --set "data.train_file=$WORK/moved.jsonl"
again train && start train --set run.steps=2 --set run.resume=changed --set optimizer.learning_rate=1e-4 || { cat "$WORK/log"; fail "no resume with another rate"; }
sum() { sha256sum <"$WORK/run/checkpoints/step-000002/model.safetensors"; }
learned="$(sum)"
rm -r "$WORK/run/checkpoints"/* && eval "$moved"
start train --set run.steps=2 --set optimizer.learning_rate=1e-4 "${elsewhere[@]}" || { cat "$WORK/log"; fail "moved files: the first stage is not learned again"; }
[ "$(sum)" = "$learned" ] || fail "moved files: learned again, the weights differ"
fresh

# On several ranks, one error.
again train && zeros "$WORK/m/model.safetensors"
! mpirun --oversubscribe -n 3 "$BIN/lie_cluster" train "$WORK/train.yaml" --set "run.directory=$WORK/run" run.steps=2 >"$WORK/log" 2>&1 || fail "3 ranks resume on other weights"
[ "$(grep -c 'its weights have SHA-256' "$WORK/log")" = 1 ] || { cat "$WORK/log"; fail "3 ranks: not one error"; }
fresh

# A start that failed before its first step holds no result: with other rows it is set aside.
allows train 'rows of a failed start' "it is now $WORK/run.failed" 'rm -r "$WORK"/run/metrics.jsonl "$WORK"/run/{checkpoints,trajectories}/*; echo "{\"prompt\": \"8\", \"gold\": \"8\"}" >>"$WORK/rows.jsonl"'

# A run of an older build has no record: what its log holds is compared, one line says what is not.
rm "$WORK/run.train/inputs.yaml"
refuses train 'weights, no record' 'its weights have SHA-256' "$weights"
allows train 'ends, no record' 'ends, template and data cannot be compared' "$ends"
[ -s "$WORK/run/inputs.yaml" ] || fail "the inputs were not recorded"
# A record that is damaged or cut short is named, with the remedy.
allows train 'no exchange' 'resumes after step 1' true
sed -i 's/"rows": 4/"rows": 5/' "$WORK/run/inputs.yaml"
! start train --set run.steps=3 || fail "a damaged record is not noticed"
grep -q 'inputs.yaml: does not fit its checksum' "$WORK/log" || { cat "$WORK/log"; fail "the damaged record is not named"; }
! "$BIN/lie_analyze" --check "$WORK/run" >"$WORK/log" || fail "--check does not notice the damaged record"
grep -q 'inputs.yaml: does not fit its checksum' "$WORK/log" || { cat "$WORK/log"; fail "--check does not name the record"; }
head -c 200 "$WORK/run/inputs.yaml" >"$WORK/half" && cp "$WORK/half" "$WORK/run/inputs.yaml"
! start train --set run.steps=3 || fail "half a record is not noticed"
grep -q 'inputs.yaml: does not fit its checksum' "$WORK/log" || { cat "$WORK/log"; fail "half a record is not named"; }

# A kill while a file is written or before it is renamed leaves a run that starts.
for pass in 1 2 3; do
  fresh && rm -rf "$WORK/run"
  ! LIE_FAULT=file:$pass start train || fail "no kill at file $pass"
  start train || { cat "$WORK/log"; fail "no start after a kill at file $pass"; }
  "$BIN/lie_analyze" --check "$WORK/run" >"$WORK/log" || { cat "$WORK/log"; fail "damaged after a kill at file $pass"; }
done

# A program's file may be repaired: a warning names it once. Its rows belong to the data.
program=(--set "reward.command=python3 $WORK/program.py --ngram 2 --threshold 3 --beta 0.5")
begin train "${program[@]}"
refuses train 'fields for programs' 'has other fields, which programs receive' 'sed -i "s/\"response\"/\"other\"/" "$WORK/rows.jsonl"' "${program[@]}"
others='sed -i "s/\"response\"/\"other\"/" "$WORK/heldout.jsonl"'
refuses train 'evaluation fields for programs' 'its rows have other fields, which programs receive' "$others" "${program[@]}"
allows train 'evaluation fields, changed' 'other rows in data.evaluation_file' "$others" "${program[@]}" --set run.resume=changed
allows train 'program file' "$WORK/program.py, which reward.command or verifier.command names, has changed" 'echo "# repaired" >>"$WORK/program.py"' "${program[@]}"
echo "# repaired" >>"$WORK/program.py"
start train "${program[@]}" --set run.steps=3 || { cat "$WORK/log"; fail "no resume after the repair"; }
! grep 'has changed since' "$WORK/log" || fail "a repaired program is named twice"

# Evaluation rows of several files are compared as one list.
several=(--set "data.evaluation_file=[$WORK/heldout.jsonl, $WORK/more.jsonl]")
fresh && cp "$WORK/rows.jsonl" "$WORK/more.jsonl"
begin train "${several[@]}"
refuses train 'second evaluation file' "$WORK/more.jsonl is not the one that" 'sed -i 2d "$WORK/more.jsonl"' "${several[@]}"
rm "$WORK/more.jsonl"

# The teacher of distillation is an input as the model is.
taught=(--set policy_loss.distillation.coefficient=1 --set "policy_loss.distillation.teacher=$WORK/t")
begin train "${taught[@]}"
refuses train 'weights of the teacher' "policy_loss.distillation.teacher $WORK/t: its weights have SHA-256" 'zeros "$WORK/t/model.safetensors"' "${taught[@]}"
refuses train 'shapes of the teacher' "policy_loss.distillation.teacher $WORK/t: its config.json describes" \
  'sed -i "s/\"rope_theta\": [0-9.]*/\"rope_theta\": 5000.0/" "$WORK/t/config.json"' "${taught[@]}"

# A schedule repeats a run on the same inputs only.
begin train --set rollout.max_staleness=1 --set run.schedule=recorded
follows() { rm -rf "$WORK/followed"; "$BIN/lie_cluster" train "$WORK/train.yaml" --set "run.directory=$WORK/followed" --set rollout.max_staleness=1 --set "run.follow_schedule=$WORK/run/schedule.jsonl" >"$WORK/log" 2>&1; }
for exchange in "$weights" 'sort -r -o "$WORK/rows.jsonl" "$WORK/rows.jsonl"'; do
  kinds=$((kinds + 1))
  eval "$exchange"
  ! follows || fail "a schedule is followed after $exchange"
  grep -q 'copy the schedule into another directory' "$WORK/log" || { cat "$WORK/log"; fail "schedule after $exchange: no remedy"; }
  fresh
done
follows || { cat "$WORK/log"; fail "the schedule is not followed"; }

# Parquet files are compared by their rows, too.
if python3 -c 'import pyarrow' 2>/dev/null && "$BIN/lie_cluster" data tests/dataset/golden/verl.parquet >/dev/null; then
  parquet() { # GOLD COMPRESSION
    python3 - "$WORK/rows.parquet" "$1" "$2" <<'END'
import sys
import pyarrow, pyarrow.parquet
rows = [{"prompt": f"{i} 2 5", "gold": sys.argv[2] if i == 1 else "1"} for i in range(4)]
pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), sys.argv[1], compression=sys.argv[3])
END
  }
  columns=(--set "data.train_file=$WORK/rows.parquet")
  parquet 1 none
  begin train "${columns[@]}"
  refuses train 'Parquet rows' 'row 2: another prompt' 'parquet 3 none' "${columns[@]}"
  parquet 1 none
  allows train 'Parquet, written again' 'resumes after step 1' 'parquet 1 gzip' "${columns[@]}"
fi

# lie_replay train reads the same inputs as the run.
begin train
replay() { rm -rf "$WORK/replayed"; "$BIN/lie_replay" train "$WORK/run" --run-directory "$WORK/replayed" "$@" >"$WORK/log" 2>&1; }
for exchange in "$weights" "$ends" "$chat" 'sed -i 1d "$WORK/rows.jsonl"'; do
  kinds=$((kinds + 1))
  eval "$exchange"
  ! replay || fail "replayed after $exchange"
  grep -qF -- '--set model.path=DIRECTORY or data.train_file=FILE' "$WORK/log" || { cat "$WORK/log"; fail "replay after $exchange: no remedy"; }
  [ ! -e "$WORK/replayed" ] || fail "a refused replay wrote a directory"
  fresh
done
replay || { cat "$WORK/log"; fail "the replay failed"; }
"$BIN/lie_cluster" train "$WORK/train.yaml" --set "run.directory=$WORK/faster" --set optimizer.learning_rate=1e-3 >"$WORK/log" 2>&1 || { cat "$WORK/log"; fail "no second run"; }
! replay --from-checkpoint "$WORK/faster/checkpoints/step-000001" || fail "replayed from a checkpoint of another run"
grep -q 'is of a run of another config' "$WORK/log" || { cat "$WORK/log"; fail "the other run's checkpoint is not named"; }

begin sft
model sft
refuses sft 'rows changed' 'row 3: another' 'sed -i "3s/\"response\": \"3\"/\"response\": \"2\"/" "$WORK/rows.jsonl"'
refuses sft 'rows appended' '1 row is appended to its 4' 'echo "{\"prompt\": \"8\", \"response\": \"8\"}" >>"$WORK/rows.jsonl"'
refuses sft 'rows reordered' 'its rows are in another order' 'sort -r -o "$WORK/rows.jsonl" "$WORK/rows.jsonl"'
refuses sft 'validation rows' "data.evaluation_file $WORK/heldout.jsonl is not the one" 'sed -i 1d "$WORK/heldout.jsonl"'

begin eval
model eval
refuses eval 'rows changed' 'holds responses to row 2 with another prompt, gold or data source' 'sed -i "2s/\"gold\": \"2\"/\"gold\": \"7\"/" "$WORK/heldout.jsonl"'
refuses eval 'data source' 'holds responses to row 1 with another prompt, gold or data source' 'sed -i "1s/\"a\"/\"c\"/" "$WORK/heldout.jsonl"'
refuses eval 'rows reordered' 'with another prompt, gold or data source' 'sort -r -o "$WORK/heldout.jsonl" "$WORK/heldout.jsonl"'
allows eval 'rows removed at the end' 'resumes, 0 prompts left' 'sed -i 4d "$WORK/heldout.jsonl"'
allows eval 'rows appended' 'resumes, 1 prompt left' 'echo "{\"prompt\": \"8\", \"gold\": \"8\", \"data_source\": \"a\"}" >>"$WORK/heldout.jsonl"'

# A verifier program grades with the fields that the rows have now. Without answers there are no votes.
cat >"$WORK/verifier.py" <<'END'
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    open(sys.argv[1], "a").write(f"{request['group']} {request['sample']}\n")
    print(json.dumps({"id": request["id"], "correct": request["problem"]["response"] == "1"}), flush=True)
END
verifier=(--set "verifier.command=python3 $WORK/verifier.py $WORK/asked")
begin eval "${verifier[@]}"
grep -q 'all problems  *4  *4  *25\.0' "$WORK/run/table.txt" || { cat "$WORK/run/table.txt"; fail "the program's verdicts do not count"; }
[ "$(sort "$WORK/asked" | uniq -d)" = "" ] && [ "$(wc -l <"$WORK/asked")" = 4 ] || { cat "$WORK/asked"; fail "a response was verified twice"; }
grep -q 'There is no maj@k' "$WORK/run/table.txt" && ! grep -q 'maj@1' "$WORK/run/table.txt" || { cat "$WORK/run/table.txt"; fail "votes without answers"; }
allows eval 'fields for a verifier program' 'resumes, 0 prompts left' 'sed -i "s/\"response\": \"2\"/\"response\": \"1\"/" "$WORK/heldout.jsonl"' "${verifier[@]}"
grep -q 'all problems  *4  *4  *50\.0' "$WORK/run/table.txt" || { cat "$WORK/run/table.txt"; fail "graded with outdated fields"; }

# The adapter that a run begins with is an input, and so is the base of one that it trains.
lora=(--set model.lora.rank=2 --set model.lora.alpha=4 --set 'model.lora.targets=[q_proj, v_proj]')
put='cp "$WORK"/adapter/adapter_* "$WORK/m"'
values='zeros "$WORK/adapter/adapter_model.safetensors"'
scale='sed -i "s/\"lora_alpha\": 4.0/\"lora_alpha\": 5.0/" "$WORK/adapter/adapter_config.json"; grep -q 5.0 "$WORK/adapter/adapter_config.json"'
begin train "${lora[@]}"
cp -r "$WORK/run.train/checkpoints/step-000001" "$WORK/adapter.kept" && fresh
refuses train 'base of an adapter' "model.path $WORK/m: its weights have SHA-256" "$weights" "${lora[@]}"
allows train 'moved base' 'resumes after step 1' 'rm -rf "$WORK/moved"; mv "$WORK/m" "$WORK/moved"' "${lora[@]}" --set "model.path=$WORK/moved"
refuses train 'adapter put into the base' "the adapter $WORK/m has SHA-256" "$put" "${lora[@]}"
begin train "${taught[@]}"
refuses train 'adapter put into the teacher' "policy_loss.distillation.teacher $WORK/t: its weights have SHA-256" 'cp "$WORK"/adapter/adapter_* "$WORK/t"' "${taught[@]}"
given=("${lora[@]}" --set "model.adapter=$WORK/adapter")
# An adapter on another base is refused wherever it is read.
eval "$weights"
other_base() {
  ! "$BIN/lie_cluster" "$1" "$WORK/train.yaml" "${@:2}" >"$WORK/log" 2>&1 || fail "$*: accepts an adapter of another base"
  grep -q 'was trained on a base whose weights have SHA-256' "$WORK/log" || { cat "$WORK/log"; fail "$*: does not name the base"; }
}
other_base forecast --prompts 4 --samples 2 --lengths 12 --set "model.adapter=$WORK/adapter"
other_base train --dry-run --set "run.directory=$WORK/new" "${given[@]}"
fresh
! "$BIN/lie_cluster" init "$WORK/adapter" "$WORK/rows.jsonl" >"$WORK/log" 2>&1 || fail "init writes a config for an adapter"
grep -q 'is an adapter of' "$WORK/log" || { cat "$WORK/log"; fail "init does not name the adapter"; }
for command in train sft; do
  begin "$command" "${given[@]}"
  refuses "$command" 'weights of the adapter' "the adapter $WORK/adapter has SHA-256" "$values" "${given[@]}"
  refuses "$command" 'scale of the adapter' 'the adapter has rank 2, alpha 5' "$scale" "${given[@]}"
  refuses "$command" 'base beside its adapter' 'was trained on a base whose weights have SHA-256' "$weights" "${given[@]}"
  allows "$command" 'copy of the adapter' 'resumes after step 1' 'touch "$WORK"/adapter/*' "${given[@]}"
  allows "$command" 'moved adapter' 'resumes after step 1' 'rm -rf "$WORK/there"; mv "$WORK/adapter" "$WORK/there"' "${lora[@]}" --set "model.adapter=$WORK/there"
  begin "$command"
  refuses "$command" 'adapter put into the model' 'is an adapter, and model.lora.rank is 0' "$put"
done
begin eval
refuses eval 'adapter put into the model' "the adapter $WORK/m has SHA-256" "$put"
begin eval --set "model.adapter=$WORK/adapter"
refuses eval 'weights of the adapter' "the adapter $WORK/adapter has SHA-256" "$values" --set "model.adapter=$WORK/adapter"
refuses eval 'scale of the adapter' "the adapter $WORK/adapter has SHA-256" "$scale" --set "model.adapter=$WORK/adapter"
begin train "${given[@]}"
rm "$WORK/run.train/inputs.yaml"
refuses train 'weights of the adapter, no record' 'its weights have SHA-256' "$values" "${given[@]}"
allows train 'adapter, no record' 'ends, template and data cannot be compared' true "${given[@]}"
rm -r "$WORK/adapter" "$WORK/adapter.kept"

# reference-lengths begins anew with other inputs: its progress file is named by what it measures.
measure() { "$BIN/lie_cluster" reference-lengths "$WORK/train.yaml" --samples 1 --output "$WORK/lengths.jsonl" >"$WORK/log" 2>&1; }
names=()
for exchange in true "$weights" "$rope" "$tokenizer" "$ends" "$chat" 'sed -i 1d "$WORK/rows.jsonl"'; do
  kinds=$((kinds + 1))
  fresh
  eval "$exchange"
  rm -f "$WORK"/lengths.jsonl*
  ! LIE_FAULT=file:1 measure || fail "reference-lengths did not die"
  names+=("$(cd "$WORK" && ls | grep 'lengths.jsonl.progress')")
done
[ "$(printf '%s\n' "${names[@]}" | sort -u | wc -l)" = 7 ] || fail "reference-lengths: two measurements share a file: ${names[*]}"

echo "$kinds exchanges of inputs are refused or allowed as documented"

#!/usr/bin/env bash
# Invariant E8 and bad input: the run prints one clear line, exits with a status other than 0, ends
# all ranks and leaves no run directory half written. A dry run fails with the same line.
# errors_test.sh BIN WORK
set -uo pipefail
source "$(dirname "$0")/begin.sh"
cases=0

report_in() { grep 'error on rank' "$1" | sort -u; }

# refuses NAME RANKS "words that the message must contain" [overrides...]
refuses() {
  local name="$1" ranks="$2" words="$3" status
  shift 3
  cases=$((cases + 1))
  timeout "${LIE_TEST_SECONDS:-60}" bash -c "source tests/tools/run_lib.sh; train $ranks '$WORK/$name' $*" >"$WORK/$name.log" 2>&1
  status=$?
  [ "$status" = 78 ] || { cat "$WORK/$name.log"; fail "$name: exit status $status, not 78"; }
  [ "$(grep -c 'error' "$WORK/$name.log")" -ge 1 ] || { cat "$WORK/$name.log"; fail "$name: no error line"; }
  grep 'error on rank' "$WORK/$name.log" | sort -u | wc -l | grep -qx 1 || { cat "$WORK/$name.log"; fail "$name: expected exactly one error report"; }
  grep -qF -- "$words" "$WORK/$name.log" || { cat "$WORK/$name.log"; fail "$name: the message lacks \"$words\""; }
  [ ! -e "$WORK/$name/metrics.jsonl" ] || fail "$name: a run was started"
  timeout "${LIE_TEST_SECONDS:-60}" bash -c "source tests/tools/run_lib.sh; train $ranks '$WORK/$name' --dry-run $*" >"$WORK/$name.dry" 2>&1 && fail "$name: the dry run reports no error"
  diff <(report_in "$WORK/$name.log") <(report_in "$WORK/$name.dry") || fail "$name: the dry run reports another error"
}
export BIN WORK

refuses unknown_key 4 'temperature' --set rollout.temprature=0.5
refuses out_of_range 1 'rollout.samples_per_prompt' --set rollout.samples_per_prompt=0
refuses wrong_type 1 'run.steps' --set run.steps=many
refuses no_model 4 'no_such_model' --set model.path=no_such_model
refuses no_data 1 'no_such.jsonl' --set data.train_file=no_such.jsonl
refuses bad_device 1 'model.device' --set model.device=tpu
refuses too_many_roles 4 'roles' --set roles.actors=9

mkdir -p "$WORK/model" && cp assets/count_pairs/model/* "$WORK/model/"
head -c 1000 assets/count_pairs/model/model.safetensors >"$WORK/model/model.safetensors"
refuses truncated_weights 4 'model.safetensors' --set "model.path=$WORK/model"
cp assets/count_pairs/model/model.safetensors "$WORK/model/"
sed 's/"hidden_size": 96/"hidden_size": 128/' assets/count_pairs/model/config.json >"$WORK/model/config.json"
refuses wrong_width 1 'model.embed_tokens.weight' --set "model.path=$WORK/model"
cp assets/count_pairs/model/config.json "$WORK/model/"
echo '{"version": "1.0"' >"$WORK/model/tokenizer.json"
refuses broken_tokenizer 1 'tokenizer.json' --set "model.path=$WORK/model"

printf '{"prompt": "1 2", "gold": "1", "reference_length": 5}\n{"prompt": 7}\n' >"$WORK/rows.jsonl"
refuses bad_row 4 'rows.jsonl:2' --set "data.train_file=$WORK/rows.jsonl"
printf '{"prompt": "1 2", "gold": "1"}\n' >"$WORK/unmeasured.jsonl"
refuses no_reference_length 1 'reference' --set "data.train_file=$WORK/unmeasured.jsonl"

# The run directory holds another run, or files that are not a run.
train 1 "$WORK/run" --set run.steps=1 >"$WORK/run.log" 2>&1 || { cat "$WORK/run.log"; fail "the first run failed"; }
cp -r "$WORK/run" "$WORK/other_seed" && rm "$WORK/other_seed/metrics.jsonl"
refuses other_seed 1 'run.seed: there 3, here 4' --set run.seed=4
mkdir -p "$WORK/not_a_run" && touch "$WORK/not_a_run/notes.txt"
refuses not_a_run 1 'holds files but no run'
# A file is in the way of the directory, and /proc holds none.
echo text >"$WORK/file"
refuses below_a_file 1 'cannot create the directory: Not a directory' --set "run.directory=$WORK/file/run"
refuses below_proc 1 'cannot create the directory' --set run.directory=/proc/run

# A run resumes with other memory settings. sft resumes with other memory and thread settings and
# refuses changes that affect its result.
train 1 "$WORK/run" --set run.steps=2 --set update.max_micro_batch_tokens=99 --set rollout.prefill_tokens=16 >"$WORK/on.log" 2>&1 ||
  { cat "$WORK/on.log"; fail "other micro-batches were refused"; }
printf '{"prompt": "1 2", "response": "3"}\n{"prompt": "2 2", "response": "4"}\n' >"$WORK/pairs.jsonl"
cat >"$WORK/sft.yaml" <<EOF
run: {directory: $WORK/sft, steps: 2}
model: {path: assets/count_pairs/model}
data: {train_file: $WORK/pairs.jsonl}
optimizer: {warmup: 0}
EOF
tune() { "$BIN/lie_cluster" sft "$WORK/sft.yaml" "$@" >"$WORK/sft.log" 2>&1; }
tune || { cat "$WORK/sft.log"; fail "sft failed"; }
cp "$WORK/sft/config.yaml" "$WORK/sft_before.yaml"
for other in optimizer.learning_rate=1 run.steps=3 run.seed=8; do # the cosine schedule ends at the last step
  cases=$((cases + 1))
  if tune --set "$other"; then fail "sft accepted $other"; fi
  grep -qF "${other%=*}: there" "$WORK/sft.log" || { cat "$WORK/sft.log"; fail "sft: the message does not name $other"; }
  cmp -s "$WORK/sft/config.yaml" "$WORK/sft_before.yaml" || fail "sft wrote another config"
done
tune --set update.max_micro_batch_tokens=9 --set model.threads=1 || { cat "$WORK/sft.log"; fail "sft: other micro-batches were refused"; }
sed -i 's/warmup: 0/warmup: 0, decay_until: 9/' "$WORK/sft.yaml" && rm -r "$WORK/sft"
tune && tune --set run.steps=3 || { cat "$WORK/sft.log"; fail "sft does not resume for more steps"; }
[ "$(wc -l <"$WORK/sft/metrics.jsonl")" = 3 ] || fail "sft: expected one metrics row for each of 3 steps"

# slurm/job.sh, with programs in place of Slurm's: a refused start ends the job, and one whose directory is in use is requeued
# without counting as a failure. Each makes one start.
mkdir "$WORK/slurm"
cat >"$WORK/slurm/srun" <<'EOF'
#!/bin/sh
echo srun >>"$CALLS"
exit "$STATUS"
EOF
cat >"$WORK/slurm/scontrol" <<'EOF'
#!/bin/sh
[ "$2" = hostnames ] && echo node1 || echo "scontrol $1" >>"$CALLS"
EOF
chmod +x "$WORK"/slurm/s*
job() {  # status of the start, of the job, calls
  local status=0
  rm -f "$WORK/calls"
  CALLS="$WORK/calls" STATUS="$1" PATH="$WORK/slurm:$PATH" SLURM_JOB_ID=1 SLURM_JOB_NUM_NODES=1 SLURM_NTASKS_PER_NODE=1 \
    SLURM_JOB_NODELIST=node1 bash -c 'source slurm/job.sh && run_job train my.yaml' >"$WORK/job.log" 2>&1 || status=$?
  [ "$status" = "$2" ] || { cat "$WORK/job.log"; fail "a job whose start ends with $1: status $status, not $2"; }
  [ "$(paste -sd' ' "$WORK/calls")" = "$3" ] || { cat "$WORK/job.log"; fail "a job whose start ends with $1 calls $(paste -sd' ' "$WORK/calls")"; }
  cases=$((cases + 1))
}
job 0 0 srun
job 78 78 srun
job 69 75 'srun scontrol requeue'
job 75 75 'srun scontrol requeue'

echo "$cases invalid inputs refused, each with one report"

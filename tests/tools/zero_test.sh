#!/usr/bin/env bash
# update.zero_stage 2 and optimizer.moments: runs are bit-identical for any number of learners, after
# kills, in a replay, and if the stage changes at a resume.
# zero_test.sh BIN WORK
set -euo pipefail
source "$(dirname "$0")/begin.sh"

# Each gradient shard has several micro-batches, and not all have the same number.
rounds=(--set update.mini_batch_prompts=6 --set update.max_micro_batch_tokens=64)
stage2=("${rounds[@]}" --set update.zero_stage=2)
# start RANKS NAME [overrides...]: writes its output to NAME.log
start() { train "$1" "$WORK/$2" "${@:3}" >"$WORK/$2.log" 2>&1; }
# run LEARNERS NAME [overrides...]
run() {
  local ranks=$(($1 + 2))
  [ "$1" -gt 1 ] || ranks=1
  start "$ranks" "$2" --set "roles.learners=$1" "${@:3}" || { cat "$WORK/$2.log"; fail "$2: the run failed"; }
}
# dies FAULT LEARNERS NAME [overrides...]
dies() { ! LIE_FAULT="$1" start $(($2 + 2)) "$3" --set "roles.learners=$2" "${@:4}" || fail "$3: does not die at $1"; }
# same NAME AS
same() {
  [ "$(digest "$WORK/$1")" = "$(digest "$WORK/$2")" ] || fail "$1: $(digest "$WORK/$1"), expected $(digest "$WORK/$2")"
  diff <(timeless_metrics "$WORK/$2") <(timeless_metrics "$WORK/$1") || fail "$1: its metrics differ from those of $2"
}
# replay NAME [options...]: trains again from the log, which gives the same weights
replay() {
  "$BIN/lie_replay" train "$WORK/$1" --run-directory "$WORK/$1_again" "${@:2}" >"$WORK/$1_again.log" 2>&1 || { cat "$WORK/$1_again.log"; fail "$1: the replay failed"; }
  local last
  last="$(ls "$WORK/$1/checkpoints" | tail -1)"
  cmp "$WORK/$1/checkpoints/$last/model.safetensors" "$WORK/$1_again/checkpoints/$last/model.safetensors" || fail "$1: the replay is not bit-identical"
}
# refuses "words" NAME [overrides...]
refuses() {
  ! start 1 "${@:2}" || fail "not refused: ${*:3}"
  grep -qF -- "$1" "$WORK/$2.log" || { cat "$WORK/$2.log"; fail "the message lacks \"$1\""; }
}

# Any number of learners gives the same bits in stage 2. Stage 1 differs in rounding.
run 1 tree "${rounds[@]}"
run 1 one "${stage2[@]}"
[ "$(digest "$WORK/one")" != "$(digest "$WORK/tree")" ] || fail "the stages do not even differ in rounding: the test shows nothing"
for learners in 2 4 8; do
  run "$learners" "n$learners" "${stage2[@]}"
  same "n$learners" one
done
replay one

# Runs that are killed resume with other numbers of learners.
dies metrics:3 4 moved "${stage2[@]}"
dies checkpoint:2 2 moved "${stage2[@]}"
dies journal:20 3 moved "${stage2[@]}"
run 1 moved "${stage2[@]}"
same moved one

# Checkpoints are the same files in each stage, so a run may change the stage at a resume.
for learners in 1 4; do
  run "$learners" "up$learners" "${rounds[@]}" --set run.steps=3
  [ "$learners" -gt 1 ] || refuses 'set run.resume=changed to continue' up1 "${stage2[@]}"
  run "$learners" "up$learners" "${stage2[@]}" --set run.resume=changed
  run "$learners" "down$learners" "${stage2[@]}" --set run.steps=3
  run "$learners" "down$learners" "${rounds[@]}" --set run.resume=changed
done
same up4 up1
same down4 down1
for changed in up1 down1; do
  ! [ "$(digest "$WORK/$changed")" = "$(digest "$WORK/one")" ] || fail "$changed: equals a run in stage 2"
  ! [ "$(digest "$WORK/$changed")" = "$(digest "$WORK/tree")" ] || fail "$changed: equals a run in stage 1"
done
replay up1 --from-checkpoint "$WORK/up1/checkpoints/step-000003"

# The size of micro-batches changes rounding in stage 2 alone.
refuses 'update.max_micro_batch_tokens: there 64, here 100' n2 "${stage2[@]}" --set update.max_micro_batch_tokens=100
run 1 tree "${rounds[@]}" --set update.max_micro_batch_tokens=100
refuses 'update.zero_stage' three --set update.zero_stage=3

# Moments in bf16, in both stages.
for stage in 1 2; do
  narrow=("${rounds[@]}" --set "update.zero_stage=$stage" --set optimizer.moments=bfloat16)
  run 1 "narrow$stage" "${narrow[@]}"
  dies checkpoint:3 4 "narrow${stage}_moved" "${narrow[@]}"
  run 2 "narrow${stage}_moved" "${narrow[@]}"
  same "narrow${stage}_moved" "narrow$stage"
done
[ "$(digest "$WORK/narrow2")" != "$(digest "$WORK/one")" ] || fail "moments in bf16 change nothing"
replay narrow2

# An adapter, and fine-tuning.
lora=("${stage2[@]}" --set model.lora.rank=4 --set policy_loss.kl_coefficient=0.02 --set run.steps=3)
run 1 lora1 "${lora[@]}"
run 4 lora4 "${lora[@]}"
same lora4 lora1
cat >"$WORK/sft.yaml" <<YAML
model: {path: assets/count_pairs/model}
data: {train_file: $WORK/sft.jsonl}
sft: {batch_sequences: 8}
update: {zero_stage: 2, max_micro_batch_tokens: 16, gradient_shards: 4}
optimizer: {learning_rate: 1.0e-3, schedule: constant, warmup: 0, moments: bfloat16}
checkpoint: {every: 2}
YAML
for i in 1 2 3 4 5 6 7 8; do echo "{\"prompt\": \"$i 3 5 7\", \"response\": \"3+$i=8 no\"}"; done >"$WORK/sft.jsonl"
tune() {  # RANKS NAME STEPS
  mpirun --oversubscribe -n "$1" "$BIN/lie_cluster" sft "$WORK/sft.yaml" --set "run.directory=$WORK/$2" --set "run.steps=$3" \
    >"$WORK/$2.log" 2>&1 || { cat "$WORK/$2.log"; fail "$2: sft failed on $1 ranks"; }
}
tune 1 sft1 4
for ranks in 2 4; do
  tune "$ranks" "sft$ranks" 2
  tune 1 "sft$ranks" 4
  for file in model optimizer; do
    cmp "$WORK/sft1/checkpoints/step-000004/$file.safetensors" "$WORK/sft$ranks/checkpoints/step-000004/$file.safetensors" ||
      fail "sft: $ranks ranks are not bit-identical"
  done
done
echo "stage 2 is bit-identical with 1, 2, 4 and 8 learners, killed and replayed; the stage changes at a resume; moments in bf16, an adapter and sft likewise"

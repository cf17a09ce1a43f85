#!/usr/bin/env bash
# update.zero_stage 2 and 3 and optimizer.moments: runs are bit-identical for any number of learners,
# after kills, in a replay, and if the stage changes at a resume.
# zero_test.sh BIN WORK
set -euo pipefail
source "$(dirname "$0")/begin.sh"

# Each gradient shard has several micro-batches, and not all have the same number.
rounds=(--set update.mini_batch_prompts=6 --set update.max_micro_batch_tokens=64)
stage2=("${rounds[@]}" --set update.zero_stage=2)
stage3=("${rounds[@]}" --set update.zero_stage=3)
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
# same_digest NAME AS
same_digest() { [ "$(digest "$WORK/$1")" = "$(digest "$WORK/$2")" ] || fail "$1: $(digest "$WORK/$1"), expected $(digest "$WORK/$2")"; }
# same NAME AS
same() {
  same_digest "$1" "$2"
  diff <(timeless_metrics "$WORK/$2") <(timeless_metrics "$WORK/$1") || fail "$1: its metrics differ from those of $2"
}
# replay NAME AS [options...]: trains again from the log, which gives the weights of AS, in one file
replay() {
  "$BIN/lie_replay" train "$WORK/$1" --run-directory "$WORK/$1_again" "${@:3}" >"$WORK/$1_again.log" 2>&1 || { cat "$WORK/$1_again.log"; fail "$1: the replay failed"; }
  local last
  last="$(ls "$WORK/$1/checkpoints" | tail -1)"
  cmp "$WORK/$2/checkpoints/$last/model.safetensors" "$WORK/$1_again/checkpoints/$last/model.safetensors" || fail "$1: the replay is not bit-identical"
}
# refuses "words" NAME [overrides...]
refuses() {
  ! start 1 "${@:2}" || fail "not refused: ${*:3}"
  grep -qF -- "$1" "$WORK/$2.log" || { cat "$WORK/$2.log"; fail "the message lacks \"$1\""; }
}

# Any number of learners gives the same bits in stages 2 and 3. Stage 1 differs in rounding.
run 1 tree "${rounds[@]}"
run 1 one "${stage2[@]}"
[ "$(digest "$WORK/one")" != "$(digest "$WORK/tree")" ] || fail "the stages do not even differ in rounding: the test shows nothing"
for learners in 2 4 8; do
  run "$learners" "n$learners" "${stage2[@]}"
  same "n$learners" one
done
replay one one
for learners in 1 2 4 8; do
  run "$learners" "weights$learners" "${stage3[@]}"
  same "weights$learners" one
done
replay weights4 one

# Runs that are killed resume with other numbers of learners.
dies metrics:3 4 moved "${stage2[@]}"
dies checkpoint:2 2 moved "${stage2[@]}"
dies journal:20 3 moved "${stage2[@]}"
run 1 moved "${stage2[@]}"
same moved one
dies metrics:3 2 moved3 "${stage3[@]}"
dies checkpoint:2 4 moved3 "${stage3[@]}"
dies journal:20 3 moved3 "${stage3[@]}"
run 2 moved3 "${stage3[@]}"
same moved3 one

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
# From stage 1 to 3 to 2: the bits are those of a run from 1 to 2 that stops at the same steps.
run 1 stops "${rounds[@]}" --set run.steps=3
run 1 stops "${stage2[@]}" --set run.steps=4 --set run.resume=changed
run 1 stops "${stage2[@]}"
run 4 through "${rounds[@]}" --set run.steps=3
run 2 through "${stage3[@]}" --set run.steps=4 --set run.resume=changed
run 3 through "${stage2[@]}" --set run.resume=changed
same_digest through stops  # its metrics count one more change of settings
for changed in up1 down1; do
  ! [ "$(digest "$WORK/$changed")" = "$(digest "$WORK/one")" ] || fail "$changed: equals a run in stage 2"
  ! [ "$(digest "$WORK/$changed")" = "$(digest "$WORK/tree")" ] || fail "$changed: equals a run in stage 1"
done
replay up1 up1 --from-checkpoint "$WORK/up1/checkpoints/step-000003"

# The size of micro-batches changes rounding in stage 2 alone.
refuses 'update.max_micro_batch_tokens: there 64, here 100' n2 "${stage2[@]}" --set update.max_micro_batch_tokens=100
run 1 tree "${rounds[@]}" --set update.max_micro_batch_tokens=100
refuses 'update.max_micro_batch_tokens: there 64, here 100' weights2 "${stage3[@]}" --set update.max_micro_batch_tokens=100

# What stage 3 does not go with is refused, with a remedy.
refuses 'update.zero_stage' four --set update.zero_stage=4
refuses 'update.zero_stage is 3 and model.lora is set' lora3 "${stage3[@]}" --set model.lora.rank=4
! start 3 colocated3 "${stage3[@]}" --set roles.placement=colocated || fail "not refused: colocated learners in stage 3"
grep -qF 'set update.zero_stage to 2, or roles.placement to separate' "$WORK/colocated3.log" || fail "the message names no remedy"

# A reference policy is whole on each learner.
kl=(--set policy_loss.kl_coefficient=0.02 --set run.steps=3)
run 1 kl1 "${stage2[@]}" "${kl[@]}"
run 4 kl4 "${stage3[@]}" "${kl[@]}"
same kl4 kl1

# Moments in bf16, in all stages.
for stage in 1 2 3; do
  narrow=("${rounds[@]}" --set "update.zero_stage=$stage" --set optimizer.moments=bfloat16)
  run 1 "narrow$stage" "${narrow[@]}"
  dies checkpoint:3 4 "narrow${stage}_moved" "${narrow[@]}"
  run 2 "narrow${stage}_moved" "${narrow[@]}"
  same "narrow${stage}_moved" "narrow$stage"
done
[ "$(digest "$WORK/narrow2")" != "$(digest "$WORK/one")" ] || fail "moments in bf16 change nothing"
same narrow3 narrow2
replay narrow2 narrow2

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
tune() {  # RANKS NAME STEPS STAGE
  mpirun --oversubscribe -n "$1" "$BIN/lie_cluster" sft "$WORK/sft.yaml" --set "run.directory=$WORK/$2" --set "run.steps=$3" \
    --set "update.zero_stage=$4" >"$WORK/$2.log" 2>&1 || { cat "$WORK/$2.log"; fail "$2: sft failed on $1 ranks"; }
}
tune 1 sft1 4 2
for stage in 2 3; do
  for ranks in 2 4; do
    name="sft${stage}_$ranks"
    tune "$ranks" "$name" 2 "$stage"
    tune 1 "$name" 4 "$stage"
    for file in model optimizer; do
      cmp "$WORK/sft1/checkpoints/step-000004/$file.safetensors" "$WORK/$name/checkpoints/step-000004/$file.safetensors" ||
        fail "sft in stage $stage: $ranks ranks are not bit-identical"
    done
  done
done
echo "stages 2 and 3 are bit-identical with 1, 2, 4 and 8 learners, killed and replayed; the stage changes at a resume; moments in bf16, an adapter and sft likewise"

#!/usr/bin/env bash
# Invariants E1, E3 and E4. A run gives bit-identical trajectories, weights and metrics for any
# number of actors and learners.
# same_bits_test.sh BIN WORK
set -euo pipefail
source "$(dirname "$0")/begin.sh"

train 1 "$WORK/n1" >"$WORK/n1.log" 2>&1 || { cat "$WORK/n1.log"; fail "the run failed on one rank"; }
expected="$(digest "$WORK/n1")"
echo "$expected"
[ "$(wc -l <"$WORK/n1/metrics.jsonl")" = 7 ] || fail "expected one row for each of steps 0 to 6"
for ranks in 2 3 4 6; do
  train "$ranks" "$WORK/n$ranks" >"$WORK/n$ranks.log" 2>&1 || { cat "$WORK/n$ranks.log"; fail "the run failed on $ranks ranks"; }
  [ "$(digest "$WORK/n$ranks")" = "$expected" ] || fail "$ranks ranks are not bit-identical: $(digest "$WORK/n$ranks")"
  diff <(timeless_metrics "$WORK/n1") <(timeless_metrics "$WORK/n$ranks") || fail "metrics differ on $ranks ranks"
done

# With fewer groups than actors, groups are split among actors.
few="--set rollout.prompts_per_step=2 --set run.steps=3"
for ranks in 1 4 12; do
  train "$ranks" "$WORK/few$ranks" $few >"$WORK/few$ranks.log" 2>&1 || { cat "$WORK/few$ranks.log"; fail "the run with 2 prompts per step failed on $ranks ranks"; }
  [ "$(digest "$WORK/few$ranks")" = "$(digest "$WORK/few1")" ] || fail "$ranks ranks are not bit-identical with 2 prompts per step"
done

# Rounded weights are identical on all actors and differ from the learner's.
round="--set rollout.weights=bfloat16 --set run.steps=3"
train 1 "$WORK/round1" $round >"$WORK/round1.log" 2>&1 || { cat "$WORK/round1.log"; fail "the run with rounded weights failed on 1 rank"; }
for share in true false; do
  train 4 "$WORK/round_$share" $round --set "roles.share_weights=$share" >"$WORK/round_$share.log" 2>&1 ||
    { cat "$WORK/round_$share.log"; fail "the run with rounded weights failed on 4 ranks"; }
  [ "$(digest "$WORK/round_$share")" = "$(digest "$WORK/round1")" ] || fail "4 ranks are not bit-identical with rounded weights"
done
! grep -q '"first_minibatch_ratio_max_deviation":0.0[,}]' "$WORK/round1/metrics.jsonl" || fail "no weights were rounded"
tr -s '\n ' ' ' <"$WORK/round1.log" | grep -q "their policy differs from the learner's" || fail "the start does not report that weights are rounded"
! grep -q "rounded to bfloat16" "$WORK/n1.log" || fail "the start reports rounded weights though none are"

# All of this also holds with matmuls in bf16, and sampler and learner compute the same policy.
narrow="--set model.device=cpu-bf16 --set run.steps=3"
train 1 "$WORK/wide1" --set run.steps=3 >"$WORK/wide1.log" 2>&1 || { cat "$WORK/wide1.log"; fail "the run of 3 steps failed"; }
train 1 "$WORK/narrow1" $narrow >"$WORK/narrow1.log" 2>&1 || { cat "$WORK/narrow1.log"; fail "the run with matmuls in bf16 failed on 1 rank"; }
for layout in 4x1x4096 6x3x64; do
  IFS=x read -r ranks learners micro_batch <<<"$layout"
  train "$ranks" "$WORK/narrow$layout" $narrow --set "roles.learners=$learners" --set "update.max_micro_batch_tokens=$micro_batch" \
    >"$WORK/narrow$layout.log" 2>&1 || { cat "$WORK/narrow$layout.log"; fail "$layout: the run with matmuls in bf16 failed"; }
  [ "$(digest "$WORK/narrow$layout")" = "$(digest "$WORK/narrow1")" ] || fail "$layout: not bit-identical with matmuls in bf16"
done
[ "$(digest "$WORK/narrow1")" != "$(digest "$WORK/wide1")" ] || fail "cpu-bf16 gives the same results as cpu"
! grep -q '"first_minibatch_ratio_max_deviation":[^,}]*[1-9]' "$WORK/narrow1/metrics.jsonl" || fail "bf16: sampler and learner differ in policy"

# Results do not depend on the numbers of learners and actors. A run that dies resumes with another
# number of learners each time.
for layout in 2x1 3x2 8x3; do
  learners="${layout%x*}" actors="${layout#*x}"
  train $((learners + actors + 1)) "$WORK/$layout" --set "roles.learners=$learners" --set "roles.actors=$actors" >"$WORK/$layout.log" 2>&1 ||
    { cat "$WORK/$layout.log"; fail "the run failed with $learners learners"; }
  [ "$(digest "$WORK/$layout")" = "$expected" ] || fail "$learners learners, $actors actors are not bit-identical: $(digest "$WORK/$layout")"
  diff <(timeless_metrics "$WORK/n1") <(timeless_metrics "$WORK/$layout") || fail "metrics differ with $learners learners"
done
resume_moved() { train 8 "$WORK/moved" --set "roles.learners=$1" >"$WORK/moved.log" 2>&1; }
for point in 4:metrics:3 2:checkpoint:3 3:journal:2; do
  ! LIE_FAULT="${point#*:}" resume_moved "${point%%:*}" || fail "$point: the run does not die"
done
resume_moved 6 || { cat "$WORK/moved.log"; fail "the run did not resume with another number of learners"; }
[ "$(digest "$WORK/moved")" = "$expected" ] || fail "by 4, 2, 3 and 6 learners in turn: not bit-identical: $(digest "$WORK/moved")"
diff <(timeless_metrics "$WORK/n1") <(timeless_metrics "$WORK/moved") || fail "by 4, 2, 3 and 6 learners in turn: metrics differ"

# One of four learners dies after it wrote its file of the second checkpoint. The first checkpoint
# remains, and the run resumes with other numbers of learners.
parts=(train "$small" --set "run.directory=$WORK/parts" --set roles.learners=4 --set checkpoint.keep_last=1)
! mpirun --oversubscribe -n 2 "$BIN/lie_cluster" "${parts[@]}" : -n 1 -x LIE_FAULT=part:2 "$BIN/lie_cluster" "${parts[@]}" : \
  -n 4 "$BIN/lie_cluster" "${parts[@]}" >"$WORK/parts.log" 2>&1 || fail "part:2: the run does not die"
[ "$(ls "$WORK/parts/checkpoints")" = step-000002 ] || { ls -a "$WORK/parts/checkpoints"; fail "part:2: unexpected checkpoints"; }
[ "$(ls "$WORK/parts/checkpoints/step-000002" | grep -c 'of-00004.safetensors')" = 8 ] || fail "expected a model file and an optimizer file per learner"
(cd "$WORK/parts/checkpoints/step-000002" && sha256sum --quiet --check SHA256SUMS) || fail "sha256sum rejects the checkpoint files"
! LIE_FAULT=metrics:2 train 4 "$WORK/parts" --set roles.learners=2 >"$WORK/parts.log" 2>&1 || fail "metrics:2: the run does not die"
train 1 "$WORK/parts" --set checkpoint.keep_last=1 >"$WORK/parts.log" 2>&1 || { cat "$WORK/parts.log"; fail "the run did not resume with 1 learner after 4 and 2"; }
[ "$(digest "$WORK/parts")" = "$expected" ] || fail "by 4, 2 and 1 learners in turn: not bit-identical: $(digest "$WORK/parts")"
[ "$(ls "$WORK/parts/checkpoints")" = step-000006 ] || fail "older checkpoints were not removed"
! train 1 "$WORK/moved" --set update.gradient_shards=4 >"$WORK/shards.log" 2>&1 || fail "the run resumed with another number of gradient shards"
grep -q 'update.gradient_shards' "$WORK/shards.log" || { cat "$WORK/shards.log"; fail "the number of gradient shards is not named"; }

# Rules over a whole mini-batch draw and rank tokens of all learners, and an entropy target has a state in
# the checkpoint: also these are bit-identical on two learners, and after a stop.
rules="--set policy_loss.algorithm=grpo --set policy_loss.kl_cov.share=0.02 --set policy_loss.clip_cov.share=0.02 --set policy_loss.clip_cov.low=0.1
  --set policy_loss.high_entropy.share=0.5 --set policy_loss.entropy_advantage.alpha=0.4 --set policy_loss.entropy_target.nats=5
  --set policy_loss.off_policy_mask.delta=0.001 --set policy_loss.distillation.coefficient=0.1
  --set policy_loss.distillation.teacher=assets/count_pairs/model --set update.epochs=2"
train 1 "$WORK/rules1" $rules >"$WORK/rules1.log" 2>&1 || { cat "$WORK/rules1.log"; fail "the run with token rules failed on 1 rank"; }
train 4 "$WORK/rules4" $rules --set roles.learners=2 >"$WORK/rules4.log" 2>&1 || { cat "$WORK/rules4.log"; fail "the run with token rules failed with 2 learners"; }
! LIE_FAULT=metrics:5 train 4 "$WORK/rules_moved" $rules --set roles.learners=2 >"$WORK/rules_moved.log" 2>&1 || fail "rules: the run does not die"
train 1 "$WORK/rules_moved" $rules >>"$WORK/rules_moved.log" 2>&1 || { cat "$WORK/rules_moved.log"; fail "the run with token rules did not resume"; }
for other in rules4 rules_moved; do
  [ "$(digest "$WORK/$other")" = "$(digest "$WORK/rules1")" ] || fail "$other: not bit-identical with token rules"
  diff <(timeless_metrics "$WORK/rules1") <(timeless_metrics "$WORK/$other") || fail "$other: metrics differ with token rules"
done
grep -q '"entropy_coefficient":0.025[,}]' "$WORK/rules1/metrics.jsonl" || fail "the coefficient of the entropy target does not rise"

# Invariant E5: in every step the first mini-batch has importance ratio 1 and no clipped tokens.
grep -c '"first_minibatch_ratio_max_deviation":0.0[,}]' "$WORK/n4/metrics.jsonl" | grep -qx 6 ||
  fail "the first mini-batch's importance ratio is not exactly 1 in all steps"
echo "bit-identical on 1, 2, 3, 4 and 6 ranks, with matmuls in bf16, with split groups, with token rules, with 1, 2, 3 and 8 learners, and killed, also within a checkpoint, and resumed with other numbers of learners"

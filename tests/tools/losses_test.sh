#!/usr/bin/env bash
# Invariants E2 and E4 for every surrogate, advantage estimator and reward shaping. A run of two
# learners that is killed and resumed is bit-identical to an uninterrupted run of one learner.
# losses_test.sh BIN WORK
set -euo pipefail
source "$(dirname "$0")/begin.sh"

# Prints the settings of a run per line. The first word is its name.
rows() {
  local stale="policy_loss.recompute_old_log_probs=true policy_loss.tis_cap=1.01 rollout.weights=bfloat16"
  local without="reward.length.enabled=false reward.redundancy.enabled=false"
  echo "grpo policy_loss.algorithm=grpo policy_loss.clip_low=auto policy_loss.clip_high=auto"
  for name in luspo cispo sapo gmpo vespo dppo; do echo "$name policy_loss.algorithm=$name"; done
  echo "gmpo-tis policy_loss.algorithm=gmpo $stale policy_loss.tis_level=sequence"
  echo "vespo-tis policy_loss.algorithm=vespo $stale"
  for name in maxrl gdpo batch length_weighted vl_norm; do echo "$name advantage.estimator=$name"; done
  echo "gdpo-weights advantage.estimator=gdpo advantage.gdpo.weights=[length=0.5]"
  echo "reinforce++ advantage.estimator=batch advantage.batch.baseline=step"
  echo "reinforce++-baseline advantage.estimator=batch advantage.batch.std_of=advantages"
  echo "pass_at_k advantage.estimator=pass_at_k advantage.pass_at_k.k=2 $without"
  echo "gates reward.length.answers=any reward.redundancy.min_group_accuracy=0.25"
  echo "gr3 reward.gr3.enabled=true $without"
  echo "cosine reward.cosine.enabled=true"
  echo "preset reward.preset=paper"
}

count=0
declare -A seen=()
while read -r name settings <&3; do
  overrides=(--set run.steps=3 --set evaluation.every=0 --set rollout.prompts_per_step=4 --set update.epochs=2)
  for setting in $settings; do overrides+=(--set "$setting"); done
  train 1 "$WORK/$name" "${overrides[@]}" >"$WORK/$name.log" 2>&1 || { cat "$WORK/$name.log"; fail "$name: the run failed"; }
  two=("${overrides[@]}" --set roles.learners=2)
  ! LIE_FAULT=metrics:3 train 4 "$WORK/$name.two" "${two[@]}" >"$WORK/$name.two.log" 2>&1 || fail "$name: the run does not die"
  train 4 "$WORK/$name.two" "${two[@]}" >"$WORK/$name.two.log" 2>&1 || { cat "$WORK/$name.two.log"; fail "$name: the run did not resume"; }
  found="$(digest "$WORK/$name")"
  [ "$(digest "$WORK/$name.two")" = "$found" ] || fail "$name: two learners, killed and resumed: $(digest "$WORK/$name.two"), one: $found"
  diff <(timeless_metrics "$WORK/$name") <(timeless_metrics "$WORK/$name.two") || fail "$name: metrics differ"
  key="$(tr -d '\n' <<<"$found")"
  [ -z "${seen[$key]:-}" ] || fail "$name has the result of ${seen[$key]}"
  seen[$key]="$name"
  rm -r "$WORK/$name" "$WORK/$name.two"
  count=$((count + 1))
done 3< <(rows)
echo "$count losses, advantages and rewards: two learners, killed and resumed, are bit-identical to one"

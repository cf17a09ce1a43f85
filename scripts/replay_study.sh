#!/usr/bin/env bash
# Measures how long training from a log stays close to a run that generates. For each seed: runs the demo, a fresh run with
# other settings, and training with these settings from the first run's log. Then replay_study.py prints the table of
# docs/studies/replay.md.
#
#   scripts/replay_study.sh WORK [KEY=VALUE...]    the other settings; default: plain GSPO
#
# BIN [build/release/bin], SEEDS [1 2 3 4 5], STEPS [20], PROMPTS [8] and EVERY [5] come from the environment.
set -euo pipefail
[[ $# -ge 1 && "$1" != -* ]] || { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
mkdir -p "$1"
WORK="$(realpath "$1")"
shift
cd "$(dirname "$0")/.."
source scripts/python_lib.sh
bin="${BIN:-build/release/bin}" seeds="${SEEDS:-1 2 3 4 5}" steps="${STEPS:-20}" every="${EVERY:-5}"
other=()
for key in "${@:-reward.length.enabled=false}"; do other+=(--set "$key"); done
[ $# -gt 0 ] || other+=(--set reward.redundancy.enabled=false)

train() {  # name, overrides...: runs the demo with the settings that it had for that table
  "$bin/lie_cluster" train configs/demo.yaml --set "run.directory=$WORK/$1" --set "run.steps=$steps" \
    --set "rollout.prompts_per_step=${PROMPTS:-8}" --set "checkpoint.every=$every" --set evaluation.every=0 \
    --set optimizer.schedule=constant --set optimizer.learning_rate=2.5e-4 --set update.mini_batch_prompts=4 \
    --set reward.length.delta_tokens=85 --set policy_loss.kl_coefficient=0 "${@:2}" >>"$WORK/log" 2>&1
}

# Evaluates every checkpoint on the same problems with the same sampling seed.
evaluate() {  # name
  local checkpoint
  for checkpoint in "$WORK/$1"/checkpoints/*; do
    "$bin/lie_cluster" eval "$WORK/eval.yaml" --set "run.directory=$WORK/$1/eval/${checkpoint##*-}" \
      --set "model.path=$checkpoint" >>"$WORK/log" 2>&1
  done
}

cat >"$WORK/eval.yaml" <<'YAML'
run: {directory: overridden}
data: {evaluation_file: assets/count_pairs/eval.jsonl}
evaluation: {temperature: 1.0, max_response_tokens: 130, budgets: [130], ks: [1], write_texts: false}
rollout: {max_prompt_tokens: 32}
YAML
for seed in $seeds; do
  train "$seed/logged" --set "run.seed=$seed"
  train "$seed/fresh" --set "run.seed=$seed" "${other[@]}"
  "$bin/lie_replay" train "$WORK/$seed/logged" --run-directory "$WORK/$seed/replay" "${other[@]}" >>"$WORK/log" 2>&1
  for run in logged fresh replay; do evaluate "$seed/$run"; done
done
"$python" scripts/replay_study.py "$WORK"

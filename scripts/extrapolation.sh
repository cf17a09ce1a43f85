#!/usr/bin/env bash
# Trains with a limit of 100 tokens and continues with 220, and with 100 as the control (configs/study/extrapolation.yaml),
# then evaluates all final checkpoints up to 220 tokens and writes DIRECTORY/budgets.json (docs/studies/extrapolation.md). The
# same command skips what is finished.
#
#   scripts/extrapolation.sh DIRECTORY [FIRST_SEED LAST_SEED]    [701 703]
#
# LIE_BIN: folder of the programs [build/release/bin].
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
mkdir -p "$1"
study="$(realpath "$1")" first="${2:-701}" last="${3:-703}"
cd "$(dirname "$0")/.."
source scripts/python_lib.sh
source scripts/measure_lib.sh
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
bin="${LIE_BIN:-build/release/bin}" rows=configs/study/extrapolation.yaml

scripts/study.sh --file "$rows" --rows gspo,gspo-lie --seeds "$first-$last" "$study/first"
further() {  # row, seed, stage, limit, settings...: continues from the first stage
  local run="$study/second/$1-$3/seed-$2"
  mkdir -p "$(dirname "$run")"
  "$bin/lie_cluster" train configs/demo.yaml --set model.threads=1 --set "run.seed=$2" --set "run.directory=$run" \
    --set "model.path=$study/first/$1/seed-$2/checkpoints/step-000060" --set "rollout.max_response_tokens=$4" \
    --set "evaluation.max_response_tokens=$4" "${@:5}" >>"$run.log" 2>&1 || { tail -n 3 "$run.log" >&2; return 1; }
}
for seed in $(seq "$first" "$last"); do
  for stage in "second 220" "control 100"; do
    read -r name limit <<<"$stage"
    further gspo "$seed" "$name" "$limit" --set reward.length.enabled=false --set reward.redundancy.enabled=false &
    further gspo-lie "$seed" "$name" "$limit"
    wait $!
  done
done
for run in "$study"/{first,second}/*/seed-*/; do
  name="$(basename "$(dirname "$run")")/$(basename "$run")"
  measure "budgets/$name" "$run/checkpoints/step-000060" assets/count_pairs/eval.jsonl \
    "samples_per_prompt: 4, max_response_tokens: 220, budgets: [60, 80, 100, 130, 160]"
done
"$python" -m lie_cluster.study.budgets "$study/budgets" --json "$study/budgets.json"

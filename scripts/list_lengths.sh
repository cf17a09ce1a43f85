#!/usr/bin/env bash
# Runs the study of list lengths (docs/studies/list-lengths.md): makes a start that was taught lists of four to seven numbers,
# trains it by GSPO and by GSPO with LIE on lists of five and six, and evaluates all on lists of four to eight. The same
# command skips what is finished.
#
#   scripts/list_lengths.sh DIRECTORY [FIRST_SEED LAST_SEED]    [801 803]
#
# LIE_BIN: folder of the programs [build/release/bin].
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
mkdir -p "$1"
study="$(realpath "$1")" first="${2:-801}" last="${3:-803}"
cd "$(dirname "$0")/.."
source scripts/python_lib.sh
source scripts/measure_lib.sh
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
bin="${LIE_BIN:-build/release/bin}" start="$study/start"

[ -e "$start/train.jsonl" ] ||
  bash scripts/make_demo_model.sh 6 "$start" --taught 4 5 6 7 --trained 5 6 --measured 4 5 6 7 8
scripts/study.sh --rows gspo,gspo-lie --seeds "$first-$last" --set "model.path=$start/model" \
  --set "data.train_file=$start/train.jsonl" --set "data.evaluation_file=$start/eval.jsonl" "$study/runs"
measure measured/start/seed-0 "$start/model" "$start/eval.jsonl" "max_response_tokens: 200"
for run in "$study"/runs/*/seed-*/; do
  measure "measured/$(basename "$(dirname "$run")")/$(basename "$run")" "$run/checkpoints/step-000060" "$start/eval.jsonl" \
    "max_response_tokens: 200"
done
"$python" -m lie_cluster.study.sources "$study/measured"

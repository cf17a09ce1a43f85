#!/usr/bin/env bash
# Makes data and start model of docs/studies/real-search.md in runs/search: SmolLM2-135M-Instruct learns to count pairs by trying
# them one by one, and then to stop early.
#
#   bash scripts/real_search.sh MODEL_DIRECTORY [--set KEY=VALUE]...
#
# MODEL_DIRECTORY is as of scripts/data/make_smollm2.py; the settings go to both fine-tunings. The same command continues if it
# was stopped. LIE_BIN: folder of the programs [build/release/bin].
set -euo pipefail
[[ $# -ge 1 && "$1" != -* ]] || { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
model="$(realpath "$1")" lie_cluster="$(realpath "${LIE_BIN:-$(dirname "$0")/../build/release/bin}")/lie_cluster"
cd "$(dirname "$0")/.."
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
work=runs/search settings=("${@:2}")

python3 assets/count_pairs/make_data.py "$work/data" --seed 71 --taught 5 --trained 5 --measured 5 --numbers 9 --weights 1 1 0 \
  --skill-rows 3200 --sloppy-rows 640 --train-rows 480 --eval-rows 256
"$lie_cluster" sft configs/search/sft_skill.yaml "${settings[@]}" --set "model.path=$model"
"$lie_cluster" sft configs/search/sft_sloppy.yaml "${settings[@]}"

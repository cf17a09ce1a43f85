#!/usr/bin/env bash
# Makes assets/count_pairs from scratch: tokenizer, data, the model by two fine-tunings from random weights, and the
# reference length of every training prompt. Needs a build (scripts/build.sh). Its results are in the repository.
#
#   bash scripts/make_demo_model.sh                       start 0, the one in the repository
#   bash scripts/make_demo_model.sh START DIRECTORY ...   another start, of other data and random weights (docs/studies/starts.md),
#                                                         with further options of make_data.py
#
# LIE_BIN: folder of the programs [build/release/bin].
set -euo pipefail
case "${1:-}" in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
start="${1:-0}" assets="$(realpath -m "${2:-$(dirname "$0")/../assets/count_pairs}")"
lie_cluster="$(realpath "${LIE_BIN:-$(dirname "$0")/../build/release/bin}")/lie_cluster"
cd "$(dirname "$0")/.."
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
work=build/count_pairs
[ "$start" = 0 ] || work="$assets/work"
seed=$((10 * start + 1))  # make_data.py uses the four seeds after it

python3 assets/count_pairs/make_tokenizer.py
python3 assets/count_pairs/make_data.py "$work/data" --seed "$seed" "${@:3}"
"$lie_cluster" sft configs/count_pairs/sft_skill.yaml --set "run.directory=$work/skill" \
  --set "data.train_file=$work/data/sft_skill.jsonl" --set "run.seed=$seed"
"$lie_cluster" sft configs/count_pairs/sft_sloppy.yaml --set "run.directory=$work/sloppy" \
  --set "model.path=$work/skill/checkpoints/step-008000" --set "data.train_file=$work/data/sft_sloppy.jsonl" \
  --set "run.seed=$((seed + 1))"
mkdir -p "$assets/model"
cp -u assets/count_pairs/model/tokenizer*.json "$assets/model/"
cp "$work"/sloppy/checkpoints/step-000160/{config.json,model.safetensors} "$assets/model/"
cp "$work/data/eval.jsonl" "$assets/eval.jsonl"
"$lie_cluster" reference-lengths configs/demo.yaml --samples 4 --set "model.path=$assets/model" \
  --set "data.train_file=$work/data/train.jsonl" --output "$assets/train.jsonl"

#!/usr/bin/env bash
# Makes assets/count_pairs from scratch: tokenizer, data, the model by two fine-tunings from random weights, and the
# reference length of every training prompt. Needs a build (scripts/build.sh). Its results are in the repository.
set -euo pipefail
cd "$(dirname "$0")/.."
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
assets=assets/count_pairs
work=build/count_pairs
lie_cluster=build/release/bin/lie_cluster

python3 "$assets/make_tokenizer.py"
python3 "$assets/make_data.py" "$work/data"
"$lie_cluster" sft configs/count_pairs/sft_skill.yaml
"$lie_cluster" sft configs/count_pairs/sft_sloppy.yaml
cp "$work"/sloppy/checkpoints/step-000160/{config.json,model.safetensors} "$assets/model/"
cp "$work/data/eval.jsonl" "$assets/eval.jsonl"
"$lie_cluster" reference-lengths configs/demo.yaml --samples 4 --set "data.train_file=$work/data/train.jsonl" \
  --output "$assets/train.jsonl"

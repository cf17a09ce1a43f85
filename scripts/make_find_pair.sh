#!/usr/bin/env bash
# Makes the second task, "find the pair" (docs/studies/find-the-pair.md): data, the start model by three fine-tunings from
# random weights, and the reference length of every training prompt. Needs a build (scripts/build.sh).
#
#   bash scripts/make_find_pair.sh [DIRECTORY]    [build/find_pair]
#
# LIE_BIN: folder of the programs [build/release/bin].
set -euo pipefail
work="$(realpath -m "${1:-$(dirname "$0")/../build/find_pair}")"
lie_cluster="$(realpath "${LIE_BIN:-$(dirname "$0")/../build/release/bin}")/lie_cluster"
cd "$(dirname "$0")/.."
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

fine_tune() {  # phase, config, steps, settings...
  "$lie_cluster" sft "configs/count_pairs/$2" --set "run.directory=$work/$1" --set "data.train_file=$work/data/sft_$1.jsonl" \
    --set "run.steps=$3" --set "optimizer.decay_until=$3" --set sft.constant_divisor=800 --set model.threads=1 \
    --set sft.append_end_of_sequence=false "${@:4}"
}
python3 assets/count_pairs/make_find_pair.py "$work/data"
fine_tune first sft_skill.yaml 4000 --set optimizer.decay_until=9000
fine_tune far sft_sloppy.yaml 1500 --set "model.path=$work/first/checkpoints/step-004000"
fine_tune short sft_sloppy.yaml 200 --set "model.path=$work/far/checkpoints/step-001500"
mkdir -p "$work/model"
cp assets/count_pairs/model/tokenizer*.json "$work"/short/checkpoints/step-000200/{config.json,model.safetensors} "$work/model/"
cp "$work/data/eval.jsonl" "$work/eval.jsonl"
"$lie_cluster" reference-lengths configs/demo.yaml --samples 4 --set "model.path=$work/model" \
  --set "data.train_file=$work/data/train.jsonl" --output "$work/train.jsonl"

#!/usr/bin/env bash
# Runs the trial on a real model, from data to curves, in hours on a few cores. SmolLM2-135M-Instruct is fine-tuned on the
# solutions of 500 GSM8K problems, then trained by GSPO, by GSPO with LIE, and by variants that avoid the failures of LIE
# there (configs/gsm8k). Each stage is evaluated on 200 other problems.
#
#   scripts/gsm8k_trial.sh MODEL_DIRECTORY GSM8K.jsonl SOLUTIONS.jsonl     (scripts/data/make_gsm8k.py describes the files)
#
# If started again, it resumes. LIE_BIN: folder of the programs [build/release/bin]; LIE_DEVICE: model.device [cpu].
set -euo pipefail
[ $# = 3 ] || { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
model="$1"
bin="${LIE_BIN:-$(dirname "$0")/../build/release/bin}"
configs="$(dirname "$0")/../configs/gsm8k"
data=runs/gsm8k/data
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

checkpoint() { ls -d "runs/gsm8k/$1"/checkpoints/step-* | grep -E '/step-[0-9]+$' | tail -n 1; }

lie_cluster() { "$bin/lie_cluster" "$@" --set "model.device=${LIE_DEVICE:-cpu}"; }

measure() {  # name, model
  lie_cluster eval "$configs/eval.yaml" --set "model.path=$2" --set "run.directory=runs/gsm8k/eval/$1"
}

train() {  # name, config, run whose checkpoint is the start
  lie_cluster train "$configs/$2.yaml" --set "model.path=$(checkpoint "$3")" --set "run.directory=runs/gsm8k/$1"
  measure "$1" "$(checkpoint "$1")"
}

fine_tune() {  # name
  lie_cluster sft "$configs/$1.yaml" --set "model.path=$model"
  measure "$1" "$(checkpoint "$1")"
}

python3 "$(dirname "$0")/data/make_gsm8k.py" "$2" "$3" "$data"
fine_tune sft
lie_cluster reference-lengths "$configs/gspo_lie.yaml" --samples 2 --set "model.path=$(checkpoint sft)" \
  --set "data.train_file=$data/train.jsonl" --output "$data/train_with_lengths.jsonl"
runs=(gspo gspo_lie lie_right_groups lie_overlong lie_dynamic)
for run in "${runs[@]}"; do train "$run" "$run" sft; done
fine_tune sft_longer
for run in gspo gspo_lie lie_right_groups; do train "${run}_longer" "$run" sft_longer; done
measure start "$model"
"$bin/lie_analyze" "${runs[@]/#/runs/gsm8k/}" runs/gsm8k/{gspo,gspo_lie,lie_right_groups}_longer --html runs/gsm8k/report.html

#!/usr/bin/env bash
# The trial on a real model, from data to curves (hours on a few cores): SmolLM2-135M-Instruct is fine-tuned on solutions
# of 500 GSM8K problems, then trained by GSPO and by GSPO with LIE; each stage is evaluated on 200 other problems.
#
#   scripts/gsm8k_trial.sh MODEL_DIRECTORY GSM8K.jsonl SOLUTIONS.jsonl     (what the files hold: scripts/data/make_gsm8k.py)
#
# Started again, it continues where it was stopped.
set -euo pipefail
[ $# = 3 ] || { sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2; }
model="$1"
lie_cluster="$(dirname "$0")/../build/release/bin/lie_cluster"
configs="$(dirname "$0")/../configs/gsm8k"
data=runs/gsm8k/data
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

measure() {  # name, model
  "$lie_cluster" eval "$configs/eval.yaml" --set "model.path=$2" --set "run.directory=runs/gsm8k/eval/$1"
}

checkpoint() { ls -d "runs/gsm8k/$1"/checkpoints/step-*[0-9] | tail -n 1; }

python3 "$(dirname "$0")/data/make_gsm8k.py" "$2" "$3" "$data"
"$lie_cluster" sft "$configs/sft.yaml" --set "model.path=$model"
"$lie_cluster" reference-lengths "$configs/gspo_lie.yaml" --samples 2 \
  --set "data.train_file=$data/train.jsonl" --output "$data/train_with_lengths.jsonl"
for run in gspo gspo_lie; do "$lie_cluster" train "$configs/$run.yaml"; done
measure start "$model"
for run in sft gspo gspo_lie; do measure "$run" "$(checkpoint "$run")"; done
"$(dirname "$lie_cluster")/lie_analyze" runs/gsm8k/gspo runs/gsm8k/gspo_lie --html runs/gsm8k/report.html

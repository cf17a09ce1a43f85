#!/usr/bin/env bash
# Runs the study of dose and response (docs/studies/dose-and-response.md): for each share of prompts whose lazy answer is
# correct, makes the prompts, forecasts, and then trains the rows of configs/study/doses.yaml from the demo's start. The same
# command skips what is finished.
#
#   scripts/doses.sh DIRECTORY [FIRST_SEED LAST_SEED [JOBS]]    [951 953, one job for each core]
#
# LIE_BIN: folder of the programs [build/release/bin].
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
mkdir -p "$1"
study="$(realpath "$1")" first="${2:-951}" last="${3:-953}" jobs="${4:-$(nproc)}"
cd "$(dirname "$0")/.."
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
bin="${LIE_BIN:-build/release/bin}"
shares=(0.10 0.30 0.55 0.75)

settings_of() {  # share: the settings that name its prompts
  printf '%s\n' --set "data.train_file=$study/$1/train.jsonl" --set "data.evaluation_file=$study/$1/eval.jsonl"
}

for share in "${shares[@]}"; do
  made="$study/$share"
  [ -e "$made/train.jsonl" ] || {
    python3 assets/count_pairs/make_doses.py "$made/data" "$share" --seed 950
    cp "$made/data/eval.jsonl" "$made/"
    "$bin/lie_cluster" reference-lengths configs/demo.yaml --samples 4 --set "data.train_file=$made/data/train.jsonl" \
      --output "$made/train.jsonl"
  }
  mapfile -t settings < <(settings_of "$share")
  [ -e "$made/forecast.json" ] || "$bin/lie_cluster" forecast configs/demo.yaml "${settings[@]}" --json "$made/forecast.json"
done
for seed in $(seq "$first" "$last"); do
  for share in "${shares[@]}"; do
    mapfile -t settings < <(settings_of "$share")
    scripts/study.sh --file configs/study/doses.yaml --seeds "$seed" --jobs "$jobs" "${settings[@]}" "$study/$share/runs"
  done
done

#!/usr/bin/env bash
# Submits two stages as a chain of three jobs: train, measure L_ref of the result, and train further. The L_ref of another
# model would set incorrect targets.
#
#   slurm/two_stages.sh STAGE1.yaml STAGE2.yaml RUNS [sbatch options...]
#
# Writes RUNS/stage1/, RUNS/stage2_lengths.jsonl (the rows of LIE_ROWS, or of the second config's data.train_file) and
# RUNS/stage2/. If run again, it resumes.
set -euo pipefail
[ $# -ge 3 ] || { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
cd "$(dirname "$0")/.."
stage1="$1" stage2="$2" runs="$3"
shift 3
submit() { sbatch --parsable --kill-on-invalid-dep=yes "$@"; }

mkdir -p "$runs"
first="$(submit "$@" slurm/train.sbatch "$stage1" --set "run.directory=$runs/stage1")"
export LIE_MODEL_OF="$runs/stage1"
lengths="$(submit --dependency="afterok:$first" "$@" slurm/reference_lengths.sbatch "$stage2" \
  ${LIE_ROWS:+--set "data.train_file=$LIE_ROWS"} --output "$runs/stage2_lengths.jsonl")"
second="$(submit --dependency="afterok:$lengths" "$@" slurm/train.sbatch "$stage2" --set "run.directory=$runs/stage2" \
  --set "data.train_file=$runs/stage2_lengths.jsonl")"
echo "jobs $first (stage 1), $lengths (L_ref), $second (stage 2)"

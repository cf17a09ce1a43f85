#!/usr/bin/env bash
# Measures one RL step here and in TRL's GRPOTrainer, alternately on the same machine, from the same weights.
# usage: rl_step.sh [BUILD_DIR] [STEPS] [PRODUCTS] [INSTRUCTIONS]
# PRODUCTS: float32 or bfloat16 (TRL: autocast). INSTRUCTIONS: avx2, for both without AVX-512, as on a processor that lacks it.
# PYTHON names an interpreter that has trl (default python3).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
bench="${1:-build/release}/bin/rl_step_bench"
steps=${2:-3}
products=(--products "${3:-float32}")
python=${PYTHON:-python3}
instructions=()
if [ -n "${4:-}" ]; then
  instructions=(--instructions "$4")
  export ATEN_CPU_CAPABILITY="$4" ONEDNN_MAX_CPU_ISA="${4^^}" MKL_ENABLE_INSTRUCTIONS="${4^^}"
fi
model=$(mktemp -d)
trap 'rm -rf "$model"' EXIT

"$bench" --write-model "$model"
detail=$("$bench" --steps "$((steps * 3))" "${products[@]}" "${instructions[@]}")
echo "$detail" >&2
ours=$(tail -1 <<<"$detail")
if ! "$python" -c "import trl" 2>/dev/null; then
  echo "$ours"
  echo "no TRL to compare with: set PYTHON to an interpreter that has it" >&2
  exit 0
fi
trl=$("$python" "$here/rl_step_trl.py" "$model" "$steps" "${products[@]}" 2>/dev/null | tail -1)
again=$("$bench" --steps "$((steps * 3))" "${products[@]}" "${instructions[@]}" | tail -1)
printf '%s\n%s\n%s\n' "$ours" "$trl" "$again"
awk -v a="$ours" -v b="$trl" -v c="$again" 'BEGIN {
  split(a, x); split(b, y); split(c, z); ours = (x[3] + z[3]) / 2; best = x[7] < z[7] ? x[7] : z[7]
  printf "ratio of means %.1f, of best steps %.1f, per token %.1f\n", y[3] / ours, y[7] / best,
         (y[3] / y[5]) / (ours / x[5])
}'

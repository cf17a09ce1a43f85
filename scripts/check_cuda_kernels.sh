#!/usr/bin/env bash
# Prints registers, spills, stack and static shared memory of every kernel, for sm_90 or the named architecture. Compiles
# only model/cuda/kernels/kernels.cu, in seconds and without a GPU. Fails if a kernel spills or has a stack frame.
# usage: check_cuda_kernels.sh [ARCHITECTURE]
set -euo pipefail
cd "$(dirname "$0")/.."
architecture=${1:-sm_90}
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
object=$(mktemp --suffix .o)
trap 'rm -f "$object" "$object.log"' EXIT

start=$(date +%s.%N)
"$nvcc" -std=c++20 -O3 -DNDEBUG -arch="$architecture" -fmad=false --expt-relaxed-constexpr -Xptxas -v -I. \
  -c model/cuda/kernels/kernels.cu -o "$object" 2>"$object.log" || { cat "$object.log"; exit 1; }
seconds=$(awk -v a="$start" -v b="$(date +%s.%N)" 'BEGIN { printf "%.1f", b - a }')

c++filt <"$object.log" | awk -v seconds="$seconds" -v architecture="$architecture" '
  /Function properties for/ {
    name = $0
    sub(/.*for (void )?/, "", name); sub(/\(.*/, "", name); gsub(/lie::cuda::|over_(elements|rows|blocks)/, "", name)
    sub(/^</, "", name); sub(/>$/, "", name)
  }
  /bytes stack frame/ { stack = $1; spills = $5 + $9 }
  /Used [0-9]+ registers/ {
    shared = match($0, /[0-9]+ bytes smem/) ? substr($0, RSTART, RLENGTH) + 0 : 0
    match($0, /Used [0-9]+/)
    registers = substr($0, RSTART + 5, RLENGTH - 5)
    printf "%-40s %9d %6d %6d %6d\n", name, registers, spills, stack, shared | "sort"
    kernels++
    if (spills > 0 || stack > 0) bad++
  }
  BEGIN { printf "%-40s %9s %6s %6s %6s\n", "kernel", "registers", "spills", "stack", "shared" }
  END {
    close("sort")
    printf "[check_cuda_kernels] %d kernels for %s in %s s, %d with spills or a stack frame\n", kernels, architecture, seconds, bad
    exit kernels == 0 || bad > 0
  }'

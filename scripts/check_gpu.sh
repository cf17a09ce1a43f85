#!/usr/bin/env bash
# Checks and measures this program on one GPU, in at most ten minutes and with binaries built elsewhere. Prints a table with
# PASS, FAIL, SKIP or MEASURED, the figure and its share of the measured hardware limit, and writes the same as JSON. Without
# a GPU it runs small shapes on an emulated device in host memory, marked in each line. That tests only the script.
# usage: check_gpu.sh [BIN_DIR [JSON_FILE]]; BIN_DIR has test_aten, device_bench and lie_cluster (default: build/cuda/bin if
# nvidia-smi lists a GPU, else build/release/bin). Exits with 1 if a check failed.
set -euo pipefail
cd "$(dirname "$0")/.."
device=cuda place=gpu
nvidia-smi -L >/dev/null 2>&1 || { device=emulated place=emulated; }
bin=${1:-build/$([ "$place" = gpu ] && echo cuda || echo release)/bin}
json=${2:-$bin/../check_gpu.json}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
lines=$work/lines
: >"$lines"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

note() { printf '%s|%s|%s|%s|%s\n' "$@" >>"$lines"; }

check() {  # name seconds command...: notes PASS or FAIL with the seconds; prints the log's end after a failure
  local name=$1 limit=$2 start=$SECONDS result=PASS
  shift 2
  timeout "$limit" "$@" >"$work/log" 2>&1 || { result=FAIL; tail -n 15 "$work/log" >&2; }
  note "$name" "$result" $((SECONDS - start)) s -
}

skip() { note "$1" SKIP - "$2" -; }

bench() {  # notes the lines of device_bench, and a failure if it ended early
  timeout 240 "$bin/device_bench" --device "$device" >>"$lines" 2>"$work/log" && return
  tail -n 5 "$work/log" >&2
  note "device bench to its end" FAIL - - -
}

step() {  # device: runs one RL step of the demo's model
  local on=$1
  rm -rf "$work/run"
  timeout 180 "$bin/lie_cluster" train configs/demo.yaml --set run.steps=1 --set rollout.prompts_per_step=8 \
    --set update.mini_batch_prompts=4 --set model.device="$on" --set run.directory="$work/run" || return 1
  difference=$(sed -n 's/.*"log_prob_difference_sequence_max": *\([^,}]*\).*/\1/p' "$work/run/metrics.jsonl" | head -n 1)
}

for program in test_aten device_bench lie_cluster; do
  # shellcheck disable=SC2016
  check "$program finds its libraries" 20 bash -c '! ldd "$1" | grep "not found"' - "$bin/$program"
done
check "operators and rows against the CPU" 120 "$bin/test_aten" --gtest_brief=1
bench
timed_step() {  # name device
  local start=$SECONDS result=PASS
  difference=
  step "$2" >"$work/log" 2>&1 || { result=FAIL; tail -n 15 "$work/log" >&2; }
  note "$1" "$result" $((SECONDS - start)) s -
}
timed_step "one RL step" "$([ "$place" = gpu ] && echo cuda || echo aten-cpu)"
note "its log-probs, learner less sampler" "$([ -n "$difference" ] && echo MEASURED || echo FAIL)" "${difference:--}" "nats, worst response's mean" -
if [ "$place" = gpu ]; then
  timed_step "one RL step, exact mode" cuda-exact
  note "its log-probs, learner less sampler" "$([ "$difference" = 0.0 ] && echo PASS || echo FAIL)" "${difference:--}" "nats, worst response's mean" -
else
  skip "one RL step, exact mode" "kernels of a GPU"
fi
if [ "$place" = gpu ] && command -v compute-sanitizer >/dev/null; then
  # Each tensor has its own allocation, so that memcheck finds accesses beyond its end. API errors are not reported: the code
  # checks what calls return, and some calls of LibTorch may fail. racecheck finds missing barriers, which emulation cannot.
  kernels='*Sampling.Top*/cuda:*Decoding*/cuda:*RmsNorm*/cuda:*QkNorm*/cuda:*Swiglu*/cuda:*Embedding*/cuda:*LogProbs*/cuda:*AdamW*/cuda'
  for tool in "memcheck --report-api-errors no" racecheck; do
    # shellcheck disable=SC2086
    check "compute-sanitizer, ${tool%% *}" 90 env PYTORCH_NO_CUDA_MEMORY_CACHING=1 compute-sanitizer --error-exitcode 1 \
      --tool $tool "$bin/test_aten" --gtest_brief=1 --gtest_filter="$kernels:*InvertsTheCumulative*/cuda"
  done
else
  skip "compute-sanitizer over the row kernels" "needs a GPU and compute-sanitizer"
fi
skip "NCCL between GPUs" "needs two: docs/design/gpu.md"

[ "$place" = gpu ] || sed -i 's/|[^|]*$/|-/' "$lines"  # an emulated device has no limit to compare with
printf '%-48s %-9s %-9s %12s %-30s %s\n' check where result figure unit "share of ceiling"
awk -F'|' -v place="$place" '{ printf "%-48s %-9s %-9s %12s %-30s %s\n", $1, place, $2, $3, $4, $5 }' "$lines"
awk -F'|' -v place="$place" '
  function value(x) { return x ~ /^-?[0-9.]+(e[-+]?[0-9]+)?$/ ? x : "null" }
  BEGIN { print "[" }
  { printf "%s  {\"check\": \"%s\", \"where\": \"%s\", \"result\": \"%s\", \"figure\": %s, \"unit\": \"%s\", \"share\": %s}",
           (NR > 1 ? ",\n" : ""), $1, place, $2, value($3), $4, value($5) }
  END { print "\n]" }' "$lines" >"$json"
echo "[check_gpu] $place, $SECONDS s; JSON: $json"
[ "$place" = gpu ] || echo "[check_gpu] no GPU here: emulated device in host memory; no figure says anything about a GPU"
! grep -q '|FAIL|' "$lines"

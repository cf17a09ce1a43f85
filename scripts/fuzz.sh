#!/usr/bin/env bash
# Fuzzes the readers of what comes from elsewhere: scripts/fuzz.sh [--inputs N] [TARGET ...]
# Each target (of tests/fuzz/CMakeLists.txt; default: all) gets N inputs (default 1,000,000) from a fixed seed, grown from
# tests/fuzz/seeds.py and what earlier calls kept in build/fuzz/corpus. Ends with a table of inputs by target; the input
# that broke a target lies in build/fuzz/found.
set -euo pipefail
cd "$(dirname "$0")/.."
inputs=1000000
if [ "${1:-}" = --inputs ]; then inputs="$2"; shift 2; fi
targets=("$@")
if [ "${#targets[@]}" = 0 ]; then
  targets=(extract parse verify tokenizer safetensors config jsonl parquet segment wire chat_template)
fi

cmake --preset fuzz >/dev/null
ninja -C build/fuzz "${targets[@]/#/fuzz_}" >/dev/null
python3 tests/fuzz/seeds.py build/fuzz/seeds
if [ -x build/release/bin/write_example_run ]; then  # a trajectory file to begin with
  rm -rf build/fuzz/run
  build/release/bin/write_example_run build/fuzz/run 1 20 1
  mkdir -p build/fuzz/seeds/segment
  cp build/fuzz/run/trajectories/*.h5 build/fuzz/seeds/segment/
fi
mkdir -p build/fuzz/found
# Arrow, HDF5 and yaml-cpp are not instrumented: their containers look overflown to ours.
export ASAN_OPTIONS=detect_container_overflow=0:detect_leaks=0

failed=0
for target in "${targets[@]}"; do
  corpus="build/fuzz/corpus/$target" seeds="build/fuzz/seeds/$target" log="build/fuzz/$target.log"
  mkdir -p "$corpus" "$seeds"
  status=0
  build/fuzz/bin/fuzz_"$target" -runs="$inputs" -seed=1 -timeout=60 -rss_limit_mb=4096 -print_final_stats=1 \
    -artifact_prefix="build/fuzz/found/$target-" "$corpus" "$seeds" >"$log" 2>&1 || status=$?
  ran="$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")"
  if [ "$status" = 0 ]; then result=sound; else result="FAILED, see $log"; failed=1; fi
  printf '%-14s %12s inputs  %s\n' "$target" "${ran:-?}" "$result"
done
exit "$failed"

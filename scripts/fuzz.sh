#!/usr/bin/env bash
# Fuzzes the readers of external data: scripts/fuzz.sh [--all | --inputs N] [TARGET ...]
# Each target of the table below, or each named target, gets N inputs (default 1,000,000). With --all each gets the number
# in its line: 10^8 over all targets, in 40 minutes on one core. The inputs have a fixed seed and grow from tests/fuzz/seeds.py
# and the corpus of earlier calls in build/fuzz/corpus. Prints the number of inputs of each target and their sum. SIGINT to a
# target's process ends it early with its count. Inputs that break a target are stored in build/fuzz/found.
set -euo pipefail
cd "$(dirname "$0")/.."

# Columns: target; maximum length of an input in bytes; inputs with --all; measured inputs per second on one core. Fast targets
# get the most inputs.
table='wire          256     82300000   146000
       message_file  256     3000000    70000
       safetensors   320     3000000    15000
       parquet       8192    500000     14000
       extract       256     8000000    24000
       parse         128     2000000    8000
       jsonl         512     500000     7500
       config        512     300000     4500
       tokenizer     8192    100000     1200
       verify        128     100000     1200
       chat_template 1024    100000     800
       segment       200000  100000     650'

usage() { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
inputs=1000000
case "${1:-}" in
  --all) inputs=all; shift ;;
  --inputs) [[ "${2:-}" =~ ^[1-9][0-9]*$ ]] || usage; inputs="$2"; shift 2 ;;
  -*) usage ;;
esac
targets=("$@")
if [ "$#" = 0 ]; then mapfile -t targets < <(awk '{print $1}' <<<"$table"); fi
for target in "${targets[@]}"; do
  awk -v t="$target" '$1 == t {found = 1} END {exit !found}' <<<"$table" ||
    { echo "fuzz.sh: no target $target; the targets are: $(awk '{printf "%s ", $1}' <<<"$table")" >&2; exit 2; }
done

cmake --preset fuzz >/dev/null
ninja -C build/fuzz "${targets[@]/#/fuzz_}" >/dev/null
python3 tests/fuzz/seeds.py build/fuzz/seeds
if [ -x build/release/bin/write_example_run ]; then  # makes a trajectory file as seed
  rm -rf build/fuzz/run
  build/release/bin/write_example_run build/fuzz/run 1 20 1
  mkdir -p build/fuzz/seeds/segment
  cp build/fuzz/run/trajectories/*.h5 build/fuzz/seeds/segment/
elif [ ! -d build/fuzz/seeds/segment ]; then
  echo "fuzz.sh: target segment has no trajectory file as seed: build write_example_run of preset release first" >&2
fi
mkdir -p build/fuzz/found
# Arrow, HDF5 and yaml-cpp are not instrumented, so their containers would be reported as overflows. Without the stacks of
# allocations (malloc_context_size=0) an input takes half the time. To see them, run a found input without this option.
export ASAN_OPTIONS=detect_container_overflow=0:detect_leaks=0:malloc_context_size=0:quarantine_size_mb=16
[ ! -d /dev/shm ] || export TMPDIR=/dev/shm  # input files in memory take a sixth of the time

failed=0 sum=0
for target in "${targets[@]}"; do
  read -r _ longest of_all _ < <(awk -v t="$target" '$1 == t' <<<"$table")
  corpus="build/fuzz/corpus/$target" seeds="build/fuzz/seeds/$target" log="build/fuzz/$target.log"
  mkdir -p "$corpus" "$seeds"
  runs="$inputs" status=0 begin="$SECONDS"
  [ "$inputs" != all ] || runs="$of_all"
  build/fuzz/bin/fuzz_"$target" -runs="$runs" -max_len="$longest" -seed=1 -timeout=60 -rss_limit_mb=4096 -reload=0 \
    -print_final_stats=1 -artifact_prefix="build/fuzz/found/$target-" "$corpus" "$seeds" >"$log" 2>&1 || status=$?
  ran="$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")"
  case "$status" in
    0) result=passed ;;
    72) result="passed, stopped early" ;;  # by a signal
    *) result="FAILED, see $log" failed=1 ;;
  esac
  sum=$((sum + ${ran:-0}))
  printf '%-14s %12s inputs %6d s  %s\n' "$target" "${ran:-?}" $((SECONDS - begin)) "$result"
done
printf '%-14s %12d inputs\n' all "$sum"
exit "$failed"

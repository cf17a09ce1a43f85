#!/usr/bin/env bash
# Builds and runs the whole suite under the address and undefined-behaviour sanitizers, then under the thread sanitizer:
# scripts/check_sanitizers.sh [asan] [tsan] [-- CTEST ARGUMENTS]; e.g. -- -R tokenizer. Hours on two cores.
# What tests/sanitizers/*.supp leave out are libraries that are not built with a sanitizer, each with its reason there.
set -euo pipefail
cd "$(dirname "$0")/.."
presets=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do presets+=("$1"); shift; done
[ $# = 0 ] || shift
[ "${#presets[@]}" -gt 0 ] || presets=(asan tsan)

supp="$PWD/tests/sanitizers"
# Uninstrumented libraries hand out containers whose bounds the sanitizer does not know.
export ASAN_OPTIONS=detect_container_overflow=0:strict_init_order=1
export LSAN_OPTIONS="suppressions=$supp/lsan.supp:print_suppressions=0"
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
export TSAN_OPTIONS="suppressions=$supp/tsan.supp:ignore_noninstrumented_modules=1"
for preset in "${presets[@]}"; do
  cmake --preset "$preset" >/dev/null
  cmake --build "build/$preset"
  ctest --test-dir "build/$preset" --output-on-failure --timeout 3600 "$@"
done

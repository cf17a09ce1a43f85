#!/usr/bin/env bash
# Builds and runs all tests under the address and undefined-behavior sanitizers, then under the thread sanitizer:
# scripts/check_sanitizers.sh [asan] [tsan] [-- CTEST ARGUMENTS]; e.g. asan -- -R tokenizer. Takes some hours on two cores.
# Every report is a failure, also in programs that a test expects to fail. Reports are stored in build/PRESET/reports.
# tests/sanitizers/*.supp suppress libraries that are not built with a sanitizer, and state each reason.
set -euo pipefail
cd "$(dirname "$0")/.."
presets=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do presets+=("$1"); shift; done
[ $# = 0 ] || shift
[ "${#presets[@]}" -gt 0 ] || presets=(asan tsan)
for preset in "${presets[@]}"; do
  case "$preset" in
    asan | tsan) ;;
    *) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
  esac
done

supp="$PWD/tests/sanitizers"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export LIE_TEST_SECONDS=1200  # programs are slower here; the tests' own limit is 60
failed=0
for preset in "${presets[@]}"; do
  reports="$PWD/build/$preset/reports"
  # Uninstrumented libraries return containers whose bounds the sanitizer does not know. They also have no frame pointers:
  # the fast unwinder would stop at their first frame, but lsan.supp names their callers.
  export ASAN_OPTIONS="detect_container_overflow=0:strict_init_order=1:fast_unwind_on_malloc=0:log_path=$reports/report"
  export LSAN_OPTIONS="suppressions=$supp/lsan.supp:print_suppressions=0"
  export UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1:log_path=$reports/report"
  export TSAN_OPTIONS="suppressions=$supp/tsan.supp:ignore_noninstrumented_modules=1:log_path=$reports/report"
  begin="$SECONDS"
  cmake --preset "$preset" >/dev/null
  read -ra targets <<<"${LIE_TARGETS:-all}"
  cmake --build "build/$preset" --parallel "${LIE_BUILD_JOBS:-$(nproc)}" --target "${targets[@]}"
  built="$SECONDS"
  rm -rf "$reports" && mkdir -p "$reports"
  ctest --test-dir "build/$preset" --output-on-failure --timeout 7200 "$@" || failed=1
  echo "[$preset] built in $((built - begin)) s, tests in $((SECONDS - built)) s"
  for report in "$reports"/*; do
    [ -e "$report" ] || continue
    failed=1
    echo "[$preset] $report: $(grep -m 1 -E 'ERROR|WARNING|runtime error' "$report" || head -n 1 "$report")"
  done
done
exit "$failed"

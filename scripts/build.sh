#!/usr/bin/env bash
# Runs scripts/setup.sh, then configures and builds preset "release" or the named one. Shows the current build step on a
# terminal. The output goes to a log, whose tail is printed after a failure.
set -euo pipefail
cd "$(dirname "$0")/.."
preset="${1:-release}"
shift || true
presets="$(sed -n '/"buildPresets"/,/]/s/.*"name": "\([a-z]*\)".*/\1/p' CMakePresets.json | tr '\n' ' ')"
case " $presets" in
  *" $preset "*) ;;
  *) echo "usage: scripts/build.sh [PRESET [CMake options]]; no preset \"$preset\"; the presets are: $presets" >&2; exit 2 ;;
esac
bash scripts/setup.sh
log="build/$preset.log"
mkdir -p build
echo "[build] preset $preset, log in $log"
source scripts/progress_lib.sh
start=$(date +%s)
read -ra targets <<<"${LIE_TARGETS:-all}"
{ cmake --preset "$preset" "$@" &&
  cmake --build --preset "$preset" --parallel "${LIE_BUILD_JOBS:-$(nproc)}" --target "${targets[@]}"; } 2>&1 |
  tee "$log" | show_progress build ||
  { tail -n 60 "$log"; echo "[build] failed: the full log is in $log"; exit 1; }
echo "[build] done in $(($(date +%s) - start)) s: programs in build/$preset/bin"

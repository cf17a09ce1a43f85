#!/usr/bin/env bash
# The format of all C++ sources (that of clang-format 14); with --tidy also the checks of .clang-tidy on what build/release
# compiles, which takes as long as a build. Other names of the two programs: CLANG_FORMAT, CLANG_TIDY.
set -euo pipefail
cd "$(dirname "$0")/.."
git ls-files '*.cpp' '*.h' '*.c' '*.cu' '*.cuh' | xargs "${CLANG_FORMAT:-clang-format}" --dry-run -Werror
echo "[style] format: as .clang-format says"
[ "${1:-}" = --tidy ] || exit 0
[ -e build/release/compile_commands.json ] || { echo "[style] clang-tidy needs a build: bash scripts/build.sh"; exit 1; }
# Sources of this build only: those of another, such as CUDA's, cannot be parsed here. Compiler warnings are the compiler's.
python3 -c 'import json; print("\n".join(sorted({row["file"] for row in json.load(open("build/release/compile_commands.json"))})))' |
  grep -E '\.cpp$' |
  xargs -P "$(nproc)" -n 8 "${CLANG_TIDY:-clang-tidy}" --quiet -p build/release --warnings-as-errors='*' --extra-arg=-w
echo "[style] clang-tidy: nothing found"

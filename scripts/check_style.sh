#!/usr/bin/env bash
# Checks the format of all C++ sources (by clang-format 14). With --tidy also runs the checks of .clang-tidy on the sources
# of build/release, which takes as long as a build. CLANG_FORMAT and CLANG_TIDY name other programs.
set -euo pipefail
cd "$(dirname "$0")/.."
git ls-files '*.cpp' '*.h' '*.c' '*.cu' '*.cuh' | xargs "${CLANG_FORMAT:-clang-format}" --dry-run -Werror
echo "[style] format: matches .clang-format"
[ "${1:-}" = --tidy ] || exit 0
[ -e build/release/compile_commands.json ] || { echo "[style] clang-tidy needs a build: bash scripts/build.sh"; exit 1; }
# Only sources of this build are checked: others, such as CUDA's, cannot be parsed. Compiler warnings are off (-w).
python3 -c 'import json; print("\n".join(sorted({row["file"] for row in json.load(open("build/release/compile_commands.json"))})))' |
  grep -E '\.cpp$' |
  xargs -P "$(nproc)" -n 8 "${CLANG_TIDY:-clang-tidy}" --quiet -p build/release --warnings-as-errors='*' --extra-arg=-w
echo "[style] clang-tidy: nothing found"

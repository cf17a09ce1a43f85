#!/usr/bin/env bash
# The format of all C++ sources, and where build/release is configured the checks of .clang-tidy, whose list is short and
# obeyed. Names other than these by CLANG_FORMAT and CLANG_TIDY; the format is that of clang-format 14.
set -euo pipefail
cd "$(dirname "$0")/.."
git ls-files '*.cpp' '*.h' '*.c' | xargs "${CLANG_FORMAT:-clang-format}" --dry-run -Werror
echo "[style] format: as .clang-format says"
if [ ! -e build/release/compile_commands.json ]; then
  echo "[style] clang-tidy: skipped, build/release is not configured"
  exit
fi
# Sources of this build only: those of another, such as CUDA's, cannot be parsed here.
python3 -c 'import json; print("\n".join(sorted({row["file"] for row in json.load(open("build/release/compile_commands.json"))})))' |
  grep -E '\.cpp$' |
  xargs -P "$(nproc)" -n 8 "${CLANG_TIDY:-clang-tidy}" --quiet -p build/release --warnings-as-errors='*' \
    --extra-arg=-w
echo "[style] clang-tidy: nothing found"

#!/usr/bin/env bash
# Checks the format of all C++ sources (by clang-format 14). With --tidy also runs the checks of .clang-tidy on the sources of
# the programs, each parsed alone: scripts/check_style.sh --tidy [FOLDERS], e.g. --tidy learner model/layers. Needs LLVM 16 or
# later (Debian's clang-tidy-16 or newer, or "pip install clang-tidy"); half an hour on two cores for all folders.
# CLANG_FORMAT and CLANG_TIDY name other programs.
set -euo pipefail
cd "$(dirname "$0")/.."
git ls-files '*.cpp' '*.h' '*.c' '*.cu' '*.cuh' | xargs "${CLANG_FORMAT:-clang-format}" --dry-run -Werror
echo "[style] format: matches .clang-format"
[ "${1:-}" = --tidy ] || exit 0
shift

find_clang_tidy() {
  local program version
  for program in "${CLANG_TIDY:-clang-tidy}" clang-tidy-{22,21,20,19,18,17,16}; do
    version="$("$program" --version 2>/dev/null | sed -n 's/.*version \([0-9]*\).*/\1/p')" || continue
    if [ "${version:-0}" -ge 16 ]; then echo "$program"; return; fi
  done
  echo "[style] no clang-tidy of LLVM 16 or later (older ones cannot parse std::views); install clang-tidy-16 or set CLANG_TIDY" >&2
  return 1
}
tidy="$(find_clang_tidy)"
cmake --preset tidy >/dev/null
# CUDA's sources cannot be parsed without its toolkit. Compiler warnings are off (-w): the compiler reports them.
sources="$(python3 - "$PWD/" "$@" <<'END'
import json, sys
root, *folders = sys.argv[1:]
files = {row["file"].removeprefix(root) for row in json.load(open("build/tidy/compile_commands.json"))}
wanted = tuple(folder.rstrip("/") + "/" for folder in folders or ("common", "verifier", "rewards", "model", "actors", "learner", "tools"))
print("\n".join(sorted(file for file in files if file.startswith(wanted) and file.endswith(".cpp"))))
END
)"
[ -n "$sources" ] || { echo "[style] no sources in $*" >&2; exit 2; }
xargs -P "$(nproc)" -n 4 "$tidy" --quiet -p build/tidy --warnings-as-errors='*' --extra-arg=-w <<<"$sources"
echo "[style] clang-tidy: nothing found in $(wc -l <<<"$sources") sources"

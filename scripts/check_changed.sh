#!/usr/bin/env bash
# Builds and runs the unit tests of the folders that a change touches, under the address and undefined-behavior sanitizers:
# scripts/check_changed.sh [COMMIT]. The change is what is new since COMMIT, by default since the branch left main.
# A folder's tests are the programs test_* that tests/FOLDER declares.
set -euo pipefail
cd "$(dirname "$0")/.."
since="${1:-$(git merge-base HEAD main)}"
mapfile -t changed < <(git diff --name-only "$since" | grep -E '\.(h|cpp|inc|cu|cuh)$' || true)
declare -A programs
for file in "${changed[@]}"; do
  folder="${file#tests/}"
  while [[ "$folder" == */* ]]; do  # the deepest folder of tests/ with programs of its own
    folder="${folder%/*}"
    [ -e "tests/$folder/CMakeLists.txt" ] || continue
    while read -r program; do programs["$program"]=1; done < <(sed -n 's/^ *lie_test(\(test_[a-z_]*\).*/\1/p' "tests/$folder/CMakeLists.txt")
    break
  done
done
if [ "${#programs[@]}" = 0 ]; then echo "[changed] no folder with unit tests changed since $since"; exit 0; fi
names="${!programs[*]}"
echo "[changed] since $since: $names"
LIE_TARGETS="$names" exec bash scripts/check_sanitizers.sh asan -- -R "^(${names// /|})(\\.np[0-9]+)?\$"

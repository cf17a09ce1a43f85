#!/usr/bin/env bash
# Runs set-up, build and all tests. Extra arguments go to CTest: scripts/test.sh -R verifier
set -euo pipefail
case "${1:-}" in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
cd "$(dirname "$0")/.."
bash scripts/build.sh release ${CI:+-DLIE_WERROR=ON}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
ctest --preset release "$@"

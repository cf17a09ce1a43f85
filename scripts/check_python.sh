#!/usr/bin/env bash
# Installs both Python modules from the source tree into a fresh environment and tests them there: the verifier and the
# reader of run directories. The reader's tests use the programs of the release build.
set -euo pipefail
cd "$(dirname "$0")/.."
environment=$(mktemp -d)
trap 'rm -rf "$environment"' EXIT
python3 -m venv "$environment"
"$environment/bin/pip" install --quiet ./verifier/python './python[export,judge,pandas,polars,track]' matplotlib tokenizers setuptools wheel twine
"$environment/bin/pip" install --quiet --no-deps trl verl  # their reward functions alone, which need no PyTorch
"$environment/bin/python" tests/verifier/python_check.py
for test in reader export judge judge_endpoint study notebook track reward_function wheel; do
  LIE_INSTALLED=1 "$environment/bin/python" "tests/python/${test}_test.py" build/release/bin "$environment/$test"
done

#!/usr/bin/env bash
# Installs the verifier's Python module from the source tree into a fresh environment and tries it.
set -euo pipefail
cd "$(dirname "$0")/.."
environment=$(mktemp -d)
trap 'rm -rf "$environment"' EXIT
python3 -m venv "$environment"
"$environment/bin/pip" install --quiet ./verifier/python
"$environment/bin/python" tests/verifier/python_check.py

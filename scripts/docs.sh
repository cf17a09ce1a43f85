#!/usr/bin/env bash
# Builds the documentation site in build/docs/index.html. Installs Sphinx into an environment in build/docs-env. If the
# release build exists, first regenerates docs/reference/config.md and the option lists in commands.md.
set -euo pipefail
[ $# = 0 ] || { sed -n '2,3s/^# \{0,1\}//p' "$0" >&2; exit 2; }
cd "$(dirname "$0")/.."
if [ -x build/release/bin/lie_cluster ]; then python3 scripts/docs_reference.py build/release/bin; fi
python3 tests/docs/check_links.py .
if [ ! -x build/docs-env/bin/sphinx-build ]; then
  python3 -m venv build/docs-env
  build/docs-env/bin/pip install --quiet --requirement docs/requirements.txt
fi
build/docs-env/bin/sphinx-build --quiet --fail-on-warning --keep-going -b html docs build/docs
echo "[docs] build/docs/index.html"

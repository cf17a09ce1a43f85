#!/usr/bin/env bash
# Builds the documentation site in build/docs/index.html from nothing, and fails at the first warning. Installs Sphinx into
# build/docs-packages; status 77 says that it cannot be downloaded. If the release build exists, first regenerates
# docs/reference/config.md and the option lists in commands.md. Last, searches the site as its search page does.
set -euo pipefail
[ $# = 0 ] || { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
cd "$(dirname "$0")/.."
if [ -x build/release/bin/lie_cluster ]; then python3 scripts/docs_reference.py build/release/bin; fi
python3 tests/docs/check_links.py .
packages="$PWD/build/docs-packages"
if [ ! -e "$packages/complete" ]; then
  echo "[docs] installing Sphinx into $packages"
  rm -rf "$packages"
  PIP_BREAK_SYSTEM_PACKAGES=1 python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore \
    --target "$packages" --requirement docs/requirements.txt ||
    { echo "[docs] could not download Sphinx: the site is not built" >&2; exit 77; }
  touch "$packages/complete"
fi
export PYTHONPATH="$packages${PYTHONPATH:+:$PYTHONPATH}"
rm -rf build/docs
python3 -m sphinx --quiet --fail-on-warning --keep-going -d build/docs-pages -E -c docs -b html . build/docs
python3 tests/docs/check_search.py build/docs
echo "[docs] build/docs/index.html"

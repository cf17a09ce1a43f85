# Sets `python` to a Python with the packages that python/lie_cluster needs (h5py, NumPy, PyYAML), and lets it import the
# package from the source tree. LIE_PYTHON names another Python. To be sourced.
python=
for candidate in "${LIE_PYTHON:-python3}" /usr/bin/python3; do
  if "$candidate" -c 'import h5py, numpy, yaml' 2>/dev/null; then
    python="$candidate"
    break
  fi
done
[ -n "$python" ] || { echo "no Python with h5py and PyYAML: run scripts/setup.sh, or set LIE_PYTHON to one" >&2; exit 1; }
PYTHONPATH="$(realpath "$(dirname "${BASH_SOURCE[0]}")/../python")${PYTHONPATH:+:$PYTHONPATH}"
export PYTHONPATH

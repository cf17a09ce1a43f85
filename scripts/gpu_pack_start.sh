#!/usr/bin/env bash
# Runs a command with the packed programs (scripts/pack_gpu.sh). Takes the libraries of CUDA and torch from the torch that
# python3, or LIE_PYTHON, imports.
# usage: start COMMAND...; for example: start lie_cluster --version, or start mpirun -n 3 lie_cluster train configs/demo.yaml
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
python=${LIE_PYTHON:-python3}

# Prints the folders of torch's libraries, which contain CUDA's, separated by ":". Does not load torch, which takes seconds.
torch_folders() {  # version
  "$python" - "$1" <<'PYTHON'
import glob, importlib.util, os, re, sys
found = importlib.util.find_spec("torch")
if found is None:
    sys.exit(f"start: {sys.executable} has no torch; LIE_PYTHON names a Python that has torch {sys.argv[1]}")
torch = os.path.dirname(found.origin)
version = re.search(r"__version__ = '([0-9.]+)", open(f"{torch}/version.py").read())[1]
if version != sys.argv[1]:
    sys.exit(f"start: {sys.executable} has torch {version}, but the programs were linked with {sys.argv[1]}")
nvidia = importlib.util.find_spec("nvidia")
wheels = nvidia.submodule_search_locations if nvidia else []
print(":".join([f"{torch}/lib", *(folder for wheel in wheels for folder in sorted(glob.glob(f"{wheel}/*/lib")))]))
PYTHON
}

version=$(while read -r key value; do [ "$key" != torch ] || echo "$value"; done <manifest.txt)
folders=$(torch_folders "$version")
export LD_LIBRARY_PATH="$folders:$PWD/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" PATH="$PWD/bin:$PATH"
export LIE_BIN_DIR="$PWD/bin" LIE_SOURCE_DIR="$PWD"
# Open MPI for ranks of one host, found here.
export OPAL_PREFIX="$PWD" OMPI_MCA_plm=isolated OMPI_MCA_btl=self,vader OMPI_MCA_pml=ob1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
exec "$@"

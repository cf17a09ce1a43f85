#!/usr/bin/env bash
# Installs the build dependencies of LIE Cluster: system packages, and in .deps/ LibTorch, Arrow (for Parquet) and llama.cpp's
# Jinja engine (for chat templates) unless you provide your own (CMAKE_PREFIX_PATH, Torch_DIR, Arrow_DIR, LIE_JINJA_DIR).
# LIE_LIBTORCH=0 leaves out LibTorch, which only preset cuda and tests need. LIE_CUDA=1 also installs the NVIDIA libraries that
# LibTorch's CUDA side loads, the headers of cuDNN's frontend, and nvcc where no CUDA toolkit is found. LIE_SLURM=1 installs the packages of scripts/test_slurm.sh
# and test_network.sh. LIE_BROWSER=1 installs Chromium for a test of the HTML report, which is skipped without it.
# Safe to run again: installed parts are kept, interrupted installations are repaired.
set -euo pipefail
[ $# = 0 ] || { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
cd "$(dirname "$0")/.."
deps="${LIE_DEPS_DIR:-$PWD/.deps}"

# Prints the version of a package, which is where CMake looks for it.
version_of() {  # file of cmake/, package
  sed -n "s|.*LIE_DEPS_DIR}/$2-\([0-9.]*\)\".*|\1|p" "cmake/$1.cmake" | grep . || { echo "[setup] cmake/$1.cmake names no version of $2" >&2; exit 1; }
}
torch_version="$(version_of LibTorch libtorch)"
cuda_runtime_version=13.0.96
cuda_cupti_version=13.0.85
arrow_version="$(version_of Arrow arrow)"
cudnn_frontend_version="$(version_of Cudnn cudnn-frontend)"
jinja_version="$(version_of Jinja jinja)"  # version of llama-cpp-python, which contains llama.cpp's sources
jinja_sha256=832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e
# The requirements of torch 2.11.0 on Linux, without Python and triton.
cuda_packages=("cuda-toolkit[cublas,cudart,cufft,cufile,cupti,curand,cusolver,cusparse,nvjitlink,nvrtc,nvtx]==13.0.2"
  nvidia-cudnn-cu13==9.19.0.56 nvidia-cusparselt-cu13==0.8.0 nvidia-nccl-cu13==2.28.9 nvidia-nvshmem-cu13==3.4.5)
nvcc_packages=("cuda-toolkit[cccl,crt,cudart,nvcc,nvrtc,nvvm]==13.0.2")

debian_packages=(g++ cmake ninja-build ccache pkg-config python3 python3-pip
  libopenmpi-dev openmpi-bin libhdf5-dev libyaml-cpp-dev libfmt-dev libcli11-dev nlohmann-json3-dev
  libhwy-dev libpcre2-dev libutf8proc-dev librandom123-dev libgmp-dev libflint-dev libflint-arb-dev
  libssl-dev libgtest-dev libgmock-dev python3-h5py python3-yaml)
if [ "${LIE_SLURM:-0}" = 1 ]; then
  debian_packages+=(slurm-wlm slurm-wlm-basic-plugins munge libpmix-dev iproute2)
fi
if [ "${LIE_BROWSER:-0}" = 1 ]; then
  debian_packages+=(chromium)
fi
optional_debian_packages=(libflint-arb-dev)  # part of FLINT since FLINT 3

say() { printf '[setup] %s\n' "$*"; }
source scripts/progress_lib.sh
quiet=(--quiet)
if [ -t 1 ]; then quiet=(); fi  # pip shows its own progress bars
any_python=(--no-deps --only-binary=:all: --implementation cp --python-version 3.11)  # a wheel of which no Python module is used

missing_debian_packages() {
  local package
  for package in "${debian_packages[@]}"; do
    if ! dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed'; then echo "$package"; fi
  done
}

print_package_names() {
  cat <<EOF
[setup] Packages by distribution:
  apt:   ${debian_packages[*]}
  dnf:   gcc-c++ cmake ninja-build ccache pkgconf python3-pip openmpi-devel hdf5-devel yaml-cpp-devel fmt-devel cli11-devel json-devel highway-devel pcre2-devel utf8proc-devel Random123-devel gmp-devel flint-devel arb-devel openssl-devel gtest-devel gmock-devel python3-h5py python3-pyyaml
  spack: cmake ninja ccache openmpi hdf5~mpi yaml-cpp fmt cli11 nlohmann-json highway pcre2 utf8proc random123 gmp flint openssl googletest py-h5py py-pyyaml
  conda: cxx-compiler cmake ninja ccache pkg-config openmpi hdf5 yaml-cpp fmt cli11 nlohmann_json libhwy pcre2 libutf8proc random123 gmp libflint openssl gtest h5py pyyaml  (channel conda-forge)
EOF
}

apt_as_root() {
  if [ "$(id -u)" = 0 ]; then env DEBIAN_FRONTEND=noninteractive "$@"
  elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then sudo env DEBIAN_FRONTEND=noninteractive "$@"
  else return 1; fi
}

install_with_apt() {  # packages...
  apt_as_root dpkg --configure -a >/dev/null &&   # repairs an interrupted install
    apt_as_root apt-get update -qq &&
    apt_as_root apt-get install -y --no-install-recommends "$@" | show_progress setup
}

installable() {  # drops optional packages that this release does not have
  local package
  for package in "$@"; do
    case " ${optional_debian_packages[*]} " in
      *" $package "*) apt-cache show "$package" >/dev/null 2>&1 || continue ;;
    esac
    echo "$package"
  done
}

install_packages() {
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    say "no apt on this system: install these packages with your package manager; continuing with what is installed"
    print_package_names
    return
  fi
  local missing
  mapfile -t missing < <(missing_debian_packages)
  if [ "${#missing[@]}" = 0 ]; then say "system packages: all installed"; return; fi
  say "installing ${#missing[@]} system packages: ${missing[*]}"
  apt_as_root apt-get update -qq || true
  mapfile -t missing < <(installable "${missing[@]}")
  if [ "${#missing[@]}" = 0 ]; then return; fi
  if ! install_with_apt "${missing[@]}"; then
    say "could not install them (no root, or apt failed); ask your administrator, or install them with spack or conda:"
    print_package_names
    say "continuing: the build will name what it does not find"
  fi
}

pip_install() {  # folder arguments...: unpacks packages of PyPI into the folder
  PIP_BREAK_SYSTEM_PACKAGES=1 python3 -m pip install "${quiet[@]}" --disable-pip-version-check --root-user-action=ignore --target "$@"
}

install_libtorch() {
  local home="$deps/libtorch-$torch_version"
  if [ -n "${Torch_DIR:-}" ]; then say "LibTorch: your own, Torch_DIR=$Torch_DIR"; return; fi
  if [ -e "$home/complete" ]; then say "LibTorch $torch_version: installed"; return; fi
  if [ "${LIE_LIBTORCH:-1}${LIE_CUDA:-0}" = 00 ]; then return; fi
  say "LibTorch $torch_version: downloading about 550 MB into $home"
  rm -rf "$home" "$home.partial"
  mkdir -p "$home.partial"
  if ! pip_install "$home.partial" --no-deps "torch==$torch_version" "nvidia-cuda-runtime==$cuda_runtime_version" \
    "nvidia-cuda-cupti==$cuda_cupti_version"; then
    say "could not download LibTorch; continuing without it: tests that compare with it are left out. Torch_DIR may name your own LibTorch 2.x (its share/cmake/Torch folder)"
    rm -rf "$home.partial"
    [ "${LIE_CUDA:-0}" != 1 ] || exit 1  # preset cuda needs it
    return
  fi
  touch "$home.partial/complete"
  mv "$home.partial" "$home"
}

# Installs Arrow from the wheel of pyarrow, which contains its headers. Keeps only two libraries and include/, which do not
# need Python.
install_arrow() {
  local home="$deps/arrow-$arrow_version" wheel="$deps/arrow.partial"
  if [ -n "${Arrow_DIR:-}" ]; then say "Arrow: your own, Arrow_DIR=$Arrow_DIR"; return; fi
  if [ -e "$home/complete" ]; then say "Arrow $arrow_version: installed"; return; fi
  say "Arrow $arrow_version: downloading about 50 MB into $home"
  rm -rf "$home" "$home.partial" "$wheel"
  mkdir -p "$home.partial/lib"
  if ! pip_install "$wheel" "${any_python[@]}" "pyarrow==$arrow_version"; then
    say "could not download Arrow; continuing without it: Parquet files will be refused, JSONL works"
    rm -rf "$home.partial" "$wheel"
    return
  fi
  mv "$wheel/pyarrow/include" "$home.partial/"
  mv "$wheel"/pyarrow/libarrow.so.* "$wheel"/pyarrow/libparquet.so.* "$home.partial/lib/"
  mv "$wheel"/pyarrow-*.dist-info "$home.partial/"
  rm -rf "$wheel"
  touch "$home.partial/complete"
  mv "$home.partial" "$home"
}

# Installs the Jinja engine from the source package llama-cpp-python, which contains all of llama.cpp. Keeps only the engine,
# the chat templates of published models that the tests render, and the license.
install_jinja() {
  local home="$deps/jinja-$jinja_version" partial="$deps/jinja.partial"
  if [ -n "${LIE_JINJA_DIR:-}" ]; then say "Jinja: your own, LIE_JINJA_DIR=$LIE_JINJA_DIR"; return; fi
  if [ -e "$home/complete" ]; then say "Jinja engine $jinja_version: installed"; return; fi
  say "Jinja engine $jinja_version: downloading about 80 MB"
  rm -rf "$home" "$partial"
  mkdir -p "$partial"
  local archive="$partial/llama_cpp_python-$jinja_version.tar.gz"
  if ! PIP_BREAK_SYSTEM_PACKAGES=1 python3 -m pip download --quiet --disable-pip-version-check --no-deps \
      --no-binary llama-cpp-python --dest "$partial" "llama-cpp-python==$jinja_version" ||
    ! sha256sum --check --status <<<"$jinja_sha256  $archive"; then
    say "could not download the Jinja engine; continuing without it: unknown chat templates will be refused"
    rm -rf "$partial"
    return
  fi
  tar -xzf "$archive" -C "$partial" --strip-components=3 --wildcards '*/vendor/llama.cpp/LICENSE' \
    '*/vendor/llama.cpp/common/jinja/*' '*/vendor/llama.cpp/common/unicode.*' '*/vendor/llama.cpp/models/templates/*'
  rm "$archive"
  touch "$partial/complete"
  mv "$partial" "$home"
}

# Installs the C++ headers of cuDNN's frontend from its wheel, by which training reaches cuDNN's attention.
install_cudnn_frontend() {
  local home="$deps/cudnn-frontend-$cudnn_frontend_version" wheel="$deps/cudnn-frontend.partial"
  if [ -n "${LIE_CUDNN_FRONTEND_DIR:-}" ]; then say "cuDNN's frontend: your own, LIE_CUDNN_FRONTEND_DIR=$LIE_CUDNN_FRONTEND_DIR"; return; fi
  if [ -e "$home/complete" ]; then say "cuDNN's frontend $cudnn_frontend_version: installed"; return; fi
  say "cuDNN's frontend $cudnn_frontend_version: downloading about 12 MB into $home"
  rm -rf "$home" "$home.partial" "$wheel"
  if ! pip_install "$wheel" "${any_python[@]}" "nvidia-cudnn-frontend==$cudnn_frontend_version"; then
    say "could not download cuDNN's frontend; continuing without it: training uses the attention of LibTorch"
    rm -rf "$wheel"
    return
  fi
  mkdir -p "$home.partial"
  mv "$wheel/include" "$wheel"/nvidia_cudnn_frontend-*.dist-info "$home.partial/"
  rm -rf "$wheel"
  touch "$home.partial/complete"
  mv "$home.partial" "$home"
}

# torch/ finds NVIDIA's libraries only in nvidia/ next to it, but pip would replace that folder: unpacks elsewhere, then merges.
unpack_nvidia() {  # folder packages...
  local partial="$deps/nvidia.partial"
  rm -rf "$partial"
  pip_install "$partial" "${@:2}" && cp -rlf "$partial/nvidia" "$1/" && rm -rf "$partial"
}

install_cuda_libraries() {
  local home="$deps/libtorch-$torch_version"
  if [ -n "${Torch_DIR:-}" ]; then return; fi  # your own LibTorch has its own libraries
  if [ -e "$home/cuda-complete" ]; then say "NVIDIA libraries: installed"; return; fi
  say "NVIDIA libraries: downloading about 2 GB into $home"
  unpack_nvidia "$home" "${cuda_packages[@]}" || { say "could not download the NVIDIA libraries"; exit 1; }
  touch "$home/cuda-complete"
}

# Installs nvcc next to the NVIDIA libraries, where cmake/Cuda.cmake finds it, unless there is a CUDA toolkit. The wheels lack
# the names by which CMake and linkers look for libraries.
install_nvcc() {
  local home="$deps/libtorch-$torch_version" library
  if command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ] || [ -n "${CUDAToolkit_ROOT:-}${CUDACXX:-}" ]; then
    say "nvcc: that of your CUDA toolkit"
    return
  fi
  if [ -n "${Torch_DIR:-}" ]; then say "nvcc: none found; install the CUDA toolkit that your LibTorch is built with"; return; fi
  if [ -e "$home/nvcc-complete" ]; then say "nvcc: installed"; return; fi
  say "nvcc: downloading about 150 MB into $home"
  unpack_nvidia "$home" "${nvcc_packages[@]}" || { say "could not download nvcc; install the CUDA toolkit 13.0"; exit 1; }
  for library in libcudart.so.13 libnvrtc.so.13; do ln -sf "$library" "$home/nvidia/cu13/lib/${library%.13}"; done
  ln -sfn lib "$home/nvidia/cu13/lib64"
  touch "$home/nvcc-complete"
}

install_packages
install_libtorch
install_arrow
install_jinja
if [ "${LIE_CUDA:-0}" = 1 ]; then install_cudnn_frontend; install_cuda_libraries; install_nvcc; fi
say "done"

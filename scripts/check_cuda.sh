#!/usr/bin/env bash
# Checks that the CUDA side compiles, links and starts. Configures preset cuda and builds everything that differs from the
# CPU build. Needs no GPU. If there is one, LibTorch's operators on it are also compared with the program's own.
set -euo pipefail
cd "$(dirname "$0")/.."
targets=(lie_comm lie_model_aten lie_model_cuda test_aten test_packed_attention device_bench lie_cluster)
log=build/check_cuda.log
mkdir -p build
start=$(date +%s)

say() { printf '[check_cuda] %s\n' "$*"; }

build() {
  cmake --preset cuda ${LIE_DEPS_DIR:+"-DLIE_DEPS_DIR=$LIE_DEPS_DIR"} && cmake --build --preset cuda --parallel "${LIE_BUILD_JOBS:-$(nproc)}" --target "${targets[@]}"
}

needs_cuda_side() {  # program
  readelf -d "$1" | grep -q 'NEEDED.*libtorch_cuda' || { say "$1 is not linked with LibTorch's CUDA side"; exit 1; }
}

# Builds cuDNN's plans for an H200 and reads their machine code, where set-up found cuDNN and its frontend.
check_cudnn() {
  if ! cmake --build --preset cuda --target help | grep -q test_cudnn; then
    say "no cuDNN or no headers of its frontend: training uses LibTorch's attention"
    return
  fi
  cmake --build --preset cuda --target test_cudnn >>"$log" 2>&1 || { tail -n 60 "$log"; say "failed: the full log is in $log"; exit 1; }
  build/cuda/bin/test_cudnn --gtest_brief=1
  say "cuDNN's attention: plans for an H200 use its tensor cores"
}

build >"$log" 2>&1 || { tail -n 60 "$log"; say "failed: the full log is in $log"; exit 1; }
say "built ${targets[*]} in $(($(date +%s) - start)) s"
for program in build/cuda/bin/lie_cluster build/cuda/bin/test_aten; do needs_cuda_side "$program"; done
say "programs are linked with LibTorch's CUDA side"
scripts/check_cuda_kernels.sh
check_cudnn

missing=$(ldd build/cuda/bin/lie_cluster | awk '/not found/ {print $1}' | sort -u | paste -sd' ')
if [ -n "$missing" ]; then
  say "cannot start here without $missing; LIE_CUDA=1 scripts/setup.sh installs them"
  exit 0
fi
say "starts: $(build/cuda/bin/lie_cluster --version)"
if nvidia-smi -L >/dev/null 2>&1; then
  build/cuda/bin/test_aten --gtest_brief=1
  say "LibTorch's operators on the GPU agree with the program's own"
else
  build/cuda/bin/test_aten --gtest_brief=1 --gtest_filter='AtenDevice.*'
  say "no GPU here: requesting one gives a clear error; nothing was computed on a GPU"
fi

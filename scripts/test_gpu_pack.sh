#!/usr/bin/env bash
# Tests the archive of scripts/pack_gpu.sh without a GPU and without a network, in a chroot that holds glibc, libstdc++, bash,
# coreutils and a Python with torch, as the machine with the GPU would. Programs of coreutils that need more libraries are left
# out, so that no library of this system stands in for a missing one. Needs root.
# usage: test_gpu_pack.sh [PYTHON [DIRECTORY]]; PYTHON has torch [python3]; DIRECTORY has the archive [build/gpu_pack]
set -euo pipefail
cd "$(dirname "$0")/.."
python=$(command -v "${1:-python3}") archive=${2:-build/gpu_pack}/lie_gpu.tar.xz

say() { printf '[test_gpu_pack] %s\n' "$*"; }
skip() { say "SKIPPED: $*"; exit 77; }
fail() { say "FAILED: $*"; exit 1; }

[ -e "$archive" ] || skip "no $archive: bash scripts/pack_gpu.sh"
"$python" -c 'import importlib.util, sys; sys.exit(importlib.util.find_spec("torch") is None)' || skip "$python has no torch"
[ "$(id -u)" = 0 ] || skip "a chroot takes root"
command -v ip >/dev/null || skip "ip is missing: apt install iproute2"
if [ -z "${LIE_IN_NAMESPACE:-}" ]; then LIE_IN_NAMESPACE=1 exec unshare --mount --net "scripts/test_gpu_pack.sh" "$@"; fi  # mounts end with the script
ip link set lo up  # the only network
root=$(mktemp -d)
mount -t tmpfs tmpfs "$root"

copy() {  # files...: copies them to the same paths in the chroot
  cp --parents --dereference "$@" "$root"
}

needs_glibc_only() {  # program
  ! ldd "$1" 2>/dev/null | grep '=>' | grep -qvE '/(libc|libm|libdl|librt|libpthread)\.so\.'
}

copy_system() {
  local package file name
  for package in libc6 libstdc++6 libgcc-s1; do
    dpkg -L "$package" | grep -E '^(/usr)?/lib.*\.so(\.[0-9.]*)?$' | while read -r file; do [ ! -f "$file" ] || copy "$file"; done
  done
  copy /bin/bash /usr/bin/ldd /usr/bin/env "$(ldd /bin/bash | awk '/libtinfo/ {print $3}')"
  dpkg -L coreutils | grep -E '^(/usr)?/bin/' | while read -r file; do ! needs_glibc_only "$file" || copy "$file"; done
  ln -s bash "$root/bin/sh"
}

# Shows the folders of Python, and of the system's devices and processes, at the same paths.
mount_folders() {
  local folder
  "$python" -c 'import sys; print("\n".join({sys.prefix, sys.base_prefix}))' | while read -r folder; do
    mkdir -p "$root$folder" && mount --rbind "$folder" "$root$folder"
  done
  for folder in /proc /dev; do mkdir -p "$root$folder" && mount --rbind "$folder" "$root$folder"; done
  mkdir -p "$root/tmp"
}

inside() {  # command...: runs it with the pack's start script, in the chroot
  chroot "$root" /usr/bin/env -i PATH=/usr/bin:/bin LIE_PYTHON="$python" HOME=/tmp /tmp/lie_gpu/start "$@"
}

passes() {  # name command...: prints the name if the command in the chroot succeeds, and the seconds taken
  local name=$1 start=$SECONDS
  shift
  inside "$@" >"$root/tmp/log" 2>&1 || { tail -n 30 "$root/tmp/log"; fail "$name: $*"; }
  say "$name: $((SECONDS - start)) s"
}

step=(lie_cluster train configs/demo.yaml --set run.steps=1 --set rollout.prompts_per_step=8
  --set update.mini_batch_prompts=4 --set evaluation.every=0)

copy_system
mount_folders
"$python" -m tarfile -e "$archive" "$root/tmp"
say "chroot: $(du -sxm "$root" | cut -f1) MB besides $python"

for program in "$root"/tmp/lie_gpu/bin/*; do
  inside ldd "/tmp/lie_gpu/bin/${program##*/}" >"$root/tmp/ldd" 2>&1 || { cat "$root/tmp/ldd"; fail "ldd ${program##*/}"; }
  ! grep "not found" "$root/tmp/ldd" || fail "${program##*/} lacks libraries"
  say "${program##*/}: $(grep -c '=> /tmp/lie_gpu/' "$root/tmp/ldd") libraries of the pack, $(grep -c "=> .*\(torch\|nvidia\)/" "$root/tmp/ldd") of torch"
done
[ "$(inside lie_cluster --version)" = "$(sed -n 's/^build //p' "$root/tmp/lie_gpu/manifest.txt")" ] || fail "another version than the manifest's"
! inside "${step[@]}" --set model.device=cuda --set run.directory=/tmp/cuda >"$root/tmp/log" 2>&1 || fail "model.device cuda without a GPU"
grep -o 'no usable NVIDIA GPU on this machine' "$root/tmp/log" | head -n 1 | grep . || { cat "$root/tmp/log"; fail "another error than that of a missing GPU"; }
passes "one RL step" "${step[@]}" --set run.directory=/tmp/one
passes "one RL step on 3 ranks" mpirun -n 3 "${step[@]}" --set model.threads=1 --set run.directory=/tmp/three
passes "tests of LibTorch's operators" test_aten --gtest_filter='-*Cuda*'
passes "expectations of kernel_bench" kernel_bench --section head
passes "random weights" random_model assets/count_pairs/model /tmp/model
passes "check_gpu.sh" scripts/check_gpu.sh --only load --results /tmp/check_gpu.jsonl
say "passed"

#!/usr/bin/env bash
# Packs the programs of preset cuda into one archive for a machine with an NVIDIA driver, and Python with torch, but without MPI,
# HDF5 and compilers. Builds what is missing. The archive holds the stripped programs, all libraries except those of glibc,
# g++, CUDA and torch, an Open MPI for one host, and what scripts/check_gpu.sh needs. Unpack and use it with:
#   python3 -m tarfile -e lie_gpu.tar.xz /tmp && /tmp/lie_gpu/start scripts/check_gpu.sh
# usage: pack_gpu.sh [DIRECTORY]; writes DIRECTORY/lie_gpu.tar.xz and DIRECTORY/manifest.txt [build/gpu_pack]
set -euo pipefail
cd "$(dirname "$0")/.."
programs=(lie_cluster lie_analyze test_aten test_packed_attention device_bench kernel_bench random_model)
out=${1:-build/gpu_pack}
pack=$out/lie_gpu
torch=$(realpath "${LIE_DEPS_DIR:-.deps}")/libtorch
most=$((64 << 20))  # bytes of the archive

say() { printf '[pack_gpu] %s\n' "$*"; }

is_of_the_system() {  # library name: whether every machine with glibc and g++'s libraries has it
  case $1 in
    linux-vdso.* | ld-linux* | libc.so.* | libm.so.* | libdl.so.* | librt.so.* | libpthread.so.* | libutil.so.* | \
      libresolv.so.* | libmvec.so.* | libstdc++.so.* | libgcc_s.so.*) return 0 ;;
  esac
  return 1
}

is_of_cuda() {  # path: whether it comes from the wheels of torch or from the CUDA toolkit
  case $(realpath "$1") in "$torch"* | /usr/local/cuda*) return 0 ;; esac
  return 1
}

copy_libraries() {  # files...: copies the libraries that the files load
  local name arrow path rest
  ldd "$@" | sort -u | while read -r name arrow path rest; do
    if [ "$arrow" != "=>" ] || is_of_the_system "$name"; then continue; fi
    [ "$path" != not ] || { say "$name is not found $rest"; exit 1; }
    is_of_cuda "$path" || cp -n --dereference "$path" "$pack/lib/$name"
  done
}

copy_programs() {
  local program
  mkdir -p "$pack/bin" "$pack/lib"
  for program in "${programs[@]}"; do strip -o "$pack/bin/$program" "build/cuda/bin/$program"; done
  copy_libraries "${programs[@]/#/build/cuda/bin/}"
}

mpi_path() { ompi_info --parsable --path "$1" | head -n 1 | cut -d: -f3; }  # name of a path of this Open MPI

# Copies Open MPI with the components for ranks on one host. Components for networks, schedulers, files and OpenSHMEM stay
# here, because they need libraries of their own. Open MPI finds its folders below OPAL_PREFIX, which replaces its own prefix.
copy_mpi() {
  local prefix components component
  prefix=$(mpi_path prefix)
  components=$(mpi_path pkglibdir)
  cp --dereference "$(command -v mpirun)" "$pack/bin/mpirun"
  mkdir -p "$pack/${components#"$prefix"/}" "$pack/share/openmpi"
  cp "$(mpi_path pkgdatadir)"/*.txt "$pack/share/openmpi/"
  for component in "$components"/mca_*.so; do
    case ${component##*/} in
      *ucx* | *ofi* | *psm* | *openib* | *slurm* | *gridengine* | *flux* | *jsm* | *monitoring* | mca_io_* | mca_f[scb]* | \
        mca_sharedfp_* | mca_memheap_* | mca_spml_* | mca_sshmem_* | mca_scoll_* | mca_atomic_* | mca_plm_rsh*) continue ;;
    esac
    cp "$component" "$pack/${components#"$prefix"/}/"
  done
  copy_libraries "$pack/bin/mpirun" "$pack/${components#"$prefix"/}"/*.so
}

copy_files() {
  cp -r configs assets "$pack/"
  mkdir -p "$pack/scripts" "$pack/tests/model/golden"
  cp scripts/check_gpu.sh "$pack/scripts/"
  cp tests/model/golden/*.golden "$pack/tests/model/golden/"
  cp --parents tests/model/configs/*/config.json "$pack/"
  cp scripts/gpu_pack_start.sh "$pack/start"
}

write_manifest() {
  {
    echo "build $(build/cuda/bin/lie_cluster --version)"
    echo "torch $(basename "$(realpath "$torch"-*)" | cut -d- -f2)"
    echo "libraries $(find "$pack" -name '*.so*' | wc -l)"
    (cd "$pack" && find . -type f ! -name manifest.txt -printf '%s %P\n' | sort -k 2)
  } >"$pack/manifest.txt"
  cp "$pack/manifest.txt" "$out/"
}

write_archive() {
  local bytes
  tar --sort=name --owner=0 --group=0 --mtime="@$(git log -1 --format=%ct)" -C "$out" -cJf "$out/lie_gpu.tar.xz" lie_gpu
  bytes=$(stat -c %s "$out/lie_gpu.tar.xz")
  say "$out/lie_gpu.tar.xz: $bytes bytes, $(du -sb "$pack" | cut -f1) unpacked, $(grep '^libraries' "$pack/manifest.txt")"
  [ "$bytes" -le "$most" ] || { say "more than $most bytes"; exit 1; }
  rm -rf "$pack"
}

LIE_CUDA=1 LIE_TARGETS="${programs[*]}" bash scripts/build.sh cuda
rm -rf "$pack"
copy_programs
copy_mpi
copy_files
write_manifest
write_archive

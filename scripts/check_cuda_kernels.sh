#!/usr/bin/env bash
# Prints the registers of every kernel by architecture, and fails if its machine code breaks a rule: no spill and no stack
# frame, no 64-bit division in a loop, and the loads of 16 bytes named below. From sm_90 on, where a kernel may start before
# the one before it has ended, each waits for that before it touches memory. A call of a function that the device lacks is an
# error too. Compiles only model/cuda/kernels/kernels.cu, in a minute and without a GPU.
# usage: check_cuda_kernels.sh [ARCHITECTURE...]   default: sm_80 sm_90 sm_100 sm_120
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- sm_80 sm_90 sm_100 sm_120
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Each architecture's folder gets the log of ptxas and the PTX, where loads and divisions have their names.
compile() {  # architecture
  mkdir "$work/$1"
  "$nvcc" -std=c++20 -O3 -DNDEBUG -arch="$1" -fmad=false --expt-relaxed-constexpr -Xptxas -v -I. \
    -Werror cross-execution-space-call --keep --keep-dir "$work/$1" -c model/cuda/kernels/kernels.cu \
    -o "$work/$1/kernels.o" >"$work/$1/log" 2>&1 ||
    { cat "$work/$1/log"; return 1; }
}

start=$(date +%s)
jobs=()
for architecture; do compile "$architecture" & jobs+=($!); done
for job in "${jobs[@]}"; do wait "$job"; done

for architecture; do
  { cat "$work/$architecture/log"; echo PTX; cat "$work/$architecture/kernels.ptx"; } | c++filt |
    sed "s/^/$architecture /"
done | awk -v architectures="$*" -v seconds="$(($(date +%s) - start))" '
  function kernel(text) {  # the name in "void lie::cuda::over_rows<lie::cuda::Embed<float> >(...)"
    sub(/\(.*/, "", text); sub(/.*void /, "", text)
    gsub(/lie::cuda::|over_(elements|rows|blocks)/, "", text)
    sub(/^</, "", text); sub(/ ?>$/, "", text)
    return text
  }
  function report(problem) { problems[++bad] = name " on " $1 ": " problem }
  function end_of_kernel() {
    if (entry && name ~ /^PagedSplits<.*, 8, [0-9]>$/ && !(wide["copy"] && wide["shared"])) report("reads no 16 bytes at once")
    if (entry && name ~ /^OverPacks/ && !(wide["global"] && wide["store"])) report("moves no 16 bytes at once")
    if (entry && may_start_early && !waits) report("does not wait for the kernel before it")
    if (entry && may_start_early && touches) report("touches memory before it waits")
    if (looped > 0) report(looped " divisions of 64 bits in loops")
    entry = divisions = looped = 0; delete wide; delete label; delete division
  }
  $2 == "PTX" { end_of_kernel() }
  /Function properties for/ { sub(/Function properties for/, "void"); name = kernel($0) }
  /bytes stack frame/ && $2 + $6 + $10 > 0 { report("stack of " $2 " bytes, spills of " $6 + $10) }
  /Used [0-9]+ registers/ { match($0, /Used [0-9]+/); registers[name, $1] = substr($0, RSTART + 5, RLENGTH - 5); names[name] }
  /\.entry/ {
    end_of_kernel(); name = kernel($0); entry = 1
    may_start_early = substr($1, 4) + 0 >= 90; waits = touches = 0
  }
  /griddepcontrol\.wait/ { waits = 1 }
  /(ld|st|atom|red)\.(volatile\.)?(global|[usbf](8|16|32|64)|v[24])|cp\.async/ { if (!waits) touches = 1 }
  /(div|rem)\.[su]64/ { division[++divisions] = NR }
  /ld\.(global|shared)(\.nc)?\.v(4\.[a-z]32|2\.[a-z]64)/ { wide[/ld\.global/ ? "global" : "shared"] = 1 }
  /cp\.async\.c[ag]\.shared\.global.*, 16[,;]/ { wide["copy"] = 1 }
  /st\.global\.v(4\.[a-z]32|2\.[a-z]64)/ { wide["store"] = 1 }
  $2 ~ /^\$L.*:$/ { label[substr($2, 1, length($2) - 1)] = NR }
  /bra/ {  # a branch to an earlier label closes a loop
    to = $NF; sub(/;/, "", to)
    for (i = 1; i <= divisions; i++) {
      if (to in label && division[i] > label[to]) { looped++; division[i] = 0 }
    }
  }
  END {
    end_of_kernel()
    count = split(architectures, columns, " ")
    printf "%-44s", "registers of kernel"
    for (c = 1; c <= count; c++) printf " %8s", columns[c]
    print ""
    for (name in names) {
      kernels++
      line = sprintf("%-44s", name)
      for (c = 1; c <= count; c++) line = line sprintf(" %8s", registers[name, columns[c]])
      print line | "sort"
    }
    close("sort")
    for (i = 1; i <= bad; i++) print "[check_cuda_kernels] " problems[i]
    printf "[check_cuda_kernels] %d kernels for %s in %d s, %d problems\n", kernels, architectures, seconds, bad
    exit kernels == 0 || bad > 0
  }'

#!/usr/bin/env bash
# Reproduces the paper's tables at small scale (docs/studies/length-incentives.md): trains the rows of
# configs/study/rows.yaml with several seeds each on the embedded task, then writes DIRECTORY/study.html and prints a table.
#
#   scripts/study.sh [--config CONFIG.yaml] [--file ROWS.yaml] [--rows gspo,gspo-lie] [--seeds 101-108] [--jobs N]
#                    [--set KEY=VALUE]... DIRECTORY
#
# A row is configs/demo.yaml, or CONFIG.yaml, with the row's keys, which override --set. By default all rows run, N = cores.
# A run is one process of one thread in DIRECTORY/ROW/seed-N, with its messages in DIRECTORY/ROW/seed-N.log. The same
# command skips finished runs and resumes those that were stopped. DIRECTORY/ROW/seed-N.done has the settings of a finished
# run; other settings are refused.
# LIE_BIN: folder of the programs [build/release/bin].
set -euo pipefail
usage() { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
config=configs/demo.yaml file=configs/study/rows.yaml wanted="" seeds=101-108 jobs="$(nproc)" settings=()
while [ $# -gt 1 ]; do
  case "$1" in
    --config) config="$(realpath "$2")" ;;
    --file) file="$(realpath "$2")" ;;
    --rows) wanted="$2" ;;
    --seeds) seeds="$2" ;;
    --jobs) jobs="$2" ;;
    --set) settings+=(--set "$2") ;;
    *) usage ;;
  esac
  shift 2
done
[[ $# = 1 && "$1" != -* && "$seeds" =~ ^[0-9]+(-[0-9]+)?$ && "$jobs" =~ ^[1-9][0-9]*$ ]] || usage
bin="$(realpath "${LIE_BIN:-$(dirname "$0")/../build/release/bin}")"
[ "${seeds%-*}" -le "${seeds#*-}" ] || { echo "study: --seeds $seeds: the first is above the last" >&2; exit 2; }
mkdir -p "$1"
study="$(realpath "$1")"
cd "$(dirname "$0")/.."
source scripts/python_lib.sh
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

cp "$file" "$study/rows.yaml"
declare -A overrides=()
names=()
while IFS=$'\t' read -r name rest; do
  names+=("$name")
  overrides["$name"]="$rest"
done < <("$python" -m lie_cluster.study --overrides "$study")
[ "${#names[@]}" -gt 0 ] || exit 1
[ -z "$wanted" ] || IFS=, read -ra names <<<"$wanted"
for name in "${names[@]}"; do
  [ -v "overrides[$name]" ] || { echo "study: no row is named $name; the rows: ${!overrides[*]}" >&2; exit 2; }
done

settings_of() {  # row: prints the config and the settings of its runs, sorted lines; the last value of a key counts
  local key_values
  IFS=$'\t' read -ra key_values <<<"${overrides[$1]}"
  printf '%s\n' "config=$(realpath --relative-to=. "$config")" "${settings[@]}" "${key_values[@]}" |
    awk -F= 'NF > 1 { last[$1] = $0 } END { for (key in last) print last[key] }' | LC_ALL=C sort
}

# Ends the script if a finished run had other settings. An empty file of a former version says nothing of them.
require_same_settings() {  # run, row
  local done_file="$study/$1.done" former now
  [ -s "$done_file" ] || return 0
  former="$(LC_ALL=C comm -23 "$done_file" <(settings_of "$2") | paste -sd ' ')"
  now="$(LC_ALL=C comm -13 "$done_file" <(settings_of "$2") | paste -sd ' ')"
  [ -n "$former$now" ] || return 0
  echo "study: $study/$1 is finished with other settings: it had ${former:-nothing else}, and now has" \
    "${now:-nothing else}; give another DIRECTORY, or remove $1 and $1.done" >&2
  exit 1
}

# A stopped run resumes from its checkpoint and its journal.
run_one() {  # row, seed
  local run="$study/$1/seed-$2" sets=() key_values
  IFS=$'\t' read -ra key_values <<<"${overrides[$1]}"
  for key_value in "${key_values[@]}"; do sets+=(--set "$key_value"); done
  mkdir -p "$study/$1"
  exec "$bin/lie_cluster" train "$config" --set model.threads=1 "${settings[@]}" "${sets[@]}" \
    --set "run.seed=$2" --set "run.directory=$run" >>"$run.log" 2>&1
}

declare -A running=()  # process id: run
failed=()
end_one() {  # waits for any run
  local process status=0
  wait -n -p process "${!running[@]}" || status=$?
  if [ -z "${process:-}" ]; then  # if two end at once, bash may forget one as a job, but keeps its status
    for process in "${!running[@]}"; do kill -0 "$process" 2>/dev/null || break; done
    status=0
    wait "$process" || status=$?
  fi
  local run="${running[$process]}"
  unset "running[$process]"
  if [ "$status" = 0 ]; then
    settings_of "${run%/*}" >"$study/$run.done"
    echo "[study] $run: done"
  else
    failed+=("$run")
    echo "[study] $run: status $status: $(tail -n 1 "$study/$run.log")" >&2
  fi
}
stop() {
  [ "${#running[@]}" = 0 ] || { kill "${!running[@]}" || true; wait; } 2>/dev/null
  echo "[study] stopped; the same command resumes it" >&2
  exit 75
}
trap stop INT TERM

for name in "${names[@]}"; do
  for seed in $(seq "${seeds%-*}" "${seeds#*-}"); do require_same_settings "$name/seed-$seed" "$name"; done
done
for name in "${names[@]}"; do
  for seed in $(seq "${seeds%-*}" "${seeds#*-}"); do
    if [ -e "$study/$name/seed-$seed.done" ]; then
      echo "[study] $name/seed-$seed: already done"
      continue
    fi
    [ "${#running[@]}" -lt "$jobs" ] || end_one
    run_one "$name" "$seed" &
    running[$!]="$name/seed-$seed"
  done
done
while [ "${#running[@]}" -gt 0 ]; do end_one; done
"$python" -m lie_cluster.study "$study" --json "$study/study.json"
[ "${#failed[@]}" = 0 ] || { echo "[study] not done: ${failed[*]}" >&2; exit 1; }

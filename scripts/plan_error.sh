#!/usr/bin/env bash
# Measures the error of lie_cluster plan: runs the demo on 1 to 6 ranks of this machine and plans each layout from the log of
# the first run. plan_error.py prints the table of docs/benchmarks/plan-error.md.
# plan_error.sh WORK [KEY=VALUE...]   Environment: BIN, STEPS (8) and LAYOUTS, such as "2 4:learners=2".
set -euo pipefail
cd "$(dirname "$0")/.."
[[ $# -gt 0 && "$1" != -* ]] || { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
WORK="$1"
shift
bin="${BIN:-build/release/bin}" steps="${STEPS:-8}"
layouts="${LAYOUTS:-4 1 2 2:max_staleness=1 3 4:max_staleness=1 4:max_staleness=2 4:learners=2 5:learners=2 6 6:learners=2 6:learners=3}"
mkdir -p "$WORK"
common=(--set evaluation.every=0 --set checkpoint.every=0)
for key in "$@"; do common+=(--set "$key"); done

# "4:learners=2" sets roles.learners, "4:max_staleness=1" rollout.max_staleness.
overrides() {  # layout
  case "${1#*:}" in
    max_staleness=*) echo "--set rollout.${1#*:}" ;;
    *=*) echo "--set roles.${1#*:}" ;;
  esac
}

run() {  # directory, ranks, overrides...
  [ ! -e "$1/done" ] || return 0
  rm -rf "$1"
  mpirun --oversubscribe -n "$2" "$bin/lie_cluster" train configs/demo.yaml "${common[@]}" "${@:3}" \
    --set "run.steps=$steps" --set "run.directory=$1" >"$1.log" 2>&1
  touch "$1/done"
}

first="$WORK/${layouts%% *}"
for layout in $layouts; do
  read -ra own <<<"$(overrides "$layout")"
  name="$WORK/${layout//[:=]/-}" ranks="${layout%%:*}"
  run "$name" "$ranks" "${own[@]}"
  "$bin/lie_cluster" plan configs/demo.yaml "${common[@]}" "${own[@]}" --ranks "$ranks" --run "${first//[:=]/-}" --json \
    >"$name.json"
done
python3 scripts/plan_error.py "$WORK" $layouts

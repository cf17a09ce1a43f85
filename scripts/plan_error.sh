#!/usr/bin/env bash
# How far off is lie_cluster plan? Costs are measured once; then the demo runs on 1 to 6 ranks of this machine, and each run
# is planned with those costs and the lengths of its own log. plan_error.py prints the table of docs/plan.md.
# plan_error.sh WORK [KEY=VALUE...]   BIN, STEPS (8) and LAYOUTS, such as "2 4:learners=2", from the environment
set -euo pipefail
cd "$(dirname "$0")/.."
[[ $# -gt 0 && "$1" != -* ]] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
WORK="$1"
shift
bin="${BIN:-build/release/bin}" steps="${STEPS:-8}"
layouts="${LAYOUTS:-1 2 2:max_staleness=1 3 4 4:max_staleness=1 4:max_staleness=2 4:learners=2 5:learners=2 6 6:learners=2 6:learners=3}"
mkdir -p "$WORK"
common=(--set evaluation.every=0 --set checkpoint.every=0 --set "run.steps=$steps")
for key in "$@"; do common+=(--set "$key"); done
[ -e "$WORK/costs.json" ] ||
  "$bin/lie_cluster" plan configs/demo.yaml "${common[@]}" --median-tokens "${MEDIAN:-20}" --json >"$WORK/costs.json"

# "4:learners=2" sets roles.learners, "4:max_staleness=1" rollout.max_staleness.
overrides() {
  local setting
  for setting in $(tr ':' ' ' <<<"${1#*:}"); do
    case "$setting" in
      max_staleness=*) echo "--set rollout.$setting" ;;
      *=*) echo "--set roles.$setting" ;;
    esac
  done
}

for layout in $layouts; do
  name="${layout//[:=]/-}" ranks="${layout%%:*}"
  read -ra own <<<"$(overrides "$layout" | tr '\n' ' ')"
  run="$WORK/$name"
  if [ ! -e "$run.done" ]; then
    rm -rf "$run"
    mpirun --oversubscribe -n "$ranks" "$bin/lie_cluster" train configs/demo.yaml "${common[@]}" "${own[@]}" \
      --set "run.directory=$run" >"$run.log" 2>&1
    touch "$run.done"
  fi
  "$bin/lie_cluster" plan configs/demo.yaml "${common[@]}" "${own[@]}" --ranks "$ranks" --steps 24 \
    --costs "$WORK/costs.json" --lengths "$run" --json >"$run.json"
done
python3 scripts/plan_error.py "$WORK" $layouts

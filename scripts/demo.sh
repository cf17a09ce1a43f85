#!/usr/bin/env bash
# Runs the whole demo: set-up, build, two training runs from the same start (plain GSPO, and GSPO with Length-Incentivized
# Exploration), and runs/demo/report.html, which compares them.
set -euo pipefail
[ $# = 0 ] || { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
cd "$(dirname "$0")/.."
start=$SECONDS
LIE_LIBTORCH=0 LIE_TARGETS="lie_cluster lie_analyze" bash scripts/build.sh release
built=$SECONDS
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
bin=build/release/bin

train() {  # name, overrides...
  local name="$1"
  shift
  echo "[demo] training $name"
  mpirun --oversubscribe -n 4 "$bin/lie_cluster" train configs/demo.yaml --set "run.directory=runs/demo/$name" "$@"
}

train gspo --set reward.length.enabled=false --set reward.redundancy.enabled=false
train lie
"$bin/lie_analyze" runs/demo/gspo runs/demo/lie --html runs/demo/report.html
echo "[demo] report: runs/demo/report.html; trajectories: runs/demo/*/trajectories/*.h5; checkpoints: runs/demo/*/checkpoints"
echo "[demo] set-up and build took $((built - start)) s, training and report $((SECONDS - built)) s; scripts/test.sh builds the other programs and the tests"

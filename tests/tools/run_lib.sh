# Functions of the tests that run the programs. Sourced with BIN, the folder of the programs, and
# WORK, an empty folder.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
small=tests/tools/small.yaml

# train RANKS DIRECTORY [overrides...]
train() {
  local ranks="$1" directory="$2"
  shift 2
  if [ "$ranks" = 1 ]; then
    "$BIN/lie_cluster" train "$small" --set "run.directory=$directory" "$@"
  else
    mpirun --oversubscribe -n "$ranks" "$BIN/lie_cluster" train "$small" --set "run.directory=$directory" "$@"
  fi
}

digest() { "$BIN/lie_analyze" --digest "$1"; }

# Prints a metrics file without times, rates, idle shares and checksums. The rest must be identical
# from run to run.
timeless_metrics() {
  sed -E 's/"(wall_time|crc32c|[a-z_]*seconds[a-z_]*|tokens_per_second|idle_share_[a-z_]+)":[^,}]*,?//g' "$1/metrics.jsonl"
}

# Prints how often a fault point was passed according to a LIE_FAULT_LOG file (common/base/fault.h).
passes() { grep -cx "$1" "$2" || true; }  # point, file

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

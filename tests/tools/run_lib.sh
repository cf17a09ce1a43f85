# Shared by the tests that run the programs: sourced, with BIN = the folder of the programs and WORK = an empty folder.
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

# A metrics file without times, rates, idle shares and their checksums: what must be the same from run to run.
timeless_metrics() {
  sed -E 's/"(wall_time|crc32c|[a-z_]*seconds[a-z_]*|tokens_per_second|idle_share_[a-z_]+)":[^,}]*,?//g' "$1/metrics.jsonl"
}

# How often the points in a file of LIE_FAULT_LOG were passed (common/base/fault.h).
passes() { grep -cx "$1" "$2" || true; }  # point, file

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

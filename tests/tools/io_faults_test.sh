#!/usr/bin/env bash
# A call on a file of a run fails, as on a failing or full disk. If the run needs the file, it ends with an error that
# names the file and the system's reason. Otherwise it continues with a warning. After a resume it equals an undisturbed run.
# scripts/campaign.sh makes calls fail at random.
# io_faults_test.sh BIN WORK
set -euo pipefail
source "$(dirname "$0")/begin.sh"
export LIE_IO_LOG="$WORK/failed"

undisturbed() { train 1 "$1" --set run.steps=3 >"$1.log" 2>&1 || { cat "$1.log"; fail "$1 fails"; }; }
undisturbed "$WORK/reference"

# Starts a run whose calls of a kind on a path fail, then resumes it.
strike() {  # expected status and words, fault as in LIE_IO_FAULT without the rank, path in the run directory
  local status=0 run="$WORK/run"
  rm -rf "$run" "$WORK/failed"
  LD_PRELOAD="$BIN/io_faults.so" LIE_IO_FAULT=":$3" LIE_IO_UNDER="$run${4:+/$4}" \
    train 1 "$run" --set run.steps=3 >"$WORK/log" 2>&1 || status=$?
  [ -s "$WORK/failed" ] || fail "no call fails: $3 $4"
  if [ "$status" != "$1" ] || ! grep -qE "$2" "$WORK/log"; then cat "$WORK/log"; fail "$3 $4: status $status, without: $2"; fi
  undisturbed "$run"
  [ "$(digest "$run")" = "$(digest "$WORK/reference")" ] || fail "$3 $4: the digest differs after a resume"
  cmp -s <(timeless_metrics "$run") <(timeless_metrics "$WORK/reference") || fail "$3 $4: the metrics differ after a resume"
}

reason="Input/output error" full="No space left on device"
strike 1 "/writer.lock: .*$full" write:1:28 writer.lock
strike 1 "/config.yaml.*: .*$reason" fsync:1:5 config.yaml.partial
strike 1 "/journal: .*$full" mkdir:1:28 journal
strike 1 "/journal/step-000000.groups: .*$reason" write:2:5 journal/step-000000.groups
strike 1 "/journal/step-000000.groups: .*$reason; check" truncate:1:5 journal/step-000000.groups
strike 1 "segment-000000.h5.new: .*$full" write:9:28 trajectories/learner-000-segment-000000.h5.new
strike 1 "segment-000000.h5.new: .*$reason" truncate:2:5 trajectories/learner-000-segment-000000.h5.new
strike 1 "segment-000000.h5.new: .*$reason" rename:1:5 trajectories/learner-000-segment-000000.h5.new
strike 1 "segment-000000.h5: .*$full" write:40:28 trajectories/learner-000-segment-000000.h5
strike 1 "/checkpoints/.step-000002.partial/optimizer.safetensors: .*$full" write:1:28 checkpoints/.step-000002.partial/optimizer.safetensors
# A checkpoint's files are synchronized by the rank that writes them, and again with their folders before the rename.
for file in optimizer.safetensors model.safetensors; do
  for call in 1 2; do
    strike 1 "/checkpoints/.step-000002.partial/$file: .*$reason" "fsync:$call:5" "checkpoints/.step-000002.partial/$file"
  done
done
strike 1 "/checkpoints/.step-000002.partial.*: .*$reason" rename:1:5:lasting checkpoints/.step-000002.partial
strike 0 "journal/step-000000.groups: cannot remove it: $reason" unlink:1:5:lasting journal/step-000000.groups
strike 0 "" short:1:0:lasting ""

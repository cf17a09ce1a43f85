#!/usr/bin/env bash
# Invariants E9 and E10: a second start in a live run directory is refused with the holder's name and harms nothing; a
# damaged checkpoint is set aside, and the run goes on from the one before with the bits of an undamaged run.
# check_test.sh BIN WORK
set -euo pipefail
source "$(dirname "$0")/begin.sh"
# A run evaluates after its last step: here every run does so after step 4, where the shorter ones end.
sed 's/every: 3/every: 2/' "$small" >"$WORK/small.yaml" && small="$WORK/small.yaml"

train 1 "$WORK/whole" >"$WORK/whole.log" 2>&1 || { cat "$WORK/whole.log"; fail "uninterrupted run"; }
expect_whole() {
  [ "$(digest "$1")" = "$(digest "$WORK/whole")" ] || fail "$2: $(digest "$1"), undisturbed: $(digest "$WORK/whole")"
  diff <(timeless_metrics "$WORK/whole") <(timeless_metrics "$1") || fail "$2: metrics differ"
}

# A second start while the first run writes: tried again and again until the first ends.
"$BIN/lie_cluster" train "$small" --set "run.directory=$WORK/first" >"$WORK/first.log" 2>&1 &
first=$!
until [ -e "$WORK/first/writer.lock" ]; do kill -0 "$first" || { cat "$WORK/first.log"; fail "first run"; }; done
refused=0
while kill -0 "$first" 2>/dev/null; do
  if train 1 "$WORK/first" >"$WORK/second.log" 2>&1; then
    grep -q 'is finished' "$WORK/second.log" || { cat "$WORK/second.log"; fail "a second start went on beside the first"; }
  elif grep -q "$WORK/first is being written by \"lie_cluster train\" on host .*, process $first, since" "$WORK/second.log"; then
    refused=$((refused + 1))
  else
    cat "$WORK/second.log" && fail "not refused by name"
  fi
done
wait "$first" || { cat "$WORK/first.log"; fail "the first run was harmed"; }
[ "$refused" -gt 0 ] || fail "no second start fell into the first run"
[ ! -e "$WORK/first/writer.lock" ] || fail "the lock was not given back"
expect_whole "$WORK/first" "after $refused second starts"

# Flips a random bit of the file $1 at each of 64 random places.
flip() {
  python3 - "$1" "$2" <<'PYTHON'
import random, sys
path, seed = sys.argv[1], int(sys.argv[2])
data = bytearray(open(path, "rb").read())
random.seed(seed)
for place in random.sample(range(len(data)), min(64, len(data))):
    data[place] ^= 1 << random.randrange(8)
open(path, "wb").write(data)
PYTHON
}

# Every file of the last checkpoint of a run that would go on behind it: damaged, missing, cut short.
train 1 "$WORK/four" --set run.steps=4 >"$WORK/four.log" 2>&1 || { cat "$WORK/four.log"; fail "run of four steps"; }
cases=0
# goes_on_without NAME COMMAND...: the damage is noticed, named, set aside; the run ends as the whole one.
goes_on_without() {
  local name="$1" damaged="$WORK/damaged" last
  shift
  rm -rf "$damaged" && cp -r "$WORK/four" "$damaged"
  last="$damaged/checkpoints/step-000004"
  "$@" "$last/$name"
  ! digest "$damaged" >"$WORK/digest.log" 2>&1 || fail "$name: lie_analyze was fooled"
  grep -q "$name" "$WORK/digest.log" || { cat "$WORK/digest.log"; fail "$name: lie_analyze does not name it"; }
  train 1 "$damaged" >"$WORK/damaged.log" 2>&1 || { cat "$WORK/damaged.log"; fail "$name: did not go on"; }
  grep -q "step-000004 IS DAMAGED: .*$name.*renamed to step-000004.damaged" "$WORK/damaged.log" ||
    { cat "$WORK/damaged.log"; fail "$name: not said"; }
  [ -d "$last.damaged" ] || fail "$name: not set aside"
  expect_whole "$damaged" "$name"
  cases=$((cases + 1))
}
seed=1
for file in "$WORK/four/checkpoints/step-000004"/*; do
  flip_it() { flip "$1" "$seed"; }
  goes_on_without "$(basename "$file")" flip_it
  seed=$((seed + 1))
done
goes_on_without optimizer.safetensors rm
goes_on_without SHA256SUMS rm
goes_on_without model.safetensors truncate -s -1

# Every file of a run, bit by bit: each flip is noticed or changes nothing that is read.
"$BIN/lie_analyze" --check "$WORK/whole" >"$WORK/check.log" || { cat "$WORK/check.log"; fail "a sound run is called damaged"; }
"$BIN/flip_bits" "$WORK/whole" 100 || fail "a flipped bit went unnoticed"
# A run killed at any moment is no damaged one.
train 1 "$WORK/killed" >"$WORK/killed.log" 2>&1 &
killed=$!
until ls "$WORK/killed/journal"/*.groups >/dev/null 2>&1; do kill -0 "$killed" || fail "no journal was seen"; done
kill -9 "$killed" && wait "$killed" || true
"$BIN/lie_analyze" --check "$WORK/killed" >"$WORK/check.log" || { cat "$WORK/check.log"; fail "a killed run is called damaged"; }

# What sha256sum says of a checkpoint, as an independent witness.
(cd "$WORK/whole/checkpoints/step-000006" && sha256sum --check --strict --quiet SHA256SUMS) || fail "sha256sum disagrees"

# None is sound: all is learned again from the log, by the start model.
cp -r "$WORK/four" "$WORK/none"
for file in "$WORK/none/checkpoints"/*/model.safetensors; do flip "$file" 99; done
cp -r "$WORK/none" "$WORK/again"
train 1 "$WORK/again" >"$WORK/again.log" 2>&1 || { cat "$WORK/again.log"; fail "without a sound checkpoint, but with its log"; }
grep -q 'NO VALID CHECKPOINT IS LEFT' "$WORK/again.log" || fail "a run began with its start model silently"
grep -q 'steps 1 to 4 are learned again from the log' "$WORK/again.log" || { cat "$WORK/again.log"; fail "generated again"; }
expect_whole "$WORK/again" "without a sound checkpoint"

# Nor is the log whole: refused with the remedy, again and again, and nothing is removed.
rm "$WORK/none/trajectories"/*-segment-000002.h5
for attempt in 1 2; do
  ! train 1 "$WORK/none" >"$WORK/none.log" 2>&1 || fail "went on without a sound checkpoint"
  grep -q 'no valid checkpoint is left, only step-000002.damaged, step-000004.damaged: restore an intact copy' "$WORK/none.log" ||
    { cat "$WORK/none.log"; fail "no remedy named"; }
done
ls "$WORK/none/trajectories"/*.h5 >/dev/null || fail "the log was removed"

# An older checkpoint, without checksums and coverage, is taken with a word on each.
cp -r "$WORK/four" "$WORK/older"
rm "$WORK"/older/checkpoints/*/{SHA256SUMS,coverage.bin}
sed -i '/"checksums"/d' "$WORK"/older/checkpoints/*/trainer_state.json
train 1 "$WORK/older" >"$WORK/older.log" 2>&1 || { cat "$WORK/older.log"; fail "older checkpoint"; }
grep -q 'step-000004 has no checksums' "$WORK/older.log" || fail "an unchecked checkpoint was taken silently"
grep -q 'without coverage.bin.*c_global_run counts the n-grams of the steps after 4 only' "$WORK/older.log" ||
  { cat "$WORK/older.log"; fail "C_global began anew silently"; }
[ "$(digest "$WORK/older")" = "$(digest "$WORK/whole")" ] || fail "without checksums: other bits"

# What a run has lost of its past is said, and the run goes on.
cp -r "$WORK/four" "$WORK/lost"
rm "$WORK/lost/metrics.jsonl" "$WORK/lost/trajectories"/*-segment-000000.h5
train 1 "$WORK/lost" >"$WORK/lost.log" 2>&1 || { cat "$WORK/lost.log"; fail "a run without its past"; }
grep -q 'lost/metrics.jsonl LACKS 4 OF 4 STEPS, the first is 1, the last 4' "$WORK/lost.log" || fail "lost metrics: not said"
grep -q 'lost/trajectories LACKS 2 OF 4 STEPS, the first is 1, the last 2' "$WORK/lost.log" || fail "lost log: not said"
grep -q 'segment-000000.h5 IS MISSING: it held steps 0 to 2 of learner 0' "$WORK/lost.log" || fail "lost segment: not named"
weights() { digest "$1" | grep weights; }
[ "$(weights "$WORK/lost")" = "$(weights "$WORK/whole")" ] || fail "without its past: other weights"
diff <(timeless_metrics "$WORK/whole" | tail -n 2) <(timeless_metrics "$WORK/lost" | tail -n 2) ||
  fail "without its past: other metrics"  # C_global, too: it needs the checkpoint only

echo "$refused second starts refused; $cases damaged checkpoints set aside, each run with the bits of the undisturbed one"

#!/usr/bin/env bash
# Invariants E9 and E10. A second start in a live run directory is refused, names the process that
# holds the lock, and does no harm. A damaged checkpoint is renamed, and the run resumes from the
# previous one with results bit-identical to an undamaged run.
# check_test.sh BIN WORK
set -euo pipefail
source "$(dirname "$0")/begin.sh"
# A run evaluates after its last step. Shorter runs end at step 4, so every run evaluates there.
sed 's/every: 3/every: 2/' "$small" >"$WORK/small.yaml" && small="$WORK/small.yaml"

train 1 "$WORK/whole" >"$WORK/whole.log" 2>&1 || { cat "$WORK/whole.log"; fail "the uninterrupted run failed"; }
expect_complete() {
  [ "$(digest "$1")" = "$(digest "$WORK/whole")" ] || fail "$2: $(digest "$1"), uninterrupted: $(digest "$WORK/whole")"
  diff <(timeless_metrics "$WORK/whole") <(timeless_metrics "$1") || fail "$2: metrics differ"
}

# Attempts a second start repeatedly until the first run ends.
"$BIN/lie_cluster" train "$small" --set "run.directory=$WORK/first" >"$WORK/first.log" 2>&1 &
first=$!
until [ -e "$WORK/first/writer.lock" ]; do kill -0 "$first" || { cat "$WORK/first.log"; fail "the first run failed"; }; done
refused=0
while kill -0 "$first" 2>/dev/null; do
  if train 1 "$WORK/first" >"$WORK/second.log" 2>&1; then
    grep -q 'is finished' "$WORK/second.log" || { cat "$WORK/second.log"; fail "a second start ran at the same time as the first"; }
  elif grep -q "$WORK/first is being written by \"lie_cluster train\" on host .*, process $first, since" "$WORK/second.log"; then
    refused=$((refused + 1))
  else
    cat "$WORK/second.log" && fail "the refusal does not name the process that holds the lock"
  fi
done
wait "$first" || { cat "$WORK/first.log"; fail "the first run failed after a second start"; }
[ "$refused" -gt 0 ] || fail "no second start happened during the first run"
[ ! -e "$WORK/first/writer.lock" ] || fail "the lock file was not removed"
expect_complete "$WORK/first" "after $refused second starts"

# Flips a random bit in each of 64 random bytes of the file $1. The seed is $2.
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

# Each file of the last checkpoint is damaged. Some are also removed or truncated.
train 1 "$WORK/four" --set run.steps=4 >"$WORK/four.log" 2>&1 || { cat "$WORK/four.log"; fail "the run of four steps failed"; }
cases=0
# resumes_without NAME COMMAND...: damages the file NAME by COMMAND. Checks that the damage is
# detected and named, that the checkpoint is renamed, and that the run ends like the uninterrupted
# one.
resumes_without() {
  local name="$1" damaged="$WORK/damaged" last
  shift
  rm -rf "$damaged" && cp -r "$WORK/four" "$damaged"
  last="$damaged/checkpoints/step-000004"
  "$@" "$last/$name"
  ! digest "$damaged" >"$WORK/digest.log" 2>&1 || fail "$name: lie_analyze did not detect the damage"
  grep -q "$name" "$WORK/digest.log" || { cat "$WORK/digest.log"; fail "$name: lie_analyze does not name it"; }
  train 1 "$damaged" >"$WORK/damaged.log" 2>&1 || { cat "$WORK/damaged.log"; fail "$name: the run did not resume"; }
  grep -q "step-000004 IS DAMAGED: .*$name.*renamed to step-000004.damaged" "$WORK/damaged.log" ||
    { cat "$WORK/damaged.log"; fail "$name: the damage is not reported"; }
  [ -d "$last.damaged" ] || fail "$name: the checkpoint was not renamed"
  expect_complete "$damaged" "$name"
  cases=$((cases + 1))
}
seed=1
for file in "$WORK/four/checkpoints/step-000004"/*; do
  flip_it() { flip "$1" "$seed"; }
  resumes_without "$(basename "$file")" flip_it
  seed=$((seed + 1))
done
resumes_without optimizer.safetensors rm
resumes_without SHA256SUMS rm
resumes_without model.safetensors truncate -s -1

# Bits of every file of a run are flipped. Each flip is detected or changes nothing that is read.
"$BIN/lie_analyze" --check "$WORK/whole" >"$WORK/check.log" || { cat "$WORK/check.log"; fail "an intact run is reported as damaged"; }
"$BIN/flip_bits" "$WORK/whole" 100 || fail "a flipped bit was not detected"
# A killed run is not reported as damaged.
train 1 "$WORK/killed" >"$WORK/killed.log" 2>&1 &
killed=$!
until ls "$WORK/killed/journal"/*.groups >/dev/null 2>&1; do kill -0 "$killed" || fail "the run ended before a journal appeared"; done
kill -9 "$killed" && wait "$killed" || true
"$BIN/lie_analyze" --check "$WORK/killed" >"$WORK/check.log" || { cat "$WORK/check.log"; fail "a killed run is reported as damaged"; }

# Verifies the checksums of a checkpoint independently by sha256sum.
(cd "$WORK/whole/checkpoints/step-000006" && sha256sum --check --strict --quiet SHA256SUMS) || fail "sha256sum rejects the checkpoint"

# No checkpoint is intact: the run relearns all steps from the log, beginning with the start model.
cp -r "$WORK/four" "$WORK/none"
for file in "$WORK/none/checkpoints"/*/model.safetensors; do flip "$file" 99; done
cp -r "$WORK/none" "$WORK/again"
train 1 "$WORK/again" >"$WORK/again.log" 2>&1 || { cat "$WORK/again.log"; fail "the run did not resume from its log without an intact checkpoint"; }
grep -q 'NO VALID CHECKPOINT IS LEFT' "$WORK/again.log" || fail "a run restarted from its start model without a warning"
grep -q 'steps 1 to 4 are learned again from the log' "$WORK/again.log" || { cat "$WORK/again.log"; fail "the logged steps were generated again"; }
expect_complete "$WORK/again" "without an intact checkpoint"

# The log is incomplete, too: every start is refused, the message names the remedy, and nothing is
# removed.
rm "$WORK/none/trajectories"/*-segment-000002.h5
for attempt in 1 2; do
  ! train 1 "$WORK/none" >"$WORK/none.log" 2>&1 || fail "the run resumed without an intact checkpoint"
  grep -q 'no valid checkpoint is left, only step-000002.damaged, step-000004.damaged: restore an intact copy' "$WORK/none.log" ||
    { cat "$WORK/none.log"; fail "the message names no remedy"; }
done
ls "$WORK/none/trajectories"/*.h5 >/dev/null || fail "the log was removed"

# An older checkpoint without checksums and coverage is accepted with a warning about each.
cp -r "$WORK/four" "$WORK/older"
rm "$WORK"/older/checkpoints/*/{SHA256SUMS,coverage.bin}
sed -i '/"checksums"/d' "$WORK"/older/checkpoints/*/trainer_state.json
train 1 "$WORK/older" >"$WORK/older.log" 2>&1 || { cat "$WORK/older.log"; fail "the run did not resume from an older checkpoint"; }
grep -q 'step-000004 has no checksums' "$WORK/older.log" || fail "a checkpoint without checksums was accepted without a warning"
grep -q 'without coverage.bin.*c_global_run counts the n-grams of the steps after 4 only' "$WORK/older.log" ||
  { cat "$WORK/older.log"; fail "C_global restarted without a warning"; }
[ "$(digest "$WORK/older")" = "$(digest "$WORK/whole")" ] || fail "without checksums: not bit-identical"

# A run reports the metrics and log files that it has lost, and resumes.
cp -r "$WORK/four" "$WORK/lost"
rm "$WORK/lost/metrics.jsonl" "$WORK/lost/trajectories"/*-segment-000000.h5
train 1 "$WORK/lost" >"$WORK/lost.log" 2>&1 || { cat "$WORK/lost.log"; fail "a run without its metrics and log did not resume"; }
grep -q 'lost/metrics.jsonl: lacked the lines of 2 steps, the first is 3; they were restored' "$WORK/lost.log" || fail "the metrics are not made again"
grep -q 'lost/metrics.jsonl LACKS 2 OF 4 STEPS, the first is 1, the last 2' "$WORK/lost.log" || fail "the lost metrics are not reported"
grep -q 'lost/trajectories LACKS 2 OF 4 STEPS, the first is 1, the last 2' "$WORK/lost.log" || fail "the lost log is not reported"
grep -q 'segment-000000.h5 IS MISSING: it held steps 0 to 2 of learner 0' "$WORK/lost.log" || fail "the lost segment is not named"
weights() { digest "$1" | grep weights; }
[ "$(weights "$WORK/lost")" = "$(weights "$WORK/whole")" ] || fail "without its metrics and log: weights differ"
diff <(timeless_metrics "$WORK/whole" | tail -n 2) <(timeless_metrics "$WORK/lost" | tail -n 2) ||
  fail "without its metrics and log: metrics differ"  # includes C_global, which needs only the checkpoint

# A file that is lost together with the index is noticed, before and after the index is rebuilt.
cp -r "$WORK/four" "$WORK/unlisted"
rm "$WORK/unlisted/trajectories"/{*-segment-000000.h5,index.jsonl}
unlisted() {
  ! "$BIN/lie_analyze" --check "$WORK/unlisted" >"$WORK/check.log" || { cat "$WORK/check.log"; fail "$1: lost steps are intact"; }
  grep -q 'neither a file nor index.jsonl has steps 1 to 2' "$WORK/check.log" || { cat "$WORK/check.log"; fail "$1: the lost steps are not named"; }
}
unlisted "without an index"
train 1 "$WORK/unlisted" >"$WORK/unlisted.log" 2>&1 || { cat "$WORK/unlisted.log"; fail "no resume without the index"; }
unlisted "with a rebuilt index"

# A flipped bit and a removed line of metrics.jsonl are noticed. The next start makes both lines again from the trajectories,
# equal to those of the undamaged run as far as the trajectories tell, and keeps the damaged file.
cp -r "$WORK/four" "$WORK/healed"
python3 - "$WORK/healed/metrics.jsonl" <<'PYTHON'
import sys
lines = open(sys.argv[1], "rb").read().splitlines(keepends=True)
steps = {b'"step":%d,' % step: line for line in lines for step in range(5) if b'"step":%d,' % step in line}
flipped = steps[b'"step":2,'].replace(b'"accuracy":0', b'"accuracy":1')
assert flipped != steps[b'"step":2,']
kept = [flipped if line == steps[b'"step":2,'] else line for line in lines if line != steps[b'"step":3,']]
open(sys.argv[1], "wb").write(b"".join(kept))
PYTHON
! "$BIN/lie_analyze" --check "$WORK/healed" >"$WORK/check.log" || fail "a damaged metrics.jsonl is called intact"
grep -q 'healed/metrics.jsonl:.*: the line does not fit its checksum' "$WORK/check.log" || fail "the damaged line is not named"
grep -q 'without the metrics of the update, which `lie_replay train` computes again' "$WORK/check.log" || fail "the remedy for the metrics of the update is not named"
"$BIN/lie_analyze" "$WORK/healed" >"$WORK/report.log" 2>&1 || { cat "$WORK/report.log"; fail "no report of a run with a damaged line"; }
grep -v '"step":2,' "$WORK/healed/metrics.jsonl" >"$WORK/lacking.jsonl"
cp -r "$WORK/healed" "$WORK/lacking" && cp "$WORK/lacking.jsonl" "$WORK/lacking/metrics.jsonl"
! "$BIN/lie_analyze" --check "$WORK/lacking" >"$WORK/check.log" || fail "a metrics.jsonl without two lines is called intact"
grep -q 'lacking/metrics.jsonl: lacks the lines of 2 steps, the first is 2' "$WORK/check.log" || fail "the missing lines are not named"
train 1 "$WORK/healed" >"$WORK/healed.log" 2>&1 || { cat "$WORK/healed.log"; fail "a damaged line of metrics stops the resume"; }
[ -e "$WORK/healed/metrics.jsonl.damaged" ] || fail "the damaged metrics were not kept"
grep -q 'lacked the lines of 2 steps, the first is 2; they were restored' "$WORK/healed.log" || { cat "$WORK/healed.log"; fail "the repair is not reported"; }
"$BIN/lie_analyze" --check "$WORK/healed" >"$WORK/check.log" || { cat "$WORK/check.log"; fail "the repaired run is called damaged"; }
[ "$(digest "$WORK/healed")" = "$(digest "$WORK/whole")" ] || fail "with repaired metrics: not bit-identical"
python3 - "$WORK/whole/metrics.jsonl" "$WORK/healed/metrics.jsonl" <<'PYTHON' || fail "the lines that were made again differ"
import json, sys
whole, healed = ({row["step"]: row for row in map(json.loads, open(path))} for path in sys.argv[1:])
assert list(healed) == list(whole), (list(healed), list(whole))
for step in (2, 3):
    made = {key: value for key, value in healed[step].items() if key not in ("wall_time", "crc32c")}
    differing = [key for key, value in made.items() if whole[step][key] != value]
    assert not differing and len(made) > 40 and "accuracy" in made, (step, differing, len(made))
PYTHON

# The metrics of the update that the lines lack come from a replay of the log.
"$BIN/lie_replay" train "$WORK/healed" --run-directory "$WORK/replayed" --set run.steps=3 >"$WORK/replayed.log" 2>&1 ||
  { cat "$WORK/replayed.log"; fail "the healed run is not replayed"; }
python3 - "$WORK/whole/metrics.jsonl" "$WORK/healed/metrics.jsonl" "$WORK/replayed/metrics.jsonl" <<'PYTHON' || fail "a replay does not give the lost metrics"
import json, sys
whole, healed, replayed = ({row["step"]: row for row in map(json.loads, open(path))} for path in sys.argv[1:])
for name in ("loss", "grad_norm", "learning_rate", "clip_fraction"):
    assert name in whole[2] and name not in healed[2] and replayed[2][name] == whole[2][name], name
PYTHON

# Damage before the last checkpoint is not mended by a resume, so --check does not advise one. Later damage is.
cp -r "$WORK/whole" "$WORK/early" && truncate -s -1 "$WORK/early/trajectories/learner-000-segment-000000.h5"
! "$BIN/lie_analyze" --check "$WORK/early" >"$WORK/check.log" || fail "a file that was cut short is called intact"
grep -qx '  remedy  restore a copy of the file' "$WORK/check.log" || { cat "$WORK/check.log"; fail "a resume is advised that cannot help"; }
rm -r "$WORK/early/checkpoints"
! "$BIN/lie_analyze" --check "$WORK/early" >"$WORK/check.log" || fail "a file that was cut short is called intact"
grep -q 'or resume the run: steps after its last checkpoint' "$WORK/check.log" || { cat "$WORK/check.log"; fail "no resume is advised"; }

# A link in place of metrics.jsonl may lead to any file, which no start replaces.
cp -r "$WORK/four" "$WORK/linked" && rm "$WORK/linked/metrics.jsonl"
echo "a user's text" >"$WORK/victim" && ln -s "$WORK/victim" "$WORK/linked/metrics.jsonl"
! train 1 "$WORK/linked" >"$WORK/linked.log" 2>&1 || fail "a linked file is replaced"
grep -q "linked/metrics.jsonl: is a link to $WORK/victim, which would be replaced" "$WORK/linked.log" || { cat "$WORK/linked.log"; fail "the link is not named"; }
[ "$(cat "$WORK/victim")" = "a user's text" ] || fail "the target of a link was replaced"

# Other links are followed, and named. The report replaces no target of a link.
cp -r "$WORK/four" "$WORK/moved" && mv "$WORK/moved/checkpoints" "$WORK/elsewhere" && ln -s "$WORK/elsewhere" "$WORK/moved/checkpoints"
for how in --dry-run ""; do
  train 1 "$WORK/moved" $how >"$WORK/moved.log" 2>&1 || { cat "$WORK/moved.log"; fail "a run with linked checkpoints does not resume"; }
  grep -q "warning: $WORK/moved/checkpoints is a link: what is written.* is in $WORK/elsewhere" "$WORK/moved.log" || { cat "$WORK/moved.log"; fail "the linked folder is not named: $how"; }
  [ "$(grep -c 'is a link' "$WORK/moved.log")" = 1 ] || { cat "$WORK/moved.log"; fail "the linked folder is named twice: $how"; }
done
expect_complete "$WORK/moved" "with linked checkpoints"
ln -s "$WORK/victim" "$WORK/moved/report.html"
! "$BIN/lie_analyze" "$WORK/moved" >"$WORK/moved.log" 2>&1 || fail "a report replaces a link"
grep -q "moved/report.html is a link to $WORK/victim, which is not replaced; choose another file with --html" "$WORK/moved.log" || { cat "$WORK/moved.log"; fail "the linked report is not named"; }
[ "$(cat "$WORK/victim")" = "a user's text" ] || fail "the target of a report's link was replaced"

# No name of a directory reaches the terminal as a control sequence.
escape="$WORK/"$'esc\e]0;title\a' && cp -r "$WORK/four" "$escape" && flip "$escape/metrics.jsonl" 1
for command in "" --check --digest --close tail; do
  "$BIN/lie_analyze" $command "$escape" >"$WORK/escape.log" 2>&1 || true
  ! grep -q $'[\e\a]' "$WORK/escape.log" || { cat -v "$WORK/escape.log"; fail "lie_analyze $command writes a control sequence"; }
  [ "$command" = --digest ] || grep -qF 'esc\x1b]0;title\x07' "$WORK/escape.log" || { cat -v "$WORK/escape.log"; fail "lie_analyze $command does not name the directory"; }
done
"$BIN/lie_analyze" --check "$escape" "$WORK/four" >"$WORK/escape.log" 2>&1 || true
! grep -q $'[\e\a]' "$WORK/escape.log" || { cat -v "$WORK/escape.log"; fail "lie_analyze --check of two writes a control sequence"; }

# config.yaml with another permitted key is intact; an edited one is not.
train 1 "$WORK/healed" --set checkpoint.keep_last=7 >"$WORK/kept.log" 2>&1 || { cat "$WORK/kept.log"; fail "a permitted key is refused"; }
"$BIN/lie_analyze" --check "$WORK/healed" >"$WORK/check.log" || { cat "$WORK/check.log"; fail "a run whose permitted keys changed is called damaged"; }
sed -i 's/keep_last: 7/keep_last: 6/' "$WORK/healed/config.yaml"
! "$BIN/lie_analyze" --check "$WORK/healed" >"$WORK/check.log" || fail "an edited config.yaml is called intact"
grep -q 'config.yaml: does not fit its checksum' "$WORK/check.log" || { cat "$WORK/check.log"; fail "the edited config.yaml is not named"; }

echo "$refused second starts refused; $cases damaged checkpoints renamed, each run bit-identical to the uninterrupted one"

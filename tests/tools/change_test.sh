#!/usr/bin/env bash
# run.resume=changed: a run continues with other settings from its first step that is not logged.
# The logged steps are learned again with their original settings, after any number of kills.
# change_test.sh BIN WORK
set -euo pipefail
source "$(dirname "$0")/begin.sh"

new=(--set optimizer.learning_rate=3e-4 --set reward.length.eta=0.02 --set evaluation.every=2 --set run.resume=changed)
# start RANKS NAME [overrides...]: writes its output to NAME.log
start() { train "$1" "$WORK/$2" "${@:3}" >"$WORK/$2.log" 2>&1; }
# run RANKS NAME [overrides...]
run() { start "$@" || { cat "$WORK/$2.log"; fail "$2: the run failed"; }; }
# dies FAULT RANKS NAME [overrides...]
dies() { ! LIE_FAULT="$1" start "${@:2}" || fail "$3: does not die at $1"; }
# refuses "words" NAME [overrides...]
refuses() {
  ! start 1 "${@:2}" || fail "not refused: ${*:3}"
  grep -qF -- "$1" "$WORK/$2.log" || { cat "$WORK/$2.log"; fail "the message lacks \"$1\""; }
}
# says "words" NAME
says() { grep -qF -- "$1" "$WORK/$2.log" || { cat "$WORK/$2.log"; fail "$2 does not say \"$1\""; }; }
# same NAME: the run is bit-identical to the one in $WORK/changed
same() {
  [ "$(digest "$WORK/$1")" = "$(digest "$WORK/changed")" ] || fail "$1: $(digest "$WORK/$1"), expected $(digest "$WORK/changed")"
  diff <(timeless_metrics "$WORK/changed") <(timeless_metrics "$WORK/$1") || fail "$1: its metrics differ"
}

# The settings change after step 3 is complete and its checkpoint is saved.
run 1 changed --set run.steps=3
refuses 'set run.resume=changed to continue' changed --set run.steps=6 --set optimizer.learning_rate=3e-4
refuses 'run.seed: there 3, here 4' changed --set run.seed=4 --set run.resume=changed
refuses 'name another directory' changed --set run.seed=4 --set optimizer.learning_rate=3e-4
! grep -qF 'run.resume=changed to continue' "$WORK/changed.log" || fail "run.resume=changed is suggested for a key that must not change"
run 1 changed --set run.steps=6 "${new[@]}"
says 'the settings change after step 3: evaluation.every: there 3, here 2; reward.length.eta: there 0.01, here 0.02; optimizer.learning_rate: there 0.001, here 0.0003' changed

# Another run is killed in step 4, with a checkpoint of step 2. Written in the background, the
# checkpoint could be incomplete then.
dies journal:36 1 killed --set checkpoint.background=false
[ "$(ls "$WORK/killed/checkpoints")" = step-000002 ] || fail "unexpected checkpoints: $(ls "$WORK/killed/checkpoints")"
cp -r "$WORK/killed" "$WORK/again"
run 1 killed "${new[@]}"
same killed
says 'step 3 is learned again from the log' killed
says "$WORK/killed/journal.step-000003" killed
cmp "$WORK/killed/config.step-000003.yaml" "$WORK/again/config.yaml" || fail "the old config was not kept"

# It is killed again: while it keeps the old config, while it relearns step 3, under the new settings, and with run.resume=auto.
dies file:1 1 again "${new[@]}"
dies file:2 1 again "${new[@]}"
dies checkpoint:1 4 again "${new[@]}"
dies journal:9 4 again "${new[@]}"
dies metrics:2 4 again "${new[@]/changed/auto}"
run 4 again "${new[@]/changed/auto}"
same again

# Without the checkpoints after the change, the steps before it keep the old settings.
for step in 3 4 6; do rm -r "$WORK/again/checkpoints/step-00000$step"; done
run 4 again "${new[@]/changed/auto}"
same again

# The change is in metrics, table, report and replay, and the directory is intact.
[ "$(grep -c '"settings_changes":1' "$WORK/again/metrics.jsonl")" = 3 ] || fail "metrics.jsonl does not count the change"
"$BIN/lie_analyze" "$WORK/again" --html "$WORK/report.html" >"$WORK/table.txt"
grep -qF 'settings changed after step 3: evaluation.every: 3, now 2; ' "$WORK/table.txt" || fail "the table lacks the change"
grep -qF '"changes":[3]' "$WORK/report.html" || fail "the report lacks the change"
"$BIN/lie_analyze" --check "$WORK/again" || fail "the directory is not intact"
sed -i 's/0\.01$/0.03/' "$WORK/again/config.step-000003.yaml"
! "$BIN/lie_analyze" --check "$WORK/again" >"$WORK/check.log" || fail "an edited former config is called intact"
grep -q 'config.step-000003.yaml: does not fit its checksum' "$WORK/check.log" || fail "the edited config is not named"

# A replay repeats one part at a time.
sed -i 's/0\.03$/0.01/' "$WORK/again/config.step-000003.yaml"
replay() { "$BIN/lie_replay" train "$WORK/again" "$@" >"$WORK/replay.log" 2>&1; }
! replay --run-directory "$WORK/replayed" || fail "a replay across a change is not refused"
grep -qF -- "--steps 1-3, or those after it with --from-checkpoint $WORK/again/checkpoints/step-000003" "$WORK/replay.log" || fail "the parts are not named"
replay --run-directory "$WORK/before" --steps 1-3 || { cat "$WORK/replay.log"; fail "the replay of the first part failed"; }
replay --run-directory "$WORK/after" --from-checkpoint "$WORK/again/checkpoints/step-000003" || { cat "$WORK/replay.log"; fail "the replay of the second part failed"; }
for file in before/checkpoints/step-000003 after/checkpoints/step-000006; do
  cmp "$WORK/$file/model.safetensors" "$WORK/again/checkpoints/${file##*/}/model.safetensors" || fail "$file: not bit-identical to the run"
done

# Staleness and a second change.
run 4 changed --set run.steps=8 "${new[@]}" --set rollout.max_staleness=1
configs=("$WORK"/changed/config*)
[ "${#configs[@]}" = 3 ] || fail "the second change lacks its file"
[ "$(grep -c '"settings_changes":2' "$WORK/changed/metrics.jsonl")" = 2 ] || fail "metrics.jsonl does not count the second change"

# Other evaluation rows are a change, too, under another name or the same. The old ones may be gone.
shuf -n 12 --random-source=<(yes) assets/count_pairs/eval.jsonl >"$WORK/held.jsonl"
tail -n 8 "$WORK/held.jsonl" >"$WORK/other.jsonl"
rows=(--set "data.evaluation_file=$WORK/held.jsonl" --set evaluation.every=1)
dies journal:36 1 rows "${rows[@]}" --set checkpoint.background=false
rm "$WORK/held.jsonl"
rows=(--set "data.evaluation_file=$WORK/other.jsonl" --set evaluation.every=1 --set run.resume=changed)
run 1 rows "${rows[@]}" --set run.steps=6
says 'the settings change after step ' rows
sed -i 1d "$WORK/other.jsonl"
run 1 rows "${rows[@]}" --set run.steps=8
says 'the settings change after step 6: other rows in data.evaluation_file' rows
[ "$(grep -c '"settings_changes":2' "$WORK/rows/metrics.jsonl")" = 2 ] || fail "metrics.jsonl does not count the exchange of rows"
"$BIN/lie_analyze" "$WORK/rows" --no-html >"$WORK/table.txt"
grep -qF 'settings changed after step 6: data.evaluation_file: other rows' "$WORK/table.txt" || { cat "$WORK/table.txt"; fail "the table lacks the exchange of rows"; }
cp "$WORK/rows/metrics.jsonl" "$WORK/metrics.before" && sed -i 's/"accuracy"/"accurac"/' "$WORK/rows/metrics.jsonl"
run 1 rows "${rows[@]}" --set run.steps=9
[ "$(grep -c '"settings_changes":2' "$WORK/rows/metrics.jsonl")" = 3 ] || fail "repaired lines lack the changes of settings"

echo "changed settings: bit-identical after kills, damage and on 1 and 4 ranks"

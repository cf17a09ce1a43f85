#!/usr/bin/env bash
# train, sft and eval report each fact once at their start and end. --dry-run makes the checks of a
# start, fails with the same messages, and changes nothing.
# start_test.sh BIN WORK
set -euo pipefail
source "$(dirname "$0")/begin.sh"

logs_once() {  # log, words...: checks that the log holds each of the words exactly once
  local log="$1" words
  shift
  for words in "$@"; do
    [ "$(grep -cF -- "$words" "$log")" = 1 ] || { cat "$log"; fail "not reported exactly once: $words"; }
  done
}
fits() {  # log: checks that lines fit 80 columns, except those with paths and commands
  ! grep -vF -e "$WORK" -e "$BIN" "$1" | grep -v ' left$' | grep -E '.{81}' || fail "$1: lines wider than 80 columns"
}
# Checks that the command after "next" works when it is copied unchanged.
next_command_works() {
  local command
  command="$(sed -n 's/^  next  *//p' "$1")"
  bash -c "$command" >"$WORK/next.out" 2>&1 || { cat "$WORK/next.out"; fail "the next command failed: $command"; }
}
state() { find "$1" -printf '%p %y %T@\n' | sort; find "$1" -type f -exec sha256sum {} + | sort; }

# --- train
shape=(--set run.steps=3 --set checkpoint.every=2)
for ranks in 1 4; do
  run="$WORK/run$ranks" log="$WORK/train$ranks.log"
  mkdir -p "$WORK/around$ranks" && before="$(state "$WORK/around$ranks")"
  train "$ranks" "$WORK/around$ranks/new" "${shape[@]}" --dry-run >"$WORK/dry.yaml" 2>"$log" || { cat "$log"; fail "the dry run failed"; }
  [ "$(state "$WORK/around$ranks")" = "$before" ] || fail "the dry run of a new run wrote something"
  logs_once "$log" 'a new run of 3 steps' 'nothing was started or written' 'memory '
  "$BIN/lie_cluster" train "$WORK/dry.yaml" --dry-run 2>"$log" | diff "$WORK/dry.yaml" - || fail "the printed config gives another config"

  train "$ranks" "$run" "${shape[@]}" >"$log" 2>&1 || { cat "$log"; fail "train failed"; }
  logs_once "$log" "$run: a new run of 3 steps" '0.4 million parameters' 'train.jsonl' '8 prompts of' 'template plain' 'end at <|endoftext|> (256)' \
    'KV cache' 'rank 0' 'done: all 3 steps' ' in steps' '  held out ' "$run/checkpoints/step-000003" "$run/trajectories" 'step 2 is saved'
  ! grep -q 'step 3 is saved' "$log" || fail "the last checkpoint is reported twice"
  fits "$log"
  next_command_works "$log"
  grep -qE "^\{\"event\":\"start\",.*\"command\":\"lie_cluster train\".*\"host\":\"[^\"]+\".*\"ranks\":$ranks," "$run/starts.jsonl" &&
    [ "$(grep -c '"event":"end",.*"status":0,' "$run/starts.jsonl")" = 1 ] || { cat "$run/starts.jsonl"; fail "the start and its end are not recorded"; }

  before="$(state "$run")"
  train "$ranks" "$run" --set run.steps=5 --dry-run >/dev/null 2>"$log" || { cat "$log"; fail "the dry run of a resumable run failed"; }
  logs_once "$log" "$run: resumes after step 3 of 5" "  from        $run/checkpoints/step-000003"
  [ "$(state "$run")" = "$before" ] || fail "the dry run of a resumable run wrote something"
  train "$ranks" "$run" "${shape[@]}" >"$log" 2>&1 || { cat "$log"; fail "train failed on a finished run"; }
  logs_once "$log" "$run is finished: it has all 3 steps" "$run/checkpoints/step-000003"
  train "$ranks" "$run" --set run.steps=2 >"$log" 2>&1 || { cat "$log"; fail "train failed with fewer steps than the run has"; }
  logs_once "$log" "$run is finished: it has 3 steps; with the present settings it ends after step 2" "$run/checkpoints/step-000003"
done

# A dry run skips a damaged checkpoint. Only a real start renames it.
cp -r "$WORK/run1" "$WORK/damaged" && echo >>"$WORK/damaged/checkpoints/step-000003/config.json"
before="$(state "$WORK/damaged")"
train 1 "$WORK/damaged" --set run.steps=5 --dry-run >/dev/null 2>"$WORK/damaged.log" || { cat "$WORK/damaged.log"; fail "the dry run of a damaged run failed"; }
logs_once "$WORK/damaged.log" 'resumes after step 2 of 5' 'step-000003 IS DAMAGED'
[ "$(state "$WORK/damaged")" = "$before" ] || fail "the dry run renamed something"

# A dry run refuses the directory of a live run with the same message as a real start.
"$BIN/lie_cluster" train "$small" --set "run.directory=$WORK/live" --set run.steps=1000 >"$WORK/live.log" 2>&1 &
live=$!
until grep -q '^step *1/' "$WORK/live.log"; do kill -0 "$live" || { cat "$WORK/live.log"; fail "the live run ended early"; }; done
words_of() { sed -n 's/.*preparing the run: //p' "$1"; }
for how in "" --dry-run; do
  if train 1 "$WORK/live" --set run.steps=1000 $how >"$WORK/refused$how.log" 2>&1; then fail "a live run was not detected"; fi
done
words_of "$WORK/refused.log" | grep -q 'is being written by "lie_cluster train"' || { cat "$WORK/refused.log"; fail "the refusal does not name the process that holds the lock"; }
[ "$(words_of "$WORK/refused.log")" = "$(words_of "$WORK/refused--dry-run.log")" ] || fail "the dry run is refused with another message"
kill -TERM "$live"
status=0 && wait "$live" || status=$?
[ "$status" = 75 ] || { cat "$WORK/live.log"; fail "status $status after a stop"; }
logs_once "$WORK/live.log" 'start the same command again to resume' "  checkpoint    $WORK/live/checkpoints/step-"
next_command_works "$WORK/live.log"

# --- sft
printf '{"prompt": "1 2", "response": "3"}\n{"prompt": "2 2", "response": "4"}\n' >"$WORK/pairs.jsonl"
cat >"$WORK/sft.yaml" <<YAML
run: {directory: $WORK/sft, steps: 2}
model: {path: assets/count_pairs/model}
data: {train_file: $WORK/pairs.jsonl}
optimizer: {warmup: 0}
YAML
"$BIN/lie_cluster" sft "$WORK/sft.yaml" --dry-run >"$WORK/dry.yaml" 2>"$WORK/sft.log" || { cat "$WORK/sft.log"; fail "sft --dry-run failed"; }
[ ! -e "$WORK/sft" ] || fail "sft --dry-run wrote something"
"$BIN/lie_cluster" sft "$WORK/dry.yaml" >"$WORK/sft.log" 2>&1 || { cat "$WORK/sft.log"; fail "sft failed"; }
logs_once "$WORK/sft.log" "$WORK/sft: a new run of 2 steps" '0.4 million parameters' '2 examples of' 'learner ' 'end at <|endoftext|> (256)' \
  'done: all 2 steps' '  loss  ' ' in step 2, ' "$WORK/sft/checkpoints/step-000002"
fits "$WORK/sft.log"
next_command_works "$WORK/sft.log"

# --- eval
cat >"$WORK/eval.yaml" <<YAML
run: {directory: $WORK/eval}
data: {evaluation_file: assets/count_pairs/eval.jsonl}
evaluation: {prompts: 8, max_response_tokens: 40}
model: {path: assets/count_pairs/model}
rollout: {max_prompt_tokens: 32, slots: 8}
YAML
"$BIN/lie_cluster" eval "$WORK/eval.yaml" --dry-run >"$WORK/dry.yaml" 2>"$WORK/eval.log" || { cat "$WORK/eval.log"; fail "eval --dry-run failed"; }
[ ! -e "$WORK/eval" ] || fail "eval --dry-run wrote something"
"$BIN/lie_cluster" eval "$WORK/dry.yaml" >"$WORK/eval.out" 2>"$WORK/eval.log" || { cat "$WORK/eval.log"; fail "eval failed"; }
logs_once "$WORK/eval.log" "$WORK/eval: a new evaluation" '0.4 million parameters' '8 prompts of' 'end at <|endoftext|> (256)' 'KV cache' "$WORK/eval/table.txt"
fits "$WORK/eval.log"
next_command_works "$WORK/eval.log"

# --- the config of the README: the warning about the reward terms would come after step 8
sed -n '/^```yaml/,/^```/{/^```/d;p}' README.md >"$WORK/my.yaml"
"$BIN/lie_cluster" train "$WORK/my.yaml" --set "run.directory=$WORK/readme" --set run.steps=9 --set rollout.samples_per_prompt=8 >"$WORK/readme.log" 2>&1 || { cat "$WORK/readme.log"; fail "the README's config failed"; }
! grep 'warning' "$WORK/readme.log" || fail "the README's config causes a warning"
echo "train, sft and eval report their starts and ends; dry runs change nothing"

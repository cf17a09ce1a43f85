#!/usr/bin/env bash
# Every program reports bad input and lost output: its exit status and its message name the problem.
# ends_test.sh BIN WORK
set -uo pipefail
source "$(dirname "$0")/begin.sh"
export PATH="$BIN:$PATH"
model="$PWD/assets/count_pairs/model" data="$PWD/assets/count_pairs/train.jsonl"
trials=0 root="$PWD"
source scripts/python_lib.sh
behaviors="$python -m lie_cluster.behaviors"
cd "$WORK" || exit 1

# ends STATUS "words" "shell command": checks the exit status and that the message holds the words.
# STATUS bad accepts any status but 0 and those of signals. STATUS gone accepts 0 and SIGPIPE, since
# the reader of the output may exit before the program prints.
ends() {
  local found
  trials=$((trials + 1))
  timeout "${LIE_TEST_SECONDS:-60}" bash -o pipefail -c "$3" >out 2>err </dev/null
  found=$?
  case "$1:$found" in
    "$found:$found") ;;
    bad:0 | bad:12[4-9] | bad:1[3-9]?) cat err; fail "$3: exit status $found" ;;
    bad:* | gone:0 | gone:141) ;;
    *) cat err; fail "$3: exit status $found, not $1" ;;
  esac
  [ -z "$2" ] || grep -qF -- "$2" err || { cat err; fail "$3: the message lacks \"$2\""; }
  if grep -qE 'terminate called|what\(\):|Traceback|[0-9]{40}' err; then cat err; fail "$3: the message is an unhandled exception or a huge number"; fi
}

mkdir -p empty 'Übung 1'
: >nothing
ln -s /dev/full disk # a program that would replace a device replaces this link
head -c 3000 /dev/urandom >binary
for _ in $(seq 3000); do echo '{"gold": "1", "response": "so \\boxed{1}", "prompt": "1 2"}'; done >rows.jsonl
head -5 rows.jsonl >'Übung 1/fünf Zeilen.jsonl'
write_example_run run 1 40 || fail "write_example_run failed"
full='standard output cannot be written: No space left on device'

# Help and unknown options of all programs.
for program in lie_cluster lie_analyze lie_replay lie_verify coverage_bench decode_bench journal_bench load_bench \
  log_scale_bench rl_step_bench tokenizer_bench train_bench trajectory_bench transport_bench verifier_bench; do
  for help in --help -h; do
    ends 0 '' "$program $help"
    grep -q 'Usage:' out || fail "$program $help: no usage"
  done
  ends bad '' "$program --nosuch"
  ends bad "$full" "$program --help >/dev/full"
done
for script in "$root"/tests/bench/*.py; do
  [ "${script##*/}" != peer.py ] || continue # shared code, not a script
  ends 0 '' "python3 $script --help"
  ends bad 'usage:' "python3 $script --nosuch"
  ends bad '' "python3 $script nosuch nosuch"
done
ends bad '' 'log_scale_bench' # missing arguments; creates no directory
ends bad 'expected an integer' 'decode_bench none'
ends bad 'expected an integer, 1 to 1024, found 100000' 'train_bench 100000'

# Standard output is a full disk, a pipe whose reader exits, or closed.
for command in "lie_verify 1 1" "lie_verify rows.jsonl" "lie_verify --rules" "lie_analyze --no-html run" \
  "lie_analyze --digest run" "lie_analyze --check run" "$behaviors rows.jsonl" "lie_cluster data $data" \
  "lie_cluster init $model $data" "lie_cluster tokenize $model rows.jsonl" \
  "lie_cluster generate $model rows.jsonl --max-tokens 1"; do
  ends bad "$full" "$command >/dev/full"
  ends bad 'standard output cannot be written' "$command >&-"
done
ends bad 'standard output cannot be written: File too large' "ulimit -f 1; lie_cluster init $model $data >limited"
ends 141 '' 'lie_verify rows.jsonl | head -1'
ends gone '' 'lie_analyze run | head -0' # the report is written anyway
[ -s run/report.html ] || fail "no report was written after the reader exited"
ends gone '' "$behaviors rows.jsonl --json behaviors.json | head -0"
[ -s behaviors.json ] || fail "no JSON file was written after the reader exited"

# A run does not stop when its progress output cannot be written.
for to in '2>/dev/full' '2>&-' '2>&1 | head -0'; do
  rm -rf unheard
  ends 0 '' "cd $root && { lie_cluster train tests/tools/small.yaml --set run.steps=1 --set run.directory=$WORK/unheard; echo \$? >$WORK/status; } $to"
  [ "$(cat status)" = 0 ] && [ -d unheard/checkpoints/step-000001 ] || fail "a run stops with $to"
done

# lie_verify answers each row as soon as it arrives.
mkfifo ask
lie_verify - <ask >answers 2>/dev/null &
exec 3>ask
head -1 rows.jsonl >&3
until [ -s answers ]; do kill -0 $! || fail "lie_verify has ended without an answer"; done
[ "$(wc -l <answers)" = 1 ] || fail "expected one answer for one row"
exec 3>&-
wait $!

# Arguments that are not a readable file, a directory or a valid number.
for file in empty nosuch binary rows.jsonl/; do
  ends bad '' "lie_verify $file"
  ends bad '' "lie_cluster data $file"
  ends bad '' "lie_cluster init $model $file"
  ends bad '' "lie_cluster generate $model $file"
  ends bad '' "$behaviors $file"
done
for command in "lie_verify empty" "lie_cluster data empty" "lie_cluster tokenize $model empty" \
  "lie_cluster score $model empty"; do
  ends bad 'cannot read empty: it is a directory' "$command"
done
for command in "lie_verify -" "lie_cluster tokenize $model" "lie_cluster score $model -"; do
  ends bad 'cannot read standard input: Bad file descriptor' "$command <&-"
done
ends bad 'write them to a file' "lie_cluster data <(cat $data)"
ends bad 'expected an integer, 0 to 1024, found 100000' 'lie_verify --threads 100000 rows.jsonl'
for value in nan 1e999 -1 x; do
  for option in --max-response-tokens --top-k --seed --cache-mebibytes --top-p --temperature; do
    ends bad "$option: expected a" "lie_cluster generate $model rows.jsonl $option=$value"
  done
done
ends bad 'which does not fit into 64 bits' "lie_cluster generate $model rows.jsonl --seed=1000000000000000000000000000000"
ends 0 '' "lie_verify 'Übung 1/fünf Zeilen.jsonl'"
# An answer may begin like an option.
ends 0 '' "lie_verify '-\\frac12' '\\boxed{-0.5}'"
ends 0 '' "lie_verify --mode lenient -5 'it is -5' --set drop_units=false"
ends 1 '' "lie_verify 5 '-\\boxed{6}'"

# Directories without a run, and reports that cannot be written.
for command in --digest --check ''; do
  ends bad 'empty: holds neither config.yaml nor metrics.jsonl nor trajectories/' "lie_analyze $command empty"
  ends bad 'nothing: is not a directory' "lie_analyze $command nothing"
  ends bad 'nosuch: no such directory' "lie_analyze $command nosuch"
done
cp -r run theirs && ln -sf /dev/full theirs/report.html # a run directory without write access
ends bad 'choose another file with --html, or none with --no-html' 'lie_analyze theirs'
grep -q '^  accuracy ' out || fail "the table is missing where the report cannot be written"
mkdir begun && cp run/config.yaml begun
ends bad 'no step is logged in full and no checkpoint saved yet' 'lie_analyze --digest begun'
for option in --html --csv; do
  ends bad 'empty: is a directory; name a file' "lie_analyze run $option empty"
  ends bad 'No space left on device' "lie_analyze run $option disk"
done
ends bad 'nosuch/r.html: there is no directory nosuch; make it first' 'lie_analyze run --html nosuch/r.html'
ends bad 'there is no directory nosuch' 'lie_replay score run --json nosuch/scores.json'
ends bad 'Set a key of the config with --set KEY=VALUE' 'lie_cluster train x.yaml rollout.slots=4'
: >phrases
ends bad 'phrases: holds no phrase' "$behaviors rows.jsonl --phrases phrases"
ends bad 'empty holds no study' "$python -m lie_cluster.study empty"
for moved in judge behaviours behaviors study; do ends bad "python3 -m lie_cluster." "lie_analyze $moved run --any option"; done
ends bad '--steps x: expected' "$behaviors rows.jsonl --steps x"

# Tables fit 80 columns.
for step in 1 2 3 4; do echo "{\"prompt\": \"1 2\", \"response\": \"wait\", \"step\": $step}"; done >steps.jsonl
for command in "lie_analyze --no-html run" "$behaviors steps.jsonl" "lie_cluster data $data --model $model"; do
  ends 0 '' "$command"
  awk 'NR > 1 && length > 80 {exit 1}' out || { cat out; fail "$command: wider than 80 columns"; }
done

# Files that are not JSONL, and output paths, which are checked before a measurement of hours.
printf '[\n {\n  "prompt": "1 2",\n  "gold": "3"\n }\n]\n' >pretty.json
ends bad 'pretty.json: is a JSON array, but rows are read from JSONL or Parquet; write one object a line' \
  'lie_cluster data pretty.json'
ends bad 'has neither "response_ids" nor "response", but data_source, gold, prompt, reference_length' \
  "lie_cluster score $model $data"
measure="lie_cluster reference-lengths '$root/tests/tools/small.yaml' --set model.path=$model --set data.train_file=$data --output"
ends bad 'rows of JSONL are written as JSONL; name it .jsonl' "$measure lengths.parquet"
ends bad 'empty: is a directory; name a file' "$measure empty"
head -2 "$data" >two.jsonl
ends 0 '' "$measure new/lengths.jsonl --set data.train_file=two.jsonl"
ends 0 'new/lengths.jsonl will be replaced' "$measure new/lengths.jsonl --set data.train_file=two.jsonl"

# lie_analyze --close refuses a run that another process is writing.
lie_cluster train "$root/tests/tools/small.yaml" --set run.directory=live --set model.path="$model" --set data.train_file="$data" \
  --set evaluation.every=0 --set "reward.command=sh -c 'cat >/dev/null'" >live.log 2>&1 &
live=$!
until [ -e live/writer.lock ]; do kill -0 $live || { cat live.log; fail "the run has ended early"; }; done
ends bad 'live is being written by "lie_cluster train"' 'lie_analyze --close live'
kill -KILL $live
wait $live

# A fine-tuning run that has diverged saves no checkpoint.
cat >sft.yaml <<EOF
run: {directory: $WORK/sft, steps: 2}
model: {path: $model}
data: {train_file: $WORK/pairs.jsonl}
optimizer: {warmup: 0, learning_rate: 1e30}
EOF
printf '{"prompt": "1 2", "response": "3"}\n{"prompt": "2 2", "response": "4"}\n' >pairs.jsonl
ends bad 'the run has diverged' 'lie_cluster sft sft.yaml'
[ -z "$(ls sft/checkpoints 2>/dev/null)" ] || fail "a diverged model was saved"

ends 2 'no preset "nosuch"; the presets are: release' "bash '$root/scripts/build.sh' nosuch"
echo "$trials trials, each with the expected exit status and message"

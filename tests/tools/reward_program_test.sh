#!/usr/bin/env bash
# Runs with reward programs are bit-identical to runs with the built-in term and resume exactly. A
# failing program ends the run with one error report.
# reward_program_test.sh BIN WORK
set -euo pipefail
source "$(dirname "$0")/begin.sh"

# run RANKS NAME [overrides...]
run() {
  local name="$2"
  train "$1" "$WORK/$name" "${@:3}" >"$WORK/$name.log" 2>&1 || { cat "$WORK/$name.log"; fail "$name"; }
}
weights() { digest "$WORK/$1" | grep weights; }
metric() { grep -oE "\"$2\":[^,}]*" "$WORK/$1/metrics.jsonl" | cut -d: -f2; }
segments() { (cd "$WORK/$1/trajectories" && echo learner-000-*.h5); }
words=(--set reward.coverage.unit=words --set reward.coverage.ngram=2)
off=(--set reward.redundancy.enabled=false)
repeats="python3 examples/reward_program.py --ngram 2 --threshold 3 --beta 0.5"

# The redundancy penalty as a program equals the built-in term, with a reward worker and without
# one, where learner 0 computes the rewards.
run 4 builtin "${words[@]}"
[ "$(metric builtin reward_redundancy_mean | sort -u | wc -l)" -gt 1 ] || fail "no response repeats itself"
for ranks in 1 2 4; do
  run "$ranks" "program$ranks" "${words[@]}" "${off[@]}" --set "reward.command=$repeats"
  [ "$(weights "program$ranks")" = "$(weights builtin)" ] || fail "$ranks ranks: weights differ from those of the built-in term"
  for pair in reward_redundancy_mean:reward_command_mean largest_repeat_mean:command_largest_repeat_mean \
    reward_mean:reward_mean advantage_mass_redundancy:advantage_mass_command; do
    [ "$(metric builtin "${pair%:*}")" = "$(metric "program$ranks" "${pair#*:}")" ] || fail "$ranks ranks: $pair differs"
  done
done
grep -q '^\[reward.command [0-9]*\] the redundancy penalty is ready$' "$WORK/program4.log" || fail "the standard error of the program is not logged"

# A dry run sends the program one request. A program that is missing, exits or answers nonsense is
# detected before anything is generated.
# dry WORDS COMMAND: checks that the dry run is refused with WORDS, or accepted if WORDS is empty.
dry() {
  local log="$WORK/dry.log"
  if train 1 "$WORK/dry" "${words[@]}" "${off[@]}" --set "reward.command=$2" --dry-run >/dev/null 2>"$log"; then
    [ -z "$1" ] || fail "a dry run reports no error for \`$2\`"
    grep -q 'reward programs: answered a test question about the first prompt' "$log" || { cat "$log"; fail "the dry run does not report the test of the program"; }
  else
    grep -qF -- "$1" "$log" && [ -n "$1" ] || { cat "$log"; fail "the message of a dry run with \`$2\` lacks \"$1\""; }
  fi
  [ ! -e "$WORK/dry" ] || fail "a dry run wrote something"
}
dry '' "$repeats"
dry 'no_such_program: not found' "$WORK/no_such_program"
touch "$WORK/no_program" && dry 'no_program: Permission denied' "$WORK/no_program"
dry 'exited with status 3 and left 1 request unanswered, the first is request 0 (step 1, problem 0, sample 0)' "sh -c 'exit 3'"
dry 'stands for a secret that config.yaml does not keep; give the full command' "judge --api-key=***"
dry 'field reward is missing' "sh -c 'read line; echo {}; cat >/dev/null'"

# A number whose name appears late starts a new segment. The run has two learners and resumes
# exactly.
cat >"$WORK/late.py" <<'PY'
import json, sys
for line in sys.stdin:
    q = json.loads(line)
    answer = {"id": q["id"], "reward": 0.125 * (q["tokens"] % 3), "gold": int(q["problem"]["gold"])}
    if q["step"] >= 5:
        answer["late"] = q["sample"]
    print(json.dumps(answer), flush=True)
PY
late=(--set roles.learners=2 --set "reward.command=python3 $WORK/late.py")
run 5 whole "${late[@]}" --set checkpoint.every=6
[ "$(segments whole)" = "learner-000-segment-000000.h5 learner-000-segment-000004.h5" ] || fail "segments: $(segments whole)"
run 5 halves "${late[@]}" --set run.steps=3
run 5 halves "${late[@]}"
[ "$(digest "$WORK/whole")" = "$(digest "$WORK/halves")" ] || fail "the resumed run is not bit-identical"
"$BIN/lie_analyze" "$WORK/whole" | grep -q command_late || fail "the table lacks the late number"
"$BIN/lie_analyze" "$WORK/whole" --csv "$WORK/whole.csv" >/dev/null
head -1 "$WORK/whole.csv" | grep -q 'command_gold_mean,command_late_mean' || fail "the CSV lacks the numbers"

# A verifier that accepts the same answers as the built-in one changes no weight.
cat >"$WORK/verifier.py" <<'PY'
import json, re, sys
for line in sys.stdin:
    q = json.loads(line)
    boxes = re.findall(r"\\boxed\{([^{}]*)\}", q["response"])
    print(json.dumps({"correct": boxes[-1:] == [q["gold"]], "answer": (boxes or [""])[-1]}), flush=True)
PY
run 4 verified "${words[@]}" --set "verifier.command=python3 $WORK/verifier.py"
[ "$(weights verified)" = "$(weights builtin)" ] || fail "verifier.command: weights differ"

# fails NAME "words of the report" PYTHON: runs a program that answers requests and executes PYTHON
# in step 2. Checks that the run ends with exactly one report that holds these words.
fails() {
  local status=0
  cat >"$WORK/$1.py" <<PY
import json, os, sys
for line in sys.stdin:
    q = json.loads(line)
    answer = {"id": q["id"], "reward": 0}
    if q["step"] == 2:
        print("about to fail", file=sys.stderr, flush=True)
        $3
    print(json.dumps(answer), flush=True)
PY
  timeout "${LIE_TEST_SECONDS:-60}" bash -c "source tests/tools/run_lib.sh; train 4 '$WORK/$1' --set 'reward.command=python3 $WORK/$1.py'" \
    >"$WORK/$1.log" 2>&1 || status=$?
  [ "$status" != 0 ] || fail "$1: exit status 0"
  [ "$status" != 124 ] || fail "$1: still running after a minute"
  [ "$(grep 'error on rank' "$WORK/$1.log" | sort -u | wc -l)" = 1 ] || { cat "$WORK/$1.log"; fail "$1: expected exactly one error report"; }
  grep 'reward.command' "$WORK/$1.log" | grep -F 'about to fail' | grep -qF -- "$2" || { cat "$WORK/$1.log"; fail "$1: the report lacks \"$2\""; }
  grep -qF '(step 2, problem ' "$WORK/$1.log" || fail "$1: the request is not named"
}
export BIN WORK
fails killed 'was killed by signal 9' 'os.kill(os.getpid(), 9)'
fails stopped 'exited with status 3 and left' 'sys.exit(3)'
fails nonsense 'with "oh dear"' 'print("oh dear", flush=True)'
fails left_out 'is the next' 'if q["sample"] == 1: continue'

# A program hangs in its first request. `asked` blocks until it does, and `gone` until it and what it has started are gone,
# which hold the FIFO open.
mkfifo "$WORK/fifo"
cat >"$WORK/hang.py" <<PY
import signal, subprocess, sys
sys.stdin.readline()
fifo = open("$WORK/fifo", "w")
subprocess.Popen(["tail", "-f", "/dev/null"], pass_fds=[fifo.fileno()])
fifo.write("asked\\n")
fifo.flush()
while True: signal.pause()
PY
begin_hanging() {  # overrides...
  "$BIN/lie_cluster" train "$small" --set "run.directory=$WORK/hanging" --set "reward.command=python3 $WORK/hang.py" "$@" >"$WORK/hanging.log" 2>&1 &
  run=$!
}
asked() { exec 7<"$WORK/fifo" && read -r line <&7 && [ "$line" = asked ] || fail "the program was not asked"; }
gone() { [ -z "$(cat <&7)" ] || fail "the program goes on"; }
ends_with() {  # status
  local status=0
  wait "$run" || status=$?
  [ "$status" = "$1" ] || { cat "$WORK/hanging.log"; fail "a run with a hanging program ends with $status, not $1"; }
  gone
}
until_log_has() { until grep -q "$1" "$WORK/hanging.log"; do kill -0 "$run" || { cat "$WORK/hanging.log"; fail "the log lacks: $1"; }; done; }

begin_hanging && asked && kill -TERM "$run"
until_log_has 'stopping, but waiting for the answer of .*hang.py. to request 0 (step 0, problem .*); a second SIGTERM or Ctrl-C ends'
kill -TERM "$run" && ends_with 143
grep -q 'ending at once after the same signal again' "$WORK/hanging.log" || fail "the second signal is not reported"
begin_hanging && asked && kill -KILL "$run" && ends_with 137
begin_hanging --dry-run --set run.directory="$WORK/dry" && asked && kill -TERM "$run" && ends_with 143
begin_hanging --set reward.command_time_limit_seconds=0.5 && asked && ends_with 1
grep -q 'error on rank .*hang.py. has not answered request 0 (step 0, .*within reward.command_time_limit_seconds 0.5' "$WORK/hanging.log" ||
  { cat "$WORK/hanging.log"; fail "the request without an answer is not named"; }

# A program that floods its standard error does not fill the disk with the log.
echo 'import sys
for line in sys.stdin:
    for i in range(500): print(i, "x" * 100000, file=sys.stderr)
    print("{\"reward\": 1}", flush=True)' >"$WORK/flood.py"
run 1 flood --set run.steps=1 --set evaluation.every=0 --set "reward.command=python3 $WORK/flood.py"
[ "$(stat -c %s "$WORK/flood.log")" -lt 1200000 ] || fail "the log has $(stat -c %s "$WORK/flood.log") bytes of a flood"
grep -q 'has written more than 1048576 bytes to standard error within a minute; the rest of the minute is not logged' "$WORK/flood.log" &&
  grep -qE 'warning: [0-9]+ lines of standard error of .* were not logged' "$WORK/flood.log" || { grep warning "$WORK/flood.log"; fail "the log does not say what it lacks"; }

# Rows without a correct answer are enough for a program, and refused without one.
head -n 8 assets/count_pairs/train.jsonl | sed -E 's/"gold": *"[^"]*", *//' >"$WORK/prompts.jsonl"
without=(--set "data.train_file=$WORK/prompts.jsonl" --set evaluation.every=0 --set run.steps=1)
echo 'import sys
for line in sys.stdin: print("{\"reward\": 1}", flush=True)' >"$WORK/one.py"
run 1 without_gold "${without[@]}" --set "reward.command=python3 $WORK/one.py"
grep -q '8 of 8 rows have no correct answer' "$WORK/without_gold.log" || { cat "$WORK/without_gold.log"; fail "no remark on missing golds"; }
! train 1 "$WORK/no_program" "${without[@]}" >"$WORK/no_program.log" 2>&1 || fail "rows without a gold are accepted without a program"
grep -q 'a row needs none with reward.command or verifier.command' "$WORK/no_program.log" || { cat "$WORK/no_program.log"; fail "the remedy is not named"; }

echo "a program is bit-identical to the built-in term on 1, 2 and 4 ranks, resumes exactly and fails with one report"

#!/usr/bin/env bash
# Tests the job scripts of slurm/ on a real Slurm of three nodes, all on this machine: a rank fails, a node is lost, the time
# is over, or the job is cancelled. Prints one line per case. Each run must be bit-identical to that of mpirun.
#
#   scripts/test_slurm.sh [BIN [CASE...]]      BIN: folder of the programs [build/release/bin]
set -uo pipefail
[ $# = 0 ] || set -- "$(realpath "$1")" "${@:2}"
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
BIN="${1:-$PWD/build/release/bin}"
source scripts/fault_lib.sh
source scripts/slurm_lib.sh
reason="$(why_no_slurm)"
[ -z "$reason" ] || skip "$reason"
enter_namespaces "$@"
make_work_directory
export LIE_BIN="$BIN"

reference() {  # steps
  train 4 "$WORK/reference-$1" --set "run.steps=$1" >"$WORK/reference-$1.log" 2>&1 || { cat "$WORK/reference-$1.log"; fail "mpirun"; }
}

layout=(--nodes=2 --ntasks-per-node=2 --cpus-per-task=1 --time=10)

# submit NAME STEPS [sbatch options]: sets job, run and log
submit() {
  local name="$1" steps="$2"
  shift 2
  run="$WORK/$name" log="$WORK/$name.log"
  job="$(sbatch --parsable "${layout[@]}" --output="$log" "$@" \
    slurm/train.sbatch "$small" --set "run.directory=$run" --set "run.steps=$steps")"
}

field() { scontrol --oneliner show job "$job" | grep -oP " $1=\K\S*"; }
state_is() { field JobState | grep -qE "^($1)$"; }
in_step() { wait_until 100 steps_done "$run" "$1"; }  # waits until the run is in a later step

show_log() { grep -v '^step' "$log" | tail -n 40 | sed 's/^/    | /'; }

is_over() { state_is 'COMPLETED|FAILED|CANCELLED|TIMEOUT|NODE_FAIL|OUT_OF_MEMORY'; }

# Checks that the log has one report, for the rank and host of $lost ("RANK HOST", patterns).
one_report() {
  [ "$(grep -c '^error on rank' "$log")" = 1 ] && grep -q "^error on rank ${lost% *} .* host ${lost#* }, .*died" "$log"
}

# ends NAME STATE RESTARTS(a pattern) REFERENCE "required text of the log" [figures]: prints the verdict on the job
lost=""  # if a case sets it, the log must also report this rank
ends() {
  local name="$1" wanted="$2, restarts $3" reference="$4" words="$5" figures="${6:-}" got differs=""
  wait_until 300 is_over || scancel "$job"
  got="$(field JobState), restarts $(field Restarts)"
  if ! [[ $got =~ ^$wanted$ ]]; then differs="$got; wanted $wanted"
  elif ! grep -q "$words" "$log"; then differs="the log lacks \"$words\""
  elif [ -n "$lost" ] && ! one_report; then differs="the log lacks the one report on rank ${lost/ / of }"
  elif [ -n "$reference" ]; then differs="$(same_run "$run" "$reference")"; fi
  [ -z "$lost" ] || figures+=", reported: rank ${lost/ / of }"
  lost=""
  if [ -n "$differs" ]; then verdict FAIL "$name" "$differs"; show_log; return; fi
  verdict PASS "$name" "$got${reference:+, same bits}${figures:+; $figures}"
}

# Runs the fault COMMAND and measures the time until the run logs a step that it had not logged before.
goes_on_after() {
  local start="$EPOCHREALTIME" before
  "$@"
  before="$(steps_of "$run")"
  wait_until 200 steps_done "$run" "$before" && echo "continues after $(since "$start") s"
}

kill_rank() { kill -9 "$(rank_process "$@")"; }

# --- the cases -------------------------------------------------------------------------------------------------------

job_completes() {
  submit "$1" 30
  ends "$1" COMPLETED 0 "$WORK/reference-30" '] done'
}

# The step is restarted in the same allocation.
failed_rank() {
  submit "$1" 30
  in_step 5
  figures="$(goes_on_after kill_rank n1 1)"
  lost="1 n1"
  ends "$1" COMPLETED 0 "$WORK/reference-30" 'attempt 1 of 4 failed with status 137' "$figures"
}

failed_rank_without_restarts() {
  LIE_RESTARTS=0 submit "$1" 30
  in_step 5
  figures="$(goes_on_after kill_rank n1 0)"
  lost="0 n1"
  ends "$1" COMPLETED 1 "$WORK/reference-30" 'requeue 1 of 2 after failures: requeued' "$figures"
}

failure_every_time() {
  LIE_FAULT=metrics:1 LIE_RESTARTS=1 LIE_REQUEUES=1 submit "$1" 30
  ends "$1" FAILED 1 '' 'giving up: 1 requeues after failures are used up'
}

refused_start() {
  submit "$1" none
  ends "$1" FAILED 0 '' 'the start is refused'
}

# Simulated ranks end one after another with the status that requests a requeue, to test what srun reports.
status_75() {
  mkdir "$WORK/bin"
  printf '#!/bin/sh\n[ "${SLURM_RESTART_COUNT:-0}" = 0 ] || exit 0\nsleep "0.$SLURM_PROCID"; exit 75\n' >"$WORK/bin/lie_cluster"
  chmod +x "$WORK/bin/lie_cluster"
  LIE_BIN="$WORK/bin" submit "$1" 1
  ends "$1" COMPLETED 1 '' 'the step has stopped (status 75): requeued'
}

lost_node_with_spare() {
  LIE_NODES=2 submit "$1" 30 --nodes=3
  in_step 5
  figures="$(goes_on_after lose_host n2)"
  lost="[23] n2"
  ends "$1" COMPLETED 0 "$WORK/reference-30" 'on n1,n3: ' "$figures"
  bring_node n2
}

# A node starts processes but fails the probe, like a node with a broken GPU.
bad_node_with_spare() {
  LIE_NODES=2 LIE_PROBE="[ \$(hostname) != n2 ]" submit "$1" 30 --nodes=3
  in_step 5
  figures="$(goes_on_after kill_rank n2 2)"
  lost="2 n2"
  ends "$1" COMPLETED 0 "$WORK/reference-30" 'on n1,n3: ' "$figures"
}

# The job script dies with its node: Slurm itself requeues the job.
lost_first_node() {
  submit "$1" 30
  in_step 5
  figures="$(goes_on_after lose_host n1)"
  ends "$1" COMPLETED 1 "$WORK/reference-30" 'on n2,n3: ' "$figures"
  bring_node n1
}

# A minute is too short for the run. (Slurm checks time limits every 30 s.)
walltime() {
  submit "$1" 900 --time=1 --signal=B:USR1@5
  wait_until 120 grep -qs 'the step has stopped' "$log"
  figures="stopped with $(($(steps_of "$run") - 1)) steps, $(basename "$(find "$run/checkpoints" -name 'step-*' | sort | tail -n 1)")"
  ends "$1" COMPLETED '[1-9]' "$WORK/reference-900" 'the step has stopped (status 75): requeued' "$figures"
}

cancelled() {
  local start
  submit "$1" 30
  in_step 5
  start="$EPOCHREALTIME"
  scancel "$job"
  wait_until 60 state_is CANCELLED
  ends "$1" CANCELLED 0 '' 'cancelled or preempted' "after $(since "$start") s"
  submit "$1" 30
  ends "${1}_submitted_again" COMPLETED 0 "$WORK/reference-30" '] done'
}

evaluation() {
  cat >"$WORK/eval.yaml" <<EOF
run: {directory: $WORK/reference-eval}
data: {evaluation_file: assets/count_pairs/eval.jsonl}
evaluation: {prompts: 300, samples_per_prompt: 48, max_response_tokens: 40}
model: {path: assets/count_pairs/model}
rollout: {max_prompt_tokens: 32, slots: 8}
EOF
  "$BIN/lie_cluster" eval "$WORK/eval.yaml" >"$WORK/reference-eval.log" 2>&1 || fail "an evaluation without MPI"
  run="$WORK/$1" log="$WORK/$1.log"
  job="$(sbatch --parsable "${layout[@]}" --output="$log" slurm/eval.sbatch "$WORK/eval.yaml" --set "run.directory=$run")"
  wait_until 60 test -s "$run/responses.log"
  kill_rank n1 1
  wait_until 300 is_over
  lost="1 n1"
  ends "$1" COMPLETED 0 "$WORK/reference-eval" 'attempt 1 of 4 failed with status 137' "$(wc -l <"$run/samples.jsonl") samples"
}

two_stages() {
  local jobs log="$WORK/$1.log"
  slurm/two_stages.sh "$small" "$small" "$WORK/$1" "${layout[@]}" --nodes=1 --output="$log" \
    >"$WORK/jobs"
  mapfile -t jobs < <(grep -oE '[0-9]+ \(' "$WORK/jobs" | grep -oE '[0-9]+')
  job="${jobs[2]}" run="$WORK/$1/stage2"
  wait_until 300 is_over
  cat "$run/config.yaml" >>"$log"
  ends "$1" COMPLETED 0 '' 'path: .*stage1/checkpoints/step-000006' "$(grep -c '] done' "$log") jobs"
}

cases=(job_completes failed_rank failed_rank_without_restarts failure_every_time refused_start status_75 bad_node_with_spare
  lost_node_with_spare lost_first_node walltime cancelled evaluation two_stages)
[ $# -le 1 ] || cases=("${@:2}")
start_slurm "$WORK/slurm" n1 n2 n3 || fail "Slurm does not start"
reference 30
[[ " ${cases[*]} " != *" walltime "* ]] || reference 900
for name in "${cases[@]}"; do "$name" "$name"; done
conclude

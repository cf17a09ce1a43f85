# shellcheck shell=bash
# Functions of the job scripts of this folder. To be sourced in a job that was submitted from the repository's root.
#
#   run_job COMMAND ARGUMENTS...   runs lie_cluster COMMAND as a job step, restarts it after failures, and ends the script
#
# LIE_BIN       folder of the programs [build/release/bin]
# LIE_NODES     nodes for the step; the job's other nodes are spare [all of the job's]
# LIE_RESTARTS  how often a failed step is restarted in this allocation [3]
# LIE_REQUEUES  how often the job is requeued after the last restart [2]; requeues for lack of time do not count
# LIE_PROBE     a restart excludes nodes on which this command fails [true]; with GPUs use "build/cuda/bin/lie_cluster probe"
# LIE_JOB_SCRIPTS  where this file is [slurm]
# LIE_INTERFACE  network interface or subnet of MPI's traffic, such as ib0 or 10.1.0.0/16; others are not used [all]
# LIE_MODEL_OF  run directory whose last checkpoint becomes model.path [none]
#
# Exit status of lie_cluster: 0 done; 75 stopped after a training step, to be resumed in a requeued job; 78 the start is
# refused until config, data or model change; 69 another process that still runs writes the run directory; else failed.

asked=""  # stop request, USR1: the time is nearly over; TERM: cancelled or preempted
step=""   # srun's process id

say() { echo "[$(date +%FT%T) job $SLURM_JOB_ID, start $((${SLURM_RESTART_COUNT:-0} + 1))] $*"; }

time_is_nearly_over() {
  asked=USR1
  say "the time is nearly over: notifying the step"
  [ -z "$step" ] || kill -USR1 "$step" 2>/dev/null
  end_in_time &
}

# At the time limit Slurm ends the job without a requeue. A job step that has not stopped by itself, because one step of the
# run takes longer, is therefore ended 45 s before. That leaves time for srun and the requeue.
end_in_time() {
  local left=$((${SLURM_JOB_END_TIME:-0} - $(date +%s)))
  [ "$left" -gt 0 ] || return  # Slurm before 22.05 does not set SLURM_JOB_END_TIME
  sleep $((left > 90 ? left - 45 : left / 2))
  kill -0 "$step" 2>/dev/null || return
  say "the step does not stop in time: ending it"
  scancel --signal=KILL "$SLURM_JOB_ID"
}

cancelled() { asked="${asked:-TERM}"; }  # Slurm itself has signaled the step

# Prints the job's nodes on which a process can be started now, one per line.
answering_nodes() {
  local node seconds=20
  [ -z "${LIE_PROBE:-}" ] || seconds=60  # CUDA takes some seconds to start
  for node in $(scontrol show hostnames "$SLURM_JOB_NODELIST"); do
    timeout --kill-after=5 "$seconds" srun --overlap --mpi=none --quiet --nodes=1 --ntasks=1 --cpus-per-task=1 --nodelist="$node" \
      sh -c "${LIE_PROBE:-true}" >/dev/null 2>&1 && echo "$node" &
  done
  wait
}

# Releases the nodes that do not respond, before Slurm finds one down and ends the whole job (SlurmdTimeout). sbatch --no-kill
# would prevent that, but a job whose first node is lost would then hang without a script until its time limit.
give_back() {  # remaining nodes joined by commas
  local directory
  directory="$(mktemp -d)"  # scontrol writes a script into the working directory
  (cd "$directory" && scontrol update JobId="$SLURM_JOB_ID" NodeList="$1") || say "the other nodes cannot be given back"
  rm -rf "$directory"
  SLURM_JOB_NODELIST="$1"
}

# Sets `nodes` to the nodes of the next attempt, joined by commas. Fails if too few are left.
choose_nodes() {  # attempt
  local all left
  all="$(scontrol show hostnames "$SLURM_JOB_NODELIST")"
  left="$all"
  if [ "$1" -gt 1 ]; then left="$(answering_nodes | sort -V)"; fi
  nodes="$(head -n "$wanted" <<<"$left" | paste -sd,)"
  if [ "$(wc -w <<<"$left")" -lt "$wanted" ]; then say "only ${nodes:-no node} of $wanted nodes answer"; return 1; fi
  if [ "$(wc -w <<<"$left")" -lt "$(wc -w <<<"$all")" ]; then give_back "$(paste -sd, <<<"$left")"; fi
}

# Runs the job step and returns its status. --kill-on-bad-exit is off to keep status 75: srun would end the other ranks and
# report their status instead. Slurm regards a step that lost a node as running until the job ends: --overlap reuses its
# processors.
run_step() {  # nodes, command and arguments
  local status
  srun --mpi=pmix --overlap --kill-on-bad-exit=0 --wait=10 --nodes="$wanted" --nodelist="$1" --ntasks-per-node="$per_node" \
    --ntasks=$((wanted * per_node)) --cpus-per-task="${SLURM_CPUS_PER_TASK:-1}" "${LIE_BIN:-build/release/bin}/lie_cluster" "${@:2}" &
  step=$!
  [ -z "$asked" ] || kill -USR1 "$step"
  while wait "$step"; kill -0 "$step" 2>/dev/null; do :; done  # a signal interrupts bash's wait, not the step
  wait "$step"
  status=$?
  step=""
  return "$status"
}

requeue() {  # why
  say "$1: requeued; the run continues from its last checkpoint"
  scontrol requeue "$SLURM_JOB_ID" ||
    say "Slurm refuses the requeue: submit the job again, or chain jobs by --dependency=afterany"
  exit 75
}

# A run that always fails must not be requeued forever. The count survives the requeue in the job's comment.
requeue_after_failure() {
  local before
  before="$(scontrol --oneliner show job "$SLURM_JOB_ID" | sed -nE 's/.* Comment=lie_requeues=([0-9]+).*/\1/p')"
  before="${before:-0}"
  if [ "$before" -ge "${LIE_REQUEUES:-2}" ]; then
    say "giving up: $before requeues after failures are used up"
    exit 1
  fi
  scontrol update JobId="$SLURM_JOB_ID" Comment="lie_requeues=$((before + 1))"
  requeue "requeue $((before + 1)) of ${LIE_REQUEUES:-2} after failures"
}

# On one node MPI needs no network at all. A TCP port of Open MPI trusts every host that reaches it, so on several nodes it
# should listen on the cluster's own network only.
choose_network() {
  export OMPI_MCA_btl="${OMPI_MCA_btl:-}" OMPI_MCA_btl_tcp_if_include="${OMPI_MCA_btl_tcp_if_include:-${LIE_INTERFACE:-}}"
  [ "$wanted" != 1 ] || OMPI_MCA_btl="${OMPI_MCA_btl:-self,vader}"
  [ -n "$OMPI_MCA_btl" ] || unset OMPI_MCA_btl
  [ -n "$OMPI_MCA_btl_tcp_if_include" ] || unset OMPI_MCA_btl_tcp_if_include
  # NCCL takes names of interfaces only, and by itself may choose that of a container or a dead link.
  case "${LIE_INTERFACE:-}" in "" | */*) ;; *) export NCCL_SOCKET_IFNAME="${NCCL_SOCKET_IFNAME:-=$LIE_INTERFACE}" ;; esac
}

run_job() {
  local attempt nodes status model attempts=$((1 + ${LIE_RESTARTS:-3}))
  [ $# -ge 2 ] || { say "CONFIG is missing; usage: lie_cluster $1 --help"; exit 2; }
  wanted="${LIE_NODES:-$SLURM_JOB_NUM_NODES}"
  per_node="${SLURM_NTASKS_PER_NODE:?submit with --ntasks-per-node}"
  choose_network
  if [ -n "${LIE_MODEL_OF:-}" ]; then
    model="$(last_checkpoint "$LIE_MODEL_OF")" || exit 1
    set -- "$@" --set "model.path=$model"
  fi
  trap time_is_nearly_over USR1
  trap cancelled TERM
  for ((attempt = 1; attempt <= attempts; attempt++)); do
    choose_nodes "$attempt" || break
    say "attempt $attempt of $attempts on $nodes: lie_cluster $*"
    status=75
    if [ -z "$asked" ]; then run_step "$nodes" "$@"; status=$?; fi
    if [ "$status" = 0 ]; then say "done"; exit 0; fi
    if [ "$asked" = TERM ]; then say "cancelled or preempted (status $status): not restarted here"; exit "$status"; fi
    if [ "$asked" = USR1 ] || [ "$status" = 75 ]; then requeue "the step has stopped (status $status)"; fi
    if [ "$status" = 78 ]; then say "the start is refused; the error above says what to change: not restarted"; exit 78; fi
    # Slurm starts a requeued job two minutes later at the earliest.
    if [ "$status" = 69 ]; then requeue "the output belongs to another process that still runs"; fi
    say "attempt $attempt of $attempts failed with status $status"
  done
  requeue_after_failure
}

last_checkpoint() {  # run directory
  local step last=""
  for step in "$1"/checkpoints/step-*; do
    if [[ "${step##*/}" =~ ^step-[0-9]+$ ]]; then last="$step"; fi  # others were renamed because they are damaged
  done
  [ -d "$last" ] || { say "$1 has no checkpoint" >&2; return 1; }
  echo "$last"
}

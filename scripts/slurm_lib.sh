# shellcheck shell=bash
# Starts a Slurm of several nodes on this machine, for tests. To be sourced after fault_lib.sh, in separate namespaces.
#
#   start_slurm DIRECTORY NODE...   starts munged, slurmctld and a slurmd per node; exports SLURM_CONF
#   bring_node NODE                 starts a node, also after lose_host
slurm_packages=(slurm-wlm slurm-wlm-basic-plugins munge openmpi-bin libopenmpi-dev libpmix-dev)

# Prints why Slurm cannot be started here, or nothing.
why_no_slurm() {
  local program conf
  for program in munged slurmctld slurmd sbatch mpirun; do
    command -v "$program" >/dev/null || { echo "$program is missing: apt install ${slurm_packages[*]} (LIE_SLURM=1 scripts/setup.sh)"; return; }
  done
  conf="$(mktemp)"  # srun needs a config even for --mpi=list
  printf 'ClusterName=x\nSlurmctldHost=x\nNodeName=x\n' >"$conf"
  SLURM_CONF="$conf" srun --mpi=list 2>&1 | grep -q pmix || echo "srun does not support pmix: apt install ${slurm_packages[*]}"
  rm "$conf"
}

# Writes slurm.conf. Each slurmd needs its own TmpFS, because two would create the same PMIx directory. cred_expire is the
# waiting time of a requeued job. Without config_overrides a node with fewer CPUs than configured would be drained.
write_slurm_conf() {  # directory, nodes...
  local port=17000 node
  cat <<CONF
ClusterName=lie
SlurmctldHost=$(hostname)(127.0.0.1)
SlurmctldPort=$port
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$1/munge.socket,cred_expire=5
CredType=cred/munge
MpiDefault=pmix
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
ReturnToService=2
SlurmdTimeout=40
KillWait=10
SchedulerParameters=sched_interval=2,bf_interval=2
SlurmdParameters=config_overrides
StateSaveLocation=$1/state
SlurmctldPidFile=$1/slurmctld.pid
SlurmctldLogFile=$1/slurmctld.log
SlurmdPidFile=$1/slurmd.%n.pid
SlurmdLogFile=$1/slurmd.%n.log
SlurmdSpoolDir=$1/spool.%n
TmpFS=$1/tmp.%n
CONF
  for node in "${@:2}"; do
    port=$((port + 1))
    echo "NodeName=$node NodeHostname=$node NodeAddr=127.0.0.1 Port=$port CPUs=4 State=UNKNOWN"
  done
  echo "PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP"
}

start_slurm() {
  local directory="$1" node
  mkdir -p "$directory/state"
  for node in "${@:2}"; do mkdir "$directory/spool.$node" "$directory/tmp.$node"; done
  chmod 755 "$directory"
  write_slurm_conf "$@" >"$directory/slurm.conf"
  export SLURM_CONF="$directory/slurm.conf"
  (umask 077 && head -c 1024 /dev/urandom >"$directory/munge.key")
  munged --foreground --force --key-file="$directory/munge.key" --socket="$directory/munge.socket" \
    --pid-file="$directory/munged.pid" --log-file="$directory/munged.log" --seed-file="$directory/munge.seed" \
    >"$directory/munged.out" 2>&1 &
  wait_until 10 test -S "$directory/munge.socket" || { cat "$directory/munged.out" >&2; return 1; }
  slurmctld -D >"$directory/slurmctld.out" 2>&1 &
  for node in "${@:2}"; do bring_node "$node" || return 1; done
  # Two nodes of one machine confuse Open MPI's shared-memory transport.
  export OMPI_MCA_btl=self,tcp OMPI_MCA_pml=ob1
}

node_is() { sinfo --noheader --Node --nodes "$1" --format %t 2>/dev/null | grep -q "$2"; }

bring_node() {
  start_host "$1" slurmd -D -N "$1" >>"${SLURM_CONF%/*}/slurmd.$1.out" 2>&1
  wait_until 30 node_is "$1" '^idle$' || { tail -n 5 "${SLURM_CONF%/*}/slurmd.$1.log" >&2; return 1; }
}

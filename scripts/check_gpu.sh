#!/usr/bin/env bash
# Checks and measures this program on one GPU, with binaries built elsewhere (scripts/pack_gpu.sh). Each result goes at once to
# a file of JSON lines and as a table row to stdout, so a killed check keeps its results so far. Without a GPU it runs small
# shapes on an emulated device in host memory, and each line says so. This tests only the script.
# usage: check_gpu.sh [--only SECTION[,SECTION...]] [--budget SECONDS] [--results FILE] [--model 1.7b|4b] [BIN_DIR]
#   --only     some of load, tests, ceilings, decode, attention, train, step, multi, sanitize, sizes, which run in this order [all]
#   --budget   a check starts only if the seconds that it is expected to take are left [540]
#   --results  the JSON lines; the output of the programs goes to FILE.log [build/check_gpu.jsonl]
#   --model    the shapes of Qwen3 that kernel_bench measures [1.7b]
#   BIN_DIR    the folder of the programs [build/cuda/bin if nvidia-smi lists a GPU, else build/release/bin]
# Exits with 1 if a check failed.
set -uo pipefail
all=load,tests,ceilings,decode,attention,train,step,multi,sanitize,sizes
budget=540 only=$all results=build/check_gpu.jsonl model=1.7b bin=${LIE_BIN_DIR:-}

usage() {
  while IFS= read -r line; do case $line in "# usage"* | "#   "*) echo "${line#\# }" ;; esac; done <"$0" >&2
  exit 2
}

while [ $# -gt 0 ]; do
  case $1 in
    --only | --budget | --model | --results)
      [ $# -ge 2 ] || usage
      declare "${1#--}=$2" && shift 2
      ;;
    -*) usage ;;
    *) bin=$1 && shift ;;
  esac
done
for section in ${only//,/ }; do
  [[ ,$all, = *,$section,* ]] || { echo "check_gpu.sh: unknown section \"$section\"" >&2 && usage; }
done

# --- Results

print_row() { printf '%-66s %-8s %-8s %10s %-28s %6s %9s\n' "$@"; }

# Writes a result to the file, then to stdout. One printf writes a whole line, so that none is torn.
note() {  # name PASS|FAIL|SKIP|MEASURED|EXPECTED figure unit [share expected us]
  local share=${5:--} what figures
  [ $place = gpu ] || share=-  # an emulated device has no ceiling
  printf -v what '"at": %d, "section": "%s", "where": "%s", "result": "%s", "check": %s' $SECONDS "$section" $place "$2" "$(json "$1")"
  printf -v figures '"figure": %s, "unit": %s, "share": %s' "$(json "$3")" "$(json "$4")" "$(json "$share")"
  printf '{%s, %s, "expected": %s, "us": %s}\n' "$what" "$figures" "$(json "${6:--}")" "$(json "${7:--}")" >>"$results"
  print_row "$1" $place "$2" "$3" "$4" "$share" "${6:--}"
}

json() {  # text: prints it as a number, a string, or null for "-"
  local number='^-?[0-9]+([.][0-9]+)?(e[-+]?[0-9]+)?$'
  if [ "$1" = - ]; then printf null
  elif [[ $1 =~ $number ]]; then printf '%s' "$1"
  else printf '"%s"' "${1//[\\\"]/\'}"; fi
}

skip() { note "$1" SKIP - "$2"; }

say() { echo "[check_gpu] $*"; }

# --- Running programs within the budget

has() {  # check program: whether the program was built; notes the check as skipped otherwise
  [ -x "$bin/$2" ] || { skip "$1" "no $2 in $bin" && return 1; }
}

fits() {  # check seconds: whether the budget has the seconds left; notes the check as skipped otherwise
  local left=$((budget - SECONDS))
  [ $left -ge "$2" ] || { skip "$1" "takes about $2 s, $left are left" && return 1; }
}

# Runs a command for at most four times the seconds that are expected, and no longer than the budget.
limited() {  # seconds command...
  local most=$((4 * $1)) left=$((budget - SECONDS))
  shift
  timeout --foreground --kill-after 5 $((most < left ? most : left)) "$@"
}

check() {  # name seconds command...: notes PASS or FAIL with the seconds taken
  local name=$1 expected=$2 start=$SECONDS result=PASS
  shift 2
  fits "$name" "$expected" || return 1
  limited "$expected" "$@" >>"$log" 2>&1 || { result=FAIL && tail -n 15 "$log" >&2; }
  note "$name" $result $((SECONDS - start)) s
  [ $result = PASS ]
}

note_lines() {  # notes results from stdin, with their fields separated by "|"
  local fields
  while IFS='|' read -ra fields; do note "${fields[@]}"; done
}

measure() {  # seconds program arguments...: notes each line of the program as soon as it is printed
  local expected=$1 program=$2 name="$2 ${*:3}"
  shift 2
  has "$name" "$program" && fits "$name" "$expected" || return 0
  limited "$expected" "$bin/$program" "$@" 2>>"$log" | note_lines && return
  tail -n 5 "$log" >&2
  note "$name to its end" FAIL - -
}

# --- The sections

load() {
  local program
  [ "$place" = emulated ] || note GPU PASS "$(nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader | head -n 1)" -
  for program in lie_cluster lie_analyze test_aten device_bench kernel_bench random_model; do
    # shellcheck disable=SC2016
    ! has "$program finds its libraries" $program ||
      check "$program finds its libraries" 5 bash -c 'libraries=$(ldd "$1") && [[ ! $libraries =~ "not found" ]]' - "$bin/$program"
  done
  ! has "lie_cluster starts" lie_cluster || check "lie_cluster starts" 20 "$bin/lie_cluster" --version
}

tests() {
  ! has "operators and rows against the CPU" test_aten || check "operators and rows against the CPU" 60 "$bin/test_aten"
  measure 30 device_bench --device $device
}

kernels() {  # seconds sections: measures them at the shapes of the model
  measure "$1" kernel_bench --device $device --model "$model" --section "$2"
}

ceilings() { kernels 40 rows,matmul,head,optimizer; }

decode() { kernels 60 decode-attention,prefill,decode; }

# Whether the training attention of the bench took at most some microseconds. The results have them.
at_most() {  # name us
  local line us=-
  [ $place = gpu ] || { skip "$1: at most $2 us" "needs a GPU" && return 0; }
  line=$(grep -F ": $1\"" "$results" | tail -n 1)
  [[ ! $line =~ \"us\":\ ([0-9.e+]+) ]] || us=${BASH_REMATCH[1]}
  note "$1: at most $2 us" "$(awk -v us="$us" -v most="$2" 'BEGIN { print us != "-" && us + 0 <= most ? "PASS" : "FAIL" }')" "$us" us
}

# The attention of training and of prefill: their bits repeat, their errors are those of rounding, they are as fast as
# calculated (docs/benchmarks/gpu.md), and a step has the same digests twice.
attention() {
  ! has "attention of training" test_packed_attention || check "attention of training and prefill: defects, 100 repetitions" 60 "$bin/test_packed_attention"
  kernels 120 training-attention,prefill,decode,train
  if [ "$model" = 1.7b ]; then
    at_most "training attention, 1 x 16384 tokens" 1800
    at_most "training attention backward, 1 x 16384 tokens" 6500
    at_most "re-reading a response, 8192 tokens" 60000
    at_most "decode step, batch 16, context 512, CUDA graph" 1500
    at_most "forward and backward, 16384 tokens" 630000  # 0.45 of the peak of 989 TFLOP/s
  fi
  has "a step twice" lie_cluster || return 0
  train_demo "a step" attention-first "$trains_on" 1 && train_demo "the same step" attention-second "$trains_on" 1 &&
    same_digests "a step, compared with itself" attention-first attention-second
  [ $place = gpu ] || return 0
  note_choice "attention of training"
  note_choice "attention of prefill"
  note_choice "matmuls of few rows"
}

note_choice() {  # what: notes which kernel the last run used for it, and why
  note "$1: the kernel" MEASURED - "$(sed -n "s/.*$1: //p" "$log" | tail -n 1)"
}

train() { kernels 30 training-attention,train,exact; }

train_run() {  # name seconds run device [--set KEY=VALUE...]: trains in folder `run` of the work folder, or resumes what is there
  local name=$1 seconds=$2 run=$work/$3 on=$4
  shift 4
  check "$name" "$seconds" "${launch[@]}" "$bin/lie_cluster" train configs/demo.yaml --set evaluation.every=0 \
    --set model.device="$on" --set run.directory="$run" "$@"
}

train_demo() {  # name run device steps: some steps of the demo's model
  train_run "$1" 30 "$2" "$3" --set run.steps="$4" --set rollout.prompts_per_step=8 --set update.mini_batch_prompts=4
}

# Three steps of 128 responses with the shape of a real model. The checkpoint at the end is three times the size of the weights
# in fp32.
train_real() {
  local model_directory=$work/model shape=qwen3-$model tokens=1024 micro_batch=16384
  has "RL steps of $shape" random_model || return 0
  if [ $place = emulated ]; then shape=assets/count_pairs/model tokens=16 micro_batch=1024; fi
  check "random weights of $shape" 20 "$bin/random_model" "$shape" "$model_directory" --response-tokens $((tokens / 2)) || return 0
  train_run "three RL steps of $shape" 90 real "$trains_on" --set run.steps=3 --set model.path="$model_directory" \
    --set rollout.prompts_per_step=16 --set rollout.samples_per_prompt=8 --set rollout.max_response_tokens=$tokens \
    --set update.mini_batch_prompts=16 --set update.gradient_shards=1 \
    --set update.max_micro_batch_tokens=$micro_batch --set policy_loss.kl_coefficient=0 --set checkpoint.every=0 --set optimizer.learning_rate=1e-6
  note_steps real $shape
}

metric() {  # line key: prints the number that the key has, or "-"
  [[ $1 =~ \"$2\":\ *([-+.0-9e]+) ]] && printf '%.4g' "${BASH_REMATCH[1]}" || echo -
}

note_steps() {  # run name: notes the speed and the difference of log-probs of each step that was completed
  local line step
  [ -e "$work/$1/metrics.jsonl" ] || return 0
  while read -r line; do
    step="$2, step $(metric "$line" step)"
    note "$step" MEASURED "$(metric "$line" tokens_per_second)" "response tokens/s"
    note "$step: generation" MEASURED "$(metric "$line" generate_seconds)" s
    note "$step: update" MEASURED "$(metric "$line" update_seconds)" s
    note "$step: log-probs, learner less sampler" MEASURED "$(metric "$line" log_prob_difference_mean)" "nats, mean magnitude"
    note "$step: the same, worst response" MEASURED "$(metric "$line" log_prob_difference_sequence_max)" "nats, its mean"
  done <"$work/$1/metrics.jsonl"
}

note_exact() {  # run: notes whether learner and sampler have the same log-probs
  local difference
  difference=$(metric "$(<"$work/$1/metrics.jsonl")" log_prob_difference_sequence_max)
  note "log-probs of learner and sampler agree" "$([ "$difference" = 0 ] && echo PASS || echo FAIL)" "$difference" nats
}

digests_differ() {  # run run: prints 0 if the runs have the same bits, else 1; fails if one has no digest
  local first second
  first=$("$bin/lie_analyze" --digest "$work/$1" 2>>"$log") && second=$("$bin/lie_analyze" --digest "$work/$2" 2>>"$log") || return 1
  [ "$first" = "$second" ] && echo 0 || echo 1
}

same_digests() {  # name run run: two starts of one command must have the same bits
  local differ
  has "$1" lie_analyze || return 0
  differ=$(digests_differ "$2" "$3") || differ=-
  note "$1" "$([ "$differ" = 0 ] && echo PASS || echo FAIL)" "$differ" "digests that differ"
}

note_digests() {  # name run run: notes whether the runs have the same bits, which CUDA does not promise here
  local differ
  has "$1" lie_analyze && differ=$(digests_differ "$2" "$3") || return 0
  note "$1" MEASURED "$differ" "digests that differ"
}

step() {
  has "RL steps" lie_cluster || return 0
  train_demo "one RL step" once "$trains_on" 1 && note_steps once demo
  if [ $place = emulated ]; then
    skip "one RL step, exact mode" "kernels of a GPU"
  elif train_demo "one RL step, exact mode" exact cuda-exact 1; then
    note_exact exact
  fi
  train_demo "two RL steps" twice "$trains_on" 2
  train_demo "a resumed second step" once "$trains_on" 2 && note_digests "resumed, compared with uninterrupted" once twice
  train_real
}

multi() {
  has "RL steps on 3 ranks" lie_cluster || return 0
  local launch=(mpirun --oversubscribe -n 3)
  if ! command -v mpirun >/dev/null; then
    skip "RL steps on 3 ranks" "no mpirun"
  elif train_demo "two RL steps on 3 ranks" ranks "$trains_on" 2; then
    note_steps ranks "3 ranks"
    note_digests "3 ranks, compared with 1" ranks twice
  fi
  skip "NCCL between GPUs" "needs two: docs/design/gpu.md"
}

# Each tensor has its own allocation, so that memcheck finds accesses beyond its end. API errors are not reported: the code
# checks what calls return, and some calls of LibTorch may fail. racecheck finds missing barriers.
sanitize_with() {  # tool options...
  local kernels='*Sampling.Top*/cuda:*Decoding*/cuda:*RmsNorm*/cuda:*QkNorm*/cuda:*Swiglu*/cuda:*Embedding*/cuda:*LogProbs*/cuda:*AdamW*/cuda'
  local filter="--gtest_filter=$kernels:*InvertsTheCumulative*/cuda" name="compute-sanitizer, $1"
  if [[ $("$bin/test_aten" --gtest_list_tests "$filter" 2>>"$log") != */cuda* ]]; then note "$name" FAIL - "no test runs a kernel" && return; fi
  check "$name" 45 env PYTORCH_NO_CUDA_MEMORY_CACHING=1 compute-sanitizer --error-exitcode 1 --tool "$@" "$bin/test_aten" "$filter"
}

sanitize() {
  if [ "$place" = emulated ] || ! command -v compute-sanitizer >/dev/null; then
    skip "compute-sanitizer over the row kernels" "needs a GPU and compute-sanitizer" && return
  fi
  has "compute-sanitizer" test_aten || return 0
  sanitize_with memcheck --report-api-errors no
  sanitize_with racecheck
}

# Whether the machine has what a shape needs: the disk for its bf16 weights, and a GPU that plan accepts with what is free.
has_room() {  # name GiB-of-weights model-directory settings...
  local name=$1 gib=$2 model_directory=$3 left free
  shift 3
  left=$(df --output=avail -B1G "$work" | tail -n 1)
  if [ "$left" -lt "$gib" ]; then note "$name: disk for its weights" FAIL "$left" "GiB free of $gib" && return 1; fi
  [ "$place" = gpu ] || return 0
  free=$(nvidia-smi --query-gpu=memory.free --format=csv,noheader,nounits | head -n 1)
  check "$name: fits $((free / 1024)) GiB by plan" 10 "$bin/lie_cluster" plan configs/demo.yaml --ranks 1 --gpu-gib $((free / 1024)) \
    --set model.device=cuda --set model.path="$model_directory" "$@"
}

# Some steps with the random weights that are there. No setting of memory is given, so the defaults must start.
sized_run() {  # name seconds steps settings...
  local name=$1 seconds=$2 steps=$3 run="sizes-${1//[^a-zA-Z0-9]/-}" tokens=1024
  [ $place = gpu ] || tokens=16
  shift 3
  train_run "$name" "$seconds" "$run" "$trains_on" --set run.steps="$steps" --set model.path="$work/sizes" \
    --set rollout.prompts_per_step=8 --set rollout.samples_per_prompt=8 --set rollout.max_response_tokens=$tokens \
    --set update.mini_batch_prompts=8 --set policy_loss.kl_coefficient=0 --set checkpoint.every=0 "$@"
  note_steps "$run" "$name"
}

# One step of a shape with random weights.
sized_step() {  # name shape GiB-of-weights seconds-for-weights seconds-for-the-step settings...
  local name=$1 shape=$2 gib=$3 weights=$4 seconds=$5
  shift 5
  fits "$name: one step" $((weights + seconds)) || return 1
  if [ $place = emulated ]; then shape=assets/count_pairs/model gib=1; fi
  rm -rf "$work/sizes"  # the disk may not hold two of them
  has_room "$name" "$gib" "$shape" "$@" || return 1
  check "$name: random weights" "$weights" "$bin/random_model" "$shape" "$work/sizes" --response-tokens "$([ $place = gpu ] && echo 512 || echo 8)" || return 1
  sized_run "$name: one step" "$seconds" 1 "$@"
}

# Two steps of the weights that are there: learner and actor in one process, then in two.
layouts() {  # name
  sized_run "$1, one process" 50 2
  local launch=(mpirun --oversubscribe -n 2)
  if ! command -v mpirun >/dev/null; then skip "$1, two processes" "no mpirun" && return; fi
  sized_run "$1, two processes" 70 2 --set roles.placement=separate --set roles.learners=1 --set roles.actors=1
}

sizes() {
  local probed=cuda shapes=tests/model/configs
  has "RL steps by size" lie_cluster && has "RL steps by size" random_model || return 0
  [ $place = gpu ] || probed=cpu
  check "the device computes" 20 "$bin/lie_cluster" probe --device $probed || return 0
  ! sized_step 1.7B $shapes/qwen3-1.7b 4 20 40 || layouts 1.7B
  sized_step 4B $shapes/qwen3-4b 8 40 70
  sized_step "8B with LoRA" $shapes/qwen3-8b 16 70 90 --set model.lora.rank=32 --set optimizer.learning_rate=1e-5
}

# --- The check

results=$(realpath -m "$results") log=$results.log
[ -z "$bin" ] || bin=$(realpath "$bin")
cd "$(dirname "$0")/.." || exit 1
place=emulated device=emulated trains_on=cpu
if [ -n "${CUDA_VISIBLE_DEVICES-all}" ] && nvidia-smi -L >/dev/null 2>&1; then place=gpu device=cuda trains_on=cuda; fi
bin=${bin:-$PWD/build/$([ $place = gpu ] && echo cuda || echo release)/bin}
[ -d "${results%/*}" ] || mkdir -p "${results%/*}"
: >"$results"
: >"$log"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
launch=()  # what starts the ranks of a run
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

print_row check where result figure unit share expected
for section in ${all//,/ }; do
  [[ ,$only, != *,$section,* ]] || "$section"
done
say "$place, $SECONDS s; results: $results"
[ "$place" = gpu ] || say "no GPU here: emulated device in host memory; no figure says anything about a GPU"
[[ ! $(<"$results") =~ '"result": "FAIL"' ]]

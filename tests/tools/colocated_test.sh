#!/usr/bin/env bash
# With roles.placement colocated each learner's process is an actor. The run gives the same
# trajectories, weights and metrics as on one rank and in every other layout. This holds after kills,
# stops and changes of the layout. A dead rank ends the job with one report.
# colocated_test.sh BIN WORK
set -euo pipefail
source "$(dirname "$0")/begin.sh"
colocated="--set roles.placement=colocated"

same() {  # name, reference
  [ "$(digest "$WORK/$1")" = "$(digest "$WORK/$2")" ] || fail "$1: $(digest "$WORK/$1"), $2: $(digest "$WORK/$2")"
  diff <(timeless_metrics "$WORK/$2") <(timeless_metrics "$WORK/$1") || fail "$1 and $2 differ in metrics"
}
# run RANKS NAME [overrides...]
run() {
  train "$1" "$WORK/$2" "${@:3}" >>"$WORK/$2.log" 2>&1 || { cat "$WORK/$2.log"; fail "$2: the run failed"; }
}
# dies RANKS NAME FAULT [overrides...]
dies() { ! LIE_FAULT="$3" train "$1" "$WORK/$2" "${@:4}" >"$WORK/$2.log" 2>&1 || fail "$2: the run does not die at $3"; }

run 1 one
for ranks in 2 3 4; do
  run "$ranks" "n$ranks" $colocated
  same "n$ranks" one
done
grep -q "learner, reward worker, actor" "$WORK/n2.log" || { cat "$WORK/n2.log"; fail "the table of roles does not show a colocated rank"; }
run 4 scored $colocated --set roles.reward_workers=2
same scored one

# Rounded weights, which each actor receives from its own learner, and fewer groups than actors.
run 1 round1 --set rollout.weights=bfloat16 --set run.steps=2 --set rollout.prompts_per_step=2
run 3 round3 --set rollout.weights=bfloat16 --set run.steps=2 --set rollout.prompts_per_step=2 $colocated
same round3 round1

# An adapter that is trained with a KL term on the base.
adapter="--set model.lora.rank=4 --set policy_loss.kl_coefficient=0.01 --set run.steps=2"
run 1 adapter1 $adapter
run 2 adapter2 $adapter $colocated
same adapter2 adapter1

# Actors run ahead of their learners: the recorded schedule repeats the run in another layout.
ahead="--set rollout.max_staleness=2 --set policy_loss.clip_low=0.2 --set policy_loss.clip_high=0.2 --set run.schedule=recorded"
for weights in finish recompute_cache; do
  run 3 "ahead_$weights" $ahead $colocated --set "rollout.in_flight_weights=$weights"
  cp "$WORK/ahead_$weights/schedule.jsonl" "$WORK/$weights.jsonl"
  for layout in "4 again" "2 colocated"; do
    read -r ranks name <<<"$layout"
    placement=""
    [ "$name" = again ] || placement="$colocated"
    run "$ranks" "${name}_$weights" $ahead $placement --set "rollout.in_flight_weights=$weights" --set "run.follow_schedule=$WORK/$weights.jsonl"
    same "${name}_$weights" "ahead_$weights"
  done
done

# Kills at several moments, each start in another layout.
dies 3 moved metrics:3 $colocated
dies 4 moved checkpoint:1
dies 2 moved journal:2 $colocated
run 4 moved $colocated --set roles.reward_workers=1
same moved one

# A learner that is also an actor dies while the others wait for it.
parts=(train "$small" --set "run.directory=$WORK/part" $colocated)
! mpirun --oversubscribe -n 1 "$BIN/lie_cluster" "${parts[@]}" : -n 1 -x LIE_FAULT=part:2 "$BIN/lie_cluster" "${parts[@]}" \
  >"$WORK/part.log" 2>&1 || fail "part:2: the run does not die"
grep "error on rank" "$WORK/part.log" | grep -c "rank 1 (learner, actor)" | grep -qx 1 || { cat "$WORK/part.log"; fail "expected one report of the dead rank"; }
run 1 part
same part one

# SIGTERM to a rank other than 0 stops the run after a step.
for ranks in 2 3; do
  train "$ranks" "$WORK/stopped$ranks" $colocated >"$WORK/stopped$ranks.log" 2>&1 &
  launcher=$!
  until [ "$({ wc -l <"$WORK/stopped$ranks/metrics.jsonl"; } 2>/dev/null || echo 0)" -ge 2 ]; do
    kill -0 "$launcher" 2>/dev/null || break
    sleep 0.02
  done
  mapfile -t pids < <(pgrep --exact --parent "$(pgrep --parent "$launcher" mpirun || echo "$launcher")" lie_cluster)
  status=0
  [ "${#pids[@]}" -lt 2 ] || kill -TERM "${pids[1]}" || true
  wait "$launcher" || status=$?
  case "$status" in 0 | 75) ;; *) cat "$WORK/stopped$ranks.log"; fail "a stop ended with status $status" ;; esac
  run "$ranks" "stopped$ranks" $colocated
  same "stopped$ranks" one
done

"$BIN/lie_replay" train "$WORK/n3" --run-directory "$WORK/replayed" >"$WORK/replayed.log" 2>&1 || { cat "$WORK/replayed.log"; fail "the replay of a colocated run failed"; }
[ "$(digest "$WORK/replayed" | grep weights)" = "$(digest "$WORK/one" | grep weights)" ] || fail "the replay of a colocated run gives other weights"
echo "colocated on 2, 3 and 4 ranks: the results of one rank, also with reward workers, received weights, an adapter, stale responses, kills, stops and other layouts"

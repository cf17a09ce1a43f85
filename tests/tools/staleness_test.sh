#!/usr/bin/env bash
# Bounded staleness: no token exceeds the allowed staleness. A schedule repeats its run bit for bit
# on any number of actors and in a run that is killed (SIGKILL) repeatedly. The schedule of a killed
# run repeats that run. All of this also holds with rollout.complete_with=first_groups.
# staleness_test.sh BIN WORK
set -euo pipefail
source "$(dirname "$0")/begin.sh"

ahead="--set rollout.max_staleness=2 --set policy_loss.clip_low=0.2 --set policy_loss.clip_high=0.2 --set run.steps=8"
recorded="--set run.schedule=recorded"

# run RANKS NAME [overrides...]
run() {
  local name="$2"
  train "$1" "$WORK/$name" $ahead "${@:3}" >>"$WORK/$name.log" 2>&1 || { tail -40 "$WORK/$name.log"; fail "$name"; }
}
# dies RANKS NAME [overrides...]: runs until it dies at LIE_FAULT.
dies() {
  local name="$2"
  ! train "$1" "$WORK/$name" $ahead "${@:3}" >>"$WORK/$name.log" 2>&1 || fail "$name: the run does not die at $LIE_FAULT"
}
same() {  # name, name
  [ "$(digest "$WORK/$1")" = "$(digest "$WORK/$2")" ] || fail "$1: $(digest "$WORK/$1"), $2: $(digest "$WORK/$2")"
  diff <(timeless_metrics "$WORK/$1") <(timeless_metrics "$WORK/$2") || fail "$1 and $2 differ in metrics"
}
# Prints the greatest staleness in the metrics of a run.
largest_staleness() { grep -o '"staleness_max":[0-9.]*' "$WORK/$1/metrics.jsonl" | cut -d: -f2 | sort -n | tail -1; }

run 4 free
grep -q "can be repeated bit for bit" "$WORK/free.log" || fail "a run that cannot be repeated does not report it"
run 4 whole $recorded
! grep -q "can be repeated bit for bit" "$WORK/whole.log" || fail "a run with a recorded schedule is reported as not repeatable"
for name in free whole; do
  case "$(largest_staleness $name)" in 1.0 | 2.0) ;; *) fail "$name: staleness up to $(largest_staleness $name)" ;; esac
done

# The schedule is followed with other numbers of actors.
cp "$WORK/whole/schedule.jsonl" "$WORK/whole.jsonl"
for ranks in 1 4 6; do
  run "$ranks" "again$ranks" --set "run.follow_schedule=$WORK/whole.jsonl" $recorded
  same "again$ranks" whole
  cmp "$WORK/again$ranks/schedule.jsonl" "$WORK/whole.jsonl" || fail "the schedule of $ranks ranks differs"
done
echo "repeated from the schedule on 1, 4 and 6 ranks"

# Invariant E11: a replay of the log alone gives the weights of the run.
"$BIN/lie_replay" train "$WORK/whole" --run-directory "$WORK/replayed" >"$WORK/replayed.log" 2>&1 || { cat "$WORK/replayed.log"; fail "lie_replay train failed"; }
[ "$(digest "$WORK/replayed" | grep weights)" = "$(digest "$WORK/whole" | grep weights)" ] || fail "the replay of the log differs in weights"

# A run that follows the schedule dies while it writes the journal, the metrics or a checkpoint.
for fault in journal:5 metrics:3 journal:9 checkpoint:2 journal:4 metrics:1; do
  LIE_FAULT="$fault" dies 4 followed --set "run.follow_schedule=$WORK/whole.jsonl"
done
run 4 followed --set "run.follow_schedule=$WORK/whole.jsonl"
same followed whole
[ ! -e "$WORK/followed/journal" ] || fail "a finished run has a journal"
echo "a killed run resumes with the schedule that it follows"

# A killed run records its schedule.
for fault in journal:7 metrics:3 journal:13 checkpoint:2; do LIE_FAULT="$fault" dies 4 killed $recorded; done
run 4 killed $recorded
run 1 killed_again --set "run.follow_schedule=$WORK/killed/schedule.jsonl"
same killed_again killed
echo "the schedule of a killed run repeats it"

# When weights change in flight, the schedule holds the token of each response at which they change.
# The number of such responses depends on speed, so this test prints it and requires none.
# tests/actors/in_flight_weights_test.cpp forces such responses.
mixed=""
for cache in keep_cache recompute_cache; do
  in_flight="--set rollout.in_flight_weights=$cache --set checkpoint.keep_last=4"
  [ "$cache" = recompute_cache ] || in_flight+=" --set rollout.preemption=false"
  for fault in journal:7 checkpoint:2; do LIE_FAULT="$fault" dies 4 "$cache" $in_flight $recorded; done
  run 4 "$cache" $in_flight $recorded
  mixed+=" $cache: $(grep -o '"mixed_version_share":[0-9.]*' "$WORK/$cache/metrics.jsonl" | cut -d: -f2 | xargs)"
  case "$(largest_staleness $cache)" in 0.0 | 1.0 | 2.0) ;; *) fail "$cache: staleness up to $(largest_staleness $cache)" ;; esac
  cp "$WORK/$cache/schedule.jsonl" "$WORK/$cache.jsonl"
  follow="$in_flight --set rollout.slots=100 --set run.follow_schedule=$WORK/$cache.jsonl $recorded"
  for fault in metrics:3 journal:11; do LIE_FAULT="$fault" dies 5 "again_$cache" $follow; done
  for ranks in 5 1; do
    run "$ranks" "again_$cache" $follow
    same "again_$cache" "$cache"
    cmp "$WORK/again_$cache/schedule.jsonl" "$WORK/$cache.jsonl" || fail "$cache: the schedule of $ranks ranks differs"
    rm -rf "$WORK/again_$cache"
  done
done
echo "runs with in-flight weight changes are repeated, killed or not; share of responses with several versions by step:$mixed"

# Steps are complete with the first finished groups. The number of groups that were drawn for other
# steps depends on speed and is only printed.
# complete_schedule NAME: checks that exactly one step consumes each group. This step must be within the
# staleness bound of the step that drew the group and of the group's policy version.
complete_schedule() {
  python3 - "$WORK/$1/schedule.jsonl" <<'EOF' || fail "$1: schedule.jsonl is incorrect"
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
taken = [(line["step"], *drawn, version) for line in lines for drawn, version in zip(line["drawn"], line["versions"])]
assert sorted((step, group) for _, step, group, _ in taken) == [(step, group) for step in range(1, 9) for group in range(6)]
assert all(abs(step - drawn) <= 2 and 0 <= step - 1 - version <= 2 for step, drawn, _, version in taken), taken
print("groups that another step drew:", sum(step != drawn for step, drawn, *_ in taken), "of", len(taken))
EOF
}
for weights in finish recompute_cache; do
  name="first_$weights"
  first="--set rollout.complete_with=first_groups --set rollout.in_flight_weights=$weights --set checkpoint.keep_last=4 --set rollout.slots=100"
  run 4 "$name" $first $recorded
  complete_schedule "$name"
  cp "$WORK/$name/schedule.jsonl" "$WORK/$name.jsonl"
  follow="$first --set run.follow_schedule=$WORK/$name.jsonl"
  run 1 "again_$name" $follow $recorded
  same "again_$name" "$name"
  cmp "$WORK/again_$name/schedule.jsonl" "$WORK/$name.jsonl" || fail "$name: the schedule of one rank differs"
  for fault in journal:5 metrics:3 journal:9 checkpoint:2 journal:4; do LIE_FAULT="$fault" dies 4 "followed_$name" $follow; done
  run 5 "followed_$name" $follow
  same "followed_$name" "$name"
  [ ! -e "$WORK/followed_$name/journal" ] || fail "a finished run has a journal"

  # A resumed run consumes the same groups as before the kill, because groups in its journal were
  # generated with the weights that resulted from them.
  for fault in journal:7 metrics:3 journal:13 checkpoint:2 journal:6; do LIE_FAULT="$fault" dies 4 "killed_$name" $first $recorded; done
  run 4 "killed_$name" $first $recorded
  complete_schedule "killed_$name"
  run 1 "killed_again_$name" $first --set "run.follow_schedule=$WORK/killed_$name/schedule.jsonl"
  same "killed_again_$name" "killed_$name"
  "$BIN/lie_replay" train "$WORK/killed_$name" --run-directory "$WORK/replayed_$name" >"$WORK/replayed.log" 2>&1 || { cat "$WORK/replayed.log"; fail "lie_replay train failed"; }
  [ "$(digest "$WORK/replayed_$name" | grep weights)" = "$(digest "$WORK/killed_$name" | grep weights)" ] || fail "$name: the replay of the log differs in weights"
done
echo "runs with complete_with=first_groups are repeated, killed or not"

# Settings and schedules that do not fit together are refused.
refused() {  # expected words, then overrides
  local words="$1"
  ! train 1 "$WORK/refused" $ahead "${@:2}" >"$WORK/refused.log" 2>&1 || fail "not refused: $words"
  grep -q "$words" "$WORK/refused.log" || { cat "$WORK/refused.log"; fail "expected: $words"; }
}
refused "ends with step 8, but run.steps is 9" --set "run.follow_schedule=$WORK/whole.jsonl" --set run.steps=9
refused "this run asks for problem" --set "run.follow_schedule=$WORK/whole.jsonl" --set run.seed=4
rm -rf "$WORK/refused"
refused "belongs to a run of another config (run.seed: there" --set "run.follow_schedule=$WORK/whole/schedule.jsonl" --set run.seed=4
refused "no response is in flight when weights change" --set rollout.max_staleness=0 --set rollout.in_flight_weights=keep_cache
refused "a preempted response loses its cache" --set rollout.in_flight_weights=keep_cache
refused "may only take its own groups" --set rollout.max_staleness=0 --set rollout.complete_with=first_groups $recorded
refused "but run.schedule is free" --set rollout.complete_with=first_groups
refused "belongs to a run with rollout.complete_with own_groups" --set "run.follow_schedule=$WORK/whole.jsonl" --set rollout.complete_with=first_groups
refused "known too late to run ahead" --set rollout.dynamic_sampling.enabled=true
sed 's/"step":3,/"step":4,/' "$WORK/whole.jsonl" >"$WORK/flipped.jsonl"
refused "flipped.jsonl:3: the line does not fit its checksum" --set "run.follow_schedule=$WORK/flipped.jsonl"
echo "settings and schedules that do not fit together are refused"

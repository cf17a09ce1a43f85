#include "learner/learner.h"

#include <utility>

#include "common/clock.h"
#include "common/comm/weight_sync.h"
#include "learner/rollout_buffer.h"

namespace lie {
namespace {

GroupRecord group_record(const ScoredGroup& group, const GroupAdvantages& advantages,
                         const std::vector<ResponseUpdate>& responses) {
  GroupRecord record{.scored = group, .results = {}};
  for (std::size_t i = 0; i < responses.size(); ++i) {
    record.results.push_back({.advantage = static_cast<float>(advantages.values[i]),
                              .log_probs = responses[i].learner_log_probs,
                              .sequence_log_ratio = responses[i].log_ratio,
                              .clipped = responses[i].clipped,
                              .mini_batch = responses[i].mini_batch});
  }
  return record;
}

}  // namespace

/// A training step on its way through the phases; step 0 evaluates only.
struct Learner::Step {
  std::int64_t number = 0;
  std::vector<ScoredGroup> groups;
  std::vector<GroupAdvantages> advantages;
  StepUpdate update;
  std::vector<ScoredGroup> evaluation;
  double generate_seconds = 0, update_seconds = 0, publish_seconds = 0, evaluate_seconds = 0;
  double log_seconds = 0;  // that the trajectory log held the step up
  double seconds() const {
    return generate_seconds + update_seconds + publish_seconds + evaluate_seconds + log_seconds;
  }
};

Learner::Learner(const LearnerOptions& options, const LearnerParts& parts, std::int64_t first_step)
    : options_(options), parts_(parts), first_step_(first_step) {}

void Learner::run() {
  publish(first_step_);
  if (first_step_ == 0) evaluate_start();
  for (std::int64_t step = first_step_ + 1; step <= options_.last_step; ++step) run_step(step);
  if (parts_.leadership == nullptr) return;
  parts_.leadership->coordinator.announce_weights();
  publish_finish(parts_.leadership->weight_group);
  parts_.leadership->curves.finish();
}

void Learner::evaluate_start() {
  Step step;
  evaluate(step);
  if (!step.evaluation.empty()) record(step);
}

void Learner::run_step(std::int64_t number) {
  Step step;
  step.number = number;
  collect(step);
  update(step);
  {
    const Timed timed(step.publish_seconds);
    publish(number);
  }
  evaluate(step);
  record(step);
  checkpoint(number);
}

void Learner::collect(Step& step) {
  const Timed timed(step.generate_seconds);
  if (parts_.leadership != nullptr) {
    step.groups = parts_.leadership->coordinator.collect_training(step.number, step.number - 1);
  }
  step.groups = share_groups(std::move(step.groups), parts_.learners);
}

void Learner::update(Step& step) {
  const Timed timed(step.update_seconds);
  for (const ScoredGroup& group : step.groups) {
    step.advantages.push_back(group_advantages(group.scores, options_.advantage));
  }
  step.update = parts_.updater.run(step.number, step.groups, step.advantages);
}

void Learner::publish(std::int64_t policy_version) {
  if (parts_.leadership == nullptr) return;
  parts_.leadership->coordinator.announce_weights();
  publish_weights(parts_.leadership->weight_group, policy_version, parts_.weights.flat());
}

void Learner::evaluate(Step& step) {
  if (parts_.leadership == nullptr) return;
  Coordinator& coordinator = parts_.leadership->coordinator;
  if (!coordinator.evaluates_after(step.number, options_.last_step)) return;
  const Timed timed(step.evaluate_seconds);
  step.evaluation = coordinator.collect_evaluation(step.number, step.number);
}

void Learner::record(Step& step) {
  record_trajectories(step);
  if (parts_.leadership != nullptr) record_curves(step);
}

void Learner::record_trajectories(Step& step) {
  const Timed timed(step.log_seconds);
  StepRecord record{.step = step.number,
                    .groups = {},
                    .seconds = step.seconds(),
                    .generate_seconds = step.generate_seconds,
                    .update_seconds = step.update_seconds};
  // Each learner keeps its share of the groups; evaluations are learner 0's.
  const auto learners = static_cast<std::size_t>(parts_.learners.size());
  for (auto i = static_cast<std::size_t>(parts_.learners.rank()); i < step.groups.size();
       i += learners) {
    record.groups.push_back(
        group_record(step.groups[i], step.advantages[i], step.update.responses[i]));
  }
  for (const ScoredGroup& group : step.evaluation) {
    record.groups.push_back({.scored = group, .results = {}});
  }
  parts_.trajectories.record(std::move(record), numbers_so_far(step));
}

/// Names of the further numbers so far. Learner 0 alone has evaluations, and step 0; its names
/// reach all with step 1.
std::vector<std::string> Learner::numbers_so_far(const Step& step) {
  numbers_.merge(number_names(step.groups));
  numbers_.merge(number_names(step.evaluation));
  if (step.number == 0) return {};
  return share_names({numbers_.begin(), numbers_.end()}, parts_.learners);
}

void Learner::record_curves(const Step& step) {
  StepFacts facts{.step = step.number,
                  .rewards = options_.rewards,
                  .groups = step.groups,
                  .advantages = step.advantages,
                  .update = step.number > 0 ? &step.update : nullptr,
                  .coverage = parts_.leadership->coverage.add_step(step.groups),
                  .evaluation = step.evaluation,
                  .phase_seconds = {{"step", step.seconds()},
                                    {"generate", step.generate_seconds},
                                    {"update", step.update_seconds},
                                    {"publish", step.publish_seconds},
                                    {"evaluate", step.evaluate_seconds},
                                    {"log", step.log_seconds}},
                  .roles = clocks_.advance(step.groups)};
  facts.roles.emplace_back("learner",
                           RoleClock{.busy_seconds = step.update_seconds + step.log_seconds,
                                     .idle_seconds = step.generate_seconds + step.publish_seconds +
                                                     step.evaluate_seconds});
  parts_.leadership->curves.record(
      {.step = step.number, .wall_time = unix_seconds(), .values = step_metrics(facts)});
}

void Learner::checkpoint(std::int64_t step) {
  const bool due = options_.checkpoint_every > 0 && step % options_.checkpoint_every == 0;
  if (!due && step != options_.last_step) return;
  // Every learner's trajectories up to here are on disk before the checkpoint says so.
  if (step == options_.last_step) {
    parts_.trajectories.close();
  } else {
    parts_.trajectories.cut_after(step);
  }
  double all_closed = 0;
  parts_.learners.all_reduce_sum(std::span(&all_closed, 1));  // a barrier
  if (parts_.leadership != nullptr) parts_.write_checkpoint(step);
}

}  // namespace lie

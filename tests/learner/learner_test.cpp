// The learner in one process, without actors: it reads a list of steps and records into another.
#include "learner/learner.h"

#include <gtest/gtest.h>

#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "learner/schedule/shared_groups.h"
#include "learner/step.h"
#include "tests/learner/sampled_groups.h"

namespace lie {
namespace {

using test::LearnerTrainer, test::on_learners;

/// A list of steps.
class ListedSteps : public Source<StepGroups> {
 public:
  explicit ListedSteps(std::int64_t steps) {
    for (std::int64_t step = 1; step <= steps; ++step) {
      steps_.push_back({step, test::sampled_groups(4, 3)});
    }
  }
  std::optional<StepGroups> receive() override {
    if (steps_.empty()) return std::nullopt;
    StepGroups next = std::move(steps_.front());
    steps_.pop_front();
    return next;
  }

 private:
  std::deque<StepGroups> steps_;
};

struct KeptOutcomes : StepRecorder {
  std::vector<StepOutcome> steps;
  bool closed = false;
  void record(StepOutcome& step) override { steps.push_back(step); }
  void close() override { closed = true; }
};

/// Saves no checkpoint, but notes how many steps were recorded before each.
struct NotedCheckpoints : StepRecorder {
  const KeptOutcomes& outcomes;
  std::vector<std::size_t> recorded_before = {};
  explicit NotedCheckpoints(const KeptOutcomes& kept) : outcomes(kept) {}
  void record(StepOutcome&) override { recorded_before.push_back(outcomes.steps.size()); }
};

struct Trained {
  KeptOutcomes outcomes;
  std::vector<std::size_t> recorded_before_checkpoint = {};
  std::vector<float> weights;
};

Trained train(Source<StepGroups>& groups, Collective& learners) {
  LearnerTrainer learner({}, {.learning_rate = 1e-3, .warmup = 0}, learners);
  PolicyUpdater updater({.batch = {.mini_batch_prompts = 2}, .loss = {}}, learner.trainer);
  Trained trained;
  NotedCheckpoints checkpoints(trained.outcomes);
  run_learner({groups, {}, updater, trained.outcomes, checkpoints});
  trained.recorded_before_checkpoint = checkpoints.recorded_before;
  trained.weights = learner.weights();
  return trained;
}

Trained train_alone(std::int64_t steps) {
  ListedSteps groups(steps);
  const auto alone = solo_collective();
  return train(groups, *alone);
}

/// Trains two learners, of which only learner 0 has the steps. Returns the results by rank.
std::vector<Trained> train_two(std::int64_t steps) {
  std::vector<Trained> trained(2);
  on_learners(2, [&](Collective& learners) {
    ListedSteps own(steps);
    SharedGroups groups(learners.rank() == 0 ? &own : nullptr, learners);
    trained[static_cast<std::size_t>(learners.rank())] = train(groups, learners);
  });
  return trained;
}

TEST(Learner, EachStepIsTrainedOnAndThenRecorded) {
  const Trained trained = train_alone(3);
  const auto& steps = trained.outcomes.steps;
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_TRUE(trained.outcomes.closed);
  EXPECT_EQ(trained.recorded_before_checkpoint, (std::vector<std::size_t>{1, 2, 3}));
  for (std::size_t s = 0; s < 3; ++s) {
    EXPECT_EQ(steps[s].step, static_cast<std::int64_t>(s) + 1);
    EXPECT_EQ(steps[s].groups.size(), 4u);
    ASSERT_EQ(steps[s].advantages.size(), 4u);
    EXPECT_EQ(steps[s].advantages[2].values,
              group_advantages(steps[s].groups[2].scores, {}).values);
    EXPECT_EQ(steps[s].update.mini_batches.size(), 2u);
    EXPECT_TRUE(steps[s].evaluation.empty());
    EXPECT_GT(steps[s].seconds.update, 0);
  }
  EXPECT_NE(trained.weights, train_alone(2).weights);
}

TEST(Learner, TwoLearnersTrainOnTheGroupsOfLearner0AndHoldTheSameWeights) {
  const std::vector<Trained> two = train_two(2);
  EXPECT_EQ(two[0].weights, two[1].weights);
  const Trained alone = train_alone(2);
  EXPECT_LT(test::relative_difference(two[0].weights, alone.weights), 1e-6);
  ASSERT_EQ(two[1].outcomes.steps.size(), 2u);
  EXPECT_TRUE(two[1].outcomes.closed);
  const StepOutcome &first = two[0].outcomes.steps[1], &other = two[1].outcomes.steps[1];
  EXPECT_EQ(other.step, 2);
  ASSERT_EQ(other.groups.size(), 4u);
  EXPECT_EQ(other.groups[3].rollout.responses[2].ids, first.groups[3].rollout.responses[2].ids);
  EXPECT_EQ(other.update.responses[3][2].log_probs, first.update.responses[3][2].log_probs);
}

/// Adds its number to the step's evaluation.
struct Tracer : StepRecorder {
  std::int64_t number;
  std::vector<std::int64_t>& closed;
  Tracer(std::int64_t n, std::vector<std::int64_t>& c) : number(n), closed(c) {}
  void record(StepOutcome& step) override {
    step.evaluation.emplace_back().rollout.ticket.group = number;
    seen = step.evaluation.size();
  }
  void close() override { closed.push_back(number); }
  std::size_t seen = 0;
};

TEST(StepRecorders, RecordersSeeWhatEarlierOnesAdded) {
  std::vector<std::int64_t> closed;
  Tracer first(1, closed), second(2, closed);
  StepRecorders recorders({&first});
  recorders.add(second);
  StepOutcome step;
  recorders.record(step);
  recorders.close();
  EXPECT_EQ(first.seen, 1u);
  EXPECT_EQ(second.seen, 2u);
  EXPECT_EQ(closed, (std::vector<std::int64_t>{1, 2}));
}

}  // namespace
}  // namespace lie

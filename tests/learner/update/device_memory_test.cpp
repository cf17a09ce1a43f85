// Training in memory that the host cannot access: weights, gradient and moments stay in the memory
// of the operators.
#include <gtest/gtest.h>

#include <csignal>

#include "learner/advantage/group_relative.h"
#include "learner/update/update.h"
#include "tests/guarded_operators.h"
#include "tests/learner/sampled_groups.h"

namespace lie {
namespace {

using test::GuardedOperators, test::LearnerTrainer;

/// A trainer on given operators, with its updater.
struct Trainee {
  explicit Trainee(std::unique_ptr<Operators> operators)
      : learner(options(), {.learning_rate = 1e-3, .warmup = 0}, *alone, std::move(operators)),
        updater({.batch = {.mini_batch_prompts = 2}, .loss = {}}, learner.trainer) {}

  static TrainerOptions options() { return {.max_micro_batch_tokens = 64}; }

  void step(std::int64_t number, std::span<const ScoredGroup> groups) {
    std::vector<GroupAdvantages> advantages;
    for (const ScoredGroup& g : groups) advantages.push_back(group_advantages(g.scores, {}));
    updater.run(number, groups, advantages);
  }

  const AdamW& optimizer() const { return learner.trainer.optimizer(); }

  std::unique_ptr<Collective> alone = solo_collective();
  LearnerTrainer learner;
  PolicyUpdater updater;
};

std::int64_t response_tokens(std::span<const ScoredGroup> groups) {
  std::int64_t tokens = 0;
  for (const ScoredGroup& group : groups) {
    for (const Response& response : group.rollout.responses) tokens += std::ssize(response.ids);
  }
  return tokens;
}

TEST(DeviceMemory, AnUpdateTransfersOnlyLogProbsEntropiesAndTheirGradients) {
  const auto groups = test::sampled_groups(4, 4);
  auto operators = std::make_unique<GuardedOperators>();
  const GuardedOperators& device = *operators;
  Trainee trainee(std::move(operators));
  trainee.step(1, groups);  // allocates buffers
  const GuardedOperators::Traffic before = device.traffic();
  trainee.step(2, groups);
  const std::int64_t tokens = response_tokens(groups);
  EXPECT_EQ(device.traffic().allocations, before.allocations);
  EXPECT_EQ(device.traffic().to_host - before.to_host, 2 * tokens);      // log-probs, entropies
  EXPECT_EQ(device.traffic().from_host - before.from_host, 2 * tokens);  // their gradients
}

std::int64_t micro_batches(std::span<const ScoredGroup> groups) {
  const TrainerOptions options = Trainee::options();
  std::int64_t count = 0;
  for (std::size_t first = 0; first < groups.size(); first += 2) {  // a mini-batch
    std::vector<SequenceTokens> sequences;
    for (const ScoredGroup& group : groups.subspan(first, 2)) {
      for (const Response& response : group.rollout.responses) {
        sequences.push_back({group.rollout.prompt_ids, response.ids});
      }
    }
    for (const auto& shard : assign_to_gradient_shards(sequences, options.gradient_shards)) {
      count += std::ssize(pack(sequences, shard, options.max_micro_batch_tokens));
    }
  }
  return count;
}

// The counts of synchronizations that docs/benchmarks/gpu.md states.
TEST(DeviceMemory, AMicroBatchAndAnOptimizerStepEachSynchronizeOnce) {
  const auto groups = test::sampled_groups(4, 4);
  auto operators = std::make_unique<GuardedOperators>();
  const GuardedOperators& device = *operators;
  Trainee trainee(std::move(operators));
  trainee.step(1, groups);
  const GuardedOperators::Traffic before = device.traffic();
  trainee.step(2, groups);
  const GuardedOperators::Traffic step = device.traffic().since(before);
  const std::int64_t updates = 2, micro = micro_batches(groups);
  EXPECT_GT(micro, updates);
  EXPECT_EQ(step.allocations, 0);
  EXPECT_EQ(step.waits, micro + updates);  // log-probs with entropies; the gradient's norm
  EXPECT_EQ(step.uploads, 3 * micro);      // index lists each way, gradients of the scores
}

TEST(DeviceMemory, TrainingIsBitIdenticalToTrainingOnTheHost) {
  const auto groups = test::sampled_groups(4, 4);
  Trainee there(std::make_unique<GuardedOperators>()), here(make_cpu_operators(1));
  for (std::int64_t step = 1; step <= 3; ++step) {
    there.step(step, groups);
    here.step(step, groups);
  }
  const auto same = [&](Tensor a, Tensor b) {
    return test::to_host(*there.learner.operators, a) == test::to_host(*here.learner.operators, b);
  };
  EXPECT_TRUE(same(there.learner.trainer.weights().flat(), here.learner.trainer.weights().flat()));
  EXPECT_TRUE(same(there.optimizer().first_moment(), here.optimizer().first_moment()));
  EXPECT_TRUE(same(there.optimizer().second_moment(), here.optimizer().second_moment()));
  EXPECT_EQ(there.optimizer().updates(), 6);
}

TEST(DeviceMemory, IsInaccessibleToTheHost) {
  GuardedOperators operators;
  const Buffer buffer = operators.allocate(1, 16, DType::kFloat32);
  operators.zero(buffer.view());
  const auto write = [&] {
    std::signal(SIGSEGV, SIG_DFL);  // otherwise a sanitizer would report it
    static_cast<volatile float*>(buffer.view().data)[0] = 1.0F;
  };
  EXPECT_EXIT(write(), testing::KilledBySignal(SIGSEGV), "");
}

}  // namespace
}  // namespace lie

#include "learner/trainer/sharded_trainer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "tests/host_memory.h"
#include "tests/learner/sampled_groups.h"
#include "tests/temporary_directory.h"

namespace lie {
namespace {

using test::LearnerTrainer, test::on_learners;

/// Sequences of 3 to 9 tokens, which view memory of their own.
struct SomeSequences {
  std::vector<std::vector<std::int32_t>> ids;
  std::vector<SequenceTokens> tokens;

  explicit SomeSequences(std::size_t count) {
    for (std::uint32_t i = 0; i < count; ++i) ids.push_back(test::random_ids(4 + i % 7, 900 + i));
    for (const auto& all : ids)
      tokens.push_back({std::span(all).first(2), std::span(all).subspan(2)});
  }
};

const OptimizerOptions kFirstUpdateLearns = {.learning_rate = 1e-2, .warmup = 0};

/// Three blocks of weights, so that two or three learners hold a part each.
constexpr test::TinyShape kThreeBlocks{.vocabulary = 24, .layers = 6, .heads = 2, .kv_heads = 1};

LearnerTrainer three_blocks(Collective& learners, std::int64_t zero_stage = 1,
                            DType matmul_dtype = DType::kFloat32) {
  return {{.zero_stage = zero_stage},
          kFirstUpdateLearns,
          learners,
          make_cpu_operators(1, {}, matmul_dtype),
          kThreeBlocks};
}

/// Adds the gradient of the sum of all log-probs. Returns their sums by gradient shard.
std::vector<double> accumulate(ShardedTrainer& trainer, std::span<const SequenceTokens> sequences) {
  const PackedGradientShards shards = trainer.pack(sequences);
  std::vector<double> sums(static_cast<std::size_t>(shards.count));
  trainer.accumulate_gradient(shards, [&](const MicroBatchWork& work) {
    const RowLogProbs rows = work.policy.forward(work.batch.packed, 1.0F, true);
    const std::vector<float> ones(rows.log_probs.size(), 1.0F), zeros(ones.size(), 0.0F);
    work.policy.backward(work.batch.packed, ones, zeros, *work.gradient);
    for (const float x : rows.log_probs) sums[static_cast<std::size_t>(work.shard)] += double{x};
  });
  return sums;
}

/// The log-probs of one sequence under the trainer's policy, which each learner computes for
/// itself. Collective.
std::vector<float> log_probs(ShardedTrainer& trainer, const SequenceTokens& sequence) {
  const std::vector<SequenceTokens> copies(static_cast<std::size_t>(trainer.learners().size()),
                                           sequence);
  std::vector<float> values;
  trainer.for_each_micro_batch(trainer.pack(copies), [&](const MicroBatchWork& work) {
    values = work.policy.forward(work.batch.packed, 1.0F, false).log_probs;
  });
  return values;
}

TEST(ShardedTrainer, ThePolicyHasTheWeightsOfAllLearnersFromTheStartAndAfterEachUpdate) {
  const SomeSequences sequences(9);
  const auto alone = solo_collective();
  for (const std::int64_t stage : {1, 2, 3}) {
    LearnerTrainer one = three_blocks(*alone, stage);
    const std::vector<float> start = log_probs(one.trainer, sequences.tokens[0]);
    accumulate(one.trainer, sequences.tokens);
    TrainerSeconds seconds;
    const UpdateOutcome outcome = one.trainer.update(1, seconds);
    const std::vector<float> end = log_probs(one.trainer, sequences.tokens[0]);
    EXPECT_NE(start, end);
    EXPECT_GT(seconds.optimizer, 0);
    for (const int count : {2, 3, 8}) {
      on_learners(count, [&](Collective& learners) {
        LearnerTrainer several = three_blocks(learners, stage);
        EXPECT_FALSE(several.trainer.weights().is_complete());
        EXPECT_EQ(log_probs(several.trainer, sequences.tokens[0]), start);
        accumulate(several.trainer, sequences.tokens);
        TrainerSeconds unused;
        EXPECT_EQ(several.trainer.update(1, unused).grad_norm, outcome.grad_norm);
        EXPECT_EQ(log_probs(several.trainer, sequences.tokens[0]), end);
        EXPECT_EQ(several.weights(), one.weights());
      });
    }
  }
}

TEST(ShardedTrainer, Stage3GivesTheBitsOfStage2AlsoIfWeightsArePackedToBFloat16) {
  const SomeSequences sequences(9);
  on_learners(3, [&](Collective& learners) {
    for (const DType dtype : {DType::kFloat32, DType::kBFloat16}) {
      LearnerTrainer gradients = three_blocks(learners, 2, dtype);
      LearnerTrainer weights = three_blocks(learners, 3, dtype);
      EXPECT_EQ(weights.operators->packed_dtype(), dtype);
      for (int step = 1; step <= 3; ++step) {
        EXPECT_EQ(accumulate(weights.trainer, sequences.tokens),
                  accumulate(gradients.trainer, sequences.tokens));
        TrainerSeconds unused;
        EXPECT_EQ(weights.trainer.update(step, unused).grad_norm,
                  gradients.trainer.update(step, unused).grad_norm);
        EXPECT_EQ(weights.weights(), gradients.weights());
      }
      EXPECT_EQ(log_probs(weights.trainer, sequences.tokens[0]),
                log_probs(gradients.trainer, sequences.tokens[0]));
      EXPECT_LT(weights.trainer.policy().packed_size().bytes,
                gradients.trainer.policy().packed_size().bytes / 2);
    }
  });
}

TEST(ShardedTrainer, APartOfTheWeightsReachesLearner0OrAllLearners) {
  on_learners(3, [&](Collective& learners) {
    for (const std::int64_t stage : {1, 2, 3}) {
      LearnerTrainer learner = three_blocks(learners, stage);
      const std::vector<float> all = learner.weights();
      const FlatRange part{1000, 40'000};  // of several optimizer shards
      const std::vector<float> expected(all.begin() + part.first,
                                        all.begin() + part.first + part.count);
      const Tensor everywhere = learner.trainer.weights_at(part);
      EXPECT_EQ(test::to_host(*learner.operators, everywhere), expected);
      const Tensor here = learner.trainer.weights_at(part, /*on_all_learners=*/false);
      if (learners.rank() > 0) continue;
      EXPECT_EQ(test::to_host(*learner.operators, here), expected);
    }
  });
}

void expect_each_micro_batch_once(std::int64_t zero_stage) {
  const SomeSequences sequences(11);
  for (const int threads : {1, 3}) {
    for (const int count : {1, 2, 4}) {
      std::mutex mutex;
      std::vector<std::size_t> seen;
      on_learners(count, [&](Collective& learners) {
        LearnerTrainer learner(
            {.max_micro_batch_tokens = 6, .gradient_shards = 4, .zero_stage = zero_stage}, {},
            learners, make_cpu_operators(threads));
        const PackedGradientShards shards = learner.trainer.pack(sequences.tokens);
        std::vector<std::vector<std::size_t>> by_shard(4);
        const auto note = [&](const MicroBatchWork& work, bool has_gradient) {
          EXPECT_EQ(work.gradient != nullptr, has_gradient);
          EXPECT_LT(work.worker, std::ssize(learner.trainer.workers()));
          const std::lock_guard lock(mutex);
          auto& positions = by_shard[static_cast<std::size_t>(work.shard)];
          positions.insert(positions.end(), work.batch.sequences.begin(),
                           work.batch.sequences.end());
        };
        learner.trainer.for_each_micro_batch(
            shards, [&](const MicroBatchWork& work) { note(work, false); });
        const auto first = by_shard;
        for (auto& positions : by_shard) positions.clear();
        learner.trainer.accumulate_gradient(shards,
                                            [&](const MicroBatchWork& work) { note(work, true); });
        EXPECT_EQ(by_shard, first);
        const std::lock_guard lock(mutex);
        for (const auto& positions : by_shard) {
          EXPECT_TRUE(std::ranges::is_sorted(positions));
          seen.insert(seen.end(), positions.begin(), positions.end());
        }
      });
      std::ranges::sort(seen);
      ASSERT_EQ(seen.size(), 11U);
      for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], i);
    }
  }
}

TEST(ShardedTrainer, EachMicroBatchRunsOnceAndThoseOfAShardInOrder) {
  expect_each_micro_batch_once(1);
  expect_each_micro_batch_once(2);
  expect_each_micro_batch_once(3);
}

TEST(ShardedTrainer, WeightsThatWereChangedReachThePolicyWhenTheyAreGathered) {
  const SomeSequences sequences(1);
  on_learners(2, [&](Collective& learners) {
    LearnerTrainer learner = three_blocks(learners);
    const std::vector<float> before = log_probs(learner.trainer, sequences.tokens[0]);
    for (float& weight : test::host(learner.trainer.weights())) weight *= 2;
    learner.trainer.gather_weights();
    EXPECT_NE(log_probs(learner.trainer, sequences.tokens[0]), before);
    for (float& weight : test::host(learner.trainer.weights())) weight /= 2;
    learner.trainer.gather_weights();
    EXPECT_EQ(log_probs(learner.trainer, sequences.tokens[0]), before);
  });
}

TEST(ShardedTrainer, RefusesMoreLearnersThanGradientShards) {
  on_learners(3, [](Collective& learners) {
    EXPECT_NE(error_of([&] {
                LearnerTrainer({.gradient_shards = 2}, {}, learners);
              }).find("update.gradient_shards: 3 learners cannot share 2 gradient shards"),
              std::string::npos);
  });
}

}  // namespace
}  // namespace lie

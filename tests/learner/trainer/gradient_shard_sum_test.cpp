#include "learner/trainer/gradient_shard_sum.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <memory>
#include <vector>

#include "common/base/error.h"
#include "common/base/random.h"
#include "learner/trainer/optimizer_shards.h"
#include "model/collective/device_collective.h"
#include "tests/guarded_operators.h"
#include "tests/host_memory.h"
#include "tests/learner/counting_group.h"
#include "tests/learner/sampled_groups.h"

namespace lie {
namespace {

using test::on_learners;

constexpr std::int64_t kElements = 2 * kOptimizerShardBlock + 48;  // three blocks

/// Returns values whose sum depends on the order of addition.
std::vector<float> shard_gradient(std::int64_t shard, std::int64_t elements = kElements) {
  std::vector<float> values(static_cast<std::size_t>(elements));
  for (std::uint32_t i = 0; i < values.size(); ++i) {
    const float x =
        random_normal({.seed = 3, .stream = static_cast<std::uint32_t>(shard), .index = i});
    values[i] = i % 3 == 0 ? 1e5F * x : x;
  }
  return values;
}

/// Sums by the definition of the tree: the left child of a node with c shards has the largest power
/// of two below c.
std::vector<float> tree_sum(std::int64_t first, std::int64_t count, std::int64_t elements) {
  if (count == 1) return shard_gradient(first, elements);
  std::int64_t half = 1;
  while (2 * half < count) half *= 2;
  std::vector<float> sum = tree_sum(first, half, elements);
  const std::vector<float> right = tree_sum(first + half, count - half, elements);
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += right[i];
  return sum;
}

std::vector<float> gathered(Operators& operators, Collective& learners, Tensor shard,
                            std::int64_t elements) {
  const FlatRange own = optimizer_shard_of(elements, learners.rank(), learners.size());
  std::vector<float> all(static_cast<std::size_t>(elements));
  operators.copy_to_host(shard, std::span(all).subspan(static_cast<std::size_t>(own.first),
                                                       static_cast<std::size_t>(own.count)));
  learners.all_reduce_sum(std::span(all));  // elements of other learners are 0
  return all;
}

std::vector<float> gradient_shard_sum(Operators& operators, Collective& learners,
                                      std::int64_t shard_count, std::int64_t elements = kElements) {
  GradientShardSum sum(operators, learners, elements, shard_count);
  sum.run(shard_count, [&](const GradientShardWork& work) {
    EXPECT_EQ(test::to_host(operators, work.gradient),
              std::vector<float>(static_cast<std::size_t>(elements)));
    operators.copy_from_host(shard_gradient(work.shard, elements), work.gradient);
  });
  return gathered(operators, learners, sum.sum(), elements);
}

TEST(GradientShardSum, OneLearnerSumsInTreeOrderForAnyNumberOfShards) {
  const auto alone = solo_collective();
  for (std::int64_t shard_count = 1; shard_count <= 64; ++shard_count) {
    const auto operators = make_cpu_operators(1 + static_cast<int>(shard_count % 3));
    EXPECT_EQ(gradient_shard_sum(*operators, *alone, shard_count, 100),
              tree_sum(0, shard_count, 100))
        << shard_count;
  }
}

TEST(GradientShardSum, IsBitIdenticalForAnyNumberOfLearners) {
  for (const std::int64_t shard_count : {1, 2, 3, 5, 7, 8, 13, 64}) {
    const std::vector<float> expected = tree_sum(0, shard_count, kElements);
    for (const int learners : {1, 2, 3, 4, 6, 7, 8}) {
      if (learners > shard_count) continue;
      on_learners(learners, [&](Collective& group) {
        const auto operators = make_cpu_operators(1);
        EXPECT_TRUE(gradient_shard_sum(*operators, group, shard_count) == expected)
            << shard_count << " shards, " << learners << " learners";
      });
    }
  }
}

TEST(GradientShardSum, SumsThatNeedSeveralChunksAreComplete) {
  constexpr std::int64_t kMany = 3 * kHostChunk + 16;
  const std::vector<float> expected = tree_sum(0, 3, kMany);
  on_learners(2, [&](Collective& group) {
    const auto operators = make_cpu_operators(1);
    EXPECT_TRUE(gradient_shard_sum(*operators, group, 3, kMany) == expected);
  });
}

TEST(GradientShardSum, ExchangesOnDevicesAreSixteenTimesAsLong) {
  constexpr std::int64_t kMany = 2 * 3 * kHostChunk;
  const std::vector<float> expected = tree_sum(0, 2, kMany);
  on_learners(2, [&](Collective& group) {
    for (const bool on_device : {false, true}) {
      test::CountingGroup counting(group);
      const auto operators =
          on_device ? std::unique_ptr<Operators>(std::make_unique<test::GuardedOperators>())
                    : make_cpu_operators(1);
      const auto through_host = through_host_collective(counting, *operators);
      GradientShardSum sum(*operators, *through_host, kMany, 2);
      sum.run(2, [&](const GradientShardWork& work) {
        operators->copy_from_host(shard_gradient(work.shard, kMany), work.gradient);
      });
      const Tensor shard = sum.sum();
      EXPECT_EQ(counting.exchanges(), on_device ? 1 : 3);
      EXPECT_TRUE(gathered(*operators, group, shard, kMany) == expected);
    }
  });
}

TEST(GradientShardSum, LearnersWithoutAShardAlsoReceiveTheSum) {
  on_learners(3, [](Collective& group) {
    const auto operators = make_cpu_operators(1);
    GradientShardSum sum(*operators, group, 100, 8);
    sum.run(1, [&](const GradientShardWork& work) {
      operators->copy_from_host(shard_gradient(0, 100), work.gradient);
    });
    EXPECT_EQ(gathered(*operators, group, sum.sum(), 100), shard_gradient(0, 100));
  });
}

TEST(GradientShardSum, OneLearnerHoldsAsManyGradientsAsTheTreeIsDeep) {
  const auto alone = solo_collective();
  for (const std::int64_t shard_count : {1, 2, 4, 8, 64}) {
    test::GuardedOperators operators;
    gradient_shard_sum(operators, *alone, shard_count, 100);
    const auto depth = std::bit_width(static_cast<std::uint64_t>(shard_count - 1));
    EXPECT_EQ(operators.traffic().allocations, depth + 1) << shard_count;
    EXPECT_EQ(values_held(shard_count, {0, shard_count}), depth + 1) << shard_count;
  }
}

TEST(GradientShardSum, ErrorsOfWorkersReachTheCaller) {
  const auto alone = solo_collective();
  const auto operators = make_cpu_operators(3);
  GradientShardSum sum(*operators, *alone, 100, 8);
  for (const std::int64_t bad : {0, 4, 7}) {
    const auto work = [&](const GradientShardWork& shard) {
      if (shard.shard == bad) fail("shard {} is bad", bad);
    };
    EXPECT_THROW(sum.run(8, work), Error) << bad;
  }
  EXPECT_EQ(gradient_shard_sum(*operators, *alone, 8), tree_sum(0, 8, kElements));
}

TEST(GradientShardSum, MoreLearnersThanShardsIsAnErrorThatNamesTheKey) {
  on_learners(3, [](Collective& group) {
    const auto operators = make_cpu_operators(1);
    try {
      GradientShardSum(*operators, group, 100, 2);
      ADD_FAILURE() << "3 learners share 2 gradient shards";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what())
                    .find("update.gradient_shards: 3 learners cannot share 2 gradient shards"),
                std::string::npos);
    }
  });
}

}  // namespace
}  // namespace lie

#include "learner/update/gradient_shard_sum.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "common/base/error.h"
#include "common/base/random.h"
#include "learner/update/optimizer_shards.h"
#include "tests/guarded_operators.h"
#include "tests/host_memory.h"
#include "tests/learner/sampled_groups.h"

namespace lie {
namespace {

using test::on_learners;

constexpr std::int64_t kElements = 2 * kShardBlock + 48;  // three blocks

/// Values whose sum depends on the order of addition.
std::vector<float> shard_gradient(std::int64_t gradient_shard, std::int64_t elements = kElements) {
  std::vector<float> values(static_cast<std::size_t>(elements));
  for (std::uint32_t i = 0; i < values.size(); ++i) {
    const float x = random_normal(
        {.seed = 3, .stream = static_cast<std::uint32_t>(gradient_shard), .index = i});
    values[i] = i % 3 == 0 ? 1e5F * x : x;
  }
  return values;
}

/// By definition: the left half of c shards has the largest power of two below c.
std::vector<float> tree_sum(std::int64_t first, std::int64_t count, std::int64_t elements) {
  if (count == 1) return shard_gradient(first, elements);
  std::int64_t half = 1;
  while (2 * half < count) half *= 2;
  std::vector<float> sum = tree_sum(first, half, elements);
  const std::vector<float> right = tree_sum(first + half, count - half, elements);
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += right[i];
  return sum;
}

std::vector<float> whole_of(Operators& operators, Collective& learners, Tensor shard,
                            std::int64_t elements) {
  const FlatRange own = shard_of(elements, learners.rank(), learners.size());
  std::vector<float> whole(static_cast<std::size_t>(elements));
  operators.copy_to_host(shard, std::span(whole).subspan(static_cast<std::size_t>(own.first),
                                                         static_cast<std::size_t>(own.count)));
  learners.all_reduce_sum(std::span(whole));  // the others' are 0
  return whole;
}

std::vector<float> gradient_shard_sum(Operators& operators, Collective& learners,
                                      std::int64_t gradient_shards,
                                      std::int64_t elements = kElements) {
  GradientShardSum sum(operators, learners, elements, gradient_shards, "gradient_shards");
  sum.run(gradient_shards, [&](const GradientShardWork& work) {
    EXPECT_EQ(test::to_host(operators, work.gradient),
              std::vector<float>(static_cast<std::size_t>(elements)));
    operators.copy_from_host(shard_gradient(work.gradient_shard, elements), work.gradient);
  });
  return whole_of(operators, learners, sum.sum(), elements);
}

TEST(GradientShardTree, EveryLaneHasOneLearnerWhoseNodesAreItsLanes) {
  for (std::int64_t gradient_shards = 1; gradient_shards <= 64; ++gradient_shards) {
    for (int learners = 1; learners <= gradient_shards; ++learners) {
      std::int64_t next = 0;
      for (int learner = 0; learner < learners; ++learner) {
        const GradientShardRange range =
            gradient_shards_of_learner(gradient_shards, learner, learners);
        EXPECT_EQ(range.first, next);
        EXPECT_LE(std::abs(range.count - gradient_shards / learners), 1);
        for (const GradientShardRange node : nodes_of(gradient_shards, range)) {
          EXPECT_EQ(node.first, next);
          next += node.count;
        }
        EXPECT_EQ(range.first + range.count, next);
      }
      EXPECT_EQ(next, gradient_shards);
    }
    EXPECT_EQ(nodes_of(gradient_shards, {0, gradient_shards}),
              (std::vector<GradientShardRange>{{0, gradient_shards}}));
  }
}

TEST(GradientShardTree, EveryLaneHasOneWorkerAndNoWorkerNone) {
  for (std::int64_t gradient_shards = 1; gradient_shards <= 16; ++gradient_shards) {
    for (std::int64_t workers = 1; workers <= 20; ++workers) {
      std::int64_t next = 3;
      for (const GradientShardRange part :
           gradient_shards_of_workers({3, gradient_shards}, workers)) {
        EXPECT_EQ(part.first, next);
        EXPECT_GT(part.count, 0);
        next += part.count;
      }
      EXPECT_EQ(next, 3 + gradient_shards);
    }
  }
  EXPECT_EQ(gradient_shards_of_workers({5, 0}, 4), (std::vector<GradientShardRange>{{5, 0}}));
}

TEST(GradientShardTree, HalvesAreThoseOfOneNode) {
  EXPECT_TRUE(are_halves(8, {2, 1}, {3, 1}));
  EXPECT_FALSE(are_halves(8, {1, 1}, {2, 1}));
  EXPECT_TRUE(are_halves(7, {4, 2}, {6, 1}));
  EXPECT_FALSE(are_halves(8, {4, 2}, {6, 1}));
  EXPECT_TRUE(are_halves(5, {0, 4}, {4, 1}));
}

TEST(GradientShardSum, OneLearnerAddsAsTheTreeSaysForAnyNumberOfLanes) {
  const auto alone = solo_collective();
  for (std::int64_t gradient_shards = 1; gradient_shards <= 64; ++gradient_shards) {
    const auto operators = make_cpu_operators(1 + static_cast<int>(gradient_shards % 3));
    EXPECT_EQ(gradient_shard_sum(*operators, *alone, gradient_shards, 100),
              tree_sum(0, gradient_shards, 100))
        << gradient_shards;
  }
}

TEST(GradientShardSum, AnyNumberOfLearnersGivesTheSameBits) {
  for (const std::int64_t gradient_shards : {1, 2, 3, 5, 7, 8, 13, 64}) {
    const std::vector<float> expected = tree_sum(0, gradient_shards, kElements);
    for (const int learners : {1, 2, 3, 4, 6, 7, 8}) {
      if (learners > gradient_shards) continue;
      on_learners(learners, [&](Collective& group) {
        const auto operators = make_cpu_operators(1);
        EXPECT_TRUE(gradient_shard_sum(*operators, group, gradient_shards) == expected)
            << gradient_shards << " gradient shards, " << learners << " learners";
      });
    }
  }
}

TEST(GradientShardSum, SumsOfMoreThanOneExchangeAreWhole) {
  constexpr std::int64_t kMany = 3 * kExchangedAtOnce + 16;
  const std::vector<float> expected = tree_sum(0, 3, kMany);
  on_learners(2, [&](Collective& group) {
    const auto operators = make_cpu_operators(1);
    EXPECT_TRUE(gradient_shard_sum(*operators, group, 3, kMany) == expected);
  });
}

TEST(GradientShardSum, LearnersWithoutALaneGetTheSumToo) {
  on_learners(3, [](Collective& group) {
    const auto operators = make_cpu_operators(1);
    GradientShardSum sum(*operators, group, 100, 8, "gradient_shards");
    sum.run(1, [&](const GradientShardWork& work) {
      operators->copy_from_host(shard_gradient(0, 100), work.gradient);
    });
    EXPECT_EQ(whole_of(*operators, group, sum.sum(), 100), shard_gradient(0, 100));
  });
}

TEST(GradientShardSum, OneLearnerHoldsTheTreesDepthOfGradients) {
  const auto alone = solo_collective();
  for (const std::int64_t gradient_shards : {1, 2, 4, 8, 64}) {
    test::GuardedOperators operators;
    gradient_shard_sum(operators, *alone, gradient_shards, 100);
    const auto depth = std::bit_width(static_cast<std::uint64_t>(gradient_shards - 1));
    EXPECT_EQ(operators.traffic().allocations, depth + 1) << gradient_shards;
    EXPECT_EQ(values_held(gradient_shards, {0, gradient_shards}), depth + 1) << gradient_shards;
  }
}

TEST(GradientShardSum, WhatAWorkerThrowsReachesTheCaller) {
  const auto alone = solo_collective();
  const auto operators = make_cpu_operators(3);
  GradientShardSum sum(*operators, *alone, 100, 8, "gradient_shards");
  for (const std::int64_t bad : {0, 4, 7}) {
    const auto work = [&](const GradientShardWork& gradient_shard) {
      if (gradient_shard.gradient_shard == bad) fail("lane {} is bad", bad);
    };
    EXPECT_THROW(sum.run(8, work), Error) << bad;
  }
  EXPECT_EQ(gradient_shard_sum(*operators, *alone, 8), tree_sum(0, 8, kElements));
}

TEST(GradientShardSum, MoreLearnersThanLanesAreRefusedWithTheKey) {
  on_learners(3, [](Collective& group) {
    const auto operators = make_cpu_operators(1);
    try {
      GradientShardSum(*operators, group, 100, 2, "update.gradient_shards");
      ADD_FAILURE() << "3 learners share 2 gradient shards";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what())
                    .find("update.gradient_shards: 3 learners cannot share 2 gradient shards"),
                std::string::npos);
    }
  });
}

TEST(Shards, AreWholeBlocksThatCoverAll) {
  for (const std::int64_t elements : {std::int64_t{16}, kElements, 50 * kShardBlock}) {
    for (int learners = 1; learners <= 8; ++learners) {
      std::int64_t next = 0;
      for (int learner = 0; learner < learners; ++learner) {
        const FlatRange shard = shard_of(elements, learner, learners);
        EXPECT_EQ(shard.first, next);
        next += shard.count;
        EXPECT_TRUE(next % kShardBlock == 0 || next == elements);
        EXPECT_LE(shard.count, longest_shard(elements, learners));
      }
      EXPECT_EQ(next, elements);
    }
  }
}

}  // namespace
}  // namespace lie

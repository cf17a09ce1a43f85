#include "learner/update/gradient_shards.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

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
  const FlatRange own = shard_of(elements, learners.rank(), learners.size());
  std::vector<float> all(static_cast<std::size_t>(elements));
  operators.copy_to_host(shard, std::span(all).subspan(static_cast<std::size_t>(own.first),
                                                       static_cast<std::size_t>(own.count)));
  learners.all_reduce_sum(std::span(all));  // elements of other learners are 0
  return all;
}

std::vector<float> gradient_shard_sum(Operators& operators, Collective& learners,
                                      std::int64_t shard_count, std::int64_t elements = kElements) {
  GradientShardSum sum(operators, learners, elements, shard_count, "gradient_shards");
  sum.run(shard_count, [&](const GradientShardWork& work) {
    EXPECT_EQ(test::to_host(operators, work.gradient),
              std::vector<float>(static_cast<std::size_t>(elements)));
    operators.copy_from_host(shard_gradient(work.shard, elements), work.gradient);
  });
  return gathered(operators, learners, sum.sum(), elements);
}

TEST(GradientShardTree, LearnersPartitionTheShardsAndTheirNodesCoverThem) {
  for (std::int64_t shard_count = 1; shard_count <= 64; ++shard_count) {
    for (int learners = 1; learners <= shard_count; ++learners) {
      std::int64_t next = 0;
      for (int learner = 0; learner < learners; ++learner) {
        const GradientShardRange range = gradient_shards_of_learner(shard_count, learner, learners);
        EXPECT_EQ(range.first, next);
        EXPECT_LE(std::abs(range.count - shard_count / learners), 1);
        for (const GradientShardRange node : nodes_of(shard_count, range)) {
          EXPECT_EQ(node.first, next);
          next += node.count;
        }
        EXPECT_EQ(range.first + range.count, next);
      }
      EXPECT_EQ(next, shard_count);
    }
    EXPECT_EQ(nodes_of(shard_count, {0, shard_count}),
              (std::vector<GradientShardRange>{{0, shard_count}}));
  }
}

TEST(GradientShardTree, WorkersPartitionTheShardsAndNoWorkerIsIdle) {
  for (std::int64_t shard_count = 1; shard_count <= 16; ++shard_count) {
    for (std::int64_t workers = 1; workers <= 20; ++workers) {
      std::int64_t next = 3;
      for (const GradientShardRange part : gradient_shards_of_workers({3, shard_count}, workers)) {
        EXPECT_EQ(part.first, next);
        EXPECT_GT(part.count, 0);
        next += part.count;
      }
      EXPECT_EQ(next, 3 + shard_count);
    }
  }
  EXPECT_EQ(gradient_shards_of_workers({5, 0}, 4), (std::vector<GradientShardRange>{{5, 0}}));
}

TEST(GradientShardTree, HalvesAreTheChildrenOfOneNode) {
  EXPECT_TRUE(are_halves(8, {2, 1}, {3, 1}));
  EXPECT_FALSE(are_halves(8, {1, 1}, {2, 1}));
  EXPECT_TRUE(are_halves(7, {4, 2}, {6, 1}));
  EXPECT_FALSE(are_halves(8, {4, 2}, {6, 1}));
  EXPECT_TRUE(are_halves(5, {0, 4}, {4, 1}));
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
  constexpr std::int64_t kMany = 3 * kChunkElements + 16;
  const std::vector<float> expected = tree_sum(0, 3, kMany);
  on_learners(2, [&](Collective& group) {
    const auto operators = make_cpu_operators(1);
    EXPECT_TRUE(gradient_shard_sum(*operators, group, 3, kMany) == expected);
  });
}

TEST(GradientShardSum, LearnersWithoutAShardAlsoReceiveTheSum) {
  on_learners(3, [](Collective& group) {
    const auto operators = make_cpu_operators(1);
    GradientShardSum sum(*operators, group, 100, 8, "gradient_shards");
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
  GradientShardSum sum(*operators, *alone, 100, 8, "gradient_shards");
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
      GradientShardSum(*operators, group, 100, 2, "update.gradient_shards");
      ADD_FAILURE() << "3 learners share 2 gradient shards";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what())
                    .find("update.gradient_shards: 3 learners cannot share 2 gradient shards"),
                std::string::npos);
    }
  });
}

PolicyLossStats stats_of(int rank) {
  PolicyLossStats stats;
  stats.tokens = 1 + rank;
  stats.loss = 0.5;
  stats.kl_k1_sum = 0.1 * (rank + 1);
  stats.quarter_tokens[3] = 2;
  stats.ratio_min = 0.9 - 0.1 * rank;
  stats.ratio_max = 1.1 + 0.1 * rank;
  stats.max_deviation = 0.1 + 0.1 * rank;
  return stats;
}

/// Returns the statistics summed over learners, each of which fills in its own shards below
/// `filled`.
PolicyLossStats sum_of_shards(Collective& learners, std::size_t shard_count, std::size_t filled) {
  std::vector<PolicyLossStats> by_shard(shard_count);
  const GradientShardRange own =
      gradient_shards_of_learner(std::ssize(by_shard), learners.rank(), learners.size());
  for (std::int64_t shard = own.first; shard < own.first + own.count; ++shard) {
    const auto i = static_cast<std::size_t>(shard);
    if (i < filled) by_shard[i] = stats_of(static_cast<int>(shard));
  }
  return sum_stats(learners, by_shard);
}

TEST(GradientSync, SumsAreAddedAndExtremesAreKept) {
  on_learners(3, [](Collective& learners) {
    const PolicyLossStats stats = sum_of_shards(learners, 3, 3);
    EXPECT_EQ(stats.tokens, 6.0);
    EXPECT_EQ(stats.loss, 1.5);
    EXPECT_EQ(stats.quarter_tokens[3], 6.0);
    EXPECT_EQ(stats.ratio_min, 0.9 - 0.1 * 2);
    EXPECT_EQ(stats.ratio_max, 1.1 + 0.1 * 2);
    EXPECT_EQ(stats.max_deviation, 0.1 + 0.1 * 2);
  });
}

TEST(GradientSync, ShardsWithoutSequencesDoNotAffectTheExtremes) {
  on_learners(2, [](Collective& learners) {
    const PolicyLossStats stats = sum_of_shards(learners, 2, 1);
    EXPECT_EQ(stats.ratio_min, 0.9);
    EXPECT_EQ(stats.ratio_max, 1.1);
  });
}

TEST(GradientSync, StatisticsAreBitIdenticalForAnyNumberOfLearners) {
  const auto alone = solo_collective();
  const PolicyLossStats expected = sum_of_shards(*alone, 8, 7);
  double terms = 0;  // multiples of 0.1 are inexact, so that the order matters
  for (int shard = 0; shard < 7; ++shard) terms += stats_of(shard).kl_k1_sum;
  EXPECT_EQ(expected.kl_k1_sum, terms);
  for (const int count : {2, 3, 4, 6, 8}) {
    on_learners(count, [&](Collective& learners) {
      const PolicyLossStats stats = sum_of_shards(learners, 8, 7);
      using Numbers = PolicyLossStats::Numbers;
      EXPECT_EQ(std::bit_cast<Numbers>(stats), std::bit_cast<Numbers>(expected));
    });
  }
}

TEST(GradientSync, ShardsAreAddedInAscendingOrder) {
  for (const int count : {1, 2, 3}) {
    on_learners(count, [](Collective& learners) {
      std::vector<double> losses(3);
      const GradientShardRange own =
          gradient_shards_of_learner(3, learners.rank(), learners.size());
      for (std::int64_t shard = own.first; shard < own.first + own.count; ++shard) {
        losses[static_cast<std::size_t>(shard)] = shard == 0 ? 1e16 : -0.7;
      }
      EXPECT_EQ(sum_shards(learners, losses), 1e16 - 0.7 - 0.7);
    });
  }
}

TEST(GradientSync, ValuesReachAllLearnersAndMinusZeroBecomesZero) {
  for (const int count : {1, 4}) {
    on_learners(count, [](Collective& learners) {
      std::vector<float> values(8, 0.0F);
      const auto rank = static_cast<std::size_t>(learners.rank());
      values[rank] = 0.1F * static_cast<float>(rank);
      values[4 + rank] = -0.0F;
      share_values(learners, values);
      for (std::size_t i = 0; i < static_cast<std::size_t>(learners.size()); ++i) {
        EXPECT_EQ(values[i], 0.1F * static_cast<float>(i));
        EXPECT_FALSE(std::signbit(values[4 + i]));
      }
    });
  }
}

}  // namespace
}  // namespace lie

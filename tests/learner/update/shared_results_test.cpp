#include "learner/update/shared_results.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstddef>
#include <vector>

#include "learner/trainer/gradient_shards.h"
#include "tests/learner/sampled_groups.h"

namespace lie {
namespace {

using test::on_learners;

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
  const auto own = shards_of_learner(ShardDealing::kRanges, std::ssize(by_shard), learners.rank(),
                                     learners.size());
  for (const std::int64_t shard : own) {
    const auto i = static_cast<std::size_t>(shard);
    if (i < filled) by_shard[i] = stats_of(static_cast<int>(shard));
  }
  return sum_stats(learners, own, by_shard);
}

TEST(SharedResults, SumsAreAddedAndExtremesAreKept) {
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

TEST(SharedResults, ShardsWithoutSequencesDoNotAffectTheExtremes) {
  on_learners(2, [](Collective& learners) {
    const PolicyLossStats stats = sum_of_shards(learners, 2, 1);
    EXPECT_EQ(stats.ratio_min, 0.9);
    EXPECT_EQ(stats.ratio_max, 1.1);
  });
}

TEST(SharedResults, StatisticsAreBitIdenticalForAnyNumberOfLearners) {
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

}  // namespace
}  // namespace lie

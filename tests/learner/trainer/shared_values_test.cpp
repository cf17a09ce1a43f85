#include "learner/trainer/shared_values.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "learner/trainer/gradient_shards.h"
#include "tests/learner/sampled_groups.h"

namespace lie {
namespace {

using test::on_learners;

TEST(SharedValues, GradientShardsReachAllLearners) {
  for (const int count : {1, 2, 3}) {
    on_learners(count, [](Collective& learners) {
      std::vector<double> losses(3);
      const auto own =
          shards_of_learner(ShardDealing::kInterleaved, 3, learners.rank(), learners.size());
      for (const std::int64_t shard : own) {
        losses[static_cast<std::size_t>(shard)] = shard == 0 ? 1e16 : -0.7;
      }
      share_gradient_shards(learners, own, std::span(losses));
      EXPECT_EQ(losses, (std::vector{1e16, -0.7, -0.7}));
    });
  }
}

TEST(SharedValues, ValuesReachAllLearnersAndMinusZeroBecomesZero) {
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

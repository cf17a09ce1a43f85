#include "learner/trainer/optimizer_shards.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "common/base/random.h"
#include "tests/host_memory.h"
#include "tests/learner/sampled_groups.h"

namespace lie {
namespace {

using test::row_of;

TEST(OptimizerShards, ConsistOfWholeBlocksAndCoverAllElements) {
  for (const std::int64_t elements :
       {std::int64_t{16}, 2 * kOptimizerShardBlock + 48, 50 * kOptimizerShardBlock}) {
    for (int learners = 1; learners <= 8; ++learners) {
      std::int64_t next = 0;
      for (int learner = 0; learner < learners; ++learner) {
        const FlatRange shard = optimizer_shard_of(elements, learner, learners);
        EXPECT_EQ(shard.first, next);
        next += shard.count;
        EXPECT_TRUE(next % kOptimizerShardBlock == 0 || next == elements);
        EXPECT_LE(shard.count, longest_optimizer_shard(elements, learners));
      }
      EXPECT_EQ(next, elements);
    }
  }
}

double norm_alone(const std::vector<float>& gradient) {
  const auto alone = solo_collective();
  return gradient_norm(*alone, *make_cpu_operators(1), row_of(gradient), std::ssize(gradient));
}

TEST(GradientNorm, IncludesEveryElement) {
  for (const std::size_t n : {0U, 1U, 15U, 16U, 17U, 100U, 40'000U}) {
    EXPECT_NEAR(norm_alone(std::vector<float>(n, 2.0F)), 2 * std::sqrt(double(n)), 1e-12) << n;
  }
}

TEST(GradientNorm, IsBitIdenticalForAnyNumberOfShards) {
  std::vector<float> gradient(100'000);
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    gradient[i] = random_normal({.seed = 4, .index = static_cast<std::uint32_t>(i)});
  }
  const double expected = norm_alone(gradient);
  for (const int count : {2, 3, 8}) {
    test::on_learners(count, [&](Collective& learners) {
      const FlatRange own =
          optimizer_shard_of(std::ssize(gradient), learners.rank(), learners.size());
      const Tensor shard = row_of(gradient).elements_at(own.first, own.count);
      EXPECT_EQ(gradient_norm(learners, *make_cpu_operators(2), shard, std::ssize(gradient)),
                expected);
    });
  }
}

}  // namespace
}  // namespace lie

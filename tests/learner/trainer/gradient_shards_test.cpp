#include "learner/trainer/gradient_shards.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

namespace lie {
namespace {

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

}  // namespace
}  // namespace lie

#include "learner/gradient_sync.h"

#include <gtest/gtest.h>

#include <functional>
#include <thread>
#include <vector>

#include "common/comm/thread_collective.h"

namespace lie {
namespace {

void on_learners(int count, const std::function<void(Collective&)>& work) {
  ThreadGroup group(count);
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < count; ++rank) {
    threads.emplace_back([&, rank] { work(*group.member(rank)); });
  }
}

PolicyLossStats stats_of(int rank) {
  PolicyLossStats stats;
  stats.tokens = 1 + rank;
  stats.loss = 0.5;
  stats.quarter_tokens[3] = 2;
  stats.ratio_min = 0.9 - 0.1 * rank;
  stats.ratio_max = 1.1 + 0.1 * rank;
  stats.max_deviation = 0.1 + 0.1 * rank;
  return stats;
}

TEST(GradientSync, StatisticsAddAndExtremesStayExtreme) {
  on_learners(3, [](Collective& learners) {
    PolicyLossStats stats = stats_of(learners.rank());
    sum_stats(learners, stats);
    EXPECT_EQ(stats.tokens, 6.0);
    EXPECT_EQ(stats.loss, 1.5);
    EXPECT_EQ(stats.quarter_tokens[3], 6.0);
    EXPECT_EQ(stats.ratio_min, 0.9 - 0.1 * 2);
    EXPECT_EQ(stats.ratio_max, 1.1 + 0.1 * 2);
    EXPECT_EQ(stats.max_deviation, 0.1 + 0.1 * 2);
  });
}

TEST(GradientSync, LearnerWithoutSequencesHasNoExtremes) {
  on_learners(2, [](Collective& learners) {
    PolicyLossStats stats = learners.rank() == 0 ? stats_of(0) : PolicyLossStats();
    sum_stats(learners, stats);
    EXPECT_EQ(stats.ratio_min, 0.9);
    EXPECT_EQ(stats.ratio_max, 1.1);
  });
}

TEST(GradientSync, OneLearnerKeepsItsBits) {
  const auto alone = solo_collective();
  PolicyLossStats stats = stats_of(1);
  std::vector<float> gradient = {0.1F, -0.0F, 3e-30F};
  sum_stats(*alone, stats);
  sum_gradients(*alone, std::span(gradient));
  EXPECT_EQ(stats.ratio_min, stats_of(1).ratio_min);
  EXPECT_EQ(gradient, (std::vector<float>{0.1F, -0.0F, 3e-30F}));
}

TEST(GradientSync, GradientsAndValuesReachAllLearners) {
  on_learners(4, [](Collective& learners) {
    std::vector<float> gradient = {1.0F, static_cast<float>(learners.rank())};
    sum_gradients(learners, std::span(gradient));
    EXPECT_EQ(gradient, (std::vector<float>{4.0F, 6.0F}));
    std::vector<float> values(4, 0.0F);
    values[static_cast<std::size_t>(learners.rank())] = 0.1F * static_cast<float>(learners.rank());
    share_values(learners, values);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(values[i], 0.1F * static_cast<float>(i));
  });
}

}  // namespace
}  // namespace lie

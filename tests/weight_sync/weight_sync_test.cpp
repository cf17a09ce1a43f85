#include "model/weight_sync/weight_sync.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "common/base/dtype.h"
#include "common/base/error.h"
#include "common/comm/collective/mpi_collective.h"
#include "common/comm/collective/thread_collective.h"
#include "tests/comm/mpi_main.h"
#include "tests/weight_sync/receive_all.h"

namespace lie {
namespace {

/// Weights that all differ, most of them not exact in bf16.
std::vector<float> weights_of(std::int64_t version) {
  std::vector<float> weights(2'300'001);  // several messages, the last one short
  for (std::size_t i = 0; i < weights.size(); ++i) {
    weights[i] = static_cast<float>(version) + static_cast<float>(i) * 0x1p-21f;
  }
  return weights;
}

std::vector<float> rounded(std::vector<float> weights) {
  for (float& weight : weights) weight = from_bfloat16(to_bfloat16(weight));
  return weights;
}

/// Runs two updates as fp32, two as bf16, and the end of the run, as learner or as actor.
void play(Collective& group) {
  for (std::int64_t version = 1; version <= 4; ++version) {
    const bool rounds = version > 2;
    std::vector<float> weights = weights_of(version);
    const std::vector<float> sent = rounds ? rounded(weights) : weights;
    if (group.rank() == 0) {
      publish_weights(group, version, DeviceSpan(std::span(weights)),
                      {rounds ? DType::kBFloat16 : DType::kFloat32});
      EXPECT_EQ(weights, weights_of(version)) << "the learner's weights are unchanged";
    } else {
      weights.assign(weights.size(), 0);
      EXPECT_EQ(test::receive_all(group, std::span(weights)), version);
      EXPECT_EQ(weights, sent);
    }
  }
  std::vector<float> weights(10);
  if (group.rank() == 0) {
    publish_finish(group);
  } else {
    EXPECT_FALSE(test::receive_all(group, std::span(weights)));
  }
}

TEST(WeightSync, ActorRanksReceiveEveryVersionAndTheEnd) { play(*world_collective(test_job())); }

TEST(WeightSync, ActorThreadsReceiveEveryVersionAndTheEnd) {
  ThreadGroup group(3);
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < 3; ++rank)
    threads.emplace_back([&, rank] { play(*group.member(rank)); });
}

TEST(WeightSync, AnotherModelIsRejected) {
  ThreadGroup group(2);
  std::jthread learner([&] {
    std::vector<float> weights(10);
    EXPECT_THROW(publish_weights(*group.member(0), 1, DeviceSpan(std::span(weights))), Error);
  });
  std::vector<float> smaller(9);
  EXPECT_THROW(test::receive_all(*group.member(1), std::span(smaller)), Error);
  group.poison(std::make_exception_ptr(Error("the actor failed")));
}

TEST(WeightSync, AnUnknownTypeIsRejected) {
  ThreadGroup group(2);
  std::jthread learner([&] {
    WeightHeader header{.elements = 10, .type = static_cast<std::int64_t>(DType::kInt32)};
    group.member(0)->broadcast_bytes(std::as_writable_bytes(std::span(&header, 1)), 0);
  });
  std::vector<float> weights(10);
  EXPECT_THROW(test::receive_all(*group.member(1), std::span(weights)), Error);
}

TEST(WeightSync, WeightsOnADeviceCannotBeRoundedByAHostGroup) {
  const DeviceSpan far(nullptr, 5, DType::kFloat32, {.device = 3});
  EXPECT_THROW(publish_weights(*ThreadGroup(1).member(0), 1, far, {DType::kBFloat16}), Error);
}

}  // namespace
}  // namespace lie

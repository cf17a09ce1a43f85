#include "common/comm/weight_sync.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "common/comm/mpi_collective.h"
#include "common/comm/thread_collective.h"
#include "common/error.h"
#include "tests/comm/mpi_main.h"

namespace lie {
namespace {

/// Three updates and the end, as learner or as actor.
void play(Collective& group) {
  constexpr std::size_t kParameters = 700'001;
  std::vector<float> weights(kParameters);
  for (std::int64_t version = 1; version <= 3; ++version) {
    if (group.rank() == 0) {
      weights.assign(kParameters, static_cast<float>(version) + 0.25f);
      publish_weights(group, version, std::span(weights));
    } else {
      EXPECT_EQ(receive_weights(group, std::span(weights)), version);
      EXPECT_EQ(weights, std::vector<float>(kParameters, static_cast<float>(version) + 0.25f));
    }
  }
  if (group.rank() == 0) {
    publish_finish(group);
  } else {
    EXPECT_FALSE(receive_weights(group, std::span(weights)));
  }
}

TEST(WeightSync, ActorRanksGetEveryVersionAndTheEnd) { play(*world_collective(test_job())); }

TEST(WeightSync, ActorThreadsGetEveryVersionAndTheEnd) {
  ThreadGroup group(3);
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < 3; ++rank)
    threads.emplace_back([&, rank] { play(*group.member(rank)); });
}

TEST(WeightSync, AnotherModelIsRefused) {
  ThreadGroup group(2);
  std::jthread learner([&] {
    std::vector<float> weights(10);
    EXPECT_THROW(publish_weights(*group.member(0), 1, std::span(weights)), Error);
  });
  std::vector<float> smaller(9);
  EXPECT_THROW(receive_weights(*group.member(1), std::span(smaller)), Error);
  group.poison(std::make_exception_ptr(Error("the actor failed")));
}

}  // namespace
}  // namespace lie

#include "model/weight_sync/host_copy.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/comm/mpi_main.h"

namespace lie {
namespace {

/// Rank 0 is the learner, all others are actors. Unless `one_host`, odd ranks are on another host.
RoleLayout layout(bool one_host) {
  RoleLayout layout;
  layout.learners = layout.reward_workers = {0};
  for (int rank = 0; rank < test_job().size(); ++rank) {
    layout.places.push_back({one_host ? "a" : std::string(1, "ab"[rank % 2]), {}});
    if (rank > 0) layout.actors.push_back(rank);
  }
  return layout;
}

/// Goes through three versions and the end of the run. All members must see what the writer
/// receives.
void play(HostCopy& copy) {
  float& weight = copy.weights().memory.front();
  for (int version = 1; version <= 3; ++version) {
    const auto received = copy.update([&] {
      EXPECT_TRUE(copy.is_writer());
      weight = static_cast<float>(version) / 4;
      return std::optional<std::int64_t>(version);
    });
    EXPECT_EQ(received, version);
    EXPECT_EQ(weight, static_cast<float>(version) / 4);
  }
  EXPECT_FALSE(copy.update([] { return std::nullopt; }));
}

TEST(HostCopy, OneActorOfAHostReceivesForAll) {
  const int ranks = test_job().size();
  for (const bool one_host : {true, false}) {
    const HostCopies copies = make_host_copies(test_job(), layout(one_host), 4096);
    std::vector<int> first_of_hosts = {1};
    if (!one_host) first_of_hosts.push_back(2);
    if (ranks < 4) first_of_hosts = layout(one_host).actors;
    EXPECT_EQ(copies.receivers, first_of_hosts);
    const int rank = test_job().rank();
    const bool shares = ranks == 4 && rank > 0 && (one_host || rank != 2);
    ASSERT_EQ(copies.mine != nullptr, shares);
    if (!shares) continue;
    EXPECT_EQ(copies.mine->is_writer(), rank == 1);
    EXPECT_EQ(copies.mine->weights().memory.size(), 1024U);
    play(*copies.mine);
  }
}

TEST(HostCopy, WithoutSharedMemoryEachActorHoldsWeightsOfItsOwn) {
  const HostCopies copies = make_host_copies(test_job(), layout(true), std::size_t{1} << 62);
  EXPECT_EQ(copies.receivers, layout(true).actors);
  EXPECT_EQ(copies.mine, nullptr);
}

}  // namespace
}  // namespace lie

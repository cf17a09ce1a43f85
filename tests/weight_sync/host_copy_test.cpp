#include "common/comm/host_weights.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/comm/mpi_main.h"

namespace lie {
namespace {

/// Rank 0 learns, all others act; those of odd rank on another host, if they do not share one.
RoleLayout layout(bool one_host) {
  RoleLayout layout;
  layout.learners = layout.reward_workers = {0};
  for (int rank = 0; rank < test_job().size(); ++rank) {
    layout.places.push_back({one_host ? "a" : std::string(1, "ab"[rank % 2]), {}});
    if (rank > 0) layout.actors.push_back(rank);
  }
  return layout;
}

float& number(HostWeights& weights) { return *reinterpret_cast<float*>(weights.bytes().data()); }

/// Three versions and the end: the writer sees what it receives, the others what it wrote.
void play(HostWeights& weights) {
  for (int version = 1; version <= 3; ++version) {
    const auto received = weights.once([&] {
      EXPECT_TRUE(weights.writes());
      number(weights) = static_cast<float>(version) / 4;
      return std::optional<std::int64_t>(version);
    });
    EXPECT_EQ(received, version);
    EXPECT_EQ(number(weights), static_cast<float>(version) / 4);
  }
  EXPECT_FALSE(weights.once([] { return std::nullopt; }));
}

TEST(HostWeights, OneActorOfAHostReceivesForAll) {
  const int ranks = test_job().size();
  for (const bool one_host : {true, false}) {
    const WeightHolders holders = share_weights(test_job(), layout(one_host), 4096);
    std::vector<int> first_of_hosts = {1};
    if (!one_host) first_of_hosts.push_back(2);
    if (ranks < 4) first_of_hosts = layout(one_host).actors;
    EXPECT_EQ(holders.receivers, first_of_hosts);
    const int rank = test_job().rank();
    const bool beside_another = ranks == 4 && rank > 0 && (one_host || rank != 2);
    ASSERT_EQ(holders.mine != nullptr, beside_another);
    if (!beside_another) continue;
    EXPECT_EQ(holders.mine->writes(), rank == 1);
    play(*holders.mine);
  }
}

TEST(HostWeights, WhereThereIsNoSuchMemoryEachHoldsItsOwn) {
  const WeightHolders holders = share_weights(test_job(), layout(true), std::size_t{1} << 62);
  EXPECT_EQ(holders.receivers, layout(true).actors);
  EXPECT_EQ(holders.mine, nullptr);
}

}  // namespace
}  // namespace lie

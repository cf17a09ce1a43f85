#include "common/comm/role_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/comm/role_table.h"
#include "tests/comm/mpi_main.h"

namespace lie {
namespace {

std::vector<int> cpus(int first, int count) {
  std::vector<int> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

std::vector<RankPlace> one_host(int ranks, int cores) {
  return std::vector<RankPlace>(static_cast<std::size_t>(ranks),
                                RankPlace{"node1", cpus(0, cores)});
}

RoleLayout split(int ranks, const RolesOptions& options = {}) {
  return plan_roles(options, one_host(ranks, 8));
}

TEST(Roles, AutomaticSplitDependsOnTheNumberOfRanks) {
  const struct {
    int ranks;
    std::size_t learners, reward_workers, actors;
  } expected[] = {{1, 1, 1, 1},       {2, 1, 1, 1},       {3, 1, 1, 1},   {4, 1, 1, 2},
                  {6, 1, 1, 4},       {8, 1, 1, 6},       {16, 2, 1, 13}, {64, 8, 4, 52},
                  {256, 32, 16, 208}, {1024, 64, 64, 896}};
  for (const auto& e : expected) {
    const RoleLayout layout = split(e.ranks);
    EXPECT_EQ(layout.learners.size(), e.learners) << e.ranks;
    EXPECT_EQ(layout.reward_workers.size(), e.reward_workers) << e.ranks;
    EXPECT_EQ(layout.actors.size(), e.actors) << e.ranks;
    EXPECT_EQ(layout.learners.front(), 0);
    for (int rank = 0; rank < e.ranks; ++rank)
      EXPECT_NE(layout.roles_of(rank), "") << "no idle rank";
  }
}

TEST(Roles, LearnersAreAtMostTheGradientShards) {
  EXPECT_EQ(plan_roles({}, one_host(256, 8), 8).learners.size(), 8U);
  try {
    plan_roles({.learners = 9}, one_host(256, 8), 8);
    ADD_FAILURE() << "9 learners share 8 gradient shards";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("raise update.gradient_shards"), std::string::npos);
  }
}

TEST(Roles, OnlySmallWorldsGiveARankTwoRoles) {
  EXPECT_EQ(split(1).roles_of(0), "learner, reward worker, actor");
  EXPECT_EQ(split(2).roles_of(0), "learner, reward worker");
  EXPECT_EQ(split(2).roles_of(1), "actor");
  EXPECT_EQ(split(3).roles_of(0), "learner");
  const RoleLayout crowded = split(3, {.actors = 1, .learners = 2});
  EXPECT_EQ(crowded.roles_of(0), "learner, reward worker");
  EXPECT_EQ(crowded.roles_of(1), "learner");
}

TEST(Roles, OptionsSetTheNumberOfRanks) {
  const RoleLayout layout = split(8, {.reward_workers = 2, .learners = 2});
  EXPECT_EQ(layout.learners, (std::vector{0, 1}));
  EXPECT_EQ(layout.reward_workers, (std::vector{2, 3}));
  EXPECT_EQ(layout.actors, (std::vector{4, 5, 6, 7}));
  EXPECT_EQ(split(8, {.actors = 3, .reward_workers = 1}).learners.size(), 4u);
  EXPECT_EQ(split(4, {.actors = 2, .learners = 1}).reward_workers, (std::vector{1}));
}

TEST(Roles, ImpossibleSplitsAreErrors) {
  EXPECT_THROW(split(1, {.actors = 2}), Error);
  EXPECT_THROW(split(4, {.learners = 4}), Error);
  EXPECT_THROW(split(4, {.actors = 2, .reward_workers = 2, .learners = 1}), Error);
  // one rank is idle
  EXPECT_THROW(split(4, {.actors = 1, .reward_workers = 1, .learners = 1}), Error);
  EXPECT_THROW(split(3, {.actors = 3}), Error);
  EXPECT_THROW(split(3, {.actors = 2, .reward_workers = 2}), Error);
}

TEST(Roles, ThreadsShareTheCpusOfTheHostAmongTheRanksOfTheRole) {
  const RoleLayout layout = split(4);  // 8 CPUs: 1 learner, 1 reward worker, 2 actors
  EXPECT_EQ(layout.threads(0, Role::kLearner), 8);
  EXPECT_EQ(layout.threads(1, Role::kRewardWorker), 1);
  EXPECT_EQ(layout.threads(2, Role::kActor), 4);
  EXPECT_EQ(plan_roles({}, one_host(8, 2)).threads(5, Role::kActor), 1) << "at least one";
}

TEST(Roles, BoundRanksKeepTheirOwnCpus) {
  std::vector<RankPlace> places = one_host(4, 2);
  places[2].cpus = cpus(0, 3);
  places[3].cpus = cpus(3, 3);
  EXPECT_EQ(plan_roles({}, places).threads(2, Role::kActor), 3);
  places[3] = {"node2", cpus(0, 3)};
  EXPECT_EQ(plan_roles({}, places).threads(2, Role::kActor), 3) << "other hosts do not count";
}

TEST(Roles, TableMergesEqualNeighbors) {
  EXPECT_NE(role_table(plan_roles({}, one_host(2, 2)), 3).find("  3 threads"), std::string::npos);
  EXPECT_EQ(role_table(plan_roles({}, one_host(4, 2))),
            "rank 0     learner        2 threads  node1\n"
            "rank 1     reward worker  1 thread   node1\n"
            "ranks 2-3  actor          1 thread   node1\n");
}

/// Returns the layout of `hosts` hosts with 8 ranks and 16 CPUs each; the first host has 24 CPUs.
RoleLayout cluster(int hosts, const std::string& name) {
  std::vector<RankPlace> places;
  for (int rank = 0; rank < 8 * hosts; ++rank) {
    places.push_back({name + std::to_string(rank / 8), cpus(0, rank < 8 ? 24 : 16)});
  }
  return plan_roles({}, std::move(places));
}

TEST(Roles, TableOfManyHostsHasOneLinePerRole) {
  EXPECT_EQ(role_table(cluster(512, "n")),
            "ranks 0-63      learner        2-3 threads  8 hosts, n0 to n7\n"
            "ranks 64-319    reward worker  1 thread     32 hosts, n8 to n39\n"
            "ranks 320-4095  actor          2 threads    472 hosts, n40 to n511\n");
}

/// Returns `hosts` hosts with `ranks` ranks each, which all see 8 GPUs. Block order fills one host
/// after the other; cyclic order takes them in turn.
std::vector<RankPlace> gpu_hosts(int hosts, int ranks, bool cyclic) {
  std::vector<std::string> gpus;
  for (int gpu = 0; gpu < 8; ++gpu) gpus.push_back(std::to_string(gpu));
  std::vector<RankPlace> places;
  for (int rank = 0; rank < hosts * ranks; ++rank) {
    const int host = cyclic ? rank % hosts : rank / ranks;
    places.push_back({"n" + std::to_string(host), cpus(0, 16), gpus});
  }
  return places;
}

TEST(Roles, TableOfScatteredRolesCountsTheRanks) {
  EXPECT_EQ(
      role_table(plan_roles({.placement = Placement::kColocated}, gpu_hosts(16, 9, false), 128)),
      "128 ranks  learner, actor  2 threads  16 hosts, n0 to n15\n"
      "16 ranks   reward worker   1 thread   16 hosts, n0 to n15\n");
}

TEST(Roles, TableFitsATerminalForAnyHostNames) {
  for (const int hosts : {1, 3, 512}) {
    std::istringstream lines(role_table(cluster(hosts, "ip-10-0-0-12.some-region.internal-"), 128));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 78u) << line;
  }
}

/// Returns how many learners and actors each GPU has, by host and GPU. A colocated rank counts
/// once.
std::map<std::string, int> users_of_gpus(const RoleLayout& layout) {
  std::set<int> ranks(layout.learners.begin(), layout.learners.end());
  ranks.insert(layout.actors.begin(), layout.actors.end());
  std::map<std::string, int> users;
  for (const int rank : ranks) {
    const RankPlace& place = layout.places[static_cast<std::size_t>(rank)];
    ++users[place.host + " " + place.gpus.at(static_cast<std::size_t>(layout.gpu(rank)))];
  }
  return users;
}

int most_users(const RoleLayout& layout) {
  int most = 0;
  for (const auto& [gpu, users] : users_of_gpus(layout)) most = std::max(most, users);
  return most;
}

/// Returns the number of hosts that have a rank of the role.
std::size_t hosts_of(const RoleLayout& layout, Role role) {
  std::set<std::string> hosts;
  for (const int rank : layout.ranks(role)) {
    hosts.insert(layout.places[static_cast<std::size_t>(rank)].host);
  }
  return hosts.size();
}

TEST(RolesOnGpus, ColocatedRanksHaveAGpuEach) {
  for (const int hosts : {1, 2, 3, 4}) {
    for (const int ranks : {8, 9}) {
      for (const bool cyclic : {false, true}) {
        const RoleLayout layout = plan_roles({.placement = Placement::kColocated},
                                             gpu_hosts(hosts, ranks, cyclic), 8 * hosts);
        EXPECT_TRUE(layout.is_colocated());
        EXPECT_EQ(std::ssize(layout.learners), 8 * hosts);
        EXPECT_EQ(std::ssize(users_of_gpus(layout)), 8 * hosts);
        EXPECT_EQ(most_users(layout), 1);
        EXPECT_EQ(layout.learners.front(), 0);
        // The ninth rank of each host has no GPU, so it scores; otherwise learner 0 does.
        EXPECT_EQ(std::ssize(layout.reward_workers), ranks == 9 ? hosts : 1);
        EXPECT_EQ(layout.reward_workers.front() == 0, ranks == 8);
      }
    }
  }
}

TEST(RolesOnGpus, SeparateRolesAreSpreadOverTheHostsAndShareNoGpu) {
  for (const int hosts : {1, 2, 3, 4}) {
    for (const int ranks : {8, 9}) {
      for (const bool cyclic : {false, true}) {
        const RoleLayout layout = plan_roles({}, gpu_hosts(hosts, ranks, cyclic));
        EXPECT_EQ(most_users(layout), 1) << hosts << " hosts of " << ranks;
        EXPECT_EQ(layout.learners.size(), static_cast<std::size_t>(hosts * ranks / 8));
        EXPECT_EQ(hosts_of(layout, Role::kLearner),
                  std::min<std::size_t>(layout.learners.size(), static_cast<std::size_t>(hosts)));
        EXPECT_EQ(hosts_of(layout, Role::kActor), static_cast<std::size_t>(hosts));
        EXPECT_EQ(std::ssize(layout.reward_workers), ranks == 9 ? hosts : std::max(1, hosts / 2));
      }
    }
  }
}

TEST(RolesOnGpus, OnlyNumbersOfLearnersAndActorsLetThemShareGpus) {
  const std::vector<RankPlace> places = gpu_hosts(1, 12, false);
  EXPECT_EQ(most_users(plan_roles({}, places)), 1);
  EXPECT_THROW(plan_roles({.reward_workers = 1}, places), Error);
  EXPECT_THROW(plan_roles({.placement = Placement::kColocated, .reward_workers = 1}, places, 64),
               Error);
  const RoleLayout asked = plan_roles({.actors = 8, .learners = 3}, places);
  EXPECT_EQ(most_users(asked), 2);
  EXPECT_EQ(users_of_gpus(asked).size(), 8U);
}

TEST(RolesOnGpus, ATaskThatSeesOnlyItsOwnGpuUsesIt) {
  std::vector<RankPlace> places;
  for (int rank = 0; rank < 16; ++rank) {
    places.push_back({"n" + std::to_string(rank / 8), cpus(0, 16), {std::to_string(7 - rank % 8)}});
  }
  const RoleLayout layout = plan_roles({.placement = Placement::kColocated}, places, 16);
  EXPECT_EQ(users_of_gpus(layout).size(), 16U);
  EXPECT_EQ(layout.gpu(5), 0) << "the index among the GPUs that the rank sees";
  EXPECT_EQ(most_users(plan_roles({}, places)), 1);
}

TEST(RolesOnGpus, UnknownGpusAreNumberedByLearnersAndActorsOfAHost) {
  const std::vector<RankPlace> places = {{"a", {}}, {"a", {}}, {"a", {}}, {"b", {}}, {"b", {}}};
  const RoleLayout layout = plan_roles({}, places);  // learner, reward worker, three actors
  ASSERT_EQ(layout.reward_workers, std::vector<int>{1});
  EXPECT_EQ(layout.gpu(0), 0);
  EXPECT_EQ(layout.gpu(2), 1);
  EXPECT_EQ(layout.gpu(3), 0);
  EXPECT_EQ(layout.gpu(4), 1);
}

TEST(Roles, ColocatedRanksLearnAndGenerate) {
  const RoleLayout layout = split(3, {.placement = Placement::kColocated});
  EXPECT_EQ(layout.roles_of(0), "learner, reward worker, actor");
  EXPECT_EQ(layout.roles_of(2), "learner, actor");
  const RoleLayout scored = split(4, {.placement = Placement::kColocated, .reward_workers = 1});
  EXPECT_EQ(scored.actors, (std::vector{0, 1, 2}));
  EXPECT_EQ(scored.reward_workers, std::vector{3});
  EXPECT_EQ(split(4, {.placement = Placement::kColocated, .learners = 2}).reward_workers,
            (std::vector{2, 3}));
  EXPECT_THROW(split(4, {.placement = Placement::kColocated, .actors = 2, .learners = 1}), Error);
  EXPECT_THROW(split(4, {.placement = Placement::kColocated, .actors = 4, .reward_workers = 1}),
               Error);
  EXPECT_THROW(plan_roles({.placement = Placement::kColocated}, one_host(9, 8), 8), Error)
      << "9 learners for 8 gradient shards";
}

TEST(Roles, EveryRankGathersThePlacesOfAllRanks) {
  const RankPlace mine{"host" + std::to_string(test_job().rank()),
                       cpus(test_job().rank(), 3),
                       {"GPU " + std::to_string(test_job().rank())}};
  const std::vector<RankPlace> places = gather_places(test_job(), mine);
  ASSERT_EQ(std::ssize(places), test_job().size());
  for (int rank = 0; rank < test_job().size(); ++rank) {
    EXPECT_EQ(places[static_cast<std::size_t>(rank)].host, "host" + std::to_string(rank));
    EXPECT_EQ(places[static_cast<std::size_t>(rank)].cpus, cpus(rank, 3));
    EXPECT_EQ(places[static_cast<std::size_t>(rank)].gpus,
              std::vector{"GPU " + std::to_string(rank)});
  }
}

}  // namespace
}  // namespace lie

#include "common/comm/roles.h"

#include <gtest/gtest.h>

#include <numeric>
#include <sstream>

#include "common/base/error.h"
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
  EXPECT_NE(plan_roles({}, one_host(2, 2)).table(3).find("  3 threads"), std::string::npos);
  EXPECT_EQ(plan_roles({}, one_host(4, 2)).table(),
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
  EXPECT_EQ(cluster(512, "n").table(),
            "ranks 0-63      learner        2-3 threads  8 hosts, n0 to n7\n"
            "ranks 64-319    reward worker  1 thread     32 hosts, n8 to n39\n"
            "ranks 320-4095  actor          2 threads    472 hosts, n40 to n511\n");
}

TEST(Roles, TableFitsATerminalForAnyHostNames) {
  for (const int hosts : {1, 3, 512}) {
    std::istringstream lines(cluster(hosts, "ip-10-0-0-12.some-region.internal-").table(128));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 78u) << line;
  }
}

TEST(Roles, EveryRankGathersThePlacesOfAllRanks) {
  const RankPlace mine{"host" + std::to_string(test_job().rank()), cpus(test_job().rank(), 3)};
  const std::vector<RankPlace> places = gather_places(test_job(), mine);
  ASSERT_EQ(std::ssize(places), test_job().size());
  for (int rank = 0; rank < test_job().size(); ++rank) {
    EXPECT_EQ(places[static_cast<std::size_t>(rank)].host, "host" + std::to_string(rank));
    EXPECT_EQ(places[static_cast<std::size_t>(rank)].cpus, cpus(rank, 3));
  }
}

}  // namespace
}  // namespace lie

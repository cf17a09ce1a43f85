// The same claims for groups of ranks, groups of threads, and the group of one.
#include "common/comm/collective.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "common/comm/mpi_collective.h"
#include "common/comm/thread_collective.h"
#include "common/error.h"
#include "tests/comm/mpi_main.h"

namespace lie {
namespace {

/// Values whose sum depends on the order of addition.
template <typename T>
std::vector<T> member_values(int member, std::size_t count) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto mixed =
        static_cast<std::uint32_t>(i * 16 + static_cast<std::size_t>(member)) * 2654435761u;
    values[i] = (static_cast<T>(mixed) / T(4294967296.0) - T(0.5)) * (i % 3 == 0 ? T(1e6) : T(1));
  }
  return values;
}

/// What all_reduce_sum must give, to the bit: member 0's value plus member 1's plus ...
template <typename T>
std::vector<T> rank_order_sum(int members, std::size_t count) {
  std::vector<T> sum = member_values<T>(0, count);
  for (int member = 1; member < members; ++member) {
    const std::vector<T> values = member_values<T>(member, count);
    for (std::size_t i = 0; i < count; ++i) sum[i] += values[i];
  }
  return sum;
}

template <typename T>
void expect_rank_order_sum(Collective& group, std::size_t count) {
  std::vector<T> values = member_values<T>(group.rank(), count);
  group.all_reduce_sum(std::span(values));
  const std::vector<T> expected = rank_order_sum<T>(group.size(), count);
  EXPECT_TRUE(count == 0 || std::memcmp(values.data(), expected.data(), count * sizeof(T)) == 0)
      << count << " values";
}

void expect_broadcast(Collective& group, std::size_t count, int root) {
  const std::vector<float> sent = member_values<float>(17 + root, count);
  std::vector<float> bytes = group.rank() == root ? sent : std::vector<float>(count);
  group.broadcast(std::as_writable_bytes(std::span(bytes)), root);
  EXPECT_EQ(bytes, sent) << count << " values from " << root;
}

void check_group(Collective& group) {
  for (const std::size_t count : {0, 1, 3, 1000, 262'144, 1'200'001}) {
    expect_rank_order_sum<float>(group, count);
    expect_rank_order_sum<float>(group, count);  // and the same again
    for (int root = 0; root < group.size(); ++root) expect_broadcast(group, count, root);
  }
  expect_rank_order_sum<double>(group, 300'007);
}

/// Runs `work` as each member of a group of threads.
template <typename Work>
void run_threads(ThreadGroup& group, int size, Work work) {
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&group, rank, work] { work(*group.member(rank)); });
  }
}

TEST(Collective, RanksAddInRankOrderAndBroadcastFromAnyRoot) {
  check_group(*world_collective(test_job()));
}

TEST(Collective, ThreadsAddInRankOrderAndBroadcastFromAnyRoot) {
  for (const int size : {1, 2, 3, 4}) {
    ThreadGroup group(size);
    run_threads(group, size, check_group);
  }
}

TEST(Collective, TheGroupOfOneIsTheIdentity) { check_group(*solo_collective()); }

TEST(Collective, SubgroupsDoNotMeet) {
  Job& job = test_job();
  if (job.size() < 4) GTEST_SKIP() << "needs four ranks";
  const std::vector<int> members = job.rank() < 2 ? std::vector{0, 1} : std::vector{3, 2};
  const auto group =
      mpi_collective(job, members, job.rank() < 2 ? Tag::kWeightGroup : Tag::kLearnerGroup);
  EXPECT_EQ(members[static_cast<std::size_t>(group->rank())], job.rank());
  check_group(*group);
}

TEST(Collective, AStrangerIsRefused) {
  EXPECT_THROW(
      mpi_collective(test_job(), {test_job().size(), test_job().size() + 1}, Tag::kWeightGroup),
      Error);
}

TEST(Collective, ABadRootIsRefused) {
  ThreadGroup group(2);
  EXPECT_THROW(group.member(0)->broadcast({}, 2), Error);
}

TEST(Collective, PoisonWakesWaitingThreads) {
  ThreadGroup group(3);
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < 2; ++rank) {
    threads.emplace_back([&group, rank] {
      std::vector<float> values(10);
      EXPECT_THROW(group.member(rank)->all_reduce_sum(std::span(values)), Error);
    });
  }
  group.poison(std::make_exception_ptr(Error("the third failed")));
}

}  // namespace
}  // namespace lie

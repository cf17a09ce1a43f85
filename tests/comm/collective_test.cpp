// The same claims for groups of ranks, groups of threads, and the group of one.
#include "common/comm/collective.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <string_view>
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
  std::vector<float> got = group.rank() == root ? sent : std::vector<float>(count);
  group.broadcast(std::span(got), root);
  EXPECT_EQ(got, sent) << count << " values from " << root;
  std::vector<float> bytes = group.rank() == root ? sent : std::vector<float>(count);
  group.broadcast_bytes(std::as_writable_bytes(std::span(bytes)), root);
  EXPECT_EQ(bytes, sent) << count << " values from " << root;
}

/// Reduce-scatter, then all-gather, is all-reduce to the bit, in place and not.
template <typename T>
void expect_slices_make_the_sum(Collective& group, std::size_t slice_count) {
  const std::size_t count = slice_count * static_cast<std::size_t>(group.size());
  const std::vector<T> mine = member_values<T>(group.rank(), count);
  const std::vector<T> expected = rank_order_sum<T>(group.size(), count);
  std::vector<T> whole = mine, slice(slice_count), gathered(count);
  group.reduce_scatter_sum(std::span(whole), std::span(slice));
  EXPECT_EQ(whole, mine);
  EXPECT_EQ(slice, std::vector<T>(expected.begin() + group.rank() * std::ssize(slice),
                                  expected.begin() + (group.rank() + 1) * std::ssize(slice)));
  group.all_gather(std::span(slice), std::span(gathered));
  EXPECT_EQ(gathered, expected) << slice_count << " values a slice";
  const DeviceSpan own = slice_of(std::span(whole), group.rank(), group.size());
  group.reduce_scatter_sum(std::span(whole), own);
  group.all_gather(own, std::span(whole));
  EXPECT_EQ(whole, expected) << slice_count << " values a slice, in place";
}

void check_group(Collective& group) {
  for (const std::size_t count : {0, 1, 3, 1000, 262'144, 1'200'001}) {
    expect_rank_order_sum<float>(group, count);
    expect_rank_order_sum<float>(group, count);  // and the same again
    for (int root = 0; root < group.size(); ++root) expect_broadcast(group, count, root);
  }
  expect_rank_order_sum<double>(group, 300'007);
  for (const std::size_t slice : {0, 1, 3, 1001, 262'144, 300'007}) {
    expect_slices_make_the_sum<float>(group, slice);
  }
  expect_slices_make_the_sum<double>(group, 70'001);
}

void expect_refused(Collective& group, std::string_view reason,
                    const std::function<void(Collective&)>& call) {
  try {
    call(group);
    ADD_FAILURE() << "expected: " << reason;
  } catch (const Error& error) {
    EXPECT_NE(std::string_view(error.what()).find(reason), std::string_view::npos) << error.what();
  }
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

/// What no group of hosts can do fails at once on every member, before anything is sent.
void check_refusals(Collective& group) {
  std::vector<float> values(12);
  const DeviceSpan far(values.data(), 12, DType::kFloat32, {.device = 3});
  const DeviceSpan whole = std::span(values);
  const auto reason = "lie on CUDA device 3";
  expect_refused(group, reason, [&](Collective& g) { g.broadcast(far, 0); });
  expect_refused(group, reason, [&](Collective& g) { g.all_reduce_sum(far); });
  expect_refused(group, reason, [&](Collective& g) {
    g.reduce_scatter_sum(far, slice_of(whole, g.rank(), g.size()));
  });
  expect_refused(group, reason,
                 [&](Collective& g) { g.all_gather(far.part(0, 12 / g.size()), far); });
  expect_refused(group, "adds fp32 and fp64 only", [&](Collective& g) {
    g.all_reduce_sum({values.data(), 24, DType::kBFloat16, {}});
  });
  expect_refused(group, "a slice of 11 elements",
                 [&](Collective& g) { g.all_gather(whole.part(0, 11), whole); });
}

TEST(Collective, MemoryThatIsNotReachedIsRefused) {
  if (test_job().size() > 1) check_refusals(*world_collective(test_job()));
  ThreadGroup group(2);
  run_threads(group, 2, check_refusals);
}

TEST(Collective, TheGroupOfOneLeavesMemoryOfAnyKindInPlace) {
  const auto alone = solo_collective();
  const DeviceSpan far(nullptr, 5, DType::kBFloat16, {.device = 3});
  alone->all_reduce_sum(far);
  alone->broadcast(far, 0);
  alone->reduce_scatter_sum(far, slice_of(far, 0, 1));
  alone->all_gather(far, far);
  std::vector<float> values(5), others(5);
  expect_refused(*alone, "lie on CUDA device 3", [&](Collective& g) {
    g.all_gather({others.data(), 5, DType::kFloat32, {.device = 3}}, std::span(values));
  });
}

TEST(Collective, WhatCannotBeSlicedEvenlyIsRefused) {
  std::vector<float> values(7);
  EXPECT_THROW(slice_of(std::span(values), 0, 2), Error);
}

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
  EXPECT_THROW(group.member(0)->broadcast_bytes({}, 2), Error);
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

// Runs one set of tests on groups of ranks, groups of threads, and the group of one.
#include "common/comm/collective/collective.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <string_view>
#include <thread>
#include <vector>

#include "common/base/error.h"
#include "common/comm/collective/mpi_collective.h"
#include "common/comm/collective/thread_collective.h"
#include "tests/comm/mpi_main.h"

namespace lie {
namespace {

/// Returns values whose sum depends on the order of addition.
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

/// Returns the exact result of all_reduce_sum: member 0's value plus member 1's plus ...
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

/// Checks that every member's values for every other one arrive. The counts differ by pair, and
/// some are 0.
template <typename T>
void expect_exchange(Collective& group, std::size_t count) {
  const auto size = static_cast<std::size_t>(group.size());
  const auto me = static_cast<std::size_t>(group.rank());
  const auto values = [&](std::size_t from, std::size_t to) {
    return member_values<T>(static_cast<int>(from * size + to), (from + 2 * to) % 3 * count);
  };
  std::vector<std::vector<T>> sent, received;
  for (std::size_t other = 0; other < size; ++other) {
    sent.push_back(values(me, other));
    received.emplace_back(values(other, me).size());
  }
  group.exchange(std::vector<DeviceSpan>(sent.begin(), sent.end()),
                 std::vector<DeviceSpan>(received.begin(), received.end()));
  for (std::size_t other = 0; other < size; ++other) {
    EXPECT_EQ(received[other], values(other, me)) << other << " to " << me;
  }
}

void check_group(Collective& group) {
  for (const std::size_t count : {0, 1, 3, 1000, 262'144, 1'200'001}) {
    expect_rank_order_sum<float>(group, count);
    expect_rank_order_sum<float>(group, count);  // repeated on the same group
    for (int root = 0; root < group.size(); ++root) expect_broadcast(group, count, root);
  }
  expect_rank_order_sum<double>(group, 300'007);
  for (const std::size_t count : {0, 1, 1001, 262'144}) expect_exchange<float>(group, count);
  expect_exchange<double>(group, 70'001);
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

TEST(Collective, GroupOfOneIsTheIdentity) { check_group(*solo_collective()); }

/// Checks that operations that no group of hosts supports fail immediately on every member, before
/// anything is sent.
void check_refusals(Collective& group) {
  std::vector<float> values(12);
  const DeviceSpan on_device(values.data(), 12, DType::kFloat32, {.device = 3});
  const DeviceSpan on_host = std::span(values);
  const auto reason = "are on CUDA device 3";
  expect_refused(group, reason, [&](Collective& g) { g.broadcast(on_device, 0); });
  expect_refused(group, reason, [&](Collective& g) { g.all_reduce_sum(on_device); });
  const auto all = [](Collective& g, DeviceSpan span) {
    return std::vector<DeviceSpan>(static_cast<std::size_t>(g.size()), span);
  };
  expect_refused(group, reason,
                 [&](Collective& g) { g.exchange(all(g, on_device), all(g, on_device)); });
  expect_refused(group, "adds fp32 and fp64 only", [&](Collective& g) {
    g.all_reduce_sum({values.data(), 24, DType::kBFloat16, {}});
  });
  expect_refused(group, "sends itself 44 bytes but receives 48",
                 [&](Collective& g) { g.exchange(all(g, on_host.part(0, 11)), all(g, on_host)); });
  expect_refused(group, "0 spans to send and 0 to receive",
                 [&](Collective& g) { g.exchange({}, {}); });
}

TEST(Collective, UnreachableMemoryIsRefused) {
  if (test_job().size() > 1) check_refusals(*world_collective(test_job()));
  ThreadGroup group(2);
  run_threads(group, 2, check_refusals);
}

TEST(Collective, GroupOfOneAcceptsMemoryOfAnyKindInPlace) {
  const auto alone = solo_collective();
  const DeviceSpan on_device(nullptr, 5, DType::kBFloat16, {.device = 3});
  alone->all_reduce_sum(on_device);
  alone->broadcast(on_device, 0);
  alone->exchange({{on_device}}, {{on_device}});
  std::vector<float> values(5), others(5);
  expect_refused(*alone, "are on CUDA device 3", [&](Collective& g) {
    g.exchange({{DeviceSpan(others.data(), 5, DType::kFloat32, {.device = 3})}},
               {{std::span(values)}});
  });
}

TEST(Collective, SubgroupsAreIndependent) {
  Job& job = test_job();
  if (job.size() < 4) GTEST_SKIP() << "needs four ranks";
  const std::vector<int> members = job.rank() < 2 ? std::vector{0, 1} : std::vector{3, 2};
  const auto group =
      mpi_collective(job, members, job.rank() < 2 ? Tag::kWeightGroup : Tag::kLearnerGroup);
  EXPECT_EQ(members[static_cast<std::size_t>(group->rank())], job.rank());
  check_group(*group);
}

TEST(Collective, RankThatIsNotAMemberIsRefused) {
  EXPECT_THROW(
      mpi_collective(test_job(), {test_job().size(), test_job().size() + 1}, Tag::kWeightGroup),
      Error);
}

TEST(Collective, InvalidRootIsRefused) {
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

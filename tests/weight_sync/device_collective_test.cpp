#include "model/collective/device_collective.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <thread>

#include "common/base/dtype.h"
#include "common/base/error.h"
#include "common/comm/collective/thread_collective.h"
#include "model/weight_sync/weight_sync.h"
#include "tests/guarded_operators.h"
#include "tests/weight_sync/receive_all.h"

namespace lie {
namespace {

/// A member whose values are in memory that the host cannot access.
class Member {
 public:
  explicit Member(std::unique_ptr<Collective> host)
      : host_(std::move(host)), group_(through_host_collective(*host_, operators_)) {}

  Collective& group() const { return *group_; }
  float own() const { return static_cast<float>(1 << group_->rank()); }
  DeviceSpan put(std::int64_t count, float value) {
    memory_.push_back(operators_.allocate(1, count, DType::kFloat32));
    operators_.copy_from_host(std::vector<float>(static_cast<std::size_t>(count), value),
                              memory_.back().view());
    return operators_.span(memory_.back().view());
  }
  std::vector<float> get(DeviceSpan x) {
    std::vector<float> values(static_cast<std::size_t>(x.count));
    operators_.copy_to_host({x.data, 1, x.count, x.count, x.dtype}, values);
    return values;
  }

 private:
  test::GuardedOperators operators_;
  std::unique_ptr<Collective> host_, group_;
  std::vector<Buffer> memory_;
};

void on_members(int count, const std::function<void(Member&)>& work) {
  ThreadGroup group(count);
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < count; ++rank) {
    threads.emplace_back([&, rank] {
      Member member(group.member(rank));
      work(member);
    });
  }
}

TEST(ThroughHostCollective, SendsDeviceMemoryThroughTheHost) {
  for (const int count : {1, 2, 3}) {
    const auto sum = static_cast<float>((1 << count) - 1);
    on_members(count, [&](Member& m) {
      const DeviceSpan values = m.put(1'500'000, m.own());  // two chunks
      m.group().all_reduce_sum(values);
      EXPECT_EQ(m.get(values), std::vector<float>(1'500'000, sum));
      m.group().broadcast(values, 0);
    });
  }
}

TEST(ThroughHostCollective, ExchangesDeviceMemory) {
  on_members(3, [&](Member& m) {
    std::vector<DeviceSpan> out, in;
    for (int other = 0; other < 3; ++other) {
      out.push_back(m.put(100 * other, m.own()));
      in.push_back(m.put(100 * m.group().rank(), 0));
    }
    m.group().exchange(out, in);
    for (int other = 0; other < 3; ++other) {
      EXPECT_EQ(m.get(in[static_cast<std::size_t>(other)]),
                std::vector<float>(static_cast<std::size_t>(100 * m.group().rank()),
                                   static_cast<float>(1 << other)));
    }
  });
}

/// Publishes weights that all equal `value` and expects `expected` on the actors.
void expect_on_actors(float value, const WeightSyncOptions& options, float expected) {
  on_members(3, [&](Member& m) {
    const DeviceSpan weights = m.put(1000, m.group().rank() == 0 ? value : 0);
    if (m.group().rank() == 0) return publish_weights(m.group(), 7, weights, options);
    EXPECT_EQ(test::receive_all(m.group(), weights), 7);
    EXPECT_EQ(m.get(weights), std::vector<float>(1000, expected));
  });
}

TEST(ThroughHostCollective, WeightsReachTheActors) {
  expect_on_actors(1.01171875F, {}, 1.01171875F);
  expect_on_actors(1.01171875F, {DType::kBFloat16}, 1.015625F);  // a tie: 1 + 1.5 * 2^-7
}

/// A collective that reaches the memory of its members' operators, as NCCL does. Sends an even
/// number of bf16 values.
class ReachingGroup : public Collective {
 public:
  ReachingGroup(std::unique_ptr<Collective> host, Operators& operators)
      : host_(std::move(host)), operators_(operators) {}
  int rank() const override { return host_->rank(); }
  int size() const override { return host_->size(); }
  void broadcast_bytes(std::span<std::byte> bytes, int root) override {
    host_->broadcast_bytes(bytes, root);
  }
  void broadcast(DeviceSpan values, int root) override {
    sent_bytes += values.bytes();
    const std::int64_t words = values.bytes() / 4;
    const Tensor bits{values.data, 1, words, words, DType::kFloat32};
    std::vector<float> on_host(static_cast<std::size_t>(words));
    operators_.copy_to_host(bits, on_host);
    host_->broadcast(std::span(on_host), root);
    operators_.copy_from_host(on_host, bits);
  }
  void all_reduce_sum(DeviceSpan) override { fail("not used by this test"); }
  void exchange(std::span<const DeviceSpan>, std::span<const DeviceSpan>) override {
    fail("not used by this test");
  }

  std::int64_t sent_bytes = 0;

 private:
  std::unique_ptr<Collective> host_;
  Operators& operators_;
};

TEST(DeviceCollective, RoundsWeightsInDeviceMemoryAndSendsBFloat16) {
  constexpr std::int64_t kCount = (std::int64_t{1} << 24) + 1000;  // two chunks
  ThreadGroup group(2);
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < 2; ++rank) {
    threads.emplace_back([&, rank] {
      test::GuardedOperators operators;
      auto direct = std::make_unique<ReachingGroup>(group.member(rank), operators);
      const std::int64_t& sent_bytes = direct->sent_bytes;
      const auto rounding = rounding_collective(std::move(direct), operators);
      const Buffer memory = operators.allocate(1, kCount, DType::kFloat32);
      std::vector<float> values(kCount), expected(kCount);
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<float>(i % 65'537) * 1.0001F;
        expected[i] = from_bfloat16(to_bfloat16(values[i]));
      }
      const DeviceSpan weights = operators.span(memory.view());
      if (rank == 0) {
        operators.copy_from_host(values, memory.view());
        publish_weights(*rounding, 7, weights, {DType::kBFloat16});
      } else {
        EXPECT_EQ(test::receive_all(*rounding, weights), 7);
      }
      std::vector<float> got(kCount);
      operators.copy_to_host(memory.view(), got);
      EXPECT_EQ(got, rank == 0 ? values : expected);
      EXPECT_EQ(sent_bytes, 2 * kCount);
    });
  }
}

TEST(DeviceCollective, AllDifferOnlyIfNoTwoMembersNameTheSameGpu) {
  for (const auto& [names, differ] : {std::pair{std::array{"a 1", "a 2", "b 1"}, true},
                                      {std::array{"a 1", "b 1", "a 1"}, false}}) {
    ThreadGroup group(3);
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < 3; ++rank) {
      threads.emplace_back([&, rank] {
        const auto member = group.member(rank);
        EXPECT_EQ(all_differ(*member, names[static_cast<std::size_t>(rank)]), differ);
      });
    }
  }
}

}  // namespace
}  // namespace lie

// The agreement by which actors compute with the learner's weights, between threads: operators
// whose handles are addresses stand in for CUDA's. No handle of a GPU's memory is opened here.
#include "tools/run/policy_loans.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstring>
#include <functional>
#include <mutex>
#include <set>
#include <thread>

#include "common/comm/thread_collective.h"
#include "common/comm/weight_sync.h"
#include "common/error.h"
#include "model/aten/aten_operators.h"
#include "tests/tiny_model.h"

namespace lie {
namespace {

/// Whose allocations are all of one size.
class SharingOperators : public aten::AtenOperators {
 public:
  explicit SharingOperators(bool opens = true)
      : AtenOperators(at::Device(at::kCPU), DType::kFloat32), opens_(opens) {}

  std::optional<MemoryHandle> share(Tensor x, std::string&) override {
    const auto address = std::bit_cast<std::uintptr_t>(x.data);
    const std::uintptr_t offset = address % kAllocationBytes, first = address - offset;
    MemoryHandle handle{.offset = static_cast<std::int64_t>(offset)};
    std::memcpy(handle.allocation.data(), &first, sizeof first);
    return handle;
  }
  Buffer open_shared(const MemoryHandle& handle, std::string& refusal) override {
    EXPECT_TRUE(opened_.insert(handle.allocation).second) << "an allocation is opened once";
    void* first = nullptr;
    std::memcpy(&first, handle.allocation.data(), sizeof first);
    refusal = opens_ ? "" : "not in this container";
    return opens_ ? Buffer(Tensor{.data = first}, {nullptr, +[](void*) {}}) : Buffer();
  }

 private:
  static constexpr std::uintptr_t kAllocationBytes = 1 << 16;
  bool opens_;
  std::set<std::array<std::byte, 64>> opened_;
};

/// Counts what is sent of values, beside headers.
class CountingGroup : public Collective {
 public:
  explicit CountingGroup(std::unique_ptr<Collective> group) : group_(std::move(group)) {}
  int rank() const override { return group_->rank(); }
  int size() const override { return group_->size(); }
  void broadcast_bytes(std::span<std::byte> bytes, int root) override {
    group_->broadcast_bytes(bytes, root);
  }
  void broadcast(DeviceSpan values, int root) override {
    sent_bytes += values.bytes();
    group_->broadcast(values, root);
  }
  void all_reduce_sum(DeviceSpan) override { fail("not asked for"); }
  void exchange(std::span<const DeviceSpan>, std::span<const DeviceSpan>) override {
    fail("not asked for");
  }

  std::int64_t sent_bytes = 0;

 private:
  std::unique_ptr<Collective> group_;
};

/// Of every kind of part: biases, norms of heads, a table of its own unless tied.
ModelConfig config_with(bool tied) {
  ModelConfig config = test::tiny_config();
  config.tied_embeddings = tied;
  config.qk_norm = config.qkv_bias = config.output_bias = true;
  return config;
}

std::vector<float> logits(const ModelConfig& config, Transformer& policy, Operators& operators) {
  KvCache cache(config, operators, 4);
  const std::int32_t sequence = cache.open();
  std::vector<DecodeRow> rows;
  for (const int token : {5, 7, 11, 2}) rows.push_back({token, sequence, true});
  return test::to_host(operators, policy.decode(rows, cache));
}

void run_members(int count, const std::function<void(CountingGroup&)>& work) {
  ThreadGroup group(count);
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < count; ++rank) {
    threads.emplace_back([&, rank] {
      CountingGroup member(group.member(rank));
      work(member);
    });
  }
}

/// As publishing, then what the learner's policy computes, for the actors to compare with.
void publish(CountingGroup& group, std::int64_t version, std::vector<float> logits) {
  publish_weights(group, version, {});
  broadcast_values(group, logits);
}

void learn(CountingGroup& group, const ModelConfig& config, std::optional<FlatRange> shard) {
  SharingOperators operators;
  const Weights all = initial_weights(config, 1, operators);
  const Weights held = shard ? Weights(config, operators, shard) : all.copy();
  Transformer policy(held);
  if (shard) policy.take_weights(all.flat());
  ASSERT_TRUE(lend_policy(group, "gpu", policy));
  publish(group, 0, logits(config, policy, operators));
  const Buffer more = operators.allocate(1, all.flat().cols, DType::kFloat32);
  operators.copy(all.flat(), more.view());
  operators.add(more.view(), shard ? all.flat() : held.flat());
  shard ? policy.take_weights(all.flat()) : policy.weights_changed();
  publish(group, 1, logits(config, policy, operators));
  publish_finish(group);
}

void act(CountingGroup& group, const ModelConfig& config) {
  SharingOperators operators;
  auto policy = borrow_policy(group, "gpu", config, operators);
  ASSERT_TRUE(policy);
  std::vector<float> here[2];
  for (const std::int64_t version : {0, 1}) {
    EXPECT_EQ(receive_weights(group, {}), version);
    policy->weights_changed();
    here[version] = logits(config, *policy, operators);
    std::vector<float> learners;  // who goes on to change the weights when all have answered
    broadcast_values(group, learners);
    EXPECT_EQ(here[version], learners) << "version " << version;
  }
  EXPECT_NE(here[0], here[1]);
  EXPECT_EQ(receive_weights(group, {}), std::nullopt);
}

TEST(PolicyLoans, ActorsComputeTheLearnersBitsBeforeAndAfterAnUpdateOfWhichNoByteIsSent) {
  for (const bool tied : {true, false}) {
    for (const auto shard : {std::optional<FlatRange>(), std::optional(FlatRange{64, 16})}) {
      const ModelConfig config = config_with(tied);
      run_members(3, [&](CountingGroup& group) {
        group.rank() == 0 ? learn(group, config, shard) : act(group, config);
        EXPECT_EQ(group.sent_bytes, 0);
      });
    }
  }
}

/// Whether members 0 to 2 of these operators and devices lend or borrow.
std::set<bool> outcomes(const std::array<std::string, 3>& devices,
                        const std::function<std::unique_ptr<Operators>(int)>& make) {
  std::set<bool> all;
  std::mutex mutex;
  run_members(3, [&](CountingGroup& group) {
    const int rank = group.rank();
    const std::string& device = devices[static_cast<std::size_t>(rank)];
    const ModelConfig config = config_with(true);
    const auto operators = make(rank);
    bool is_lent = false;
    if (rank == 0) {
      const Weights weights = initial_weights(config, 1, *operators);
      Transformer policy(weights);
      is_lent = lend_policy(group, device, policy);
    } else {
      is_lent = borrow_policy(group, device, config, *operators).has_value();
    }
    const std::lock_guard lock(mutex);
    all.insert(is_lent);
  });
  return all;
}

TEST(PolicyLoans, WhereOneMemberCannotAllGoOnWithTheirOwn) {
  const std::array<std::string, 3> same = {"a", "a", "a"};
  const auto sharing = [](int) { return std::make_unique<SharingOperators>(); };
  EXPECT_EQ(outcomes(same, sharing), std::set{true});
  EXPECT_EQ(outcomes({"a", "a", "b"}, sharing), std::set{false}) << "another GPU";
  EXPECT_EQ(outcomes(same, [](int rank) { return std::make_unique<SharingOperators>(rank != 2); }),
            std::set{false})
      << "one cannot open";
  EXPECT_EQ(outcomes(same, [](int) { return make_cpu_operators(1); }), std::set{false})
      << "the learner cannot share";
}

TEST(PolicyLoans, AnotherModelsWeightsAreAnError) {
  SharingOperators operators, others;
  const Weights weights = initial_weights(config_with(true), 1, operators);
  Transformer policy(weights);
  std::string refusal;
  const auto lent = policy.share(refusal);
  ASSERT_TRUE(lent);
  EXPECT_THROW(Transformer::borrow(config_with(false), others, *lent, refusal), Error);
  ModelConfig wider = config_with(true);
  wider.ffn_width *= 2;
  EXPECT_THROW(Transformer::borrow(wider, others, *lent, refusal), Error);
}

}  // namespace
}  // namespace lie

// The agreement by which actors compute with the learner's weights, between threads. Operators
// whose handles are addresses stand in for CUDA's, so no handle of GPU memory is opened here.
#include "model/weight_sync/weight_transports.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <functional>
#include <mutex>
#include <set>
#include <thread>

#include "common/base/error.h"
#include "common/comm/collective/thread_collective.h"
#include "learner/checkpoint/checkpoint_parts.h"
#include "learner/trainer/sharded_trainer.h"
#include "model/weight_sync/weight_sync.h"
#include "tests/aten/reference_operators.h"
#include "tests/tiny_model.h"

namespace lie {
namespace {

/// Operators that share memory by its address. All allocations are assumed to have one size.
class SharingOperators : public aten::ReferenceOperators {
 public:
  explicit SharingOperators(bool opens = true)
      : ReferenceOperators(at::Device(at::kCPU), DType::kFloat32), opens_(opens) {}

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

/// Counts the bytes of values sent, without headers.
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
  void all_reduce_sum(DeviceSpan values) override { group_->all_reduce_sum(values); }
  void exchange(std::span<const DeviceSpan> out, std::span<const DeviceSpan> in) override {
    group_->exchange(out, in);
  }

  std::int64_t sent_bytes = 0;

 private:
  std::unique_ptr<Collective> group_;
};

/// A model with every kind of tensor: biases, norms of heads, and an embedding of its own unless
/// tied.
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

/// Publishes a version, then sends the learner's logits for the actors to compare with.
void publish(WeightSender& sender, CountingGroup& group, std::int64_t version,
             std::vector<float> logits) {
  sender.publish(version);
  broadcast_values(group, logits);
}

void learn(CountingGroup& group, const ModelConfig& config, std::optional<FlatRange> shard) {
  SharingOperators operators;
  const Weights all = initial_weights(config, 1, operators);
  const Weights held =
      shard ? Weights(config, operators, shard) : initial_weights(config, 1, operators);
  Transformer policy(held);
  if (shard) policy.set_weights(all.flat());
  ASSERT_TRUE(share_policy({group, 1, "gpu"}, policy));
  const auto learners = solo_collective();
  WeightSender sender(&group, *learners);
  publish(sender, group, 0, logits(config, policy, operators));
  const Buffer more = operators.allocate(1, all.flat().cols, DType::kFloat32);
  operators.copy(all.flat(), more.view());
  operators.add(more.view(), shard ? all.flat() : held.flat());
  shard ? policy.set_weights(all.flat()) : policy.weights_changed();
  publish(sender, group, 1, logits(config, policy, operators));
  sender.finish();
}

void act(CountingGroup& group, const ModelConfig& config) {
  SharingOperators operators;
  auto policy = open_shared_policy({group, 1, "gpu"}, config, operators);
  ASSERT_TRUE(policy);
  WeightReceiver weights(std::move(*policy), group);
  BusyIdleClock clock;
  std::vector<float> here[2];
  for (const std::int64_t version : {0, 1}) {
    EXPECT_EQ(weights.receive(clock), version);
    here[version] = logits(config, weights.policy(), operators);
    std::vector<float> learners;  // the learner changes the weights after all members have these
    broadcast_values(group, learners);
    EXPECT_EQ(here[version], learners) << "version " << version;
  }
  EXPECT_NE(here[0], here[1]);
  EXPECT_EQ(weights.receive(clock), std::nullopt);
}

TEST(SharedPolicy, ActorsComputeTheLearnersLogitsAndNoWeightIsSent) {
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

/// Returns which answers the members get: true where the policy is shared. The first members are
/// learners. Each has its GPU's name and its operators.
std::set<bool> outcomes(const std::vector<std::string>& gpus,
                        const std::function<std::unique_ptr<Operators>(int)>& make,
                        int learners = 1) {
  std::set<bool> all;
  std::mutex mutex;
  run_members(static_cast<int>(gpus.size()), [&](CountingGroup& group) {
    const int rank = group.rank();
    const SharedPolicyGroup members{group, learners, gpus[static_cast<std::size_t>(rank)]};
    const ModelConfig config = config_with(true);
    const auto operators = make(rank);
    bool is_shared = false;
    if (rank < learners) {
      const Weights weights = initial_weights(config, 1, *operators);
      Transformer policy(weights);
      is_shared = share_policy(members, policy);
    } else {
      is_shared = open_shared_policy(members, config, *operators).has_value();
    }
    const std::lock_guard lock(mutex);
    all.insert(is_shared);
  });
  return all;
}

TEST(SharedPolicy, IfOneMemberCannotShareAllHoldWeightsOfTheirOwn) {
  const std::vector<std::string> same = {"a", "a", "a"};
  const auto sharing = [](int) { return std::make_unique<SharingOperators>(); };
  EXPECT_EQ(outcomes(same, sharing), std::set{true});
  EXPECT_EQ(outcomes({"a", "a", "b"}, sharing), std::set{false}) << "another GPU";
  EXPECT_EQ(outcomes(same, [](int rank) { return std::make_unique<SharingOperators>(rank != 2); }),
            std::set{false})
      << "one cannot open";
  EXPECT_EQ(outcomes(same, [](int) { return make_cpu_operators(1); }), std::set{false})
      << "the learner cannot share";
}

TEST(SharedPolicy, EachOfSeveralLearnersSharesWithTheActorsOnItsGpu) {
  const auto sharing = [](int) { return std::make_unique<SharingOperators>(); };
  EXPECT_EQ(outcomes({"a", "b", "b", "a", "b"}, sharing, 2), std::set{true});
  EXPECT_EQ(outcomes({"a", "b", "b", "c"}, sharing, 2), std::set{false}) << "a GPU of no learner";
  EXPECT_EQ(outcomes(
                {"a", "b", "a", "b"},
                [](int rank) { return std::make_unique<SharingOperators>(rank != 3); }, 2),
            std::set{false})
      << "one cannot open";
  const auto all_but_one = [](int rank) {
    return rank == 1 ? make_cpu_operators(1) : std::make_unique<SharingOperators>();
  };
  EXPECT_EQ(outcomes({"a", "b", "a", "b"}, all_but_one, 2), std::set{false})
      << "a learner cannot share";
  EXPECT_EQ(outcomes({"a", "b", "a", "a"}, all_but_one, 2), std::set{true})
      << "no actor is on the GPU of that learner";

  // The learners have different weights, so that logits show whose weights an actor uses.
  run_members(5, [](CountingGroup& group) {
    const ModelConfig config = config_with(false);
    SharingOperators operators;
    const int rank = group.rank();
    const SharedPolicyGroup members{group, 2, rank % 2 == 0 ? "even" : "odd"};
    const Weights weights = initial_weights(config, static_cast<std::uint64_t>(rank), operators);
    Transformer own(weights);
    if (rank < 2) share_policy(members, own);
    std::optional<Transformer> opened =
        rank < 2 ? std::optional<Transformer>() : open_shared_policy(members, config, operators);
    const std::vector<float> here = logits(config, rank < 2 ? own : *opened, operators);
    for (const int learner : {0, 1}) {
      std::vector<float> there = here;
      broadcast_values(group, there, learner);
      EXPECT_EQ(here == there, rank % 2 == learner) << rank << " " << learner;
    }
  });
}

/// Counts the matrices that a policy packs. Packs slowly on learner 2.
class PackingOperators : public SharingOperators {
 public:
  PackingOperators(std::atomic<int>& packed, bool is_slow) : packed_(packed), is_slow_(is_slow) {}
  void pack(PackedWeight& weight, std::int64_t first_out, Tensor part) override {
    for (int i = 0; is_slow_ && i < 1000; ++i) std::this_thread::yield();
    SharingOperators::pack(weight, first_out, part);
    ++own;
    packed_ += counts ? 1 : 0;
  }
  int own = 0;
  bool counts = false;

 private:
  std::atomic<int>& packed_;
  bool is_slow_;
};

TEST(SharedPolicy, AnUpdateReturnsWhenEveryLearnerHasPackedTheWeights) {
  constexpr int kLearners = 3;
  std::atomic<int> packed = 0;
  run_members(kLearners, [&](CountingGroup& group) {
    const ModelConfig config = config_with(true);
    PackingOperators operators(packed, group.rank() == 2);
    ShardedTrainer trainer(
        {}, {},
        initial_weights(config, 1, operators,
                        held_range(parameter_layout(config), group.rank(), kLearners)),
        group);
    const int of_one = operators.own;
    trainer.share_with_actors();
    operators.counts = true;
    trainer.gather_weights();
    EXPECT_EQ(packed, kLearners * of_one) << group.rank();
  });
}

TEST(SharedPolicy, RejectsWeightsOfAnotherModel) {
  SharingOperators operators, others;
  const Weights weights = initial_weights(config_with(true), 1, operators);
  Transformer policy(weights);
  std::string refusal;
  const auto handles = policy.share(refusal);
  ASSERT_TRUE(handles);
  EXPECT_THROW(Transformer::open_shared(config_with(false), others, *handles, refusal), Error);
  ModelConfig wider = config_with(true);
  wider.ffn_width *= 2;
  EXPECT_THROW(Transformer::open_shared(wider, others, *handles, refusal), Error);
}

}  // namespace
}  // namespace lie

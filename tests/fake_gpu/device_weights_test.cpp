// Weights in device memory between ranks, over a fake of CUDA and NCCL (fake_gpu.h): the choice of
// the collective, and actors that map the learner's memory by its IPC handle.
#include <cuda_runtime.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "common/base/dtype.h"
#include "common/comm/collective/mpi_collective.h"
#include "model/collective/device_collective.h"
#include "model/cuda/ipc_memory.h"
#include "model/weight_sync/weight_sync.h"
#include "model/weight_sync/weight_transports.h"
#include "tests/aten/reference_operators.h"
#include "tests/comm/mpi_main.h"
#include "tests/fake_gpu/fake_gpu.h"
#include "tests/tiny_model.h"

namespace lie {
namespace {

/// Operators whose tensors are parts of one GPU allocation, as with ATen's CUDA allocator.
class GpuOperators : public aten::ReferenceOperators {
 public:
  GpuOperators() : ReferenceOperators(at::Device(at::kCPU), DType::kFloat32) {}

  MemoryPlace place() const override { return {.device = 0}; }
  Buffer allocate(std::int64_t rows, std::int64_t cols, DType dtype) override {
    void* const data = take(rows * cols * dtype_bytes(dtype));
    return {{data, rows, cols, cols, dtype}, {nullptr, +[](void*) {}}};
  }
  std::unique_ptr<PackedWeight> make_weight(std::int64_t out, std::int64_t in, WeightUse) override {
    return weight_at({take(out * in * 4), out, in, in, DType::kFloat32});
  }
  std::optional<MemoryHandle> share(Tensor x, std::string& refusal) override {
    return cuda::share_memory(0, x.data, refusal);
  }
  Buffer open_shared(const MemoryHandle& handle, std::string& refusal) override {
    return cuda::open_memory(0, handle, refusal);
  }

 private:
  void* take(std::int64_t bytes) {
    used_ += (bytes + 63) / 64 * 64;
    EXPECT_LE(used_, kBytes);
    return first_ + used_ - (bytes + 63) / 64 * 64;
  }
  static constexpr std::int64_t kBytes = 1 << 22;
  char* first_ = static_cast<char*>(fake_gpu::allocate(kBytes));
  std::int64_t used_ = 64;
};

std::vector<float> broadcast_rounded(Collective& group, Operators& operators, float value) {
  const Buffer values = operators.allocate(1, 100, DType::kFloat32);
  operators.copy_from_host(std::vector<float>(100, value), values.view());
  group.broadcast_as_bfloat16(operators.span(values.view()), 0);
  return test::to_host(operators, values.view());
}

TEST(DeviceCollective, UsesNcclIfEachRankHasAGpuOfItsOwnAndElseTheHost) {
  GpuOperators operators;
  const auto host = world_collective(test_job());
  const float root = 1.01171875F, mine = host->rank() == 0 ? root : 0;
  const std::vector<float> expected(100, host->rank() == 0 ? root : 1.015625F);  // a tie
  for (const bool own : {true, false}) {
    fake_gpu::set_bus_address("0000:" + std::to_string(own ? host->rank() : 0) + "B:00.0");
    const int before = fake_gpu::usage().operations;
    const auto group = device_collective(test_job(), *host, operators);
    EXPECT_EQ(broadcast_rounded(*group, operators, mine), expected);
    EXPECT_EQ(fake_gpu::usage().operations - before, own ? 1 : 0);
  }
}

std::vector<float> logits(const ModelConfig& config, Transformer& policy, Operators& operators) {
  KvCache cache(config, operators, 4);
  const std::int32_t sequence = cache.open();
  const std::vector<DecodeRow> rows = {{5, sequence, true}, {7, sequence, true}};
  return test::to_host(operators, policy.decode(rows, cache));
}

/// Returns when all ranks have called it. A learner may change weights that it shares only when no
/// actor computes with them.
void meet(Collective& group) {
  std::byte nothing{};
  for (int root = 0; root < group.size(); ++root) group.broadcast_bytes({&nothing, 1}, root);
}

/// Shares two versions of the weights, with the learner's logits for each.
void learn(Collective& group, const ModelConfig& config) {
  GpuOperators operators;
  const Weights weights = initial_weights(config, 1, operators);
  Transformer policy(weights);
  ASSERT_TRUE(share_policy({group, 1, "gpu"}, policy));
  const auto learners = solo_collective();
  WeightSender sender(&group, *learners);
  for (const std::int64_t version : {0, 1}) {
    if (version == 1) operators.add(weights.flat(), weights.flat());
    policy.weights_changed();
    sender.publish(version);
    std::vector<float> own = logits(config, policy, operators);
    broadcast_values(group, own);
    meet(group);
  }
  sender.finish();
}

void act(Collective& group, const ModelConfig& config) {
  GpuOperators operators;
  auto policy = open_shared_policy({group, 1, "gpu"}, config, operators);
  ASSERT_TRUE(policy);
  EXPECT_EQ(fake_gpu::usage().mapped, 1) << "one allocation holds all tensors";
  WeightReceiver weights(std::move(*policy), group);
  BusyIdleClock clock;
  for (const std::int64_t version : {0, 1}) {
    EXPECT_EQ(weights.receive(clock), version);
    std::vector<float> learners;
    const std::vector<float> own = logits(config, weights.policy(), operators);
    broadcast_values(group, learners);
    meet(group);
    EXPECT_EQ(own, learners) << version;
  }
  EXPECT_EQ(weights.receive(clock), std::nullopt);
}

TEST(SharedWeights, ActorsMapTheLearnersMemoryAndSeeItsChanges) {
  const auto group = world_collective(test_job());
  const ModelConfig config = test::tiny_config();
  group->rank() == 0 ? learn(*group, config) : act(*group, config);
  EXPECT_EQ(fake_gpu::usage().mapped, 0) << "closed with the policy";
}

TEST(SharedWeights, IfOneActorCannotMapThemAllHoldTheirOwn) {
  const auto group = world_collective(test_job());
  GpuOperators operators;
  const ModelConfig config = test::tiny_config();
  const SharedPolicyGroup members{*group, 1, "gpu"};
  if (group->rank() == group->size() - 1) {
    fake_gpu::fail_next("cudaIpcOpenMemHandle", cudaErrorInvalidValue);
  }
  if (group->rank() > 0) {
    EXPECT_FALSE(open_shared_policy(members, config, operators));
  } else {
    const Weights weights = initial_weights(config, 1, operators);
    Transformer policy(weights);
    EXPECT_FALSE(share_policy(members, policy));
  }
  EXPECT_EQ(fake_gpu::usage().mapped, 0);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST(SharedWeights, EveryFailedCallIsARefusalThatNamesItAndLeavesNoError) {
  GpuOperators operators;
  const Buffer memory = operators.allocate(1, 10, DType::kFloat32);
  std::string refusal;
  const auto handle = operators.share(memory.view(), refusal);
  ASSERT_TRUE(handle) << refusal;
  for (const auto& [function, named] :
       {std::pair{"cudaSetDevice", "cudaSetDevice"},
        {"cudaGetDriverEntryPointByVersion", "cuMemGetAddressRange"},
        {"entry point", "cuMemGetAddressRange"},
        {"cuMemGetAddressRange", "cuMemGetAddressRange"},
        {"cudaIpcGetMemHandle", "cudaIpcGetMemHandle"}}) {
    fake_gpu::fail_next(function, 1);
    EXPECT_FALSE(operators.share(memory.view(), refusal)) << function;
    EXPECT_THAT(refusal, testing::HasSubstr(named));
    EXPECT_EQ(cudaGetLastError(), cudaSuccess) << function;
  }
  for (const char* function : {"cudaSetDevice", "cudaIpcOpenMemHandle"}) {
    fake_gpu::fail_next(function, 1);
    EXPECT_TRUE(operators.open_shared(*handle, refusal).empty()) << function;
    EXPECT_THAT(refusal, testing::HasSubstr(function));
    EXPECT_EQ(cudaGetLastError(), cudaSuccess) << function;
  }
}

}  // namespace
}  // namespace lie

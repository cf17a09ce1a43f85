// Values in device memory between ranks, over a fake of CUDA and NCCL (fake_gpu.h): the choice of
// the collective.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/comm/collective/mpi_collective.h"
#include "model/collective/device_collective.h"
#include "tests/aten/reference_operators.h"
#include "tests/comm/mpi_main.h"
#include "tests/fake_gpu/fake_gpu.h"

namespace lie {
namespace {

/// Operators whose memory counts as that of a GPU.
class GpuOperators : public aten::ReferenceOperators {
 public:
  GpuOperators() : ReferenceOperators(at::Device(at::kCPU), DType::kFloat32) {}

  MemoryPlace place() const override { return {.device = 0}; }
};

std::vector<float> broadcast_rounded(Collective& group, Operators& operators, float value) {
  const Buffer values = operators.allocate(1, 100, DType::kFloat32);
  operators.copy_from_host(std::vector<float>(100, value), values.view());
  group.broadcast_as_bfloat16(operators.span(values.view()), 0);
  std::vector<float> received(100);
  operators.copy_to_host(values.view(), received);
  return received;
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

}  // namespace
}  // namespace lie

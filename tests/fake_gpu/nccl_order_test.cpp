// The order of NCCL's, CUDA's and the host's work in NcclCollective, and its error checks, over a
// fake of both libraries (fake_gpu.h).
#include <cuda_runtime.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nccl.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/comm/collective/gather_texts.h"
#include "common/comm/collective/mpi_collective.h"
#include "common/comm/collective/nccl_collective.h"
#include "tests/comm/mpi_main.h"
#include "tests/fake_gpu/fake_gpu.h"

namespace lie {
namespace {

using testing::HasSubstr;

constexpr MemoryPlace kGpu{.device = 2};

/// GPU memory that a kernel fills late. Other devices and streams do not wait for the kernel.
class Values {
 public:
  explicit Values(std::size_t count, double value = 0)
      : memory_(std::make_shared<std::vector<double>>(count, -1000)) {
    fake_gpu::enqueue(kGpu.device, 5,
                      [memory = memory_, value] { std::ranges::fill(*memory, value); });
  }
  DeviceSpan span() const { return {memory_->data(), std::ssize(*memory_), DType::kFloat64, kGpu}; }
  const std::vector<double>& get() const { return *memory_; }

 private:
  std::shared_ptr<std::vector<double>> memory_;
};

std::unique_ptr<Collective> nccl_group() {
  return nccl_collective(test_job(), world_collective(test_job()), kGpu.device);
}

/// Sends 10 + i elements to each member i. Returns what this member received.
std::vector<std::vector<double>> exchange(Collective& group) {
  std::vector<Values> sent, received;
  std::vector<DeviceSpan> out, in;
  for (int member = 0; member < group.size(); ++member) {
    const auto to = static_cast<std::size_t>(10 + member),
               here = static_cast<std::size_t>(10 + group.rank());
    out.push_back(sent.emplace_back(to, group.rank() + 1).span());
    in.push_back(received.emplace_back(here).span());
  }
  group.exchange(out, in);
  std::vector<std::vector<double>> all;
  for (const Values& values : received) all.push_back(values.get());
  return all;
}

/// The tests run with communicators that accept calls at once, and with ones that accept them
/// later.
class NcclOrder : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    fake_gpu::set_polls_in_progress(GetParam());
    before_ = fake_gpu::usage();
  }
  void TearDown() override { fake_gpu::set_polls_in_progress(0); }
  fake_gpu::Usage before_;
};
INSTANTIATE_TEST_SUITE_P(Polls, NcclOrder, testing::Values(0, 3));

TEST_P(NcclOrder, OperationsSeeWhatTheComputeStreamWroteAndReturnWhenTheyAreDone) {
  const auto group = nccl_group();
  for (int root = 0; root < group->size(); ++root) {
    Values values(100, group->rank() + 1);
    group->broadcast(values.span(), root);
    EXPECT_EQ(values.get(), std::vector<double>(100, root + 1));
  }
  Values values(100, 1 << group->rank());
  group->all_reduce_sum(values.span());
  EXPECT_EQ(values.get(), std::vector<double>(100, (1 << group->size()) - 1));
  const auto exchanged = exchange(*group);
  for (std::size_t member = 0; member < exchanged.size(); ++member) {
    EXPECT_EQ(exchanged[member], std::vector<double>(static_cast<std::size_t>(10 + group->rank()),
                                                     static_cast<double>(member + 1)));
  }
  EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "the next kernel would report it";
}

TEST_P(NcclOrder, AStartedExchangeOverlapsLaterWorkOfTheComputeStream) {
  const auto group = nccl_group();
  const auto size = static_cast<std::size_t>(group->size());
  std::vector<Values> sent, received;
  std::vector<DeviceSpan> out, in;
  for (std::size_t member = 0; member < size; ++member) {
    out.push_back(sent.emplace_back(10, group->rank() + 1).span());
    in.push_back(received.emplace_back(10).span());
  }
  // Member 0 starts when the others have started and have run the work that follows.
  if (group->rank() == 0) gather_texts(test_job(), "");
  const auto started = group->start_exchange(out, in);
  auto ran = std::make_shared<bool>(false);
  fake_gpu::enqueue(kGpu.device, 5, [ran] { *ran = true; });
  while (!*ran) cudaStreamQuery(nullptr);
  if (group->rank() > 0) {
    EXPECT_NE(received[0].get(), std::vector<double>(10, 1)) << "the exchange is complete";
    gather_texts(test_job(), "");
  }
  started->wait();
  for (std::size_t member = 0; member < size; ++member) {
    EXPECT_EQ(received[member].get(), std::vector<double>(10, static_cast<double>(member + 1)));
  }
}

TEST_P(NcclOrder, AnExchangeIsCompleteWhileALaterOneIsInProgress) {
  const auto group = nccl_group();
  const auto size = static_cast<std::size_t>(group->size());
  std::vector<Values> sent, first, second;
  std::vector<DeviceSpan> out, in_first, in_second;
  for (std::size_t member = 0; member < size; ++member) {
    out.push_back(sent.emplace_back(10, group->rank() + 1).span());
    in_first.push_back(first.emplace_back(10).span());
    in_second.push_back(second.emplace_back(10).span());
  }
  const auto started_first = group->start_exchange(out, in_first);
  auto ran = std::make_shared<bool>(false);
  fake_gpu::enqueue(kGpu.device, 2000, [ran] { *ran = true; });
  const auto started_second = group->start_exchange(out, in_second);
  started_first->wait();
  EXPECT_FALSE(*ran) << "the first exchange waited for the work that only the second one follows";
  started_second->wait();
  EXPECT_TRUE(*ran);
  for (std::size_t member = 0; member < size; ++member) {
    const std::vector<double> expected(10, static_cast<double>(member + 1));
    EXPECT_EQ(first[member].get(), expected);
    EXPECT_EQ(second[member].get(), expected);
  }
}

TEST_P(NcclOrder, AGroupThatEndsIsFinalizedAndThenDestroyed) {
  nccl_group()->broadcast(Values(100).span(), 0);
  EXPECT_EQ(fake_gpu::usage().destroyed, before_.destroyed + 1);
  EXPECT_EQ(fake_gpu::usage().aborted, before_.aborted);
  fake_gpu::fail_next("ncclCommFinalize", ncclSystemError);
  nccl_group();
  EXPECT_EQ(fake_gpu::usage().destroyed, before_.destroyed + 1);
  EXPECT_EQ(fake_gpu::usage().aborted, before_.aborted + 1);
}

TEST_P(NcclOrder, SpansInHostMemoryTravelThroughTheHost) {
  const auto group = nccl_group();
  std::vector<double> values(10, 1);
  group->all_reduce_sum(std::span(values));
  EXPECT_EQ(values, std::vector<double>(10, group->size()));
  EXPECT_EQ(fake_gpu::usage().operations, before_.operations);
  DeviceSpan elsewhere(std::span<double>{values});
  elsewhere.place.device = kGpu.device + 1;
  EXPECT_THROW(group->broadcast(elsewhere, 0), Error);
}

void use_all(Collective& group) {
  group.broadcast(Values(10).span(), 0);
  group.all_reduce_sum(Values(10).span());
  exchange(group);
}

/// A call that fails on all members, while the group is made or while it is used.
struct Failing {
  const char* function;
  int code;
  const char* report;
  bool while_made = false;
};

TEST(NcclErrors, EveryFailedCallIsReportedAndTheGroupAborted) {
  for (const Failing& failing : std::vector<Failing>{
           {"cudaSetDevice", 1, "CUDA, choosing the device", true},
           {"cudaStreamCreateWithFlags", 1, "CUDA, creating a stream", true},
           {"cudaEventCreateWithFlags", 1, "CUDA, creating an event", true},
           {"ncclGetUniqueId", 2, "NCCL, making an identifier", true},
           {"ncclCommInitRankConfig", 2, "NCCL, joining the group", true},
           {"ncclCommGetAsyncError", 2, "NCCL, joining the group", true},
           {"asynchronous", 6, "NCCL, joining the group", true},
           {"cudaSetDevice", 1, "CUDA, choosing the device"},
           {"cudaEventRecord", 1, "CUDA, recording an event"},
           {"cudaStreamWaitEvent", 1, "CUDA, waiting for the compute stream"},
           {"ncclBroadcast", 2, "NCCL, broadcast"},
           {"ncclCommGetAsyncError", 2, "NCCL, broadcast"},
           {"asynchronous", 6, "NCCL, broadcast"},
           {"cudaStreamQuery", 700, "CUDA, broadcast"},
           {"cudaEventQuery", 700, "CUDA, exchange"},
           {"ncclAllReduce", 2, "NCCL, all-reduce"},
           {"cudaMemcpyAsync", 1, "CUDA, copying a member's own part"},
           {"ncclGroupStart", 2, "NCCL, exchange"},
           {"ncclSend", 2, "NCCL, exchange"},
           {"ncclRecv", 2, "NCCL, exchange"},
           {"ncclGroupEnd", 2, "NCCL, exchange"},
       }) {
    SCOPED_TRACE(failing.function);
    const fake_gpu::Usage before = fake_gpu::usage();
    try {
      // Only member 0 makes an identifier, so for this call each rank forms its own group.
      const bool alone = failing.report == std::string("NCCL, making an identifier");
      if (failing.while_made) fake_gpu::fail_next(failing.function, failing.code);
      const auto group =
          alone ? nccl_collective(test_job(), solo_collective(), kGpu.device) : nccl_group();
      // A group of one neither sends nor receives.
      if (group->size() == 1 && std::string_view(failing.report) == "NCCL, exchange") continue;
      if (!failing.while_made) fake_gpu::fail_next(failing.function, failing.code);
      use_all(*group);
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(failing.report));
      EXPECT_THAT(error.what(), HasSubstr("code " + std::to_string(failing.code)));
      EXPECT_TRUE(fake_gpu::has_failed());
    }
    const fake_gpu::Usage after = fake_gpu::usage();
    EXPECT_EQ(after.aborted - before.aborted, after.communicators - before.communicators);
    EXPECT_EQ(after.destroyed, before.destroyed);
  }
}

TEST(NcclErrors, AGpuWithoutAnAddressIsReported) {
  fake_gpu::set_bus_address("0000:3B:00.0");
  EXPECT_EQ(gpu_bus_address(0), "0000:3B:00.0");
  fake_gpu::fail_next("cudaDeviceGetPCIBusId", cudaErrorInvalidValue);
  EXPECT_THROW(gpu_bus_address(0), Error);
}

}  // namespace
}  // namespace lie

// A job whose ranks form a group over the fake of NCCL, and in which rank 1 fails at the place that
// its argument names. nccl_abort_test.cpp runs it under mpirun.
#include <cuda_runtime.h>
#include <nccl.h>

#include <cstdio>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/comm/collective/mpi_collective.h"
#include "common/comm/collective/nccl_collective.h"
#include "tests/fake_gpu/fake_gpu.h"

namespace lie {
namespace {

constexpr MemoryPlace kGpu{.device = 0};

std::unique_ptr<Collective> nccl_group(Job& job) {
  return nccl_collective(job, world_collective(job), kGpu.device);
}
void broadcast(Collective& group, int root) {
  std::vector<float> values(10);
  group.broadcast({values.data(), std::ssize(values), DType::kFloat32, kGpu}, root);
}
void fail_on_rank_1(const Job& job) {
  if (job.rank() == 1) fail("the model broke");
}

/// Rank 1 fails after it has received the identifier, while the others wait for it to join.
void while_others_join(Job& job) {
  ncclUniqueId id;
  const auto host = world_collective(job);
  if (job.rank() == 1) {
    host->broadcast_bytes(std::as_writable_bytes(std::span(&id, 1)), 0);
    fake_gpu::wait_until_others_join();
  }
  fail_on_rank_1(job);
  nccl_group(job);
}
/// Rank 1 fails while the others' devices wait for its values.
void while_others_receive(Job& job) {
  const auto group = nccl_group(job);
  fail_on_rank_1(job);
  broadcast(*group, 1);
}
/// Rank 1 fails while the others, whose devices have finished, leave the group.
void while_others_leave(Job& job) {
  const auto group = nccl_group(job);
  broadcast(*group, 0);
  fail_on_rank_1(job);
}
/// The device of rank 1 fails while the others wait for its values.
void on_its_device(Job& job) {
  const auto group = nccl_group(job);
  if (job.rank() == 1) fake_gpu::fail_next("cudaStreamQuery", cudaErrorIllegalAddress);
  broadcast(*group, 0);
  broadcast(*group, 1);
}

/// A kernel on the device of rank 1 never ends, and all wait for its values.
void at_the_limit(Job& job) {
  const auto group = nccl_group(job);
  broadcast(*group, 0);
  job.limit_collectives(0.3);
  if (job.rank() == 1) fake_gpu::enqueue(kGpu.device, std::numeric_limits<int>::max(), [] {});
  broadcast(*group, 1);
}

int run(const std::string& ending) {
  const std::map<std::string, std::function<void(Job&)>> endings = {
      {"while_others_join", while_others_join},
      {"while_others_receive", while_others_receive},
      {"while_others_leave", while_others_leave},
      {"on_its_device", on_its_device},
      {"at_the_limit", at_the_limit},
  };
  mpi::Environment environment;
  Job job(environment);
  const int status = job.run([&] { endings.at(ending)(job); });
  const fake_gpu::Usage usage = fake_gpu::usage();
  std::printf("rank %d ends with %d, %d of %d aborted\n", job.rank(), status, usage.aborted,
              usage.communicators);
  std::fflush(stdout);
  return status;
}

}  // namespace
}  // namespace lie

int main(int argc, char** argv) { return argc == 2 ? lie::run(argv[1]) : 2; }

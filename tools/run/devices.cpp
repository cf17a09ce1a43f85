#include "tools/run/devices.h"

#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "common/error.h"
#include "model/aten/operators.h"

namespace lie {
namespace {

/// This process's number among those of its node, as the launcher says; 0 without one.
int rank_on_node() {
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID", "MPI_LOCALRANKID"}) {
    if (const char* rank = std::getenv(name)) return std::atoi(rank);
  }
  return 0;
}

/// "cuda" shares the GPUs that this process may use among the node's ranks, in turn.
std::string gpu_of_this_rank() {
  const int gpus = usable_gpus();
  return gpus == 0 ? "cuda" : fmt::format("cuda:{}", rank_on_node() % gpus);
}

}  // namespace

std::unique_ptr<Operators> make_operators(const ModelOptions& options, int threads) {
  if (options.threads > 0) threads = static_cast<int>(options.threads);
  if (options.device == "cpu") return make_cpu_operators(threads);
  if (options.device == "aten-cpu") return make_aten_operators("cpu", DType::kFloat32, threads);
  if (options.device == "cuda") {
    return make_aten_operators(gpu_of_this_rank(), DType::kBFloat16);
  }
  if (options.device.starts_with("cuda:")) {
    return make_aten_operators(options.device, DType::kBFloat16);
  }
  fail("model.device is \"{}\": expected cpu, aten-cpu, cuda or cuda:<number>", options.device);
}

}  // namespace lie

#include "tools/run/config/devices.h"

#include <fmt/format.h>

#include <numeric>

#include "common/base/error.h"
#include "common/comm/collective/nccl_collective.h"
#include "common/comm/host_cpus.h"
#include "common/comm/launcher.h"
#include "model/cuda/operators.h"
#include "model/operators/probe.h"

namespace lie {
namespace {

/// Returns the device of this rank: the ranks of a node share its visible GPUs in turn.
std::string gpu_of_this_rank(int local_gpu) {
  const int gpus = usable_gpus();
  if (local_gpu < 0) local_gpu = launcher::rank_on_node();
  return gpus == 0 ? "cuda" : fmt::format("cuda:{}", local_gpu % gpus);
}

/// Returns the operators for cuda or cuda-exact, with or without ":<number>"; null for any other
/// name.
std::unique_ptr<Operators> make_gpu_operators(std::string name, int local_gpu) {
  constexpr std::string_view kExact = "cuda-exact";
  const bool exact = name.starts_with(kExact);
  if (exact) name.replace(0, kExact.size(), "cuda");
  if (name == "cuda") name = gpu_of_this_rank(local_gpu);
  if (name != "cuda" && !name.starts_with("cuda:")) return nullptr;
  return make_cuda_operators(name, DType::kBFloat16, 0, exact ? CudaBits::kExact : CudaBits::kFast);
}

}  // namespace

void log_choices(const Log& log, Operators& operators, PassKind kind, const ModelConfig& model) {
  for (const std::string& choice :
       operators.choices(kind, {model.heads, model.kv_heads, model.head_width})) {
    log.info("{}", choice);
  }
}

bool is_on_gpu(const ModelOptions& options) { return options.device.starts_with("cuda"); }

int shared_gpus(const ModelOptions& options) {
  return options.device.find(':') == std::string::npos ? usable_gpus() : 1;
}

bool can_share_weights(const ModelOptions& options) {
  return options.device == "cpu" || options.device == "cpu-bf16";
}

std::unique_ptr<Operators> make_operators(const ModelOptions& options, int threads,
                                          const SharedFloats& shared, int local_gpu) {
  if (options.threads > 0) threads = static_cast<int>(options.threads);
  if (options.device == "cpu") return make_cpu_operators(threads, shared);
  if (options.device == "cpu-bf16") return make_cpu_operators(threads, shared, DType::kBFloat16);
  if (auto on_gpu = make_gpu_operators(options.device, local_gpu)) {
    probe(*on_gpu);
    return on_gpu;
  }
  fail(
      "model.device is \"{}\": expected cpu, cpu-bf16, cuda, cuda-exact or one of the last two "
      "with :<number>",
      options.device);
}

std::vector<std::string> visible_gpus(const ModelOptions& options) {
  std::vector<std::string> names;
  if (!is_on_gpu(options)) return names;
  const std::size_t colon = options.device.find(':');
  for (int gpu = 0; gpu < usable_gpus(); ++gpu) {
    const bool is_named = colon != std::string::npos;
    if (is_named && options.device.substr(colon + 1) != std::to_string(gpu)) continue;
    names.push_back(gpu_bus_address(gpu));
  }
  return names;
}

DType fixed_dtype(const ModelOptions& options, const WeightsPlan& files, DType packed) {
  return options.device == "cpu" && files.is_bf16 ? DType::kBFloat16 : packed;
}

std::string describe_held(const ModelOptions& options, const PackedSize& size) {
  const auto millions = [](std::int64_t count) { return 1e-6 * static_cast<double>(count); };
  std::string held =
      fmt::format("{:.1f} M weights in {:.0f} MB", millions(size.elements), millions(size.bytes));
  if (size.nf4_elements > 0) {
    held += fmt::format(", {:.1f} M of them NF4", millions(size.nf4_elements));
  }
  if (options.device != "cpu") return held;
  const char* const rest = size.nf4_elements > 0 ? ", the rest " : ", ";
  if (size.fp32_elements == 0) return held + rest + "bf16 (exact)";
  if (size.fp32_elements == size.elements - size.nf4_elements) return held + rest + "fp32";
  return fmt::format("{}, {:.1f} M of them fp32, not exact in bf16", held,
                     millions(size.fp32_elements));
}

void describe_policy(const ModelOptions& options, const PackedSize& size, std::ostream& out) {
  out << describe_held(options, size) << '\n';
  for (const std::string& remark : model_remarks(options.path))
    out << "warning: " << remark << '\n';
}

int threads_of_equal_ranks(Job& job, bool keep_binding) {
  if (!keep_binding) widen_binding();
  RoleLayout layout;
  layout.places = gather_places(job, {job.environment().host(), usable_cpus()});
  layout.actors.resize(static_cast<std::size_t>(job.size()));
  std::iota(layout.actors.begin(), layout.actors.end(), 0);
  return layout.threads(job.rank(), Role::kActor);
}

}  // namespace lie

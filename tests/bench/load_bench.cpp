// Measures time and memory of loading a model's weights and of packing them for the CPU operators.
// Peak memory includes the pages of the mapped files.
#include <fmt/format.h>
#include <sys/resource.h>

#include "model/transformer/transformer.h"
#include "tests/bench/arguments.h"
#include "tests/bench/machine_limits.h"

namespace {

double gigabytes(double bytes) { return bytes / 1e9; }

double peak_bytes() {
  rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024;
}

void run(const std::string& directory) {
  const lie::WeightsPlan plan = lie::plan_weights(directory);
  fmt::print("{} tensors, {} parameters, {:.2f} GB in {} files, {:.2f} GB in memory as fp32\n",
             plan.tensors, plan.parameters, gigabytes(static_cast<double>(plan.file_bytes)),
             plan.shards, gigabytes(static_cast<double>(plan.memory_bytes)));
  const double before = peak_bytes(), start = lie::bench::now_seconds();
  const auto operators = lie::make_cpu_operators(2);
  const lie::Weights weights = lie::load_weights(directory, *operators);
  fmt::print("loaded in {:.1f} s: peak {:.2f} GB, of which {:.2f} before\n",
             lie::bench::now_seconds() - start, gigabytes(peak_bytes()), gigabytes(before));
  const double pack_start = lie::bench::now_seconds();
  const lie::Transformer transformer(weights);
  fmt::print("packed for the CPU in {:.1f} s: peak {:.2f} GB\n",
             lie::bench::now_seconds() - pack_start, gigabytes(peak_bytes()));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Time and memory of loading a model's weights, and of packing them");
  std::string directory;
  app.add_option("MODEL_DIR", directory)->required();
  return lie::bench::run_bench(app, argc, argv, [&] { run(directory); });
}

// Measures the cost of the trajectory log: milliseconds per step and bytes per token, for steps of
// three sizes.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "common/trajectory/segments.h"
#include "common/trajectory/writer.h"
#include "tests/bench/arguments.h"
#include "tests/trajectory/example_steps.h"

namespace {

namespace fs = std::filesystem;

std::int64_t tokens_of(const lie::StepRecord& record) {
  std::int64_t tokens = 0;
  for (const auto& group : record.groups) {
    for (const auto& response : group.scored.rollout.responses) {
      tokens += static_cast<std::int64_t>(response.ids.size());
    }
  }
  return tokens;
}

void measure(const char* name, const lie::ExampleShape& shape, std::int64_t steps) {
  const fs::path directory = lie::fresh_directory("bench");
  lie::TrajectoryWriter writer(directory, lie::example_info());
  std::vector<double> milliseconds;
  std::int64_t tokens = 0;
  for (std::int64_t s = 1; s <= steps; ++s) {
    // Steps that do not evaluate.
    const lie::StepRecord record = lie::example_step(shape, 3 * s + 1);
    tokens += tokens_of(record);
    const auto start = std::chrono::steady_clock::now();
    writer.append(record);
    const std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - start;
    milliseconds.push_back(taken.count());
  }
  writer.close();
  std::ranges::sort(milliseconds);
  fmt::print(
      "{:<28} {:>8} tokens a step: median {:.1f} ms a step, worst {:.1f} ms, {:.2f} bytes a "
      "token\n",
      name, tokens / steps, milliseconds[milliseconds.size() / 2], milliseconds.back(),
      static_cast<double>(fs::file_size(writer.path())) / static_cast<double>(tokens));
  fs::remove_all(directory);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Cost of the trajectory log");
  return lie::bench::run_bench(app, argc, argv, [&] {
    measure("256 samples x ~25 tokens", {.groups = 16, .samples = 16, .mean_tokens = 25}, 40);
    measure("256 samples x ~200 tokens", {.groups = 16, .samples = 16, .mean_tokens = 200}, 40);
    measure("1024 samples x ~2000 tokens", {.groups = 128, .samples = 8, .mean_tokens = 2000}, 3);
  });
}

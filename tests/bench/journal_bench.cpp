// Measures the cost of the journal: the milliseconds that learner 0 spends on a step's groups, for
// steps of three sizes.
#include "learner/schedule/journal.h"

#include <fmt/format.h>

#include <filesystem>

#include "common/base/clock.h"
#include "tests/bench/arguments.h"
#include "tests/trajectory/example_steps.h"

namespace {

namespace fs = std::filesystem;

void measure(const char* name, const lie::ExampleShape& shape, std::int64_t steps) {
  const fs::path directory = lie::fresh_directory("bench");
  lie::Journal journal(directory);
  double seconds = 0;
  for (std::int64_t s = 1; s <= steps; ++s) {
    const lie::StepRecord record = lie::example_step(shape, 3 * s + 1);  // does not evaluate
    std::deque<lie::Ticket> none;
    const lie::Timed timed(seconds);
    journal.take_known(s, none);
    for (const lie::GroupRecord& group : record.groups) journal.append(group.scored);
  }
  fmt::print("{:<28} {:.2f} ms a step\n", name, 1e3 * seconds / static_cast<double>(steps));
  fs::remove_all(directory);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Cost of the journal: milliseconds a step");
  return lie::bench::run_bench(app, argc, argv, [&] {
    measure("256 samples x ~25 tokens", {.groups = 16, .samples = 16, .mean_tokens = 25}, 40);
    measure("256 samples x ~200 tokens", {.groups = 16, .samples = 16, .mean_tokens = 200}, 40);
    measure("1024 samples x ~8000 tokens", {.groups = 128, .samples = 8, .mean_tokens = 8000}, 3);
  });
}

// Measures the reading of long logs: writes a run directory, then runs lie_analyze on it.
//
// By default the run has 1,000,000 responses with 100,000,000 tokens in total, in 20 segments. An
// existing directory is not rewritten. Prints wall time, processor time and peak memory of each
// command.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>

#include "common/base/error.h"
#include "tests/bench/arguments.h"
#include "tests/tools/example_run.h"

namespace {

namespace fs = std::filesystem;

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

/// Runs lie_analyze and discards its output.
void measure(const char* what, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), LIE_ANALYZE);
  std::vector<char*> words;
  for (std::string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = ::fork();
  if (child == 0) {
    if (std::freopen("/dev/null", "w", stdout) != nullptr) ::execv(words[0], words.data());
    ::_exit(127);
  }
  int status = 0;
  rusage usage = {};
  if (::wait4(child, &status, 0, &usage) != child || status != 0) lie::fail("{} failed", what);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  fmt::print("{:<18} {:6.2f} s, {:6.2f} s user, {:5.2f} s system, {:5} MiB at most\n", what,
             wall.count(), seconds(usage.ru_utime), seconds(usage.ru_stime),
             usage.ru_maxrss / 1024);
  std::fflush(stdout);
}

/// Returns steps of 256 responses in 16 groups, at least one step per segment.
lie::ExampleRun shape_of(std::int64_t responses, std::int64_t tokens, std::int64_t segments,
                         std::int64_t learners) {
  lie::ExampleRun run{.learners = learners};
  run.steps = std::max(segments, responses / (run.groups * run.samples));
  run.groups = static_cast<std::int32_t>(
      std::max(learners, responses / (run.samples * (run.steps + run.steps / 10 + 1))));
  run.planned = run.steps;
  run.segment_steps = (run.steps + segments - 1) / segments;
  run.first_length = 0.8 * static_cast<double>(tokens) / static_cast<double>(responses);
  run.last_length = 1.2 * run.first_length / 0.8;
  run.longest = 32768;
  return run;
}

void run(const fs::path& directory, const lie::ExampleRun& shape) {
  if (!fs::exists(directory)) lie::write_example_run(directory, shape);
  const std::string name = directory.string();
  measure("table", {name, "--no-html"});
  measure("table and report", {name});
  measure("digest", {"--digest", name});
  fmt::print("report: {} KiB\n", fs::file_size(directory / "report.html") / 1024);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Reading of long logs: writes a run directory, then runs lie_analyze on it");
  std::string directory;
  std::int64_t responses = 1'000'000, tokens = 100'000'000, segments = 20, learners = 1;
  app.add_option("DIRECTORY", directory, "one that exists is read as it is")->required();
  lie::bench::add_count(app, "responses", responses);
  lie::bench::add_count(app, "tokens", tokens);
  lie::bench::add_count(app, "segments", segments);
  lie::bench::add_count(app, "learners", learners);
  return lie::bench::run_bench(
      app, argc, argv, [&] { run(directory, shape_of(responses, tokens, segments, learners)); });
}

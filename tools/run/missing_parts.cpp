#include "tools/run/missing_parts.h"

#include <set>

#include "common/error.h"
#include "common/metrics_log.h"
#include "common/trajectory/run_reader.h"

namespace lie {
namespace {

namespace fs = std::filesystem;
using Steps = std::set<std::int64_t>;

Steps steps_with_metrics(const fs::path& file) {
  Steps steps;
  if (!fs::exists(file)) return steps;
  for (const MetricsRow& row : read_metrics(file)) steps.insert(row.step);
  return steps;
}

Steps steps_with_trajectories(const fs::path& directory) {
  Steps steps;
  const RunReader run(directory);
  for (const SamplePlace& sample : run.samples()) {
    if (sample.key.purpose == static_cast<std::uint8_t>(Purpose::kTrain)) {
      steps.insert(sample.key.step);
    }
  }
  return steps;
}

void note_lack(std::vector<std::string>& notes, const fs::path& part, const Steps& steps,
               std::int64_t last) {
  Steps lacking;
  for (std::int64_t step = 1; step <= last; ++step) {
    if (!steps.contains(step)) lacking.insert(step);
  }
  if (lacking.empty()) return;
  notes.push_back(fmt::format(
      "{} LACKS {} OF {} STEPS, the first is {}, the last {}: what it held of them is lost",
      part.string(), lacking.size(), last, *lacking.begin(), *lacking.rbegin()));
}

}  // namespace

std::vector<std::string> missing_parts(const fs::path& run_directory, std::int64_t step) {
  std::vector<std::string> notes;
  const fs::path metrics = run_directory / "metrics.jsonl";
  const fs::path trajectories = run_directory / "trajectories";
  note_lack(notes, metrics, steps_with_metrics(metrics), step);
  note_lack(notes, trajectories, steps_with_trajectories(trajectories), step);
  return notes;
}

}  // namespace lie

#include "tools/analyze/report/run_facts.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <set>

namespace lie::analyze {
namespace {

constexpr double kSecondsPerHour = 3600;

/// Returns the build that began the run, by its first trajectory file.
std::string first_build(const Run& run) {
  if (!run.trajectories || run.trajectories->segments().empty()) return "";
  return run.trajectories->segments().front().info().build_id;
}

double sum_of(const Curve& curve) {
  double sum = 0;
  for (const auto& [step, value] : curve) sum += value;
  return sum;
}

/// Returns null for an empty text.
Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json without_record(const Run& run) {
  const double seconds = sum_of(run.seconds);
  return {{"command", Json()},
          {"host", Json()},
          {"build_id", text_or_null(first_build(run))},
          {"slurm_job", Json()},
          {"begun", run.begun > 0 ? Json(day(run.begun)) : Json()},
          {"ranks", Json()},
          {"seconds", seconds > 0 ? Json(seconds) : Json()},
          {"status", Json()}};
}

/// Returns the duration of a start, or null if its end is unknown.
Json duration_of(const Run& run, const StartRecord& start, bool is_last) {
  if (start.ended) return *start.ended - start.begun;
  const bool has_progress = is_last && run.is_live && run.last_write > start.begun;
  return has_progress ? Json(run.last_write - start.begun) : Json();
}

/// Returns the values of all steps summed up to the end of each; empty if a step has none.
Curve summed(const Curve& values, const std::set<std::int64_t>& steps) {
  Curve sums;
  double sum = 0;
  for (const std::int64_t step : steps) {
    const auto found = values.find(step);
    if (found == values.end()) {
      if (step != 0) return {};
      sums[step] = 0;  // step 0 only evaluates
      continue;
    }
    sum += found->second;
    sums[step] = sum;
  }
  return sums;
}

std::set<std::int64_t> steps_of(const Run& run) {
  std::set<std::int64_t> steps;
  for (const auto& [metric, curve] : run.curves) {
    for (const auto& [step, value] : curve) steps.insert(step);
  }
  return steps;
}

/// Returns the tokens of each step by its metrics, or else by the logged responses.
Curve tokens_of(const Run& run, const std::set<std::int64_t>& steps) {
  Curve tokens = curve_of(run, "response_tokens"), logged;
  for (std::size_t i = 0; i < run.samples.size(); ++i) {
    if (run.samples.is_training(i)) logged[run.samples.step[i]] += run.samples.tokens[i];
  }
  if (steps.contains(0)) tokens[0] = 0;  // an evaluation is not training
  tokens.merge(logged);                  // keeps the metric where both exist
  return tokens;
}

/// Returns the mean of the runs' sums at the steps that all of them have.
Json mean_line(std::span<const Curve> sums, std::span<const std::int64_t> grid) {
  Json line = Json::array();
  if (std::ranges::any_of(sums, &Curve::empty)) return line;
  for (const auto& [step, first] : sums.front()) {
    if (!grid.empty() && !std::ranges::binary_search(grid, step)) continue;
    double sum = 0;
    const bool all = std::ranges::all_of(sums, [&](const Curve& curve) {
      const auto found = curve.find(step);
      if (found != curve.end()) sum += found->second;
      return found != curve.end();
    });
    if (!all) continue;
    const std::string mean = fmt::format("{:.7g}", sum / static_cast<double>(sums.size()));
    line.push_back({step, std::strtod(mean.c_str(), nullptr)});
  }
  return line;
}

}  // namespace

std::string day(double seconds) {
  return fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

Json starts_of(const Run& run) {
  if (run.starts.empty()) return Json::array({without_record(run)});
  Json starts = Json::array();
  for (std::size_t i = 0; i < run.starts.size(); ++i) {
    const StartRecord& start = run.starts[i];
    starts.push_back({{"command", start.command},
                      {"host", text_or_null(start.host)},
                      {"build_id", text_or_null(start.build_id)},
                      {"slurm_job", text_or_null(start.slurm_job)},
                      {"begun", day(start.begun)},
                      {"ranks", start.ranks},
                      {"seconds", duration_of(run, start, i + 1 == run.starts.size())},
                      {"status", start.ended ? Json(start.status) : Json()}});
  }
  return starts;
}

Json progress_of(const Subject& subject, std::span<const std::int64_t> grid) {
  std::vector<Curve> tokens, hours;
  for (const Run& run : subject.runs) {
    const std::set<std::int64_t> steps = steps_of(run);
    tokens.push_back(summed(tokens_of(run, steps), steps));
    Curve of_run = summed(run.seconds, steps);
    for (auto& [step, sum] : of_run) sum /= kSecondsPerHour;
    hours.push_back(std::move(of_run));
  }
  return {{"tokens", mean_line(tokens, grid)}, {"hours", mean_line(hours, grid)}};
}

}  // namespace lie::analyze

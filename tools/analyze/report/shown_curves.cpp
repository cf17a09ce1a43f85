#include "tools/analyze/report/shown_curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tools/analyze/curves.h"
#include "tools/analyze/table.h"
#include "tools/analyze/trap.h"

namespace lie::analyze {
namespace {

constexpr std::size_t kMostSteps = 600;     // of a curve; more cannot be seen
constexpr std::int64_t kLeastExposed = 20;  // tokens of a bin that has a hazard

using Points = std::vector<CurvePoint>;

std::set<std::string> metrics_of(std::span<const Subject> subjects) {
  std::set<std::string> metrics;
  for (const Subject& subject : subjects) {
    for (const Run& run : subject.runs) {
      for (const auto& [metric, curve] : run.curves) metrics.insert(metric);
    }
  }
  return metrics;
}

/// Returns evenly spaced steps, with the first and the last one; empty if all steps can be shown.
std::vector<std::int64_t> grid_of(std::span<const Subject> subjects) {
  std::set<std::int64_t> steps;
  for (const Subject& subject : subjects) {
    for (const Run& run : subject.runs) {
      for (const auto& [metric, curve] : run.curves) {
        for (const auto& [step, value] : curve) steps.insert(step);
      }
    }
  }
  if (steps.size() <= kMostSteps) return {};
  const std::vector<std::int64_t> all(steps.begin(), steps.end());
  const std::size_t stretches = std::max<std::size_t>(1, kMostSteps / (1 + 2 * subjects.size()));
  std::vector<std::int64_t> grid = evenly_chosen(all, stretches);
  grid.push_back(all.back());
  return grid;
}

/// Adds the steps of the smallest and the largest value between two steps of the grid.
void add_extremes(std::set<std::int64_t>& kept, const Points& points,
                  std::span<const std::int64_t> grid) {
  for (std::size_t i = 0; i + 1 < grid.size(); ++i) {
    const auto begin = std::ranges::lower_bound(points, grid[i], {}, &CurvePoint::step);
    const auto end = std::ranges::lower_bound(points, grid[i + 1], {}, &CurvePoint::step);
    if (begin == end) continue;
    const auto [least, most] = std::ranges::minmax_element(
        begin, end, {}, [](const CurvePoint& p) { return p.value.value; });
    kept.insert({least->step, most->step});
  }
}

/// Returns a number of six digits, which keeps the page small.
double rounded(double value) { return std::stod(fmt::format("{:.6g}", value)); }

Json json_of(const CurvePoint& point) {
  const auto& [value, low, high] = point.value;
  Json json = {point.step, rounded(value)};
  const bool has_interval = low != high && std::isfinite(high - low);
  if (has_interval) json.insert(json.end(), {rounded(low), rounded(high)});
  return json;
}

Json json_of(const Points& points, const std::set<std::int64_t>& kept) {
  Json json = Json::array();
  for (const CurvePoint& point : points) {
    const bool is_kept = kept.empty() || kept.contains(point.step);
    if (is_kept && std::isfinite(point.value.value)) json.push_back(json_of(point));
  }
  return json;
}

/// Returns no interval: neither the tokens of a response nor the responses to a prompt are
/// independent.
Json hazard_line(const LengthStatistics& lengths) {
  Json line = Json::array();
  for (const auto& bin : lengths.bins) {
    if (bin.exposed >= kLeastExposed) line.push_back({bin.position, rounded(bin.hazard())});
  }
  return line;
}

/// Returns the points of a line, many reduced to evenly spaced ones and the last.
Json line_of(const std::vector<std::pair<double, double>>& points) {
  Json line = Json::array();
  for (const auto& [x, y] : evenly_chosen(points, kMostSteps)) line.push_back({x, rounded(y)});
  if (points.size() > kMostSteps)
    line.push_back({points.back().first, rounded(points.back().second)});
  return line;
}

}  // namespace

ShownCurves shown_curves(std::span<const Subject> subjects) {
  ShownCurves shown{.grid = grid_of(subjects), .shares = {}};
  for (std::size_t i = 0; i < subjects.size(); ++i) shown.by_subject.push_back(Json::object());
  for (const std::string& metric : metrics_of(subjects)) {
    std::vector<Points> curves;
    std::set<std::int64_t> kept(shown.grid.begin(), shown.grid.end());
    for (const Subject& subject : subjects) {
      curves.push_back(subject_curve(subject, metric));
      add_extremes(kept, curves.back(), shown.grid);
    }
    for (std::size_t i = 0; i < curves.size(); ++i) {
      shown.by_subject[i][metric] = json_of(curves[i], kept);
    }
    if (is_share(metric)) shown.shares.push_back(metric);
  }
  return shown;
}

Json ends_of(const Subject& subject) {
  Json all = Json::object();
  for (const std::string& metric : metrics_of(std::span(&subject, 1))) {
    const auto [known, start, end, window] = start_and_end(subject, metric);
    if (!known) continue;
    for (const double value : {start.value, end.value, end.low, end.high}) {
      all[metric].push_back(value_text(metric, value));
    }
  }
  return all;
}

Json trap_of(const Subject& subject) {
  const TrapStatistics trap = trap_statistics(subject);
  return {{"hazard", {{"start", hazard_line(trap.start)}, {"end", hazard_line(trap.end)}}},
          {"tail", {{"start", line_of(trap.start.tail)}, {"end", line_of(trap.end.tail)}}},
          {"correlation", short_number(trap.correlation)},
          {"length_and_coverage", line_of(length_and_coverage(subject, 500))}};
}

}  // namespace lie::analyze

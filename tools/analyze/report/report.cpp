#include "tools/analyze/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "common/base/clock.h"
#include "common/base/identity.h"
#include "learner/record/evaluation_metrics.h"
#include "tools/analyze/curves.h"
#include "tools/analyze/report/evaluation_rows.h"
#include "tools/analyze/report/page.h"
#include "tools/analyze/report/run_facts.h"
#include "tools/analyze/report/shown_responses.h"
#include "tools/analyze/run.h"
#include "tools/analyze/statistics.h"
#include "tools/analyze/table.h"

namespace lie::analyze {

namespace {

constexpr std::size_t kMostSteps = 600;      // of a curve; more cannot be seen
constexpr std::size_t kMostResponses = 400;  // of all subjects, which bounds the size of the page
constexpr std::int64_t kLeastExposed = 20;   // tokens of a bin that has a hazard

using Points = std::vector<CurvePoint>;

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
double rounded(double value) {
  return std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr);  // stod refuses subnormal ones
}

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
  for (const std::string& metric : metric_names(subjects)) {
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
  for (const std::string& metric : metric_names(std::span(&subject, 1))) {
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

namespace {

/// Returns what distinguishes a run: model, data and coverage settings.
Json details_of(const Run& run) {
  Json details = Json::array();
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) details.push_back(name + value);
  };
  add("model ", setting_of(run, "model.path"));
  add("data ", setting_of(run, "data.train_file", "sft.data"));
  add("prompts ", setting_of(run, "data.evaluation_file", "eval.file"));
  const std::string n = setting_of(run, "reward.coverage.ngram");
  if (!n.empty()) add("C_context of n = ", n + " " + setting_of(run, "reward.coverage.unit"));
  return details;
}

/// Returns the steps after which the settings of a run changed.
Json changes_of(const Run& run) {
  Json steps = Json::array();
  for (const ConfigChange& change : run.changes) steps.push_back(change.after_step);
  return steps;
}

Json runs_of(const Subject& subject) {
  Json runs = Json::array();
  for (const Run& run : subject.runs) {
    runs.push_back({{"directory", run.directory.string()},
                    {"state", run.state},
                    {"is_live", run.is_live},
                    {"starts", starts_of(run)},
                    {"details", details_of(run)},
                    {"changes", changes_of(run)},
                    {"notes", run.notes}});
  }
  return runs;
}

/// Returns the value of a setting in a subject's runs, or all values if they differ.
std::string setting_text(const Subject& subject, const std::string& key) {
  std::string text;
  std::set<std::string> seen;
  for (const Run& run : subject.runs) {
    const std::string value = setting_of(run, key);
    if (seen.insert(value).second) text += (text.empty() ? "" : " | ") + value;
  }
  return text;
}

Json settings_of(const Subject& subject) {
  Json settings = Json::array();
  std::set<std::string> known;
  for (const Run& run : subject.runs) {
    for (const auto& [key, value] : run.settings) {
      if (known.insert(key).second) settings.push_back({key, setting_text(subject, key)});
    }
  }
  return settings;
}

Json named_metrics(std::span<const Subject> subjects) {
  Json sources = Json::array(), verdicts = Json::array(), rewards = Json::array();
  for (const std::string& source : evaluation_sources(subjects)) {
    sources.push_back({{"name", source}, {"metric", source_accuracy(source)}});
  }
  for (const auto& [metric, words] : verdict_lines()) {
    verdicts.push_back({{"name", words}, {"metric", metric}});
  }
  for (const auto& [name, about] : reward_names(subjects)) {
    rewards.push_back({{"name", name}, {"about", about}});
  }
  return {{"source_mean", kSourceMean},
          {"sources", sources},
          {"verdicts", verdicts},
          {"rewards", rewards},
          {"numbers", number_names(subjects)},
          {"ngrams", metric_ngrams(subjects)}};
}

}  // namespace

Json report_data(std::span<const Subject> subjects, const ReportOptions& options) {
  const std::size_t responses = options.responses;
  const ShownCurves curves = shown_curves(subjects);
  const std::vector<Decoder> decoders = decoders_of(subjects);
  Json data = named_metrics(subjects);
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    const Subject& subject = subjects[i];
    const Run& first = subject.runs.front();
    data["subjects"].push_back({{"name", subject.name},
                                {"last_step", first.last_step},
                                {"runs", runs_of(subject)},
                                {"progress", progress_of(subject, curves.grid)},
                                {"settings", settings_of(subject)},
                                {"curves", curves.by_subject.at(i)},
                                {"ends", ends_of(subject)},
                                {"trap", trap_of(subject)},
                                {"responses", shown_responses(first, decoders[i], responses,
                                                              kMostResponses / subjects.size())}});
    data["subjects"].back().update(evaluation_of(subject));
  }
  data["grid"] = curves.grid.empty() ? Json() : Json(curves.grid);
  data["shares"] = curves.shares;
  data["train"] = shown_pairs(subjects, decoders, Purpose::kTrain, responses);
  data["evaluate"] = shown_pairs(subjects, decoders, Purpose::kEvaluate, responses);
  data["made"] = day(unix_seconds());
  data["refresh"] = options.refresh_seconds > 0 ? Json(options.refresh_seconds) : Json();
  data["build_id"] = build_id();
  return data;
}

std::string html_report(std::span<const Subject> subjects, const ReportOptions& options) {
  return page(report_data(subjects, options));
}

}  // namespace lie::analyze

#include "tools/analyze/report/report.h"

#include <fmt/chrono.h>

#include <set>

#include "common/base/build_id.h"
#include "common/base/clock.h"
#include "common/base/error.h"
#include "learner/record/evaluation_metrics.h"
#include "tools/analyze/coverage_metrics.h"
#include "tools/analyze/derived_curves.h"
#include "tools/analyze/report/page.h"
#include "tools/analyze/report/shown_curves.h"
#include "tools/analyze/report/shown_responses.h"
#include "tools/analyze/table.h"
#include "tools/statistics/estimate_json.h"

namespace lie::analyze {
namespace {

namespace fs = std::filesystem;

std::string day(double seconds) {
  return fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

/// Returns what distinguishes a run: start time, model, data, coverage settings and program
/// version.
Json details_of(const Run& run) {
  Json details = Json::array();
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) details.push_back(name + value);
  };
  if (run.begun > 0) add("begun ", day(run.begun));
  add("model ", setting_of(run, "model.path"));
  add("data ", setting_of(run, "data.train_file", "sft.data"));
  add("prompts ", setting_of(run, "data.evaluation_file", "eval.file"));
  const std::string n = setting_of(run, "reward.coverage.ngram");
  if (!n.empty()) add("C_context of n = ", n + " " + setting_of(run, "reward.coverage.unit"));
  if (run.trajectories && !run.trajectories->segments().empty()) {
    add("lie_cluster ", run.trajectories->segments().front().info().build_id);
  }
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

/// Throws if a row of table.json lacks what the page shows.
void check_row(const Json& row) {
  row.at("data_source").get<std::string>();
  row.at("problems").get<std::int64_t>();
  row.at("samples").get<std::int64_t>();
  row.at("average").get<Estimate>();
  for (const char* curve : {"pass", "majority", "budgets"}) {
    for (const auto& [at, estimate] : row.at(curve).items()) estimate.get<Estimate>();
  }
}

/// Returns the estimates of `lie_cluster eval` in a directory, or none if it has no table.json.
Json evaluation_of(const fs::path& directory) {
  const fs::path path = directory / "table.json";
  if (!fs::exists(path)) return Json::array();
  const Json table = read_json(path);
  try {
    for (const Json& row : table.at("rows")) check_row(row);
    return table.at("rows");
  } catch (const std::exception& error) {
    fail("{}: not a table of lie_cluster eval ({}); run eval again", path.string(), error.what());
  }
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

Json report_data(std::span<const Subject> subjects, std::size_t responses) {
  const ShownCurves curves = shown_curves(subjects);
  const std::vector<Decoder> decoders = decoders_of(subjects);
  Json data = named_metrics(subjects);
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    const Subject& subject = subjects[i];
    const Run& first = subject.runs.front();
    data["subjects"].push_back({{"name", subject.name},
                                {"last_step", first.last_step},
                                {"runs", runs_of(subject)},
                                {"settings", settings_of(subject)},
                                {"curves", curves.by_subject.at(i)},
                                {"ends", ends_of(subject)},
                                {"trap", trap_of(subject)},
                                {"evaluation", evaluation_of(first.directory)},
                                {"responses", shown_responses(first, decoders[i], responses)}});
  }
  data["grid"] = curves.grid.empty() ? Json() : Json(curves.grid);
  data["shares"] = curves.shares;
  data["train"] = shown_pairs(subjects, decoders, Purpose::kTrain, responses);
  data["evaluate"] = shown_pairs(subjects, decoders, Purpose::kEvaluate, responses);
  data["made"] = day(unix_seconds());
  data["build_id"] = build_id();
  return data;
}

std::string html_report(std::span<const Subject> subjects, std::size_t responses) {
  return page(report_data(subjects, responses));
}

}  // namespace lie::analyze

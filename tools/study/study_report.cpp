#include "tools/study/study_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/analyze/table.h"

namespace lie::study {
namespace {

using analyze::short_number, nlohmann::ordered_json;

struct Column {
  const char* metric;
  const char* head;
};

constexpr Column kColumns[] = {{"eval_response_length_mean", "length"},
                               {"eval_c_context_mean", "C_context"},
                               {"eval_r_context_mean", "R_context"},
                               {"eval_truncation_rate", "truncated"},
                               {"wrong_beyond_right_share", "wrong beyond right"}};

/// What is in the JSON besides.
constexpr const char* kFurtherMetrics[] = {
    "step_seconds",       "generate_seconds", "update_seconds",      "idle_share_actor",
    "idle_share_learner", "staleness_mean",   "mixed_version_share", "effective_sample_share"};

constexpr const char* kNone = "-";

/// One value has no interval.
std::string interval_text(const Estimate& estimate, bool with_sign = false) {
  const char* number = with_sign ? "{:+.3f}" : "{:.3f}";
  const auto text = [&](double value) { return fmt::format(fmt::runtime(number), value); };
  if (estimate.low == estimate.high) return text(estimate.value);
  return fmt::format("{} [{}, {}]", text(estimate.value), text(estimate.low), text(estimate.high));
}

std::string aligned(const std::vector<std::vector<std::string>>& lines) {
  std::vector<std::size_t> widths(lines.front().size(), 0);
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string text;
  for (const auto& line : lines) {
    for (std::size_t i = 0; i + 1 < line.size(); ++i) {
      text += "  " + line[i] + std::string(widths[i] - line[i].size(), ' ');
    }
    text += "  " + line.back() + "\n";
  }
  return text;
}

ordered_json estimate_json(const Estimate& estimate) {
  return {{"mean", estimate.value}, {"low", estimate.low}, {"high", estimate.high}};
}

ordered_json row_json(const Study& study, const RowResult& result) {
  const std::vector<double> accuracies = final_accuracies(result);
  ordered_json json = {{"name", result.row.name},
                       {"table", result.row.table},
                       {"paper", result.row.paper},
                       {"against", result.row.against},
                       {"seeds", result.seeds},
                       {"eval_accuracy_by_seed", accuracies},
                       {"eval_accuracy", estimate_json(final_accuracy(result))}};
  const auto add = [&](const char* metric) {
    if (const auto value = final_mean(result, metric)) json[metric] = estimate_json(*value);
  };
  for (const auto& [metric, head] : kColumns) add(metric);
  for (const char* metric : kFurtherMetrics) add(metric);
  if (const auto difference = paired_difference(study, result)) {
    json["difference"] = estimate_json(difference->mean);
    json["difference"]["pairs"] = difference->pairs;
    json["difference"]["above"] = difference->above;
  }
  return json;
}

}  // namespace

std::vector<std::string> column_heads() {
  std::vector<std::string> heads = {"row",           "paper",      "seeds",      "accuracy",
                                    "least to most", "difference", "pairs above"};
  for (const Column& column : kColumns) heads.emplace_back(column.head);
  return heads;
}

std::vector<std::string> row_cells(const Study& study, const RowResult& result) {
  const std::vector<double> accuracies = final_accuracies(result);
  const auto [least, most] = std::ranges::minmax(accuracies);
  std::vector<std::string> cells = {
      result.row.name, result.row.paper, std::to_string(result.seeds.size()),
      interval_text(final_accuracy(result)), fmt::format("{:.3f} to {:.3f}", least, most)};
  if (const auto difference = paired_difference(study, result)) {
    cells.push_back(interval_text(difference->mean, true));
    cells.push_back(
        fmt::format("{} of {}, {}", difference->above, difference->pairs, result.row.against));
  } else {
    cells.insert(cells.end(), 2, kNone);
  }
  for (const auto& [metric, head] : kColumns) {
    const auto value = final_mean(result, metric);
    cells.push_back(value ? short_number(value->value) : kNone);
  }
  return cells;
}

std::string study_text(const Study& study) {
  std::string text;
  for (const Table& table : tables_of(study)) {
    std::vector<std::vector<std::string>> lines = {column_heads()};
    for (const RowResult* result : table.rows) lines.push_back(row_cells(study, *result));
    text += table.title + "\n" + aligned(lines) + "\n";
  }
  for (const std::string& note : study.notes) text += "note: " + note + "\n";
  return text.empty() ? "no run yet\n" : text;
}

std::string study_json(const Study& study) {
  ordered_json json = {{"rows", ordered_json::array()}, {"notes", study.notes}};
  for (const RowResult& result : study.rows) {
    if (!result.seeds.empty()) json["rows"].push_back(row_json(study, result));
  }
  return json.dump(1) + "\n";
}

}  // namespace lie::study

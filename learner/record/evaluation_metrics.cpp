#include "learner/record/evaluation_metrics.h"

#include <fmt/format.h>

#include <numeric>
#include <set>
#include <utility>

#include "common/io/json_lines.h"
#include "common/text/printable.h"
#include "common/text/scan.h"
#include "learner/record/response_rows.h"

namespace lie {
namespace {

using RowsBySource = std::map<std::string, std::vector<ResponseRow>>;

/// Returns whether the bytes beyond ASCII are visible characters in UTF-8.
bool is_readable(const std::string& name) {
  return json_quoted(name) == '"' + name + '"' && printable(name) == name;
}

std::string sanitized(std::string_view source) {
  const auto replaced = [source](bool keeps_utf8) {
    std::string name(source.empty() ? "unnamed" : source);
    for (char& c : name) {
      const bool is_ascii = static_cast<unsigned char>(c) < 0x80;
      const bool is_kept = is_ascii ? is_letter_or_digit(c) || c == '-' || c == '.' : keeps_utf8;
      if (!is_kept) c = '_';
    }
    return name;
  };
  std::string name = replaced(/*keeps_utf8=*/true);
  return is_readable(name) ? name : replaced(/*keeps_utf8=*/false);
}

const std::string& source_of(const ScoredGroup& group) {
  return group.rollout.ticket.prompt.data_source;
}

/// Adds the mean of each program number over the sources that have it, such as
/// eval_correct_at_4096_source_mean.
void add_number_means(MetricsWriter& out, const RowsBySource& by_source) {
  std::map<std::string, std::vector<double>> means;
  for (const auto& [source, own] : by_source) {
    for (const auto& [name, mean] : number_means(own)) means[name].push_back(mean);
  }
  for (const auto& [name, of_sources] : means) {
    const double sum = std::accumulate(of_sources.begin(), of_sources.end(), 0.0);
    out.add("eval_" + name + "_source_mean", sum / static_cast<double>(of_sources.size()));
  }
}

void add_sources(MetricsWriter& out, std::span<const ResponseRow> rows,
                 const std::map<std::string, std::string>& names) {
  RowsBySource by_source;
  for (const ResponseRow& row : rows) by_source[source_of(*row.group)].push_back(row);
  double sum = 0;
  for (const auto& [source, own] : by_source) sum += mean_of(own, accuracy_of);
  out.add(std::string(kSourceMean), sum / static_cast<double>(by_source.size()));
  add_number_means(out, by_source);
  for (const auto& [source, own] : by_source) {
    const std::string end = std::string(kOnSource) + names.at(source);
    add_mean(out, "eval_accuracy" + end, own, accuracy_of);
    add_mean(out, "eval_response_length_mean" + end, own, length_of);
    add_mean(out, "eval_truncation_rate" + end, own, truncation_of);
    add_numbers(out, own, "eval_", end);
  }
}

/// Returns a group of one empty response with this score.
ScoredGroup placeholder(const Prompt& prompt, const Score& score) {
  ScoredGroup group;
  group.rollout.ticket.prompt.data_source = prompt.data_source;
  group.rollout.responses.resize(1);
  group.scores = {score};
  return group;
}

}  // namespace

void add_evaluation_metrics(MetricsWriter& out, std::span<const ScoredGroup> evaluation) {
  const std::vector<ResponseRow> rows = rows_of(evaluation);
  add_mean(out, "eval_accuracy", rows, accuracy_of);
  add_mean(out, "eval_response_length_mean", rows, length_of);
  add_mean(out, "eval_c_context_mean", rows, c_context_of);
  add_mean(out, "eval_r_context_mean", rows, r_context_of);
  add_numbers(out, rows, "eval_");
  add_mean(out, "eval_truncation_rate", rows, truncation_of);
  const std::map<std::string, std::string> sources = source_names(evaluation);
  if (sources.size() > 1) add_sources(out, rows, sources);
}

std::vector<std::string> evaluation_metric_names(std::span<const Prompt> prompts,
                                                 const Score& example) {
  std::vector<ScoredGroup> groups;
  for (const Prompt& prompt : prompts) groups.push_back(placeholder(prompt, example));
  MetricsWriter out;
  add_evaluation_metrics(out, groups);
  std::vector<std::string> names;
  for (auto& [name, value] : out.take()) names.push_back(std::move(name));
  return names;
}

std::map<std::string, std::string> source_names(std::span<const ScoredGroup> groups) {
  std::set<std::string> sources, taken;
  for (const ScoredGroup& group : groups) sources.insert(source_of(group));
  std::map<std::string, std::string> names;
  for (const std::string& source : sources) {
    const std::string plain = sanitized(source);
    std::string name = plain;
    for (int k = 2; !taken.insert(name).second; ++k) name = fmt::format("{}_{}", plain, k);
    names.emplace(source, std::move(name));
  }
  return names;
}

}  // namespace lie

#include "learner/record/metrics.h"

#include <algorithm>
#include <iterator>

namespace lie {

std::vector<ResponseRow> rows_of(std::span<const ScoredGroup> groups) {
  std::vector<ResponseRow> rows;
  for (const ScoredGroup& group : groups) {
    for (std::size_t i = 0; i < group.rollout.responses.size(); ++i) {
      rows.push_back({&group, &group.rollout.responses[i], &group.scores[i]});
    }
  }
  return rows;
}

double length_of(const ResponseRow& row) { return static_cast<double>(row.response->ids.size()); }

double c_context_of(const ResponseRow& row) {
  return static_cast<double>(row.score->coverage.distinct_ngrams);
}

double r_context_of(const ResponseRow& row) { return row.score->coverage.ratio(); }

double accuracy_of(const ResponseRow& row) {
  return row.score->verdict == VerdictCode::kEqual ? 1.0 : 0.0;
}

double truncation_of(const ResponseRow& row) {
  return row.response->finish == FinishReason::kLength ? 1.0 : 0.0;
}

double mean_of(std::span<const ResponseRow> rows, const Quantity& quantity) {
  double sum = 0;
  for (const ResponseRow& row : rows) sum += quantity(row);
  return sum / static_cast<double>(rows.size());
}

void add_mean(MetricsWriter& out, std::string name, std::span<const ResponseRow> rows,
              const Quantity& quantity) {
  out.add(std::move(name), mean_of(rows, quantity));
}

std::map<std::string, double> number_means(std::span<const ResponseRow> rows) {
  std::map<std::string, std::pair<double, double>> sums;  // (sum, count)
  for (const ResponseRow& row : rows) {
    for (const auto& [name, value] : row.score->numbers) {
      auto& [sum, count] = sums[name];
      sum += value, count += 1;
    }
  }
  std::map<std::string, double> means;
  for (const auto& [name, sum] : sums) means[name] = sum.first / sum.second;
  return means;
}

void add_numbers(MetricsWriter& out, std::span<const ResponseRow> rows, const std::string& prefix,
                 const std::string& end) {
  for (const auto& [name, mean] : number_means(rows)) out.add(prefix + name + "_mean" + end, mean);
}

namespace {

/// A pattern is a name, or a prefix or suffix marked by "*".
struct Rule {
  std::string_view pattern, group;
};

/// The first matching rule applies.
constexpr Rule kRules[] = {
    {"eval_*", "evaluation"},
    {"accuracy", "reward"},
    {"reward_*", "reward"},
    {"verdict_*", "reward"},
    {"wrong_beyond_*", "reward"},
    {"advantage_*", "advantage"},
    {"groups_*", "advantage"},
    {"c_context_*", "coverage"},
    {"r_context_*", "coverage"},
    {"c_global*", "coverage"},
    {"r_global*", "coverage"},
    {"largest_repeat_mean", "coverage"},
    {"length_c_context_correlation", "coverage"},
    {"response_*", "rollout"},
    {"prompt_*", "rollout"},
    {"truncation_rate", "rollout"},
    {"staleness_mean", "rollout"},
    {"staleness_max", "rollout"},
    {"mixed_version_share", "rollout"},
    {"drawn_*", "rollout"},
    {"*_seconds", "time"},
    {"idle_share_*", "time"},
    {"tokens_per_second", "time"},
    {"*loss", "update"},
    {"grad_norm*", "update"},
    {"learning_rate", "update"},
    {"*updates", "update"},
    {"masked_responses", "update"},
    {"settings_changes", "update"},
    {"entropy_*", "policy"},
    {"clip_fraction*", "policy"},
    {"importance_ratio_*", "policy"},
    {"tis_*", "policy"},
    {"approx_kl*", "policy"},
    {"reference_kl", "policy"},
    {"first_minibatch_*", "policy"},
    {"effective_sample_share", "policy"},
    {"log_prob_difference_*", "policy"},
};

bool matches(std::string_view pattern, std::string_view metric) {
  if (pattern.starts_with('*')) return metric.ends_with(pattern.substr(1));
  if (pattern.ends_with('*')) return metric.starts_with(pattern.substr(0, pattern.size() - 1));
  return metric == pattern;
}

}  // namespace

std::string tensorboard_tag(std::string_view metric) {
  const auto rule = std::ranges::find_if(
      kRules, [metric](const Rule& candidate) { return matches(candidate.pattern, metric); });
  std::string tag(rule == std::end(kRules) ? kFurtherNumbers : rule->group);
  return tag.append("/").append(metric);
}

}  // namespace lie

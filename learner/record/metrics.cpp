#include "learner/record/metrics.h"

#include <algorithm>
#include <array>
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

/// A group and its patterns. A pattern is a name, or a prefix or suffix marked by "*".
struct Group {
  std::string_view name;
  std::array<std::string_view, 9> patterns;
};

/// The first group with a matching pattern applies.
constexpr Group kGroups[] = {
    {"evaluation", {"eval_*"}},
    {"reward", {"accuracy", "reward_*", "verdict_*", "wrong_beyond_*"}},
    {"advantage", {"advantage_*", "groups_*"}},
    {"coverage",
     {"c_context_*", "r_context_*", "c_global*", "r_global*", "largest_repeat_mean",
      "length_c_context_correlation"}},
    {"rollout",
     {"response_*", "prompt_*", "truncation_rate", "staleness_mean", "staleness_max",
      "mixed_version_share", "drawn_*"}},
    {"time", {"*_seconds", "idle_share_*", "tokens_per_second"}},
    {"update",
     {"*loss", "grad_norm*", "learning_rate", "*updates", "masked_responses", "settings_changes"}},
    {"policy",
     {"entropy_*", "clip_fraction*", "importance_ratio_*", "tis_*", "approx_kl*", "reference_kl",
      "first_minibatch_*", "effective_sample_share", "log_prob_difference_*"}},
};

bool matches(std::string_view pattern, std::string_view metric) {
  if (pattern.starts_with('*')) return metric.ends_with(pattern.substr(1));
  if (pattern.ends_with('*')) return metric.starts_with(pattern.substr(0, pattern.size() - 1));
  return metric == pattern;
}

}  // namespace

std::string tensorboard_tag(std::string_view metric) {
  const auto group = std::ranges::find_if(kGroups, [metric](const Group& candidate) {
    return std::ranges::any_of(candidate.patterns,
                               [metric](auto pattern) { return matches(pattern, metric); });
  });
  std::string tag(group == std::end(kGroups) ? kFurtherNumbers : group->name);
  return tag.append("/").append(metric);
}

}  // namespace lie

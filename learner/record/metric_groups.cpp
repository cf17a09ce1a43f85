#include "learner/record/metric_groups.h"

#include <algorithm>
#include <iterator>

namespace lie {
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

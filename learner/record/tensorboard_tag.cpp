#include "learner/record/tensorboard_tag.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "learner/loss/token_rule/token_rules.h"

namespace lie {

namespace {

/// A group and its patterns. A pattern is a name, or a prefix or suffix marked by "*".
struct Group {
  std::string_view name;
  std::array<std::string_view, 10> patterns;
};

/// The first group with a matching pattern applies.
constexpr Group kGroups[] = {
    {"evaluation", {"eval_*"}},
    {"reward", {"accuracy", "reward_*", "verdict_*", "incorrect_beyond_*", "length_accuracy_*"}},
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
      "first_minibatch_*", "effective_sample_share", "log_prob_difference_*",
      "off_policy_mask_share"}},
};

bool matches(std::string_view pattern, std::string_view metric) {
  if (pattern.starts_with('*')) return metric.ends_with(pattern.substr(1));
  if (pattern.ends_with('*')) return metric.starts_with(pattern.substr(0, pattern.size() - 1));
  return metric == pattern;
}

/// Returns whether this is the share of tokens that a token rule selects.
bool is_of_token_rule(std::string_view metric) {
  return std::ranges::any_of(rule_names(), [metric](std::string_view rule) {
    return metric.size() == rule.size() + 6 && metric.starts_with(rule) &&
           metric.ends_with("_share");
  });
}

}  // namespace

std::string tensorboard_tag(std::string_view metric) {
  if (is_of_token_rule(metric)) return std::string("policy/").append(metric);
  const auto group = std::ranges::find_if(kGroups, [metric](const Group& candidate) {
    return std::ranges::any_of(candidate.patterns,
                               [metric](auto pattern) { return matches(pattern, metric); });
  });
  std::string tag(group == std::end(kGroups) ? kFurtherNumbers : group->name);
  return tag.append("/").append(metric);
}

}  // namespace lie

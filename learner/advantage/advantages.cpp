#include "learner/advantage/advantages.h"

#include <fmt/format.h>

#include "common/base/error.h"

namespace lie {
namespace {

template <typename Options, typename Visit>
void for_each_estimator(Options& options, const Visit& visit) {
  std::apply([&](auto&... estimator) { (visit(estimator), ...); }, options.estimators);
}

/// Calls visit(options of the estimator) for the chosen one.
template <typename Options, typename Visit>
void visit_chosen(Options& options, const Visit& visit) {
  for_each_estimator(options, [&](auto& estimator) {
    if (options.estimator == estimator.kName) visit(estimator);
  });
}

template <typename Options>
std::int64_t least_group_of(const Options& options) {
  if constexpr (requires { least_group(options); }) {
    return least_group(options);
  } else if constexpr (requires { options.kLeastGroup; }) {
    return options.kLeastGroup;
  }
  return 1;
}

}  // namespace

void describe(FieldList& fields, AdvantageOptions& options) {
  std::vector<std::string> names;
  std::string about;
  for_each_estimator(options, [&](const auto& estimator) {
    names.emplace_back(estimator.kName);
    about += fmt::format(" {}: {}.", estimator.kName, estimator.kAbout);
  });
  fields.add_one_of("estimator", options.estimator, names,
                    {"How advantages follow from the rewards of a step." + about});
  for_each_estimator(options, [&](auto& estimator) { add_entry(fields, estimator); });
}

void check_options(const AdvantageOptions& options) {
  visit_chosen(options, [](const auto& chosen) {
    if constexpr (requires { check_options(chosen); }) check_options(chosen);
  });
}

void check_group_size(const AdvantageOptions& options, std::int64_t samples_per_prompt) {
  visit_chosen(options, [&](const auto& chosen) {
    const std::int64_t least = least_group_of(chosen);
    if (samples_per_prompt >= least) return;
    fail(
        "rollout.samples_per_prompt is {}, but advantage.estimator {} compares at least {} "
        "responses to a prompt; set samples_per_prompt to {} or more, or another estimator",
        samples_per_prompt, chosen.kName, least, least);
  });
}

bool compares_groups(const AdvantageOptions& options) {
  bool compares = false;
  visit_chosen(options, [&](const auto& chosen) {
    if constexpr (requires { compares_groups(chosen); }) compares = compares_groups(chosen);
  });
  return compares;
}

bool normalizes_terms(const AdvantageOptions& options) {
  bool normalizes = false;
  visit_chosen(options, [&](const auto& chosen) {
    if constexpr (requires { normalizes_terms(chosen); }) normalizes = normalizes_terms(chosen);
  });
  return normalizes;
}

std::string silent_groups(const AdvantageOptions& options, bool by_reward) {
  std::string groups;
  visit_chosen(options, [&](const auto& chosen) {
    if constexpr (requires { silent_groups(chosen, by_reward); }) {
      groups = silent_groups(chosen, by_reward);
    }
  });
  return groups;
}

std::vector<std::string> idle_keys(const AdvantageOptions& options) {
  AdvantageOptions found = options, usual;
  FieldList fields, defaults;
  for_each_estimator(found, [&](auto& estimator) {
    if (options.estimator == estimator.kName) return;
    add_entry(fields, estimator);
    add_entry(defaults, usual.of<std::decay_t<decltype(estimator)>>());
  });
  return differing_keys(fields, defaults);
}

void set_reward_terms(AdvantageOptions& options, const RewardNames& terms) {
  visit_chosen(options, [&](auto& chosen) {
    if constexpr (requires { set_reward_terms(chosen, terms); }) set_reward_terms(chosen, terms);
  });
}

void check_reward_terms(const AdvantageOptions& options, std::span<const std::string> terms_on) {
  visit_chosen(options, [&](const auto& chosen) {
    if constexpr (requires { check_reward_terms(chosen, terms_on); }) {
      check_reward_terms(chosen, terms_on);
    }
  });
}

std::string wanted_aggregation(const AdvantageOptions& options) {
  std::string wanted;
  visit_chosen(options, [&](const auto& chosen) {
    if constexpr (requires { chosen.kAggregation; }) wanted = chosen.kAggregation;
  });
  return wanted;
}

std::vector<GroupAdvantages> step_advantages(std::span<const ScoredGroup> groups,
                                             const AdvantageOptions& options) {
  std::vector<GroupAdvantages> result;
  visit_chosen(options, [&](const auto& chosen) { result = estimated_advantages(chosen, groups); });
  return result;
}

}  // namespace lie

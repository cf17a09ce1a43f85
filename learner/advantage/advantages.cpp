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
template <typename Visit>
void visit_chosen(const AdvantageOptions& options, const Visit& visit) {
  for_each_estimator(options, [&](const auto& estimator) {
    if (options.estimator == estimator.kName) visit(estimator);
  });
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
  for_each_estimator(options, [&](auto& estimator) {
    if constexpr (requires { estimator.kHasSection; }) {
      describe(fields, estimator);
    } else {
      fields.section(estimator.kName, estimator);
    }
  });
}

void check_options(const AdvantageOptions& options) {
  visit_chosen(options, [](const auto& chosen) {
    if constexpr (requires { check_options(chosen); }) check_options(chosen);
  });
}

void check_group_size(const AdvantageOptions& options, std::int64_t samples_per_prompt) {
  visit_chosen(options, [&](const auto& chosen) {
    if constexpr (requires { chosen.kLeastGroup; }) {
      if (samples_per_prompt >= chosen.kLeastGroup) return;
      fail(
          "rollout.samples_per_prompt is {}, but advantage.estimator {} compares at least {} "
          "responses to a prompt; set samples_per_prompt to {} or more, or another estimator",
          samples_per_prompt, chosen.kName, chosen.kLeastGroup, chosen.kLeastGroup);
    }
  });
}

std::vector<GroupAdvantages> step_advantages(std::span<const ScoredGroup> groups,
                                             const AdvantageOptions& options) {
  std::vector<GroupAdvantages> result;
  visit_chosen(options, [&](const auto& chosen) { result = estimated_advantages(chosen, groups); });
  return result;
}

}  // namespace lie

// The list of advantage estimators, and the choice of one of them. To add an estimator, write a
// pair of files and add a line to this list. Config keys follow from it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "common/config/options.h"
#include "common/rollout/rollout.h"
#include "learner/advantage/advantage.h"
#include "learner/advantage/batch_normalized.h"
#include "learner/advantage/gdpo.h"
#include "learner/advantage/group_relative.h"
#include "learner/advantage/length_weighted.h"
#include "learner/advantage/maxrl.h"
#include "learner/advantage/pass_at_k.h"
#include "learner/advantage/vl_norm.h"

namespace lie {

/// The options of each estimator. A type of the list has these members and functions:
/// - kName: its value of advantage.estimator, and its config section within advantage
/// - kAbout: its formula in a few words, for --help
/// - describe()
/// - estimated_advantages(options, groups): the advantages of all groups of a step, which may
///   depend on each other
/// - kHasSection = false, if its keys are in advantage itself
/// - check_options(options), if options can contradict each other
/// - kLeastGroup or least_group(options), if it is not defined for smaller groups
/// - compares_groups(options), whether a group of one response has a baseline; absent: no
/// - normalizes_terms(options), whether it normalizes each reward term by itself; absent: no
/// - silent_groups(options, by_reward), if dynamic sampling keeps groups that it gives no advantage
/// - kAggregation, the policy_loss.aggregation that it is meant for
/// - set_reward_terms(options, names), if options name reward terms
/// - check_reward_terms(options, names), if it is not defined for all terms that may be on
using AdvantageEstimatorList =
    std::tuple<GroupRelativeOptions, GdpoOptions, MaxRlOptions, PassAtKOptions,
               BatchNormalizedOptions, LengthWeightedOptions, VlNormOptions>;

struct AdvantageOptions {
  std::string estimator = GroupRelativeOptions::kName;
  AdvantageEstimatorList estimators = {};

  template <typename Options>
  Options& of() {
    return std::get<Options>(estimators);
  }
};

void describe(FieldList& fields, AdvantageOptions& options);

/// Throws Error if the options of the chosen estimator contradict each other.
void check_options(const AdvantageOptions& options);

/// Throws Error if the chosen estimator is not defined for groups of this size.
void check_group_size(const AdvantageOptions& options, std::int64_t samples_per_prompt);

/// Returns whether the chosen estimator compares a response with those to other prompts.
bool compares_groups(const AdvantageOptions& options);

/// Returns whether the chosen estimator normalizes each reward term by itself, before the terms are
/// added.
bool normalizes_terms(const AdvantageOptions& options);

/// Returns which groups get no advantage by the chosen estimator although dynamic sampling keeps
/// them, selected by reward or else by verdict, and the remedy: "groups without ...: set ...".
/// Empty: none.
std::string silent_groups(const AdvantageOptions& options, bool by_reward);

/// Returns the keys of estimators that are not chosen which differ from their defaults, and so have
/// no effect: "leave_one_out", "pass_at_k.k".
std::vector<std::string> idle_keys(const AdvantageOptions& options);

/// Passes the reward terms of the run to the chosen estimator, in the order of Score::rewards. It
/// must precede step_advantages(). Throws Error if options name another term.
void set_reward_terms(AdvantageOptions& options, const RewardNames& terms);

/// Throws Error if the chosen estimator would ignore one of the terms that are on, or names one
/// that is not. The first of them is the accuracy.
void check_reward_terms(const AdvantageOptions& options, std::span<const std::string> terms_on);

/// Returns the value of policy_loss.aggregation that the chosen estimator is meant for; empty: any.
std::string wanted_aggregation(const AdvantageOptions& options);

/// Returns the advantages of a step's groups by the chosen estimator, in their order.
std::vector<GroupAdvantages> step_advantages(std::span<const ScoredGroup> groups,
                                             const AdvantageOptions& options);

}  // namespace lie

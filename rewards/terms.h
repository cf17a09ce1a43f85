// The list of reward terms: R = R_acc + R_len + R_red (arXiv:2602.11748), and the terms of
// ablations and DAPO. To add a term, write a pair of files and add a line to this list. Config
// keys, log columns, metrics and reports follow from it.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "common/config/options.h"
#include "common/rollout/rollout.h"
#include "rewards/accuracy.h"
#include "rewards/coverage.h"
#include "rewards/coverage_bonus.h"
#include "rewards/length.h"
#include "rewards/overlong.h"
#include "rewards/redundancy.h"
#include "rewards/term.h"

namespace lie {

/// The options of each term, in the order in which the terms are added up and logged. A type of the
/// list has these members and functions:
/// - kName: its config section and its name in log and metrics
/// - kAbout: its label in reports
/// - describe() and reward_term(options, max_response_tokens)
/// - `enabled`, unless the term is always on
/// - kDominanceWarning, for reward_cautions(), if the term should not dominate the reward
using RewardTermList =
    std::tuple<AccuracyRewardOptions, LengthRewardOptions, RedundancyRewardOptions,
               CoverageBonusOptions, OverlongPenaltyOptions>;

struct RewardOptions {
  CoverageOptions coverage = {};
  RewardTermList terms = {};
  std::string command;
  double command_time_limit_seconds = 0;  // see ProgramHost

  template <typename TermOptions>
  TermOptions& of() {
    return std::get<TermOptions>(terms);
  }
  template <typename TermOptions>
  const TermOptions& of() const {
    return std::get<TermOptions>(terms);
  }
};

void describe(FieldList& fields, RewardOptions& options);

/// Returns the names of all terms, on or off. A term that is off is logged as 0. The term of a
/// reward program is last.
RewardNames reward_names(const RewardOptions& options);

/// Returns the warning of each built-in term, in the order of reward_names(). It is reported when
/// the term outweighs the first one, R_acc, while R_acc is small. Empty: no warning.
std::vector<std::string> reward_cautions(const RewardOptions& options);

/// Returns the built-in terms in the order of reward_names(). `max_response_tokens`: the response
/// limit of training.
std::vector<RewardTerm> reward_terms(const RewardOptions& options,
                                     std::int64_t max_response_tokens);

/// Scales options that the paper chose for its limit of 8,192 tokens to another limit.
void fit_to_limit(RewardOptions& options, std::int64_t max_response_tokens);

/// Fits options to the response lengths of the start policy (LengthRewardOptions::fit_to_start).
void fit_to_start(RewardOptions& options, double mean_tokens, double more_tokens,
                  bool has_reference_lengths);

/// Switches off every term for which a training prompt lacks data. Returns their error messages.
std::vector<std::string> switch_off_unscorable(RewardOptions& options, const Ticket& ticket);

/// Throws Error with the problem's row if a training prompt lacks data that an enabled term needs.
void check_scorable(const RewardOptions& options, const Ticket& ticket);

}  // namespace lie

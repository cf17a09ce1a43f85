// The list of reward terms: R = R_acc + R_len + R_red (arXiv:2602.11748), and those of ablations
// and DAPO. To add a term, write a pair of files and a line of this list; config keys, log columns,
// metrics and reports follow.
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

/// Each term's options, in the order in which the terms are added up and logged. A type of the list
/// has kName (its section of the config and its name in log and metrics), kAbout, describe(), and
/// reward_term(options, max_response_tokens); `enabled`, unless it is always on; kIfItPrevails,
/// what reward_cautions() says, where it should not be most of the signal.
using RewardTermList =
    std::tuple<AccuracyRewardOptions, LengthRewardOptions, RedundancyRewardOptions,
               CoverageBonusOptions, OverlongPenaltyOptions>;

struct RewardOptions {
  CoverageOptions coverage = {};
  RewardTermList terms = {};
  std::string command;

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

/// Names of all terms, on or off: a term that is off is logged as 0. A program's term is last.
RewardNames reward_names(const RewardOptions& options);

/// Of the terms in the order of their names, without a program's: what to say where one outweighs
/// the first, that of right answers, while that is small; empty: nothing.
std::vector<std::string> reward_cautions(const RewardOptions& options);

/// The terms in the order of their names, without a program's. `max_response_tokens`: the response
/// limit of training.
std::vector<RewardTerm> reward_terms(const RewardOptions& options,
                                     std::int64_t max_response_tokens);

/// Gives sizes that the paper chose for its limit of 8,192 tokens in proportion to another limit.
void fit_to_limit(RewardOptions& options, std::int64_t max_response_tokens);

/// Switches off every term that a training prompt lacks something for. Returns what each said.
std::vector<std::string> switch_off_unscorable(RewardOptions& options, const Ticket& ticket);

/// Throws Error naming the problem's row if a training prompt lacks what a term that is on needs.
void check_scorable(const RewardOptions& options, const Ticket& ticket);

}  // namespace lie

// The list of reward terms: R = R_acc + R_len + R_red (arXiv:2602.11748), and the terms of
// ablations and DAPO. To add a term, write a pair of files and add a line to this list. Config
// keys, log columns, metrics and reports follow from it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "common/config/options.h"
#include "common/rollout/rollout.h"
#include "rewards/coverage.h"
#include "rewards/term/accuracy.h"
#include "rewards/term/cosine.h"
#include "rewards/term/coverage_bonus.h"
#include "rewards/term/gr3.h"
#include "rewards/term/kimi.h"
#include "rewards/term/l1.h"
#include "rewards/term/length.h"
#include "rewards/term/overlong.h"
#include "rewards/term/redundancy.h"
#include "rewards/term/term.h"

namespace lie {

/// The options of each term, in the order in which the terms are added up and logged. A type of the
/// list has these members and functions:
/// - kName: its config section and its name in log and metrics
/// - kAbout: its label in reports
/// - describe() and reward_term(options, max_response_tokens)
/// - `enabled`, unless the term is always on
/// - replaces_accuracy(options), whether the sum of accuracy and term is a reward of its own
/// - kListedIfOn = true, if the term has a column in the log and metrics only if it is on
/// - fit_to_limit(), fit_to_start() or fit_to_paper(), if its options have such a scale
/// - kDominanceWarning, for reward_cautions(), if the term should not dominate the reward
/// - least_units(options, ngram), if it is 0 for responses of fewer words or tokens
/// - idle_keys(), if one key of the term can leave others without effect
using RewardTermList =
    std::tuple<AccuracyRewardOptions, LengthRewardOptions, RedundancyRewardOptions,
               CoverageBonusOptions, OverlongPenaltyOptions, Gr3Options, CosineRewardOptions,
               KimiRewardOptions, L1RewardOptions>;

/// A set of values for several terms.
enum class RewardPreset : std::uint8_t { kNone, kPaper };

struct RewardOptions {
  RewardPreset preset = RewardPreset::kNone;
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

/// Returns the name of the term that is on and replaces the accuracy, empty if none does. Throws
/// Error if two do: their sum would be no reward of either method.
std::string replacing_term(const RewardOptions& options);

/// Returns the names of the terms that have a column. A term that is off is logged as 0; those with
/// kListedIfOn are then left out. The term of a reward program is last.
RewardNames reward_names(const RewardOptions& options);

/// Returns the names of all built-in terms, which are also their config sections.
std::vector<std::string> reward_sections();

/// Returns the names of the terms that are on, in the same order. The first is the accuracy.
std::vector<std::string> terms_on(const RewardOptions& options);

/// Returns the warning of each built-in term, in the order of reward_names(). It is reported when
/// the term outweighs the first one, R_acc, while R_acc is small. Empty: no warning.
std::vector<std::string> reward_cautions(const RewardOptions& options);

/// Returns the built-in terms in the order of reward_names(). `max_response_tokens`: the response
/// limit of training.
std::vector<RewardTerm> reward_terms(const RewardOptions& options,
                                     std::int64_t max_response_tokens);

/// Returns a warning of each term that is on and 0 for every response within the limit, because it
/// counts n-grams.
std::vector<std::string> unreachable_terms(const RewardOptions& options,
                                           std::int64_t max_response_tokens);

/// Keys of a term that differ from their defaults and have no effect, and why.
struct IdleTermKeys {
  std::string term;
  std::vector<std::string> keys;
  std::string why;
};

/// Returns the idle keys of the terms. Those of a term that is on by default and was switched off,
/// as for a baseline, do not count.
std::vector<IdleTermKeys> idle_keys(const RewardOptions& options);

/// Sets the options that the preset chooses. Throws Error if others contradict it.
void apply_preset(RewardOptions& options);

/// Scales options that the paper chose for its limit of 8,192 tokens to another limit.
void fit_to_limit(RewardOptions& options, std::int64_t max_response_tokens);

/// Fits options to the response lengths of the start policy (LengthRewardOptions::fit_to_start).
void fit_to_start(RewardOptions& options, double mean_tokens, double more_tokens,
                  bool has_reference_lengths);

/// Switches off the term of this name.
void switch_off(RewardOptions& options, std::string_view term);

/// Switches off every term for which a training prompt lacks data. Returns their error messages.
std::vector<std::string> switch_off_unscorable(RewardOptions& options, const Ticket& ticket);

/// Throws Error with the problem's row if a training prompt lacks data that an enabled term needs.
void check_scorable(const RewardOptions& options, const Ticket& ticket);

}  // namespace lie

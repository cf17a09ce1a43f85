// R_red: the penalty for responses that repeat themselves, whether correct or not.
#pragma once

#include <cstdint>

#include "common/config/options.h"
#include "rewards/term/gate.h"
#include "rewards/term/term.h"

namespace lie {

/// Options of R_red. Defaults are the paper's (arXiv:2602.11748), but N >= Theta as in its code.
struct RedundancyRewardOptions {
  static constexpr const char* kName = "redundancy";
  static constexpr const char* kAbout = "R_red";
  bool enabled = true;
  double beta = 0.6;
  std::int64_t threshold = 10;
  bool strict = false;
  RewardGate gate = {};

  /// Sets beta to the paper's.
  void fit_to_paper();
};

void describe(FieldList& fields, RedundancyRewardOptions& options);
RewardTerm reward_term(const RedundancyRewardOptions& options, std::int64_t max_response_tokens);

/// Returns the least number of occurrences of one n-gram that is penalized.
std::int64_t least_penalized(const RedundancyRewardOptions& options);

/// Returns the length of the shortest response with so many n-grams, which overlap.
std::int64_t least_units(const RedundancyRewardOptions& options, std::int64_t ngram);

/// Returns R_red of a response whose most frequent n-gram occurs `largest_repeat` times: -beta for
/// at least Theta occurrences (strict: more than Theta), else 0.
float redundancy_reward(const RedundancyRewardOptions& options, std::int64_t largest_repeat);

}  // namespace lie

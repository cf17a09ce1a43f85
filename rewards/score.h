// All that is said of one response: verdict, coverage, and the reward terms, kept apart.
#pragma once

#include <cstdint>
#include <string_view>

#include "common/rollout.h"
#include "rewards/coverage.h"
#include "rewards/coverage_bonus.h"
#include "rewards/length.h"
#include "rewards/overlong.h"
#include "rewards/redundancy.h"
#include "verifier/rules/options.h"

namespace lie {

/// R = R_acc + R_len + R_red (arXiv:2602.11748), and the terms of ablations and DAPO.
struct RewardOptions {
  CoverageOptions coverage = {};
  LengthRewardOptions length = {};
  RedundancyRewardOptions redundancy = {};
  CoverageBonusOptions coverage_bonus = {};
  OverlongPenaltyOptions overlong = {};
};

void describe(FieldList& fields, RewardOptions& options);

/// What a score depends on beside ticket and response.
struct ScoringOptions {
  RewardOptions rewards = {};
  VerifierOptions verifier = {};
  std::int64_t max_response_tokens = 8192;  // the response limit of training
};

/// Throws Error naming the problem's row if R_len is on and a training prompt has no reference
/// length.
void check_scorable(const RewardOptions& options, const Ticket& ticket);

/// Scores responses one after the other; keeps its storage. One thread.
class Scorer {
 public:
  explicit Scorer(const ScoringOptions& options);

  /// Scores one response to `ticket`; `text` is what it decodes to. Evaluation gets R_acc and
  /// coverage only. Score::target_length is 0 where no reference length is known.
  Score score(const Ticket& ticket, const Response& response, std::string_view text);

  const ScoringOptions& options() const { return options_; }

 private:
  ScoringOptions options_;
  ResponseCoverage coverage_;
};

}  // namespace lie

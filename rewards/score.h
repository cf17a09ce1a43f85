// All that is said of one response: verdict, coverage, and the reward terms, kept apart.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "common/rollout.h"
#include "rewards/coverage.h"
#include "rewards/terms.h"
#include "verifier/rules/options.h"

namespace lie {

/// What a score depends on beside ticket and response.
struct ScoringOptions {
  RewardOptions rewards = {};
  VerifierOptions verifier = {};
  std::int64_t max_response_tokens = 8192;  // the response limit of training
};

/// Scores responses one after the other; keeps its storage. One thread.
class Scorer {
 public:
  explicit Scorer(const ScoringOptions& options);

  /// Scores one response to `ticket`; `text` is what it decodes to. Evaluation gets R_acc and
  /// coverage only. Score::target_length is 0 where no reference length is known.
  Score score(const Ticket& ticket, const Response& response, std::string_view text);

  /// The terms' values for a response whose verdict and coverage are known.
  std::vector<float> rewards(const JudgedResponse& judged) const;

  const ScoringOptions& options() const { return options_; }

 private:
  ScoringOptions options_;
  ResponseCoverage coverage_;
  std::vector<RewardTerm> terms_;
};

}  // namespace lie

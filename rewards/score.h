// The score of a response: verdict, coverage, and each reward term.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/rollout/rollout.h"
#include "rewards/budgets.h"
#include "rewards/coverage.h"
#include "rewards/program.h"
#include "rewards/terms.h"
#include "verifier/rules/options.h"

namespace lie {

/// What a score depends on besides ticket and response.
struct ScoringOptions {
  RewardOptions rewards = {};
  VerifierOptions verifier = {};
  std::int64_t max_response_tokens = 8192;  // the response limit of training
  VerifierProgramOptions verifier_program = {};
  MetricCoverageOptions metric_coverage = {};
  BudgetOptions budgets = {};  // of evaluations
};

/// Scores groups one after the other; keeps its storage and its programs. One thread.
class Scorer {
 public:
  /// Starts the programs that the options name.
  explicit Scorer(const ScoringOptions& options, const ProgramHost& host = {});

  /// Scores the responses to `ticket`; `texts` are what they decode to. Each is verified, then the
  /// reward program is asked, whose `correct` overrules the verdict, then the terms are computed.
  /// Evaluation gets the terms that count there (R_acc), coverage and numbers only.
  /// Score::target_length is 0 where no reference length is known. Throws Error if a program fails
  /// or a training prompt lacks what a term needs.
  std::vector<Score> score(const Ticket& ticket, std::span<const Response> responses,
                           std::span<const std::string> texts);

  /// The built-in terms' values for a response whose verdict and coverage are known.
  std::vector<float> rewards(const JudgedResponse& judged) const;

  /// Ends the programs: nothing more is scored.
  void finish();

  const ScoringOptions& options() const { return options_; }

 private:
  Score verified(const Ticket& ticket, std::string_view text);
  void measure(const Response& response, std::string_view text, Score& score);
  float count(const Ticket& ticket, const Response& response, std::string_view text, Score& score);

  ScoringOptions options_;
  ResponseCoverage coverage_;
  /// Further ones, by the ends of their numbers' names: "_10" of c_context_10.
  std::vector<std::pair<std::string, ResponseCoverage>> metric_coverage_;
  std::vector<RewardTerm> terms_;
  std::optional<RewardProgram> verifier_, reward_;
};

}  // namespace lie

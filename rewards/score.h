// Computes the score of a response: verdict, coverage, and each reward term.
#pragma once

#include <cstddef>
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

/// The options that determine a score, besides ticket and response.
struct ScoringOptions {
  RewardOptions rewards = {};
  VerifierOptions verifier = {};
  std::int64_t max_response_tokens = 8192;  // the response limit of training
  VerifierProgramOptions verifier_program = {};
  MetricCoverageOptions metric_coverage = {};
  BudgetOptions budgets = {};  // applied in evaluations
};

/// Returns what the terms of a group's responses may know of it. `scores` have their verdicts. The
/// group must not be empty.
GroupFacts group_facts(std::span<const Response> responses, std::span<const Score> scores);

/// Scores one group at a time. Keeps its storage and its running programs. Not thread-safe.
class Scorer {
 public:
  /// Starts the programs that the options name.
  explicit Scorer(const ScoringOptions& options, const ProgramHost& host = {});

  /// Scores the responses to `ticket`. `texts` are the decoded responses, `samples` their numbers
  /// in the group, of which programs read; empty: 0, 1, 2 and so on. Verifies each response,
  /// queries the reward program, whose `correct` overrides the verdict, and computes the terms.
  /// Evaluations get coverage, numbers and only the terms that are on in evaluations (R_acc).
  /// Score::target_length is 0 if the reference length is unknown. Throws Error if a program fails,
  /// or if a training prompt lacks data that a term needs.
  std::vector<Score> score(const Ticket& ticket, std::span<const Response> responses,
                           std::span<const std::string> texts,
                           std::span<const std::size_t> samples = {});

  /// Returns the values of the built-in terms for a response with known verdict and coverage.
  std::vector<float> rewards(const VerifiedResponse& response) const;

  /// Ends the programs. No response may be scored afterwards.
  void finish();

  const ScoringOptions& options() const { return options_; }

 private:
  Score verified(const Ticket& ticket, std::string_view text);
  void measure(const Response& response, std::string_view text, Score& score);
  float complete(const Ticket& ticket, const Response& response, std::string_view text,
                 Score& score);

  ScoringOptions options_;
  ResponseCoverage coverage_;
  /// Additional coverage metrics, by the suffix of their names: "_10" in c_context_10.
  std::vector<std::pair<std::string, ResponseCoverage>> metric_coverage_;
  std::vector<RewardTerm> terms_;
  std::optional<RewardProgram> verifier_, reward_;
};

}  // namespace lie

// Grades the responses of an evaluation: complete responses, responses cut at a budget, and the
// letters of choices in answers and responses. Also finds which responses of a problem gave the
// same answer.
#pragma once

#include <cstdint>
#include <optional>
#include <regex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/rollout/rollout.h"
#include "rewards/reward_worker.h"
#include "rewards/score.h"

namespace lie::evaluation {

/// Returns the letter A to J of the choice in an answer such as "B", "(b)", "\text{B}", "B. 42",
/// "\textbf{(B)}\ 42".
std::optional<char> choice_letter(std::string_view answer);

/// Returns whether a gold answer is the letter of a choice.
bool is_choice(std::string_view gold);

/// Counts the gold answers that are one digit in data sources where other golds are choice letters.
/// A response with a letter is never correct for them.
std::int64_t count_digit_keys(std::span<const Prompt> prompts);

/// The published cascade of patterns for responses that have no letter in their box: "answer: B",
/// "answer is B", "option B is correct", "choose B", a line "B) ...".
class ChoicePatterns {
 public:
  ChoicePatterns();
  /// Returns the choice named by the first pattern that occurs, at its last place. It differs from
  /// the release (eval_scripts/generate_vllm.py): choices go up to J instead of E, and a letter
  /// must stand alone, a lower-case one in brackets. "The answer is a prime" thus names no choice.
  std::optional<char> find(const std::string& response) const;

 private:
  std::vector<std::regex> patterns_;
};

struct GradedSample {
  bool right = false;
  VerdictCode verdict = VerdictCode::kNoAnswer;
  std::string answer;  // as found in the response
  std::int64_t tokens = 0;
  bool truncated = false;      // whether it ended at the token limit
  std::vector<char> right_at;  // by budget: whether it is correct when cut there
};

/// A problem with all its samples. Rows of a file with equal prompt, gold and data source are one
/// problem.
struct GradedProblem {
  std::string data_source;
  std::vector<GradedSample> samples;
  std::vector<std::int32_t> answer_class;  // [samples], see majority_at_k
  std::int64_t right() const;
};

/// Grades responses one after the other. Not thread-safe.
class Grader {
 public:
  Grader(const ScoringOptions& options, DecodeText decode, std::vector<std::int64_t> budgets,
         const ProgramHost& host = {}, bool choice_patterns = false);

  /// Scores a group as a reward worker does (R_acc and coverage). For choice questions a matching
  /// letter is also correct, with `choice_patterns` even outside the box.
  ScoredGroup score(RolloutGroup group);
  /// Returns the group's samples, each with a verdict for each budget.
  std::vector<GradedSample> grade(const ScoredGroup& group);
  /// Ends the verifier's program. No response can be graded afterwards.
  void finish() { scorer_.finish(); }

 private:
  Scorer scorer_;
  DecodeText decode_;
  std::vector<std::int64_t> budgets_;
  std::optional<ChoicePatterns> choice_patterns_;
};

/// Returns a class number for each sample of one problem. Samples have the same number if their
/// answers are equal as texts or by the verifier; no answer is -1.
std::vector<std::int32_t> answer_classes(std::span<const GradedSample> samples,
                                         const VerifierOptions& options);

}  // namespace lie::evaluation

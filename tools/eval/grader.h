// Grades the responses of an evaluation, complete and cut at a budget, and finds which responses of
// a problem gave the same answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/rollout/rollout.h"
#include "rewards/reward_worker.h"
#include "rewards/score.h"
#include "tools/eval/choices.h"

namespace lie::evaluation {

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
  /// Returns whether each correct sample has an answer, which a verifier program need not give.
  bool has_answers() const;
};

/// Grades responses one after the other. Not thread-safe.
class Grader {
 public:
  Grader(const ScoringOptions& options, DecodeText decode, std::vector<std::int64_t> budgets,
         const ProgramHost& host = {}, bool choice_patterns = false);

  /// Scores a group as a reward worker does (R_acc and coverage). For choice questions a matching
  /// letter is also correct, with `choice_patterns` even outside the box. The verdict of a
  /// verifier program stands. `samples`: as of Scorer::score().
  ScoredGroup score(RolloutGroup group, std::span<const std::size_t> samples = {});
  /// Returns the group's samples, each with a verdict for each budget.
  std::vector<GradedSample> grade(const ScoredGroup& group);
  /// Ends the verifier's program. No response can be graded afterwards.
  void finish() { scorer_.finish(); }

 private:
  Scorer scorer_;
  DecodeText decode_;
  std::vector<std::int64_t> budgets_;
  bool reads_letters_;  // of choices
  std::optional<ChoicePatterns> choice_patterns_;
};

/// Returns a class number for each sample of one problem. Samples have the same number if their
/// answers are equal as texts or by the verifier; no answer is -1.
std::vector<std::int32_t> answer_classes(std::span<const GradedSample> samples,
                                         const VerifierOptions& options);

}  // namespace lie::evaluation

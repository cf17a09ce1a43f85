// Verdicts of an evaluation: of whole responses, of responses cut at a budget, of choice letters,
// and which responses of a problem gave the same answer.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/rollout/rollout.h"
#include "rewards/reward_worker.h"
#include "rewards/score.h"

namespace lie::evaluation {

/// One response, judged.
struct JudgedSample {
  bool right = false;
  VerdictCode verdict = VerdictCode::kNoAnswer;
  std::string answer;  // as found in the response
  std::int64_t tokens = 0;
  bool truncated = false;      // it ended at the token limit
  std::vector<char> right_at;  // by budget: right when cut there
};

/// A problem with all its samples: rows of a file that are equal in prompt, gold and data source
/// are one problem.
struct JudgedProblem {
  std::string data_source;
  std::vector<JudgedSample> samples;
  std::vector<std::int32_t> answer_class;  // [samples], see majority_at_k
  std::int64_t right() const;
};

/// Judges responses one after the other. One thread.
class Judge {
 public:
  Judge(const ScoringOptions& options, DecodeText decode, std::vector<std::int64_t> budgets,
        const ProgramHost& host = {}, bool choice_patterns = false);

  /// Scores a group as a reward worker does (R_acc and coverage); a choice's letter is also right,
  /// with `choice_patterns` also outside of the box (choice.h).
  ScoredGroup score(RolloutGroup group);
  /// The group's samples, with a verdict for each budget.
  std::vector<JudgedSample> judge(const ScoredGroup& group);
  /// Ends the verifier's program: nothing more is judged.
  void finish() { scorer_.finish(); }

 private:
  Scorer scorer_;
  DecodeText decode_;
  std::vector<std::int64_t> budgets_;
  bool choice_patterns_;
};

/// Numbers the answers of one problem: equal texts, or answers equal by the verifier, have the same
/// number; no answer: -1.
std::vector<std::int32_t> answer_classes(std::span<const JudgedSample> samples,
                                         const VerifierOptions& options);

}  // namespace lie::evaluation

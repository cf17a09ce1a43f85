// Logged groups decided and scored again, on many threads.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "common/rollout/rollout.h"
#include "rewards/score.h"
#include "tools/replay/logged_run.h"

namespace lie::replay {

/// How to score again what a program had its part in.
struct ScoringPlan {
  ScoringOptions options;       // with the programs that are to run
  bool keeps_verdicts = false;  // they may be a program's: verdict and answer are the log's
  bool keeps_reward = false;    // so is the last term
};

/// Programs run only with `run_programs`; otherwise what they answered is taken from the log.
/// Throws Error where the settings need other answers than those.
ScoringPlan scoring_plan(const LoggedRun& run, bool run_programs);

/// Scores groups in parallel. Each thread has its own Scorer, and its own programs.
class GroupScorer {
 public:
  /// `decode` may be called by many threads at once.
  GroupScorer(ScoringPlan plan, DecodeText decode, int threads);

  /// [groups][G], the same as reward workers would give. Throws Error as Scorer::score does.
  std::vector<std::vector<Score>> score(std::span<const ScoredGroup* const> groups);
  /// Ends the programs.
  void finish();

 private:
  std::vector<Score> score(Scorer& scorer, const ScoredGroup& logged) const;

  ScoringPlan plan_;
  DecodeText decode_;
  std::vector<std::unique_ptr<Scorer>> scorers_;  // one a thread
};

}  // namespace lie::replay

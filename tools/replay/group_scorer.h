// Scores logged groups again, on many threads.
#pragma once

#include <memory>
#include <vector>

#include "common/rollout/rollout.h"
#include "learner/step.h"
#include "rewards/score.h"
#include "tools/replay/logged_run.h"

namespace lie::replay {

/// How to score logged groups again, whose scores may come from reward or verifier programs.
struct ScoringPlan {
  ScoringOptions options;       // with the programs that run
  bool keeps_verdicts = false;  // keep the log's verdict and answer, which a program gave
  bool keeps_reward = false;    // keep the log's last reward term
};

/// Returns the plan for a run. Programs run only with `run_programs`; otherwise their logged
/// answers are used. Throws Error if the settings need other answers than the logged ones.
ScoringPlan scoring_plan(const LoggedRun& run, bool run_programs);

/// Scores groups in parallel. Each thread has its own Scorer and its own programs.
class GroupScorer {
 public:
  /// `decode` may be called by many threads at once.
  GroupScorer(ScoringPlan plan, DecodeText decode, int threads);

  /// Gives the groups of a step the scores of reward workers. Returns the former scores: those of
  /// the groups to train on, then of the dropped ones, then of the evaluation. Throws Error as
  /// Scorer::score does.
  std::vector<std::vector<Score>> score_again(StepGroups& step);
  void finish();

 private:
  std::vector<Score> score(Scorer& scorer, const ScoredGroup& logged) const;

  ScoringPlan plan_;
  DecodeText decode_;
  std::vector<std::unique_ptr<Scorer>> scorers_;  // one a thread
};

}  // namespace lie::replay

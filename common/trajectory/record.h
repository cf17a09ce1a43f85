// What the trajectory log keeps of a step: the scored groups and the learner's results.
#pragma once

#include <cstdint>
#include <vector>

#include "common/rollout/drawn_group.h"
#include "common/rollout/rollout.h"

namespace lie {

/// What the learner adds to one response.
struct LearnerResult {
  float advantage = 0;
  std::vector<float> log_probs;  // [T] of its response; empty where not trained on: logged as NaN
  /// Mean over tokens of log-prob minus old log-prob when first trained on, nats. Old: the behavior
  /// policy's, or with recompute_old_log_probs the learner's before the step's first update.
  float sequence_log_ratio = 0;
  bool clipped = false;          // GSPO: the sequence; GRPO: any of its tokens
  std::int32_t mini_batch = -1;  // update of the step that used it, from 0; -1: not trained on
};

/// One group of the log.
struct GroupRecord {
  ScoredGroup scored;
  std::vector<LearnerResult> results;  // [G], or empty where not trained on
  /// Where steps are complete with the first groups: the ticket says which step took it.
  DrawnGroup drawn = {};
};

/// Whether an update used the group; not so evaluations, and what dynamic sampling has dropped.
inline bool is_trained_on(const GroupRecord& group) {
  return !group.results.empty() && group.results.front().mini_batch >= 0;
}

/// One step of the log: every group of training and evaluation that this learner rank keeps.
struct StepRecord {
  std::int64_t step = 0;
  std::vector<GroupRecord> groups;
  double seconds = 0;  // duration of the step so far
  double generate_seconds = 0, update_seconds = 0;
};

/// What a file says of its run.
struct TrajectoryInfo {
  std::string build_id;
  std::string config;  // resolved, YAML
  std::uint64_t seed = 0;
  std::string model_sha256;       // of the initial model's weights
  std::string tokenizer_sha256;   // of tokenizer.json
  std::int64_t learner_rank = 0;  // number among the learners, from 0
  std::int64_t learner_count = 1;
  std::int64_t starts_after_step = 0;     // steps this segment does not hold; 0 for a new run
  RewardNames rewards = {};               // a column each
  std::vector<std::string> numbers = {};  // of reward and verifier programs: a column each
  bool token_versions = false;            // weights may change in flight: /version_run is there
  bool drawn_groups = false;  // steps may take groups drawn for others: /problem/drawn_* are there
};

/// The first 8 bytes of the SHA-256 of all that it says.
std::uint64_t info_checksum(const TrajectoryInfo& info);

}  // namespace lie

// The data of a step that the trajectory log stores: scored groups and the learner's results.
#pragma once

#include <cstdint>
#include <vector>

#include "common/rollout/rollout.h"

namespace lie {

struct LearnerResult {
  float advantage = 0;
  std::vector<float> log_probs;  // [T] of the response; empty if not trained on, logged as NaN
  /// Mean over tokens of log-prob minus old log-prob when first trained on, in nats. The old
  /// log-prob is the behavior policy's. With recompute_old_log_probs it is the learner's before the
  /// step's first update.
  float sequence_log_ratio = 0;
  bool clipped = false;          // the surrogate leaves at least one token without gradient
  std::int32_t mini_batch = -1;  // update of the step that used it, from 0; -1: not trained on
};

struct GroupRecord {
  ScoredGroup scored;
  std::vector<LearnerResult> results;  // [G]; empty if not trained on
  /// The step and group for which the prompt was drawn. It is set if steps are complete with the
  /// first groups to arrive; the ticket then names the step that consumed the group.
  DrawnGroup drawn = {};
};

/// One step in the log: all training and evaluation groups that this learner rank stores.
struct StepRecord {
  std::int64_t step = 0;
  std::vector<GroupRecord> groups;
  double seconds = 0;  // duration of the step until it was recorded
  double generate_seconds = 0, update_seconds = 0;
};

/// The attributes of a file, which describe its run.
struct TrajectoryInfo {
  std::string build_id;
  std::string config;  // resolved, YAML
  std::uint64_t seed = 0;
  std::string model_sha256;       // hash of the initial model's weights
  std::string tokenizer_sha256;   // hash of tokenizer.json
  std::int64_t learner_rank = 0;  // position among the learners, from 0
  std::int64_t learner_count = 1;
  std::int64_t starts_after_step = 0;  // the segment holds steps after this one; 0 for a new run
  RewardNames rewards = {};            // a column each
  // further numbers of reward and verifier programs, a column each
  std::vector<std::string> numbers = {};
  bool token_versions = false;  // weights may change in flight; /version_run exists
  bool drawn_groups = false;  // steps may use groups drawn for other steps; /problem/drawn_* exist
};

}  // namespace lie

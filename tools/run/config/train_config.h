// All options of a training run: the options of all folders, as sections of one YAML file.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "actors/rollout_options.h"
#include "common/comm/roles.h"
#include "common/config/options.h"
#include "common/dataset/data_options.h"
#include "learner/advantage/advantages.h"
#include "learner/checkpoint/best_checkpoint.h"
#include "learner/checkpoint/checkpoint_options.h"
#include "learner/loss/policy_loss.h"
#include "learner/record/run_coverage.h"
#include "learner/record/trajectory_recorder.h"
#include "learner/schedule/tickets.h"
#include "learner/trainer/optimizer.h"
#include "learner/trainer/trainer_options.h"
#include "learner/update/batch.h"
#include "model/weight_sync/weight_sync.h"
#include "rewards/budgets.h"
#include "rewards/score.h"
#include "tools/run/config/model_options.h"
#include "tools/run/config/run_options.h"

namespace lie {

struct TrainConfig {
  RunOptions run;
  ModelOptions model;
  DataOptions data;
  RolesOptions roles;
  TicketOptions tickets;
  WeightSyncOptions weight_sync;
  RolloutOptions rollout;
  EvaluationOptions evaluation;
  BudgetOptions evaluation_budgets;
  RewardOptions reward;
  MetricCoverageOptions metric_coverage;
  GlobalCoverageOptions global_coverage;
  VerifierOptions verifier;
  VerifierProgramOptions verifier_program;
  AdvantageOptions advantage;
  PolicyLossOptions policy_loss;
  BatchOptions update;
  TrainerOptions trainer{.zero_stage = kStageByDevice};
  OptimizerOptions optimizer;
  CheckpointOptions checkpoint;
  BestCheckpointOptions best_checkpoint;
  TrajectoryOptions trajectories;
  /// Sentences about keys that the config gives by their former names.
  std::vector<std::string> former_keys = {};
};
void describe(FieldList& fields, TrainConfig& config);

/// Returns the length of the run in the unit of optimizer.schedule: training steps or updates.
/// Requires run.steps: run.epochs must have been replaced by it.
std::int64_t schedule_length(const TrainConfig& config);

/// Throws Error if updates of the run would have a learning rate of 0, because the schedule ends
/// before the run. Requires run.steps.
void check_decay(const TrainConfig& config);

/// Reads a config and its overrides, and checks constraints across sections. Throws Error as
/// load_config does.
TrainConfig load_train_config(const std::filesystem::path& path,
                              std::span<const std::string> overrides);

/// Returns whether actors in the learner's process may compute with the learner's weights. They may
/// if the weights change only while no response is in flight and are not rounded for the actors.
bool allows_shared_policy(const TrainConfig& config);

/// Returns the options with which reward workers score the responses of a run.
ScoringOptions scoring_options(const TrainConfig& config);

}  // namespace lie

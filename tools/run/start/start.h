// Prepares a run and decides where it begins: at step 0 with the configured model, or after the
// step of a checkpoint.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/comm/collective/collective.h"
#include "common/comm/job.h"
#include "common/rollout/rollout.h"
#include "learner/schedule/early_stop.h"
#include "model/weights/weights.h"
#include "tools/run/config/train_config.h"

namespace lie {

struct RunStart {
  std::int64_t step = 0;                  // training steps completed before the start
  std::filesystem::path model_directory;  // config, weights and tokenizer to start from
  bool from_checkpoint = false;           // whether model_directory is a checkpoint
  std::int64_t logged_step = 0;  // the steps after `step` up to this one are replayed from the log
  /// The step at which this part of the run ends: run.steps, the step that met run.stop_when, or a
  /// step after which the settings were changed.
  std::int64_t last_step = 0;
  std::filesystem::path settings = {};  // the former config of this part; empty: config.yaml
  std::vector<std::int64_t> end_of_sequence_ids = {};  // each of them ends a response
};

/// The prompts that the coordinator hands out.
struct RunPrompts {
  std::vector<Prompt> training;
  std::vector<Prompt> evaluation;  // empty without data.evaluation_file
};

struct PreparedRun {
  RunStart start;
  RunPrompts prompts;
  std::string ends;      // EndTokens::text
  WeightsPlan model;     // of config.model.path
  ComputeDTypes dtypes;  // of the operators on config.model's device
};

/// Checks model, tokenizer, data and run directory, then creates the run directory or resumes its
/// run. With run.resume changed, keeps the settings of the logged steps as a former config
/// (common/config/config_history.h) and sets the journal aside. Returns the first part of the run
/// that is not in a checkpoint. Rank 0 only. From then on this job is the only writer of the
/// directory. Recovers the log that a killed process left. `command` names this program in the
/// error that other jobs get if they want the directory. Throws Error before anything is written if
/// a check fails.
PreparedRun prepare_run(Job& job, const TrainConfig& config, std::string_view command);

/// Prepares the next part of the run after the one that ended at RunStart::last_step, which is
/// before run.steps.
PreparedRun prepare_next_part(const TrainConfig& config);

/// Returns the config with the settings of the part that begins at `start`.
TrainConfig settings_of(const TrainConfig& config, const RunStart& start);

/// Returns or throws what prepare_run would, but writes, renames and locks nothing. Does not
/// determine how many steps the log holds after the checkpoint. Runs the reward programs of the
/// config on one question, so that what would fail at the first response throws Error here.
PreparedRun plan_run(const TrainConfig& config);

/// Returns whether the run already has all its steps at its start.
bool is_finished(const RunStart& start);

/// Returns the number of steps of run.epochs passes over the training prompts, and logs it.
std::int64_t steps_of_epochs(const TrainConfig& config);

/// Returns the stop condition of a run and starts to record stop signals. `job` must outlive the
/// result.
EarlyStop early_stop(const Job& job, const TrainConfig& config);

/// Broadcasts rank 0's start to all ranks and returns it. Collective over the world.
RunStart share_start(const RunStart& start, Collective& world);

}  // namespace lie

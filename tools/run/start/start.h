// Where a run begins: at step 0 from the configured model, or after a checkpoint's step from that.
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
  std::int64_t step = 0;                  // training steps done before the start
  std::filesystem::path model_directory;  // config, weights and tokenizer to start from
  bool from_checkpoint = false;           // then model_directory is that checkpoint
  std::int64_t logged_step = 0;           // steps after `step` up to this are learned again
  std::vector<std::int64_t> end_of_sequence_ids = {};  // any of them ends a response
};

/// What the coordinator hands out.
struct RunPrompts {
  std::vector<Prompt> training;
  std::vector<Prompt> evaluation;  // empty without data.evaluation_file
};

struct PreparedRun {
  RunStart start;
  RunPrompts prompts;
  std::string ends;      // of responses: EndTokens::text
  WeightsPlan model;     // of config.model.path
  ComputeDTypes dtypes;  // of the operators on config.model's device
};

/// Rank 0: checks model, tokenizer, data and run directory, then begins the run directory or
/// continues its run; from then on this job is its only writer. Readies the log that a killed
/// process left. `command` names this program to others that want the directory. Throws Error
/// before anything is written if something is wrong.
PreparedRun prepare_run(Job& job, const TrainConfig& config, std::string_view command);

/// What prepare_run would return or throw, with nothing written, renamed or locked; only how many
/// steps the log holds behind the checkpoint is not known. Starts the config's reward programs for
/// one question: what a run would find when it scores its first response is an Error here.
PreparedRun plan_run(const TrainConfig& config);

/// Whether a run has all its steps where it starts.
bool is_finished(const TrainConfig& config, const RunStart& start);

/// Notes signals from now on. The job must outlive it.
EarlyStop early_stop(const Job& job, const TrainConfig& config);

/// Rank 0's start reaches all ranks. Collective over the world.
RunStart share_start(const RunStart& start, Collective& world);

}  // namespace lie

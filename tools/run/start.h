// Where a run begins: at step 0 from the configured model, or after a checkpoint's step from that.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "common/comm/collective.h"
#include "common/comm/job.h"
#include "common/rollout.h"
#include "learner/early_stop.h"
#include "tools/run/train_config.h"

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
};

/// Rank 0: checks model, tokenizer, data and run directory, then begins the run directory or
/// continues its run; from then on this job is its only writer. Readies the log that a killed
/// process left. `command` names this program to others that want the directory. Throws Error
/// before anything is written if something is wrong.
PreparedRun prepare_run(Job& job, TrainConfig config, std::string_view command);

/// Whether a run has all its steps where it starts; rank 0 says so.
bool is_finished(const Job& job, const TrainConfig& config, const RunStart& start);

/// Notes signals from now on. The job must outlive it.
EarlyStop early_stop(const Job& job, const TrainConfig& config);

/// After the run: if it came to a stop, says so, here and by the job's exit status.
void end_early(Job& job, const EarlyStop& stop);

/// Rank 0's start reaches all ranks. Collective over the world.
RunStart share_start(const RunStart& start, Collective& world);

}  // namespace lie

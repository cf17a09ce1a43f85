// Where a run begins: at step 0 from the configured model, or behind a checkpoint's step from it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "common/comm/collective.h"
#include "common/comm/job.h"
#include "common/rollout.h"
#include "tools/run/train_config.h"

namespace lie {

struct RunStart {
  std::int64_t step = 0;                  // training steps behind the start
  std::filesystem::path model_directory;  // config, weights and tokenizer to start from
  bool from_checkpoint = false;           // then model_directory is that checkpoint
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

/// Rank 0: checks model, tokenizer, data and run directory, then begins the run directory or goes
/// on with the run it holds, of which this job is the only writer from then on; what a killed
/// process left behind the checkpoint is removed. Throws Error before anything is written if
/// something is wrong.
PreparedRun prepare_run(Job& job, TrainConfig config);

/// Rank 0's start reaches all ranks. Collective over the world.
RunStart share_start(const RunStart& start, Collective& world);

}  // namespace lie

// Prepares a run, stage by stage: checks its inputs, creates or resumes its directory, and finds
// where it begins. A run whose settings were changed has several stages.
#pragma once

#include <filesystem>
#include <string_view>

#include "common/comm/job.h"
#include "learner/schedule/early_stop.h"
#include "tools/run/config/train_config.h"
#include "tools/run/start/check_inputs.h"
#include "tools/run/start/run_start.h"

namespace lie {

struct PreparedRun {
  RunStart start;
  RunInputs inputs;  // with the settings of the stage that begins at `start`
};

/// Checks model, tokenizer, data and run directory, then creates the run directory or resumes its
/// run. With run.resume changed, keeps the settings of the logged steps as a former config
/// (common/config/config_history.h) and sets the journal aside. Returns the first stage of the run
/// that is not in a checkpoint. Rank 0 only. From then on this job is the only writer of the
/// directory. Recovers the log that a killed process left. `command` names this program in the
/// error that other jobs get if they want the directory. `replayed`: the directory of a run whose
/// inputs must be the same, too. Throws Error before anything is written if a check fails.
PreparedRun prepare_run(Job& job, const TrainConfig& config, std::string_view command,
                        const std::filesystem::path& replayed = {});

/// Prepares the next stage of the run after the one that ended at RunStart::last_step, which is
/// before run.steps. Rank 0 only.
PreparedRun prepare_next_stage(const TrainConfig& config);

/// Returns the config with the settings of the stage that begins at `start`.
TrainConfig settings_of(const TrainConfig& config, const RunStart& start);

/// Returns or throws what prepare_run would, but writes, renames and locks nothing. Does not
/// determine how many steps the log holds after the checkpoint. Runs the reward programs of the
/// config on one question, so that what would fail at the first response throws Error here.
PreparedRun plan_run(const TrainConfig& config);

/// Returns the stop condition of a run. Stop signals count from note_stop_signals() on. `job` must
/// outlive the result.
EarlyStop early_stop(const Job& job, const TrainConfig& config);

}  // namespace lie

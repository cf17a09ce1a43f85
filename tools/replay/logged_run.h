// A logged run: its config, the config with overrides, and its log.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "common/trajectory/step_log.h"
#include "learner/checkpoint/checkpoint_directory.h"
#include "rewards/reward_worker.h"
#include "tools/run/config/train_config.h"

namespace lie::replay {

struct LoggedRun {
  std::filesystem::path directory;
  TrainConfig logged;                 // of the run
  TrainConfig now;                    // with the overrides
  StepLog log;                        // holds at least one training step
  std::int64_t last_step = kAnyStep;  // the last step with the settings of `logged`
};

/// Loads a run with the settings that it had in `step`. Throws Error if the directory holds no run
/// or no complete training step, or for an override as load_config does.
LoggedRun load_logged_run(const std::filesystem::path& directory,
                          std::span<const std::string> overrides, std::int64_t step = kAnyStep);

/// Returns what the log lacks, a sentence each.
std::vector<std::string> losses_of(const LoggedRun& run);

/// Returns the keys whose values the overrides change.
std::vector<std::string> changed_keys(const LoggedRun& run);

/// Returns a decoder with the run's tokenizer: that of its start model, or that of a checkpoint if
/// those files are missing or changed. Throws Error naming the tokenizer's hash if neither has it.
/// Many threads may call the decoder at once.
DecodeText logged_decoder(const LoggedRun& run);

}  // namespace lie::replay

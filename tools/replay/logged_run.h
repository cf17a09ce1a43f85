// A run that was: its config, the same under other settings, and its log.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/trajectory/step_log.h"
#include "rewards/reward_worker.h"
#include "tools/run/config/train_config.h"

namespace lie::replay {

struct LoggedRun {
  std::filesystem::path directory;
  TrainConfig logged;  // as the run had it
  TrainConfig now;     // with the overrides
  StepLog log;         // of at least one training step
};

/// Throws Error if the directory holds no run or no complete training step, or for an override as
/// load_config does.
LoggedRun load_logged_run(const std::filesystem::path& directory,
                          std::span<const std::string> overrides);

/// The keys whose values the overrides change.
std::vector<std::string> changed_keys(const LoggedRun& run);
/// Whether `key` is one of `names` or in a section of that name.
bool is_under(std::string_view key, std::initializer_list<const char*> names);

/// Decodes with the tokenizer that the run had: of its start model, or where those files are gone
/// or changed, of a checkpoint. Throws Error naming the tokenizer's hash if neither has it. May be
/// called by many threads at once.
DecodeText logged_decoder(const LoggedRun& run);

}  // namespace lie::replay

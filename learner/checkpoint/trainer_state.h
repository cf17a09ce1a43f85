// The state of the trainer in a checkpoint: trainer_state.json.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "common/rollout/prompt_stream.h"

namespace lie {

/// trainer_state.json of a checkpoint, schema version 1: these fields by name, "schema_version",
/// and "checksums" if the checkpoint has SHA256SUMS, so that its loss is detected.
struct TrainerState {
  std::int64_t step = 0;  // completed training steps
  std::int64_t policy_version = 0;
  std::int64_t optimizer_updates = 0;
  std::int64_t skipped_updates = 0;
  std::uint64_t seed = 0;
  std::string build_id;
  PromptStreamState prompt_stream;
  double entropy_coefficient = 0;  // of the next step, with an entropy target; stored if not 0
  bool operator==(const TrainerState&) const = default;
};

void save_trainer_state(const TrainerState& state, const std::filesystem::path& checkpoint);

/// Returns whether SHA256SUMS was written with the checkpoint. Throws Error if trainer_state.json
/// cannot be read.
bool promises_checksums(const std::filesystem::path& checkpoint);

/// Reads the state. Throws Error naming file, field and remedy if trainer_state.json is missing,
/// truncated or was written by another program.
TrainerState load_trainer_state(const std::filesystem::path& checkpoint);

}  // namespace lie

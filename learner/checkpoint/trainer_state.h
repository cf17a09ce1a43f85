// trainer_state.json of a checkpoint, schema version 1: the fields of TrainerState by name, and
// "schema_version", and "checksums" if the checkpoint has them, so that their loss is detected.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "common/rollout/prompt_stream.h"

namespace lie {

/// Where a run stood when the checkpoint was made.
struct TrainerState {
  std::int64_t step = 0;  // training steps done
  std::int64_t policy_version = 0;
  std::int64_t optimizer_updates = 0;
  std::int64_t skipped_updates = 0;
  std::uint64_t seed = 0;
  std::string build_id;
  PromptStreamState prompt_stream;
  bool operator==(const TrainerState&) const = default;
};

/// Writes `checkpoint`/trainer_state.json.
void save_trainer_state(const TrainerState& state, const std::filesystem::path& checkpoint);

/// Whether SHA256SUMS was written with it. Throws Error if trainer_state.json cannot be read.
bool promises_checksums(const std::filesystem::path& checkpoint);

/// Throws Error naming file, field and remedy if trainer_state.json is missing, truncated or
/// foreign.
TrainerState load_trainer_state(const std::filesystem::path& checkpoint);

}  // namespace lie

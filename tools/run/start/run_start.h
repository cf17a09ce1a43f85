// Where a stage of a run begins and ends. Rank 0 decides it, and all ranks get the same.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/comm/collective/collective.h"

namespace lie {

struct RunStart {
  std::int64_t step = 0;                  // training steps completed before the start
  std::filesystem::path model_directory;  // config, weights and tokenizer to start from
  bool from_checkpoint = false;           // whether model_directory is a checkpoint
  std::int64_t logged_step = 0;  // the steps after `step` up to this one are replayed from the log
  /// The step at which this stage of the run ends: run.steps, the step that met run.stop_when, or a
  /// step after which the settings were changed.
  std::int64_t last_step = 0;
  std::filesystem::path settings = {};  // the former config of this stage; empty: config.yaml
  std::vector<std::int64_t> end_of_sequence_ids = {};  // each of them ends a response
  std::string model_sha256 = {};                       // policy_sha256() of what the run began with
  std::string base_sha256 = {};                        // of its weights without an adapter
};

/// Returns whether the run already has all its steps at its start.
bool is_finished(const RunStart& start);

/// Broadcasts rank 0's start to all ranks and returns it. Collective over the world.
RunStart share_start(const RunStart& start, Collective& world);

}  // namespace lie

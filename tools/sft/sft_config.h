// The config of lie_cluster sft.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "learner/sft/sft_options.h"
#include "tools/run/config/model_options.h"
#include "tools/run/config/run_options.h"

namespace lie {

struct SftConfig {
  DirectoryOptions run{"runs/sft"};
  double collective_time_limit_minutes = 10;
  ModelOptions model;
  bool initialize = false;
  SftOptions sft;  // its stage is kStageByDevice before a config is loaded
  std::vector<std::string> former_keys = {};  // sentences about keys given by their former names

  SftConfig() { sft.trainer.zero_stage = kStageByDevice; }
};
void describe(FieldList& fields, SftConfig& config);

/// Returns the config of a file and of key=value overrides. Throws Error if it is not valid.
SftConfig load_sft_config(const std::filesystem::path& path,
                          std::span<const std::string> overrides);

}  // namespace lie

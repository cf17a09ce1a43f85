// lie_cluster init: writes a first config for a model and its data.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace lie {

struct InitArguments {
  std::filesystem::path model;  // Hugging Face directory
  std::filesystem::path data;   // JSONL or Parquet
  std::int64_t samples = 4;     // responses to each probed prompt; 0: none are generated
  std::vector<std::string> overrides = {};  // key=value of data.*: how rows become prompts
};

/// Returns a commented config of `lie_cluster train` that runs unchanged. Field names are guessed
/// from the rows, the prompt limit fits the longest prompt, and the other sizes fit the model and
/// this machine's memory. A few responses of the model choose response limit, length reward and
/// unit of coverage, and show whether RL can begin; the model's size chooses the step sizes. Reward
/// terms for which rows lack a field are switched off, with the reason. Throws Error if the model
/// or the data cannot be read, or if no prompt or no gold answer is recognized in the rows.
std::string initial_config(const InitArguments& arguments);

}  // namespace lie

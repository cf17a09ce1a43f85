// lie_cluster init: a first config of one's own, from a model and a data file.
#pragma once

#include <filesystem>
#include <string>

namespace lie {

struct InitArguments {
  std::filesystem::path model;  // Hugging Face directory
  std::filesystem::path data;   // JSONL or Parquet
};

/// A commented config of `lie_cluster train` that runs as it is: fields by the names that rows
/// have, prompt limit by the longest prompt, the other sizes by the model and this machine's
/// memory. Reward terms that rows lack something for are off, with the reason. Throws Error
/// if the model or the data cannot be read, or if rows have no prompt or no right answer that could
/// be recognised.
std::string initial_config(const InitArguments& arguments);

}  // namespace lie

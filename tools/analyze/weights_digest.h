// One SHA-256 over the weights of a checkpoint.
#pragma once

#include <filesystem>
#include <string>

namespace lie::analyze {

/// Of the tensors' bytes in `directory`/model.safetensors, in the order of their names (byte
/// order). Throws Error if the file is missing or damaged.
std::string weights_digest(const std::filesystem::path& directory);

}  // namespace lie::analyze

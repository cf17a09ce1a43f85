// One SHA-256 over the weights of a checkpoint.
#pragma once

#include <filesystem>
#include <string>

namespace lie::analyze {

/// Of the tensors' bytes in the weights' files of `directory`, in the order of their names (byte
/// order), in however many files. Throws Error if one is missing or damaged.
std::string weights_digest(const std::filesystem::path& directory);

}  // namespace lie::analyze

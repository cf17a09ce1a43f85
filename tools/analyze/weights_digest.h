// Computes one SHA-256 over the weights of a checkpoint.
#pragma once

#include <filesystem>
#include <string>

namespace lie::analyze {

/// Returns the SHA-256 over the bytes of all tensors in `directory`, in the byte order of their
/// names. It does not depend on the number of files. Throws Error if a file is missing or damaged.
std::string weights_digest(const std::filesystem::path& directory);

}  // namespace lie::analyze

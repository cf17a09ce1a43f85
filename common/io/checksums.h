// SHA256SUMS, the SHA-256 of every file of a directory, in the format of `sha256sum`. The command
// `sha256sum --check SHA256SUMS` verifies it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace lie {

inline constexpr const char* kChecksumsFile = "SHA256SUMS";

/// Returns the lines of SHA256SUMS for these files of `directory`. Throws
/// Error if a file cannot be read.
std::string checksum_lines(const std::filesystem::path& directory,
                           const std::vector<std::string>& names);

/// Writes `directory`/SHA256SUMS for all files below `directory`. Files with a line in `known` are
/// not read again. Throws Error if a file cannot be read or written.
void write_checksums(const std::filesystem::path& directory, const std::string& known = "");

/// Returns a phrase for each file of `directory` that is missing or does not match SHA256SUMS:
/// "model.safetensors: expected SHA-256 3f.., found 9a..". Ignores files that are not listed there.
std::vector<std::string> checksum_faults(const std::filesystem::path& directory);

}  // namespace lie

// SHA256SUMS: the SHA-256 of every file of a directory, as `sha256sum` writes it and, with
// `sha256sum --check SHA256SUMS`, checks it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace lie {

inline constexpr const char* kChecksumsFile = "SHA256SUMS";

/// The lines of SHA256SUMS for these files of `directory`, one thread per file. Throws Error.
std::string checksum_lines(const std::filesystem::path& directory,
                           const std::vector<std::string>& names);

/// Writes `directory`/SHA256SUMS over all files below it; those whose lines are `known` are not
/// read. Throws Error.
void write_checksums(const std::filesystem::path& directory, const std::string& known = "");

/// Each way in which `directory` differs from its SHA256SUMS, as a phrase: "model.safetensors:
/// expected SHA-256 3f.., found 9a..". Files not listed there are ignored. One thread per file.
std::vector<std::string> checksum_faults(const std::filesystem::path& directory);

}  // namespace lie

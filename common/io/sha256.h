// SHA-256 (FIPS 180-4), for digests of runs and hashes of models, tokenizers and configs; and
// SHA256SUMS, the SHA-256 of every file of a directory, in the format of `sha256sum`. The command
// `sha256sum --check SHA256SUMS` verifies it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct evp_md_ctx_st;  // OpenSSL's EVP_MD_CTX

namespace lie {

/// Hashes bytes incrementally. The result does not depend on how the bytes are split.
class Sha256 {
 public:
  Sha256();
  void update(std::span<const std::byte> bytes);
  void update(std::string_view text) { update(std::as_bytes(std::span(text))); }
  /// Returns the digest of all bytes as 64 hexadecimal digits. Call it once, at the end.
  std::string hex_digest();

 private:
  std::unique_ptr<evp_md_ctx_st, void (*)(evp_md_ctx_st*)> context_;
};

/// Returns the digest of a text as 64 hexadecimal digits.
std::string sha256_hex(std::string_view text);

inline constexpr const char* kChecksumsFile = "SHA256SUMS";

/// Returns the lines of SHA256SUMS for these files of `directory`. Uses one thread per file. Throws
/// Error if a file cannot be read.
std::string checksum_lines(const std::filesystem::path& directory,
                           const std::vector<std::string>& names);

/// Writes `directory`/SHA256SUMS for all files below `directory`. Files with a line in `known` are
/// not read again. Throws Error if a file cannot be read or written.
void write_checksums(const std::filesystem::path& directory, const std::string& known = "");

/// Returns a phrase for each file of `directory` that is missing or does not match SHA256SUMS:
/// "model.safetensors: expected SHA-256 3f.., found 9a..". Ignores files that are not listed there.
/// Uses one thread per file.
std::vector<std::string> checksum_faults(const std::filesystem::path& directory);

}  // namespace lie

// SHA-256 (FIPS 180-4), for digests of runs and hashes of models, tokenizers and configs.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

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

}  // namespace lie

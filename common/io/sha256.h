// SHA-256 (FIPS 180-4), for digests of runs and hashes of models, tokenizers and configs.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct evp_md_ctx_st;  // OpenSSL's EVP_MD_CTX

namespace lie {

/// Takes bytes piece by piece; the pieces' boundaries do not matter.
class Sha256 {
 public:
  Sha256();
  void update(std::span<const std::byte> bytes);
  void update(std::string_view text) { update(std::as_bytes(std::span(text))); }
  /// 64 hexadecimal digits of all bytes so far. Call once, as the last act.
  std::string hex_digest();

 private:
  std::unique_ptr<evp_md_ctx_st, void (*)(evp_md_ctx_st*)> context_;
};

/// The digest of one text.
std::string sha256_hex(std::string_view text);

}  // namespace lie

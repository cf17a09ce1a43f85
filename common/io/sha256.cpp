#include "common/io/sha256.h"

#include <fmt/ranges.h>
#include <openssl/evp.h>

#include <array>
#include <memory>

#include "common/base/error.h"

namespace lie {

namespace {

/// Throws Error unless an OpenSSL function returned 1, its success status.
void require(int status) {
  if (status != 1) fail("OpenSSL offers no SHA-256; its configuration (openssl.cnf) must allow it");
}

}  // namespace

Sha256::Sha256() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
  require(context_ != nullptr ? EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) : 0);
}

void Sha256::update(std::span<const std::byte> bytes) {
  require(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()));
}

std::string Sha256::hex_digest() {
  std::array<unsigned char, 32> digest = {};
  require(EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr));
  return fmt::format("{:02x}", fmt::join(digest, ""));
}

std::string sha256_hex(std::string_view text) {
  Sha256 hash;
  hash.update(text);
  return hash.hex_digest();
}

}  // namespace lie

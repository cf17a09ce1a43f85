// SHA-256 (FIPS 180-4), for digests of runs and hashes of models, tokenizers and configs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace lie {

/// Takes bytes piece by piece; the pieces' boundaries do not matter.
class Sha256 {
 public:
  void update(std::span<const std::byte> bytes);
  void update(std::string_view text) { update(std::as_bytes(std::span(text))); }
  /// 64 hexadecimal digits of all bytes so far. Call once, as the last act.
  std::string hex_digest();

 private:
  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::byte, 64> pending_ = {};
  std::uint64_t length_bytes_ = 0;
};

/// The digest of one text.
std::string sha256_hex(std::string_view text);

}  // namespace lie

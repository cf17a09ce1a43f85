// The printable characters that represent bytes in a byte-level vocabulary (GPT-2's table).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lie {

/// Maps each byte to a character. Printable Latin-1 characters represent themselves. The other
/// bytes map to U+0100 and the characters after it, in order.
class ByteMap {
 public:
  ByteMap();
  /// Returns the character of a byte, in UTF-8.
  std::string character(std::uint8_t byte) const;
  /// Returns the bytes that a vocabulary entry represents. Returns none if one of its characters
  /// represents no byte.
  std::optional<std::string> bytes(std::string_view token) const;

 private:
  static constexpr std::uint32_t kLastCharacter = 0x143;
  std::array<std::uint32_t, 256> characters_ = {};
  std::array<std::int16_t, kLastCharacter + 1> bytes_ = {};  // -1 for a character of no byte
};

}  // namespace lie

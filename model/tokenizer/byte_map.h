// The printable characters that stand for bytes in a byte-level vocabulary (GPT-2's table).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lie {

/// Byte to character: printable Latin-1 stands for itself, the other bytes for U+0100 and up in
/// order.
class ByteMap {
 public:
  ByteMap();
  /// The character of a byte, as UTF-8.
  std::string character(std::uint8_t byte) const;
  /// The bytes a vocabulary entry stands for; empty optional if a character of it stands for no
  /// byte.
  std::optional<std::string> bytes(std::string_view token) const;

 private:
  static constexpr std::uint32_t kLastCharacter = 0x143;
  std::array<std::uint32_t, 256> characters_ = {};
  std::array<std::int16_t, kLastCharacter + 1> bytes_ = {};  // -1: stands for no byte
};

}  // namespace lie

#include "model/tokenizer/byte_map.h"

#include "model/tokenizer/unicode.h"

namespace lie {
namespace {

bool represents_itself(std::uint32_t byte) {
  return (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
}

}  // namespace

ByteMap::ByteMap() {
  bytes_.fill(-1);
  std::uint32_t next_free = 0x100;
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    const std::uint32_t character = represents_itself(byte) ? byte : next_free++;
    characters_[byte] = character;
    bytes_[character] = static_cast<std::int16_t>(byte);
  }
}

std::string ByteMap::character(std::uint8_t byte) const {
  const std::uint32_t c = characters_[byte];
  if (c < 0x80) return {static_cast<char>(c)};
  return {static_cast<char>(0xc0 | c >> 6), static_cast<char>(0x80 | (c & 0x3f))};
}

std::optional<std::string> ByteMap::bytes(std::string_view token) const {
  std::string out;
  out.reserve(token.size());
  for (std::size_t i = 0; i < token.size(); i += utf8_length(token[i])) {
    const std::uint32_t c = utf8_decode(token, i);
    if (c > kLastCharacter || bytes_[c] < 0) return std::nullopt;
    out += static_cast<char>(bytes_[c]);
  }
  return out;
}

}  // namespace lie

#include "common/io/crc32c.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

namespace lie {

namespace {

using Table = std::array<std::uint32_t, 256>;

// kTables[k][b] is the checksum of byte b followed by k zero bytes. The loop processes eight bytes
// at a time (Kounavis and Berry, "slicing-by-8", 2005).
constexpr std::array<Table, 8> kTables = [] {
  std::array<Table, 8> tables = {};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78u : 0u);
    tables[0][byte] = crc;
  }
  for (std::size_t k = 1; k < 8; ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = tables[k - 1][byte];
      tables[k][byte] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
  return tables;
}();

std::uint32_t after_eight(std::uint32_t crc, const char* bytes) {
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  word ^= crc;
  std::uint32_t next = 0;
  for (std::size_t k = 0; k < 8; ++k) next ^= kTables[7 - k][(word >> (8 * k)) & 0xff];
  return next;
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  std::uint32_t crc = 0xffffffffu;
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) crc = after_eight(crc, bytes.data());
  for (const char byte : bytes) {
    crc = (crc >> 8) ^ kTables[0][(crc ^ static_cast<unsigned char>(byte)) & 0xff];
  }
  return ~crc;
}

namespace {

constexpr std::string_view kChecksumComment = "# crc32c: ";

std::size_t place_of_checksum(std::string_view line) {
  return line.rfind(fmt::format(",\"{}\":", kLineChecksum));
}

}  // namespace

std::string with_checksum(std::string_view object) {
  return fmt::format("{},\"{}\":{}}}", object.substr(0, object.size() - 1), kLineChecksum,
                     crc32c(object));
}

bool has_checksum(std::string_view line) {
  return place_of_checksum(line) != std::string_view::npos;
}

bool is_valid(std::string_view line) {
  return has_checksum(line) &&
         with_checksum(std::string(line.substr(0, place_of_checksum(line))) + "}") == line;
}

std::string with_checksum_comment(std::string_view text) {
  return fmt::format("{}{}{}\n", text, kChecksumComment, crc32c(text));
}

std::optional<bool> fits_checksum_comment(std::string_view text) {
  const std::size_t at = text.rfind(kChecksumComment);
  if (at == std::string_view::npos) return std::nullopt;
  return with_checksum_comment(text.substr(0, at)) == text;
}

}  // namespace lie

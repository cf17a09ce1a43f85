// CRC-32C, which detects torn writes and flipped bits, and texts that carry it. In a JSON Lines
// file it is the last field of each line's object:
//   {"step":7,"accuracy":0.5,"crc32c":1234567}
// It covers the object's text without that field. A YAML file has a checksum of its whole text, as
// a comment in its last line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lie {

/// Returns the CRC-32C (Castagnoli) of `bytes`.
std::uint32_t crc32c(std::string_view bytes);

inline constexpr std::string_view kLineChecksum = "crc32c";

/// Returns the text of a non-empty object with its checksum added.
std::string with_checksum(std::string_view object);

/// Returns whether the line has a checksum, correct or not. Lines of older versions have none.
bool has_checksum(std::string_view line);

/// Returns whether the line equals the output of with_checksum(), byte for byte.
bool is_valid(std::string_view line);

/// Returns a text of whole lines with a last line "# crc32c: NUMBER" added, a comment in YAML.
std::string with_checksum_comment(std::string_view text);

/// Returns whether a text equals the output of with_checksum_comment(); empty if its last line is
/// not such a comment, as in files of older versions.
std::optional<bool> fits_checksum_comment(std::string_view text);

}  // namespace lie

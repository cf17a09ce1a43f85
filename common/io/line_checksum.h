// A checksum in each line of a JSON Lines file, as the last field of its object:
//   {"step":7,"accuracy":0.5,"crc32c":1234567}
// CRC-32C of the object's text without that field.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace lie {

inline constexpr std::string_view kLineChecksum = "crc32c";

/// The text of an object that is not empty, with its checksum.
std::string with_checksum(std::string_view object);

/// Whether the line ends with a checksum, right or not. Lines of older builds have none.
bool has_checksum(std::string_view line);

/// Whether the line is, byte for byte, what with_checksum() made.
bool is_valid(std::string_view line);

/// Calls `visit` with each line that has its end, and its number from 1. Returns what follows the
/// last: of a file that is appended to, what a killed process left unfinished.
std::string_view for_each_whole_line(
    std::string_view text,
    const std::function<void(std::string_view line, std::size_t number)>& visit);

}  // namespace lie

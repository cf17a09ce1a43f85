// A checksum in each line of a JSON Lines file, as the last field of its object:
//   {"step":7,"accuracy":0.5,"crc32c":1234567}
// The checksum is the CRC-32C of the object's text without that field.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace lie {

inline constexpr std::string_view kLineChecksum = "crc32c";

/// Returns the text of a non-empty object with its checksum added.
std::string with_checksum(std::string_view object);

/// Returns whether the line has a checksum, correct or not. Lines of older versions have none.
bool has_checksum(std::string_view line);

/// Returns whether the line equals the output of with_checksum(), byte for byte.
bool is_valid(std::string_view line);

/// Calls `visit` with each line that ends with a newline, and its number from 1. Returns the rest
/// of the text: a line that a killed process left incomplete.
std::string_view for_each_whole_line(
    std::string_view text,
    const std::function<void(std::string_view line, std::size_t number)>& visit);

}  // namespace lie

// A checksum that detects torn writes and flipped bits.
#pragma once

#include <cstdint>
#include <string_view>

namespace lie {

/// Returns the CRC-32C (Castagnoli) of `bytes`.
std::uint32_t crc32c(std::string_view bytes);

}  // namespace lie

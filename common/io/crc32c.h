// A checksum against torn and flipped bytes.
#pragma once

#include <cstdint>
#include <string_view>

namespace lie {

/// CRC-32C (Castagnoli) of `bytes`.
std::uint32_t crc32c(std::string_view bytes);

}  // namespace lie

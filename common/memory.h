// Memory given back to the system before its owner ends.
#pragma once

#include <cstddef>
#include <span>

namespace lie {

/// Releases the whole pages within `bytes`: those of a mapped file are read again when touched,
/// others read as zeros. Only advice: the system may keep them longer.
void release_pages(std::span<const std::byte> bytes);

}  // namespace lie

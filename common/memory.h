// Memory given back to the system before its owner ends.
#pragma once

#include <cstddef>
#include <span>

namespace lie {

/// The whole pages inside of `bytes` are not needed any more: those of a mapped file are read again
/// when they are touched, others read as zeros. Where the system does not take the advice, memory
/// is used for longer, that is all.
void release_pages(std::span<const std::byte> bytes);

}  // namespace lie

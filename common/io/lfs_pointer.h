// Detects Git LFS pointers: short texts in place of large files that were not fetched.
#pragma once

#include <string_view>

namespace lie {

/// Throws Error if `content`, the beginning of a file of unexpected format, is a Git LFS pointer.
void refuse_lfs_pointer(std::string_view file, std::string_view content);

}  // namespace lie

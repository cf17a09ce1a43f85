// Git LFS leaves a short text in place of a large file that was not fetched.
#pragma once

#include <string_view>

namespace lie {

/// Throws Error saying so if `content`, the beginning of a file that was not what was expected, is
/// such a text.
void refuse_lfs_pointer(std::string_view file, std::string_view content);

}  // namespace lie

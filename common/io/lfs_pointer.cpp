#include "common/io/lfs_pointer.h"

#include "common/base/error.h"

namespace lie {

void refuse_lfs_pointer(std::string_view file, std::string_view content) {
  if (!content.starts_with("version https://git-lfs.github.com/spec/")) return;
  fail(
      "{}: this is a Git LFS pointer, not the file itself; run git lfs pull where it was cloned, "
      "or download it",
      file);
}

}  // namespace lie

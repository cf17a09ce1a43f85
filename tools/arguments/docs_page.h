// The path of a page of the documentation, for texts that name one.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

namespace lie {

/// Returns the path of a page ("how-to/export.md") that is installed with the running program, or
/// "docs/" and the page, its path in the source tree.
inline std::string docs_page(const std::string& page) {
  std::error_code ignored;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  const std::filesystem::path installed =
      program.parent_path().parent_path() / "share/lie_cluster/docs" / page;
  return std::filesystem::exists(installed, ignored) ? installed.string() : "docs/" + page;
}

}  // namespace lie

// The sources of the project and their include directives.
#pragma once

#include <string>
#include <vector>

namespace lie {

/// One include directive. `file` is relative to the repository root, and so is `path` if it names a
/// file of the project.
struct Include {
  std::string file;
  int line = 0;
  std::string path;
};

/// Returns the paths of all sources below the folders, from the repository root.
std::vector<std::string> sources_below(const std::vector<std::string>& folders);

/// Returns the includes of all sources below the folders, file by file.
std::vector<Include> includes_below(const std::vector<std::string>& folders);

/// Returns the folders that hold the program, without the tests.
const std::vector<std::string>& program_folders();

/// Returns whether a path names a file of the project.
bool is_ours(const std::string& path);

}  // namespace lie

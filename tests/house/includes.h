// Every include of the project's sources, as the rules of the house read them.
#pragma once

#include <string>
#include <vector>

namespace lie {

/// One include directive; both paths from the repository root, where `path` is the project's.
struct Include {
  std::string file;
  int line = 0;
  std::string path;
};

/// The includes of all sources below the folders, file by file.
std::vector<Include> includes_below(const std::vector<std::string>& folders);

/// The folders that hold the program; tests stand beside them.
const std::vector<std::string>& program_folders();

/// Whether a path names a file of the project.
bool is_ours(const std::string& path);

}  // namespace lie

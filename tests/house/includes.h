// The sources of the project, their units and their include directives.
#pragma once

#include <map>
#include <set>
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

/// Returns the folder of a path, "common/io" for "common/io/file.h".
std::string folder_of(const std::string& path);

/// Returns the unit that a file belongs to: its name without its ending. A unit is a header with
/// its source, or either alone. A stub for a missing backend belongs to the unit that it replaces.
std::string unit_of(const std::string& path);

/// Returns the program's folders with the units in each, without those of subfolders.
std::map<std::string, std::set<std::string>> units_by_folder();

/// Returns whether a path names a file of the project.
bool is_ours(const std::string& path);

}  // namespace lie

#include "tests/house/named_files.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/directories.h"
#include "tests/house/includes.h"

namespace lie {

namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

std::set<std::string> files_that_match(const std::regex& name) {
  const fs::path root = source_directory();
  std::set<std::string> files;
  for (const std::string& folder : program_folders()) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const fs::path& path = entry.path();
      if (path.extension() != ".h" && path.extension() != ".cpp") continue;
      if (std::regex_search(text_of(path), name)) files.insert(fs::relative(path, root).string());
    }
  }
  return files;
}

}  // namespace lie

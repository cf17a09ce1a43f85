#include "tests/house/includes.h"

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>

#include "tests/directories.h"

namespace lie {
namespace {

namespace fs = std::filesystem;

bool is_source(const fs::path& path) {
  static const std::set<std::string> kEndings = {".h", ".c", ".cpp", ".cu", ".cuh"};
  return kEndings.contains(path.extension().string());
}

void read_includes(const std::string& source, std::vector<Include>& found) {
  static const std::regex kInclude(R"(^\s*#\s*include\s*[<"]([^>"]+)[>"])");
  std::ifstream file(fs::path(source_directory()) / source);
  std::string text;
  for (int line = 1; std::getline(file, text); ++line) {
    std::smatch match;
    if (std::regex_search(text, match, kInclude)) found.push_back({source, line, match[1]});
  }
}

std::string without_ending(std::string unit, const std::string& ending) {
  if (unit.ends_with(ending)) unit.resize(unit.size() - ending.size());
  return unit;
}

}  // namespace

std::vector<std::string> sources_below(const std::vector<std::string>& folders) {
  std::vector<std::string> sources;
  for (const std::string& folder : folders) {
    for (const auto& entry :
         fs::recursive_directory_iterator(fs::path(source_directory()) / folder)) {
      if (entry.is_regular_file() && is_source(entry.path()))
        sources.push_back(fs::relative(entry.path(), source_directory()).string());
    }
  }
  return sources;
}

std::vector<Include> includes_below(const std::vector<std::string>& folders) {
  std::vector<Include> found;
  for (const std::string& source : sources_below(folders)) read_includes(source, found);
  return found;
}

const std::vector<std::string>& program_folders() {
  static const std::vector<std::string> kFolders = {"common", "verifier", "rewards", "model",
                                                    "actors", "learner",  "tools"};
  return kFolders;
}

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

std::string unit_of(const std::string& path) {
  return without_ending(fs::path(path).stem().string(), "_stub");
}

std::map<std::string, std::set<std::string>> units_by_folder() {
  std::map<std::string, std::set<std::string>> units;
  for (const std::string& file : sources_below(program_folders()))
    units[folder_of(file)].insert(unit_of(file));
  return units;
}

bool is_ours(const std::string& path) { return fs::exists(fs::path(source_directory()) / path); }

}  // namespace lie

// Each folder of the program that is too large for its file names alone has a README.md that lists
// its units, and no README.md of a folder is out of date.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "tests/directories.h"
#include "tests/house/includes.h"

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxUnitsWithoutReadme = 8;
constexpr std::size_t kMaxLines = 15;
constexpr std::size_t kMaxColumns = 100;

// A README.md of a folder: its lines, and the texts in backticks in the order of their first place.
struct Readme {
  std::vector<std::string> lines;
  std::vector<std::string> quoted;

  // Returns the place of a unit in the list, which names it as "file" or "file.h".
  std::size_t place_of(const std::string& unit) const {
    const auto names = [&](const std::string& text) {
      return text == unit || (text.starts_with(unit + ".") && lie::unit_of(text) == unit);
    };
    return static_cast<std::size_t>(std::find_if(quoted.begin(), quoted.end(), names) -
                                    quoted.begin());
  }
  bool names(const std::string& unit) const { return place_of(unit) < quoted.size(); }
};

Readme read_readme(const fs::path& path) {
  static const std::regex kQuoted("`([^`]+)`");
  Readme readme;
  std::string line;
  for (std::ifstream file(path); std::getline(file, line);) {
    for (std::sregex_iterator match(line.begin(), line.end(), kQuoted), end; match != end; ++match)
      readme.quoted.push_back((*match)[1]);
    readme.lines.push_back(line);
  }
  return readme;
}

// Returns the READMEs of the program's folders by folder.
std::map<std::string, Readme> all_readmes() {
  const fs::path root = lie::source_directory();
  std::map<std::string, Readme> readmes;
  for (const std::string& top : lie::program_folders()) {
    for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
      if (entry.path().filename() == "README.md")
        readmes[fs::relative(entry.path().parent_path(), root).string()] =
            read_readme(entry.path());
    }
  }
  return readmes;
}

// Returns whether a text in backticks is meant as a unit or folder: "policy_loss".
bool is_plain_name(const std::string& text) {
  static const std::regex kName("[a-z][a-z0-9_-]*");
  return std::regex_match(text, kName);
}

// Returns whether a text in backticks is meant as a path: "lexer/", "model/aten" or "parts.h".
bool is_path(const std::string& text) {
  static const std::regex kPath(R"([\w.-]+(/[\w.-]*)+|[\w-]+\.(h|cpp|cu|cuh|py|inc))");
  return std::regex_match(text, kPath);
}

TEST(Readme, EveryFolderWithManyUnitsHasOneThatNamesThemAll) {
  const auto readmes = all_readmes();
  for (const auto& [folder, units] : lie::units_by_folder()) {
    if (units.size() <= kMaxUnitsWithoutReadme) continue;
    ASSERT_TRUE(readmes.contains(folder)) << folder << " has no README.md";
    for (const std::string& unit : units)
      EXPECT_TRUE(readmes.at(folder).names(unit)) << folder << "/README.md lacks `" << unit << "`";
  }
}

TEST(Readme, NamesOnlyWhatExists) {
  const fs::path root = lie::source_directory();
  auto units = lie::units_by_folder();
  for (const auto& [folder, readme] : all_readmes()) {
    for (const std::string& text : readme.quoted) {
      const bool in_folder = fs::exists(root / folder / text);
      if (is_plain_name(text)) {
        EXPECT_TRUE(in_folder || units[folder].contains(text))
            << folder << "/README.md: no unit and no folder `" << text << "`";
      } else if (is_path(text)) {
        EXPECT_TRUE(in_folder || fs::exists(root / text))
            << folder << "/README.md: no file `" << text << "`";
      }
    }
  }
}

TEST(Readme, NamesAHeaderAfterThoseOfItsFolderThatItIncludes) {
  const auto readmes = all_readmes();
  for (const lie::Include& include : lie::includes_below(lie::program_folders())) {
    const std::string folder = lie::folder_of(include.file);
    if (!include.file.ends_with(".h") || lie::folder_of(include.path) != folder) continue;
    if (!readmes.contains(folder)) continue;
    const std::string includer = lie::unit_of(include.file), included = lie::unit_of(include.path);
    EXPECT_LE(readmes.at(folder).place_of(included), readmes.at(folder).place_of(includer))
        << folder << "/README.md: " << includer << " includes " << included
        << ", which must be named before it";
  }
}

TEST(Readme, FitsOnAScreen) {
  for (const auto& [folder, readme] : all_readmes()) {
    EXPECT_LE(readme.lines.size(), kMaxLines) << folder << "/README.md";
    for (const std::string& line : readme.lines)
      EXPECT_LE(line.size(), kMaxColumns) << folder << "/README.md: " << line;
  }
}

}  // namespace

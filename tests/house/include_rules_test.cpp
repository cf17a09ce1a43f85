// The house rules as a test: which folder may include which, and where each third-party library is
// at home. A folder missing from the table fails, so that the table stays whole.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tests/directories.h"

namespace {

namespace fs = std::filesystem;

struct Rule {
  std::set<std::string> folders;    // besides itself
  std::set<std::string> libraries;  // besides the C++ standard library and fmt
};

// In dependency order; a longer name wins over a shorter one ("common/comm" over "common").
const std::map<std::string, Rule> kRules = {
    {"common", {{}, {"spdlog", "yaml-cpp", "nlohmann", "Random123", "posix"}}},
    {"common/comm", {{"common"}, {"mpi", "nccl", "cuda", "posix"}}},
    {"common/trajectory", {{"common"}, {"hdf5", "posix"}}},
    {"common/dataset", {{"common"}, {"nlohmann", "arrow", "parquet"}}},
    {"verifier", {{"common"}, {"flint"}}},
    {"rewards", {{"common", "verifier"}, {}}},
    {"model/tokenizer", {{"common"}, {"pcre2", "utf8proc", "nlohmann"}}},
    {"model", {{"common"}, {"torch", "hwy", "cuda", "nlohmann", "posix"}}},
    {"actors", {{"common", "common/comm", "model/tokenizer", "model"}, {}}},
    {"learner",
     {{"common", "common/comm", "common/trajectory", "common/dataset", "model"}, {"nlohmann"}}},
    {"tools",
     {{"common", "common/comm", "common/trajectory", "common/dataset", "verifier", "rewards",
       "model/tokenizer", "model", "actors", "learner"},
      {"CLI", "nlohmann", "posix"}}},
};

// First part of an include path, or the whole name, to the library it belongs to.
const std::map<std::string, std::string> kLibraries = {{"spdlog", "spdlog"},
                                                       {"yaml-cpp", "yaml-cpp"},
                                                       {"nlohmann", "nlohmann"},
                                                       {"Random123", "Random123"},
                                                       {"arrow", "arrow"},
                                                       {"parquet", "parquet"},
                                                       {"mpi.h", "mpi"},
                                                       {"nccl.h", "nccl"},
                                                       {"hdf5.h", "hdf5"},
                                                       {"hdf5_hl.h", "hdf5"},
                                                       {"flint", "flint"},
                                                       {"arb.h", "flint"},
                                                       {"acb.h", "flint"},
                                                       {"acb_calc.h", "flint"},
                                                       {"calcium", "flint"},
                                                       {"acb_hypgeom.h", "flint"},
                                                       {"pcre2.h", "pcre2"},
                                                       {"utf8proc.h", "utf8proc"},
                                                       {"torch", "torch"},
                                                       {"ATen", "torch"},
                                                       {"c10", "torch"},
                                                       {"hwy", "hwy"},
                                                       {"CLI", "CLI"},
                                                       {"fmt", "fmt"},
                                                       {"cuda.h", "cuda"},
                                                       {"cuda_runtime.h", "cuda"},
                                                       {"cuda_runtime_api.h", "cuda"},
                                                       {"sys", "posix"},
                                                       {"unistd.h", "posix"},
                                                       {"fcntl.h", "posix"},
                                                       {"signal.h", "posix"},
                                                       {"sched.h", "posix"},
                                                       {"linux", "posix"},
                                                       {"pthread.h", "posix"},
                                                       {"dirent.h", "posix"},
                                                       {"poll.h", "posix"},
                                                       {"immintrin.h", "posix"},
                                                       {"cpuid.h", "posix"},
                                                       {"sched.h", "posix"}};

struct Include {
  std::string file;
  int line;
  std::string path;
};

std::string folder_of(const std::string& path) {
  std::string found;
  for (const auto& [folder, rule] : kRules) {
    if (path.rfind(folder + "/", 0) == 0 && folder.size() > found.size()) found = folder;
  }
  return found;
}

bool is_source(const fs::path& path) {
  static const std::set<std::string> kEndings = {".h", ".cpp", ".cu", ".cuh"};
  return kEndings.count(path.extension().string()) > 0;
}

std::vector<Include> includes_of(const fs::path& root, const std::string& top) {
  const std::regex include(R"(^\s*#\s*include\s*[<"]([^>"]+)[>"])");
  std::vector<Include> found;
  for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
    if (!entry.is_regular_file() || !is_source(entry.path())) continue;
    std::ifstream file(entry.path());
    std::string text;
    for (int line = 1; std::getline(file, text); ++line) {
      std::smatch match;
      if (std::regex_search(text, match, include)) {
        found.push_back({fs::relative(entry.path(), root).string(), line, match[1]});
      }
    }
  }
  return found;
}

std::vector<Include> all_includes() {
  std::vector<Include> all;
  for (const char* top : {"common", "verifier", "rewards", "model", "actors", "learner", "tools"}) {
    const auto some = includes_of(lie::source_directory(), top);
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

// Not of the project, not in kLibraries and with a ".h" that is not C's: somebody must say whose it
// is.
std::string library_of(const std::string& path) {
  const auto by_name = kLibraries.find(path);
  if (by_name != kLibraries.end()) return by_name->second;
  const auto by_folder = kLibraries.find(path.substr(0, path.find('/')));
  return by_folder != kLibraries.end() && path.find('/') != std::string::npos ? by_folder->second
                                                                              : "";
}

TEST(House, EveryFolderIncludesOnlyWhatTheTableAllows) {
  const auto all = all_includes();
  ASSERT_GT(all.size(), 100u);
  for (const Include& include : all) {
    const std::string from = folder_of(include.file);
    const std::string to = folder_of(include.path);
    if (to.empty() || to == from) continue;
    EXPECT_TRUE(kRules.at(from).folders.count(to)) << include.file << ":" << include.line << ": "
                                                   << from << " may not include " << include.path;
  }
}

TEST(House, EveryLibraryIsIncludedOnlyWhereItIsAtHome) {
  for (const Include& include : all_includes()) {
    const std::string library = library_of(include.path);
    if (library.empty() || library == "fmt") continue;
    const std::string from = folder_of(include.file);
    EXPECT_TRUE(kRules.at(from).libraries.count(library))
        << include.file << ":" << include.line << ": " << library << " is not at home in " << from;
  }
}

TEST(House, EveryIncludedHeaderIsKnown) {
  for (const Include& include : all_includes()) {
    const bool ours = fs::exists(fs::path(lie::source_directory()) / include.path);
    // A header for C callers includes C's own names.
    const bool c_standard = include.path == "stddef.h" || include.path == "stdlib.h";
    const bool standard = c_standard || include.path.find_first_of("./") == std::string::npos;
    EXPECT_TRUE(ours || standard || !library_of(include.path).empty())
        << include.file << ":" << include.line << ": whose header is " << include.path << "?";
  }
}

TEST(House, TheTableHasNoCycle) {
  for (const auto& [folder, rule] : kRules) {
    for (const std::string& other : rule.folders) {
      EXPECT_FALSE(kRules.at(other).folders.count(folder)) << folder << " <-> " << other;
    }
  }
}

TEST(House, NoSourceNamesARunTimeFolderOfItsAuthorsMachine) {
  for (const char* top : {"common", "verifier", "rewards", "model", "actors", "learner", "tools",
                          "tests", "configs", "scripts", "cmake", "slurm", "assets"}) {
    for (const auto& entry :
         fs::recursive_directory_iterator(fs::path(lie::source_directory()) / top)) {
      if (!entry.is_regular_file() || entry.path().filename() == "include_rules_test.cpp") continue;
      std::ifstream file(entry.path(), std::ios::binary);
      const std::string text((std::istreambuf_iterator<char>(file)), {});
      EXPECT_EQ(text.find("/root/"), std::string::npos) << entry.path();
    }
  }
}

}  // namespace

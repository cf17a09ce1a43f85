// The house rules as a test: which folder may include which, and where each third-party library is
// at home. A folder missing from the table fails, so that the table stays whole.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/directories.h"
#include "tests/house/cycles.h"
#include "tests/house/includes.h"

namespace {

namespace fs = std::filesystem;
using lie::Include;

struct Rule {
  std::set<std::string> folders;    // besides itself
  std::set<std::string> libraries;  // besides the C++ standard library and fmt
};

// In dependency order; a longer name wins over a shorter one ("common/comm" over "common").
const std::map<std::string, Rule> kRules = {
    {"common", {{}, {"openssl", "spdlog", "yaml-cpp", "nlohmann", "Random123", "posix"}}},
    {"common/comm", {{"common"}, {"mpi", "nccl", "cuda", "posix"}}},
    {"common/trajectory", {{"common"}, {"hdf5", "posix"}}},
    {"common/dataset", {{"common"}, {"nlohmann", "arrow", "parquet"}}},
    {"verifier", {{"common"}, {"flint"}}},
    {"rewards", {{"common", "verifier"}, {}}},
    {"model/tokenizer", {{"common"}, {"pcre2", "utf8proc", "nlohmann", "jinja"}}},
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
                                                       {"jinja", "jinja"},
                                                       {"torch", "torch"},
                                                       {"ATen", "torch"},
                                                       {"c10", "torch"},
                                                       {"hwy", "hwy"},
                                                       {"CLI", "CLI"},
                                                       {"openssl", "openssl"},
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
                                                       {"ifaddrs.h", "posix"},
                                                       {"net", "posix"},
                                                       {"netinet", "posix"},
                                                       {"spawn.h", "posix"},
                                                       {"immintrin.h", "posix"},
                                                       {"cpuid.h", "posix"}};

std::string folder_of(const std::string& path) {
  std::string found;
  for (const auto& [folder, rule] : kRules) {
    if (path.rfind(folder + "/", 0) == 0 && folder.size() > found.size()) found = folder;
  }
  return found;
}

std::vector<Include> all_includes() { return lie::includes_below(lie::program_folders()); }

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
    // A header for C callers includes C's own names.
    const bool c_standard = include.path == "stddef.h" || include.path == "stdlib.h";
    const bool standard = c_standard || include.path.find_first_of("./") == std::string::npos;
    EXPECT_TRUE(lie::is_ours(include.path) || standard || !library_of(include.path).empty())
        << include.file << ":" << include.line << ": whose header is " << include.path << "?";
  }
}

TEST(House, TheTableHasNoCycle) {
  lie::Graph table;
  for (const auto& [folder, rule] : kRules) table[folder] = rule.folders;
  for (const auto& cycle : lie::cycles(table))
    ADD_FAILURE() << "a circle of " << cycle.size() << " through " << cycle.front();
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

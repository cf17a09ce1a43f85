// The house rules as tests. The floor plan (floor_plan.txt) says which folder may include which.
// The table below says where each third-party library may be included. No folder has more than 16
// units.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/directories.h"
#include "tests/house/cycles.h"
#include "tests/house/includes.h"

namespace {

namespace fs = std::filesystem;
using lie::folder_of;
using lie::Include;
using lie::units_by_folder;

constexpr std::size_t kMaxUnits = 16;

// Third-party libraries besides fmt, which every folder may include. The longest matching folder
// decides.
const std::map<std::string, std::set<std::string>> kLibrariesOfFolder = {
    {"common", {"openssl", "yaml-cpp", "nlohmann", "Random123", "posix"}},
    {"common/comm", {"mpi", "nccl", "cuda", "posix"}},
    {"common/trajectory", {"hdf5", "posix"}},
    {"common/dataset", {"nlohmann", "arrow", "parquet"}},
    {"verifier", {"flint"}},
    {"rewards", {"posix"}},
    {"model/tokenizer", {"pcre2", "utf8proc", "nlohmann", "jinja"}},
    {"model", {"torch", "hwy", "cuda", "nlohmann", "posix"}},
    {"model/cudnn", {"cudnn"}},
    {"actors", {}},
    {"learner", {"nlohmann"}},
    {"tools", {"CLI", "nlohmann", "posix"}},
};

// Maps the first component of an include path, or the full name, to its library.
const std::map<std::string, std::string> kLibraries = {{"yaml-cpp", "yaml-cpp"},
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
                                                       {"cudnn_frontend.h", "cudnn"},
                                                       {"cuda_runtime.h", "cuda"},
                                                       {"cuda_pipeline_primitives.h", "cuda"},
                                                       {"cuda_runtime_api.h", "cuda"},
                                                       {"nvtx3", "cuda"},
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
                                                       {"wordexp.h", "posix"},
                                                       {"immintrin.h", "posix"},
                                                       {"cpuid.h", "posix"}};

const std::set<std::string>& libraries_of(const std::string& file) {
  std::string folder = folder_of(file);
  while (!kLibrariesOfFolder.contains(folder)) folder = folder_of(folder);
  return kLibrariesOfFolder.at(folder);
}

fs::path floor_plan_file() {
  return fs::path(lie::source_directory()) / "tests/house/floor_plan.txt";
}

// Reads the floor plan: a folder and a colon, then the folders that it may include besides itself,
// which indented lines continue. "#" begins a comment.
lie::Graph floor_plan() {
  lie::Graph plan;
  std::string folder, line, word;
  for (std::ifstream file(floor_plan_file()); std::getline(file, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    while (words >> word) {
      if (word.ends_with(':')) {
        folder = word.substr(0, word.size() - 1);
        plan[folder];
      } else {
        plan[folder].insert(word);
      }
    }
  }
  return plan;
}

std::vector<Include> all_includes() { return lie::includes_below(lie::program_folders()); }

// Returns the library of a header. Empty for headers of the project and of C++.
std::string library_of(const std::string& path) {
  const auto by_name = kLibraries.find(path);
  if (by_name != kLibraries.end()) return by_name->second;
  const auto by_folder = kLibraries.find(path.substr(0, path.find('/')));
  return by_folder != kLibraries.end() && path.find('/') != std::string::npos ? by_folder->second
                                                                              : "";
}

TEST(House, EveryFolderIncludesOnlyWhatTheFloorPlanAllows) {
  const lie::Graph plan = floor_plan();
  for (const Include& include : all_includes()) {
    const std::string from = folder_of(include.file), to = folder_of(include.path);
    if (!lie::is_ours(include.path) || to == from) continue;
    ASSERT_TRUE(plan.contains(from)) << from << " is missing in " << floor_plan_file();
    EXPECT_TRUE(plan.at(from).contains(to)) << include.file << ":" << include.line << ": " << from
                                            << " may not include " << include.path;
  }
}

TEST(House, TheFloorPlanHasNoUnusedEntries) {
  lie::Graph unused = floor_plan();
  for (const Include& include : all_includes())
    unused[folder_of(include.file)].erase(folder_of(include.path));
  const auto units = units_by_folder();
  for (const auto& [folder, allowed] : unused) {
    EXPECT_TRUE(units.contains(folder)) << folder << " holds no source";
    for (const std::string& other : allowed)
      ADD_FAILURE() << "nothing in " << folder << " includes " << other;
  }
}

TEST(House, FoldersHaveAtMostSixteenUnits) {
  const auto all = units_by_folder();
  ASSERT_GT(all.size(), 30U);
  for (const auto& [folder, units] : all)
    EXPECT_LE(units.size(), kMaxUnits) << folder << " holds " << units.size() << " units";
}

TEST(House, EveryLibraryIsIncludedOnlyInItsFolders) {
  for (const Include& include : all_includes()) {
    const std::string library = library_of(include.path);
    if (library.empty() || library == "fmt") continue;
    EXPECT_TRUE(libraries_of(include.file).contains(library))
        << include.file << ":" << include.line << ": this folder may not include " << library;
  }
}

TEST(House, EveryIncludedHeaderIsKnown) {
  for (const Include& include : all_includes()) {
    // Headers for C callers include the C standard headers by their C names.
    const bool c_standard = include.path == "stddef.h" || include.path == "stdlib.h";
    const bool standard = c_standard || include.path.find_first_of("./") == std::string::npos;
    EXPECT_TRUE(lie::is_ours(include.path) || standard || !library_of(include.path).empty())
        << include.file << ":" << include.line << ": kLibraries does not say which library "
        << include.path << " belongs to";
  }
}

TEST(House, NoFileContainsAPathInAHomeDirectory) {
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

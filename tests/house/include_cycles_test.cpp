// No folder and no file includes itself through others. A folder without subfolders is one node of
// the graph. In a folder with subfolders each file is a node of its own (learner/learner.cpp,
// learner/step.h), because the subfolders build on some of these files and others build on them.
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "tests/house/cycles.h"
#include "tests/house/includes.h"

namespace {

using lie::Graph, lie::Include;

using NodeOf = std::function<std::string(const std::string&)>;

std::string file_itself(const std::string& path) { return path; }
std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

std::set<std::string> parents_of_folders(const std::vector<Include>& includes) {
  std::set<std::string> parents;
  for (const Include& include : includes) {
    const std::string folder = folder_of(include.file);
    if (const auto slash = folder.rfind('/'); slash != std::string::npos)
      parents.insert(folder.substr(0, slash));
  }
  return parents;
}

// Returns the node of a file: its folder, or the file itself if its folder has subfolders.
NodeOf room_in(const std::vector<Include>& includes) {
  return [parents = parents_of_folders(includes)](const std::string& path) {
    const std::string folder = folder_of(path);
    return parents.contains(folder) ? path : folder;
  };
}

std::vector<Include> own_includes() {
  std::vector<std::string> folders = lie::program_folders();
  folders.emplace_back("tests");
  std::vector<Include> all = lie::includes_below(folders);
  std::erase_if(all, [](const Include& include) { return !lie::is_ours(include.path); });
  return all;
}

Graph graph_of(const std::vector<Include>& includes, const NodeOf& node) {
  Graph graph;
  for (const Include& include : includes)
    if (node(include.file) != node(include.path))
      graph[node(include.file)].insert(node(include.path));
  return graph;
}

// Returns each step of a cycle with its includes.
std::string described(const std::vector<std::string>& cycle, const std::vector<Include>& includes,
                      const NodeOf& node) {
  std::string out;
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    const std::string& next = cycle[(i + 1) % cycle.size()];
    out += "  " + cycle[i] + " -> " + next + "\n";
    for (const Include& include : includes)
      if (node(include.file) == cycle[i] && node(include.path) == next)
        out += "    " + include.file + ":" + std::to_string(include.line) + " includes " +
               include.path + "\n";
  }
  return out;
}

void expect_no_cycle(const std::vector<Include>& includes, const NodeOf& node) {
  for (const auto& cycle : lie::cycles(graph_of(includes, node)))
    ADD_FAILURE() << "a cycle of " << cycle.size() << ":\n" << described(cycle, includes, node);
}

TEST(House, FoldersHaveNoIncludeCycles) {
  const std::vector<Include> includes = own_includes();
  ASSERT_GT(includes.size(), 1000U);
  expect_no_cycle(includes, room_in(includes));
}

TEST(House, FilesHaveNoIncludeCycles) { expect_no_cycle(own_includes(), file_itself); }

using Cycles = std::vector<std::vector<std::string>>;

TEST(Cycles, FindsACycleAmongAcyclicNodes) {
  const Graph graph = {{"top", {"a", "x"}}, {"a", {"b"}}, {"b", {"c", "x"}}, {"c", {"a"}}};
  EXPECT_EQ(lie::cycles(graph), (Cycles{{"a", "b", "c"}}));
}

TEST(Cycles, ReturnsAShortestCycle) {
  EXPECT_EQ(lie::cycles({{"a", {"b", "c"}}, {"b", {"c"}}, {"c", {"a"}}}),
            (Cycles{{"a", "c"}, {"b", "c", "a"}}));
}

TEST(Cycles, FindsDisjointCycles) {
  const Graph graph = {{"a", {"b"}}, {"b", {"a", "p"}}, {"p", {"q"}}, {"q", {"p"}}};
  EXPECT_EQ(lie::cycles(graph), (Cycles{{"a", "b"}, {"p", "q"}}));
}

TEST(Cycles, IgnoresSharedParentsAndSelfEdges) {
  EXPECT_EQ(lie::cycles({{"a", {"a", "b", "c"}}, {"b", {"d"}}, {"c", {"d"}}}), Cycles{});
}

// The report must show the include that the test adds.
TEST(Cycles, ReportsAnAddedFolderCycleWithItsIncludes) {
  const std::vector<Include> includes = {{"model/cpu/gemm.cpp", 3, "model/operators.h"},
                                         {"model/operators.h", 7, "common/shape.h"},
                                         {"common/shape.h", 9, "model/cpu/gemm.h"}};
  const auto found = lie::cycles(graph_of(includes, folder_of));
  ASSERT_EQ(found, (Cycles{{"common", "model/cpu", "model"}}));
  EXPECT_EQ(described(found[0], includes, folder_of),
            "  common -> model/cpu\n    common/shape.h:9 includes model/cpu/gemm.h\n"
            "  model/cpu -> model\n    model/cpu/gemm.cpp:3 includes model/operators.h\n"
            "  model -> common\n    model/operators.h:7 includes common/shape.h\n");
}

}  // namespace

// Finds cycles in a directed graph.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace lie {

/// The successors of each node.
using Graph = std::map<std::string, std::set<std::string>>;

/// Returns cycles that cover every node on a cycle: for each node not covered yet, a shortest cycle
/// through it. {a, b, c} means a -> b -> c -> a. The result is empty exactly if every strongly
/// connected component is a single node. Edges from a node to itself are ignored.
std::vector<std::vector<std::string>> cycles(const Graph& graph);

}  // namespace lie

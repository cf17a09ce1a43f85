// Circles in a directed graph.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace lie {

/// What each node leads to.
using Graph = std::map<std::string, std::set<std::string>>;

/// A shortest cycle through every node that lies on one and on none named before: {a, b, c} is
/// a -> b -> c -> a. Empty exactly where every strongly connected component is a single node. A
/// node that leads to itself is no cycle.
std::vector<std::vector<std::string>> cycles(const Graph& graph);

}  // namespace lie

#include "tests/house/cycles.h"

#include <algorithm>
#include <deque>

namespace lie {
namespace {

using Cycle = std::vector<std::string>;

Cycle path_back(const std::map<std::string, std::string>& came_from, const std::string& start,
                const std::string& last) {
  Cycle path = {last};
  while (path.back() != start) path.push_back(came_from.at(path.back()));
  std::ranges::reverse(path);
  return path;
}

// Returns a shortest cycle through the start, by breadth-first search. Empty if there is none.
Cycle shortest_cycle(const Graph& graph, const std::string& start) {
  std::map<std::string, std::string> came_from;
  std::deque<std::string> ahead = {start};
  for (; !ahead.empty(); ahead.pop_front()) {
    const std::string node = ahead.front();
    const auto edges = graph.find(node);
    if (edges == graph.end()) continue;
    if (node != start && edges->second.contains(start)) return path_back(came_from, start, node);
    for (const std::string& next : edges->second)
      if (next != start && came_from.emplace(next, node).second) ahead.push_back(next);
  }
  return {};
}

}  // namespace

std::vector<Cycle> cycles(const Graph& graph) {
  std::vector<Cycle> found;
  std::set<std::string> named;
  for (const auto& [node, edges] : graph) {
    if (named.contains(node)) continue;
    const Cycle cycle = shortest_cycle(graph, node);
    named.insert(cycle.begin(), cycle.end());
    if (!cycle.empty()) found.push_back(cycle);
  }
  return found;
}

}  // namespace lie

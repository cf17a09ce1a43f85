// What is measured of a response, and how a judge's answer is read: counts of the four behaviors of
// Gandhi et al. (arXiv:2503.01307), depth and width of the reasoning graph.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace lie::judge {

/// In the order of tables.
inline constexpr std::array kMeasures = {"verification",      "backtracking", "subgoals",
                                         "backward_chaining", "graph_depth",  "graph_width"};

/// By kMeasures; nothing where there is no answer.
using Values = std::array<std::optional<double>, kMeasures.size()>;

/// What a judge is asked, each in a request of its own. A topic's prompt is assets/judge/TOPIC.txt.
inline constexpr std::array kTopics = {"verification", "backtracking", "subgoals",
                                       "backward_chaining", "graph"};
inline constexpr std::size_t kGraphTopic = kTopics.size() - 1;

/// A graph of steps numbered from 1.
struct GraphShape {
  std::size_t depth = 0;  // steps on a longest chain
  std::size_t width = 0;  // most steps on one level; a step's level is its longest chain's length
};

/// `builds_on` lists for each step the earlier ones on which it builds; nothing if one is not
/// earlier.
std::optional<GraphShape> graph_shape(std::span<const std::vector<std::size_t>> builds_on);

/// Reads a judge's text into the measures of `topic`. Its end must be the object that the prompt
/// asks for, of whole numbers up to 10,000; a code fence around it is allowed. Otherwise false, and
/// `values` is as before.
bool read_answer(std::size_t topic, std::string_view text, Values& values);

}  // namespace lie::judge

#include "tools/judge/measures.h"

#include <algorithm>
#include <cstdint>

#include "common/io/json.h"

namespace lie::judge {
namespace {

constexpr std::uint64_t kMost = 10000;

/// The JSON object at the end of a text, which holds no other within.
std::optional<Json> last_object(std::string_view text) {
  const std::size_t end = text.find_last_not_of(" \t\r\n`");
  if (end == std::string_view::npos || text[end] != '}') return std::nullopt;
  const std::size_t begin = text.rfind('{', end);
  if (begin == std::string_view::npos) return std::nullopt;
  Json object = Json::parse(text.substr(begin, end + 1 - begin), nullptr, false);
  if (!object.is_object() || object.size() != 1) return std::nullopt;
  return object;
}

std::optional<std::size_t> whole_number(const Json& value) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > kMost) return std::nullopt;
  return value.get<std::size_t>();
}

bool append_step(const Json& list, std::vector<std::vector<std::size_t>>& steps) {
  if (!list.is_array()) return false;
  steps.emplace_back();
  for (const Json& entry : list) {
    const auto number = whole_number(entry);
    if (!number) return false;
    steps.back().push_back(*number);
  }
  return true;
}

std::optional<GraphShape> read_graph(const Json& object) {
  const auto lists = object.find("builds_on");
  if (lists == object.end() || !lists->is_array() || lists->size() > kMost) return std::nullopt;
  std::vector<std::vector<std::size_t>> steps;
  for (const Json& list : *lists) {
    if (!append_step(list, steps)) return std::nullopt;
  }
  return graph_shape(steps);
}

}  // namespace

std::optional<GraphShape> graph_shape(std::span<const std::vector<std::size_t>> builds_on) {
  std::vector<std::size_t> levels, on_level(builds_on.size() + 1);
  GraphShape shape;
  for (const std::vector<std::size_t>& earlier : builds_on) {
    std::size_t level = 1;
    for (const std::size_t step : earlier) {
      if (step == 0 || step > levels.size()) return std::nullopt;
      level = std::max(level, levels[step - 1] + 1);
    }
    levels.push_back(level);
    shape.depth = std::max(shape.depth, level);
    shape.width = std::max(shape.width, ++on_level[level]);
  }
  return shape;
}

bool read_answer(std::size_t topic, std::string_view text, Values& values) {
  const std::optional<Json> object = last_object(text);
  if (!object) return false;
  if (topic != kGraphTopic) {
    const auto count = object->contains("count") ? whole_number((*object)["count"]) : std::nullopt;
    if (count) values[topic] = static_cast<double>(*count);
    return count.has_value();
  }
  const auto shape = read_graph(*object);
  if (!shape) return false;
  values[kGraphTopic] = static_cast<double>(shape->depth);
  values[kGraphTopic + 1] = static_cast<double>(shape->width);
  return true;
}

}  // namespace lie::judge

// Parts of a full key such as "rollout.samples".
#pragma once

#include <string_view>

namespace lie {

/// Returns "samples" for "rollout.samples".
inline std::string_view last_part(std::string_view key) {
  const std::size_t dot = key.rfind('.');
  return dot == std::string_view::npos ? key : key.substr(dot + 1);
}

/// Returns "rollout" for "rollout.samples". Empty at the top level.
inline std::string_view section_of(std::string_view key) {
  const std::size_t dot = key.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : key.substr(0, dot);
}

}  // namespace lie

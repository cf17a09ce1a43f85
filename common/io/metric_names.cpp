#include "common/io/metric_names.h"

#include <array>
#include <utility>

namespace lie {
namespace {

using Renamed = std::pair<std::string_view, std::string_view>;

constexpr std::array<Renamed, 5> kNames = {{
    {"groups_all_right_share", "groups_all_correct_share"},
    {"groups_all_wrong_share", "groups_all_incorrect_share"},
    {"groups_dropped_all_right", "groups_dropped_all_correct"},
    {"groups_dropped_all_wrong", "groups_dropped_all_incorrect"},
    {"wrong_beyond_right_share", "incorrect_beyond_correct_share"},
}};
constexpr std::array<Renamed, 2> kPrefixes = {{
    {"right_at_", "correct_at_"},
    {"eval_right_at_", "eval_correct_at_"},
}};

}  // namespace

std::string present_metric_name(std::string_view name) {
  for (const auto& [former, present] : kNames) {
    if (name == former) return std::string(present);
  }
  for (const auto& [former, present] : kPrefixes) {
    if (name.starts_with(former)) {
      return std::string(present) + std::string(name.substr(former.size()));
    }
  }
  return std::string(name);
}

}  // namespace lie

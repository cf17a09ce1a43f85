#include "tools/replay/group_selection.h"

#include <algorithm>

#include "tools/replay/group_choice.h"

namespace lie::replay {
namespace {

bool is_mixed(const ScoredGroup& group) {
  const std::int64_t right = count_right(group.scores);
  return right > 0 && right < std::ssize(group.scores);
}

}  // namespace

GroupSelection parse_group_selection(const std::string& text) {
  if (text == "all") return {};
  if (text == "mixed") return {.only_mixed = true, .numbers = {}};
  return {.numbers = parse_number_range("--groups", text)};
}

bool keep_selected(std::vector<ScoredGroup>& groups, const GroupSelection& selection) {
  const auto is_left_out = [&](const ScoredGroup& group) {
    return !selection.numbers.contains(group.rollout.ticket.group) ||
           (selection.only_mixed && !is_mixed(group));
  };
  if (std::ranges::all_of(groups, is_left_out)) return false;
  std::erase_if(groups, is_left_out);
  return true;
}

}  // namespace lie::replay

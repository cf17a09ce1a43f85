#include "tools/replay/group_selection.h"

#include <algorithm>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/config/nearest.h"
#include "common/text/scan.h"
#include "learner/schedule/open_groups.h"

namespace lie::replay {
GroupSelection parse_group_selection(const std::string& text) {
  if (text == "all") return {};
  if (text == "mixed") return {.only_mixed = true, .numbers = {}};
  const std::vector<std::string> names = {"all", "mixed"};
  const bool is_name = !text.empty() && is_letter(text[0]);
  if (is_name) fail("--groups {}: give all, mixed or a range{}", text, did_you_mean(text, names));
  return {.numbers = parse_number_range("--groups", text)};
}

bool keep_selected(std::vector<ScoredGroup>& groups, const GroupSelection& selection) {
  const auto is_left_out = [&](const ScoredGroup& group) {
    return !selection.numbers.contains(group.rollout.ticket.group) ||
           (selection.only_mixed && !has_signal(group));
  };
  if (std::ranges::all_of(groups, is_left_out)) return false;
  std::erase_if(groups, is_left_out);
  return true;
}

}  // namespace lie::replay

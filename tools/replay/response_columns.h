// What an export can say of a response, by column.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "common/dataset/row_file.h"
#include "tools/replay/logged_group.h"

namespace lie::replay {

struct ResponseColumn {
  std::string name;
  Row example;  // of its kind
  std::function<Row(const LoggedGroup&, std::size_t sample)> value;
  bool is_default = true;
};

/// All columns, with those for the reward terms and further numbers of any of the runs; null where
/// a response has no such value.
std::vector<ResponseColumn> response_columns(std::span<const LoggedRun> runs);

/// Those of the names, in their order; without names, the default ones. Throws Error for a name
/// that no column has.
std::vector<ResponseColumn> chosen_columns(std::vector<ResponseColumn> all,
                                           std::span<const std::string> names);

}  // namespace lie::replay

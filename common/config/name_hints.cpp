#include "common/config/name_hints.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <sstream>
#include <utility>
#include <vector>

#include "common/config/options.h"

namespace lie {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last, last, row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_last = std::exchange(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({changed, last[j] + 1, row[j - 1] + 1});
      const bool are_exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (are_exchanged) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string nearest_name(std::string_view name, std::span<const std::string> known) {
  std::size_t least = std::numeric_limits<std::size_t>::max();
  std::string nearest;
  for (const std::string& candidate : known) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < least) {
      least = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string did_you_mean(std::string_view name, std::span<const std::string> known) {
  const std::string nearest = nearest_name(name, known);
  const std::size_t longer = std::max(name.size(), nearest.size());
  const bool near = !nearest.empty() && 3 * edit_distance(name, nearest) <= longer;
  return near ? "; did you mean " + nearest + "?" : "";
}

namespace {

/// A key of another framework and its counterpart here.
struct ForeignKey {
  std::string framework, key;
  std::vector<std::string> values;  // that the row is about; all if empty
  std::string here;                 // "optimizer.beta1, optimizer.beta2", or "none: " and why
  std::vector<std::string> keys;    // that `here` names
};

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream row(line.substr(1));
  for (std::string cell; std::getline(row, cell, '|');) cells.push_back(cell);
  return cells;
}

/// Returns the texts in backquotes.
std::vector<std::string> names_in(const std::string& cell) {
  std::vector<std::string> names;
  std::istringstream parts(cell);
  bool is_name = false;
  for (std::string part; std::getline(parts, part, '`'); is_name = !is_name) {
    if (is_name) names.push_back(part);
  }
  return names;
}

/// Returns the cell as plain text, without quotes and outer spaces.
std::string plain(std::string cell) {
  std::erase(cell, '`');
  const std::size_t first = std::min(cell.find_first_not_of(' '), cell.size());
  return cell.substr(first, cell.find_last_not_of(' ') + 1 - first);
}

/// Reads the rows of the page's table. In a framework's cell, a colon precedes values and a slash
/// precedes a divisor.
std::vector<ForeignKey> read_table() {
  std::vector<ForeignKey> table;
  std::vector<std::string> frameworks;
  std::istringstream page{std::string(kForeignKeysPage)};
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("| ")) continue;
    const std::vector<std::string> cells = cells_of(line);
    if (frameworks.empty()) {
      frameworks = cells;
      continue;
    }
    for (std::size_t i = 0; i + 1 < cells.size(); ++i) {
      const std::size_t colon = cells[i].find(": ");
      const std::size_t end = std::min(colon, cells[i].find(" / "));
      const std::string values = colon == std::string::npos ? "" : cells[i].substr(colon);
      for (std::string& key : names_in(cells[i].substr(0, end))) {
        table.push_back({plain(frameworks[i]), std::move(key), names_in(values),
                         plain(cells.back()), names_in(cells.back())});
      }
    }
  }
  return table;
}

std::string_view outermost(std::string_view key) { return key.substr(0, key.find('.')); }

/// Returns how well a key of another framework fits; 0: not at all. critic.* fits all keys of that
/// section.
std::size_t fit(const ForeignKey& foreign, std::string_view key, bool is_our_section) {
  const bool is_section = foreign.key.ends_with(".*");
  if (is_section) return outermost(foreign.key) == outermost(key) ? 1000 : 0;
  if (key == foreign.key || key == "actor_rollout_ref." + foreign.key) return 1000;
  const bool is_elsewhere =
      !foreign.keys.empty() && outermost(foreign.keys.front()) != outermost(key);
  if (is_our_section && is_elsewhere) return 0;
  if (key.ends_with("." + foreign.key)) return 1 + foreign.key.size();
  const bool may_be_short = is_our_section || key.find('.') == std::string_view::npos;
  return may_be_short && last_part(key) == last_part(foreign.key) ? 1 : 0;
}

/// Returns the row that is about the value. If none is and there are several, what they name,
/// joined by "or".
ForeignKey row_for(std::span<const ForeignKey> rows, const std::string& value) {
  for (const ForeignKey& row : rows) {
    if (std::ranges::find(row.values, value) != row.values.end()) return row;
  }
  std::vector<std::string> names;
  for (const ForeignKey& row : rows) {
    if (row.values.empty() || rows.size() == 1) return row;
    const std::string& name = row.keys.front();
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  ForeignKey all = rows.front();
  all.here = fmt::format("{}, depending on its value,", fmt::join(names, " or "));
  return all;
}

}  // namespace

std::string foreign_key_hint(std::string_view key, std::string_view value,
                             std::span<const std::string> known) {
  const bool is_our_section = std::ranges::any_of(known, [&](const std::string& name) {
    return key.find('.') != std::string_view::npos && outermost(name) == outermost(key);
  });
  std::vector<ForeignKey> rows;
  std::size_t best = 0;
  for (const ForeignKey& foreign : read_table()) {
    const bool has_none = foreign.keys.empty() && !foreign.here.empty();
    if (!has_none && std::ranges::find_first_of(known, foreign.keys) == known.end()) continue;
    const std::size_t fits = fit(foreign, key, is_our_section);
    if (fits == 0 || fits < best) continue;
    if (fits > best) rows.clear();
    best = fits;
    const bool is_first = rows.empty() || rows.front().framework == foreign.framework;
    if (is_first) rows.push_back(foreign);
  }
  if (rows.empty()) return "";
  const ForeignKey row = row_for(rows, std::string(value));
  if (row.keys.empty()) return fmt::format("; {}'s {}: {};", row.framework, row.key, row.here);
  return fmt::format("; {}'s {} is {} here;", row.framework, row.key, row.here);
}

}  // namespace lie

#include "common/comm/role_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <span>
#include <vector>

#include "common/text/counted.h"

namespace lie {
namespace {

constexpr std::size_t kMaxRows = 16;  // lines of the table before it is folded further
constexpr std::size_t kColumns = 78;  // width of an indented line on a terminal

struct TableRow {
  int first = 0, last = 0, count = 1;
  std::string roles;
  std::int64_t min_threads = 1, max_threads = 1;
  std::string first_host, last_host;
  std::set<std::string> hosts;

  void add(const TableRow& next) {
    last = next.last;
    count += next.count;
    min_threads = std::min(min_threads, next.min_threads);
    max_threads = std::max(max_threads, next.max_threads);
    hosts.insert(next.hosts.begin(), next.hosts.end());
    last_host = next.last_host;
  }
};

template <typename Alike>
std::vector<TableRow> fold(std::span<const TableRow> rows, const Alike& alike) {
  std::vector<TableRow> folded;
  for (const TableRow& row : rows) {
    if (!folded.empty() && alike(folded.back(), row)) {
      folded.back().add(row);
    } else {
      folded.push_back(row);
    }
  }
  return folded;
}

/// Returns one row for each combination of roles, in the order of their first ranks.
std::vector<TableRow> fold_all(std::span<const TableRow> rows) {
  std::vector<TableRow> folded;
  for (const TableRow& row : rows) {
    const auto same = std::ranges::find(folded, row.roles, &TableRow::roles);
    if (same == folded.end()) {
      folded.push_back(row);
    } else {
      same->add(row);
    }
  }
  return folded;
}

std::string ranks_text(const TableRow& row) {
  if (row.count <= row.last - row.first) return fmt::format("{} ranks", row.count);
  if (row.first == row.last) return fmt::format("rank {}", row.first);
  return fmt::format("ranks {}-{}", row.first, row.last);
}

std::string threads_text(const TableRow& row) {
  if (row.min_threads == row.max_threads) return counted(row.max_threads, "thread");
  return fmt::format("{}-{} threads", row.min_threads, row.max_threads);
}

std::string hosts_text(const TableRow& row) {
  if (row.hosts.size() == 1) return row.first_host;
  return fmt::format("{} hosts, {} to {}", row.hosts.size(), row.first_host, row.last_host);
}

/// Returns one line per row, in aligned columns. Lines that are too long lose the end of their host
/// names.
std::string text_of(std::span<const TableRow> rows) {
  std::size_t wide[3] = {};
  for (const TableRow& row : rows) {
    wide[0] = std::max(wide[0], ranks_text(row).size());
    wide[1] = std::max(wide[1], row.roles.size());
    wide[2] = std::max(wide[2], threads_text(row).size());
  }
  std::string text;
  for (const TableRow& row : rows) {
    const std::string line =
        fmt::format("{:<{}}  {:<{}}  {:<{}}  {}", ranks_text(row), wide[0], row.roles, wide[1],
                    threads_text(row), wide[2], hosts_text(row));
    text += line.substr(0, kColumns) + "\n";
  }
  return text;
}

}  // namespace

std::string role_table(const RoleLayout& layout, std::int64_t set_threads) {
  std::vector<TableRow> rows;
  for (int rank = 0; rank < static_cast<int>(layout.places.size()); ++rank) {
    const std::int64_t threads = layout.max_threads(rank, set_threads);
    const std::string& host = layout.places[static_cast<std::size_t>(rank)].host;
    rows.push_back({.first = rank,
                    .last = rank,
                    .roles = layout.roles_of(rank),
                    .min_threads = threads,
                    .max_threads = threads,
                    .first_host = host,
                    .last_host = host,
                    .hosts = {host}});
  }
  std::vector<TableRow> folded = fold(rows, [](const TableRow& a, const TableRow& b) {
    return a.roles == b.roles && a.first_host == b.first_host && a.max_threads == b.max_threads;
  });
  if (folded.size() > kMaxRows) {
    folded = fold(rows, [](const TableRow& a, const TableRow& b) { return a.roles == b.roles; });
  }
  if (folded.size() > kMaxRows) folded = fold_all(folded);
  return text_of(folded);
}

}  // namespace lie

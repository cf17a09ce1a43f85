#include "common/comm/liveness/rank_report.h"

#include <fmt/format.h>
#include <unistd.h>

#include "common/process/terminal.h"
#include "common/text/printable.h"

namespace lie {

void write_report(const RankState& rank, int size, std::string_view message) {
  const std::string activity = rank.activity.empty() ? "" : ", " + rank.activity;
  const std::string text =
      fmt::format("{}error on rank {} ({}) of {}, host {}{}: {}\n", line_start(stderr), rank.rank,
                  rank.role, size, rank.host, activity, printable(message));
  for (std::string_view rest = text; !rest.empty();) {
    const ssize_t written = ::write(STDERR_FILENO, rest.data(), rest.size());
    if (written <= 0) return;  // standard error is closed
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace lie

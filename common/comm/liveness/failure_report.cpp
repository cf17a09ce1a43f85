#include "common/comm/liveness/failure_report.h"

#include <fmt/format.h>
#include <unistd.h>

#include "common/io/descriptor.h"
#include "common/process/terminal.h"
#include "common/text/printable.h"

namespace lie {
void write_report(const RankState& rank, int size, std::string_view message) {
  const std::string activity = rank.activity.empty() ? "" : ", " + rank.activity;
  const std::string text =
      fmt::format("{}error on rank {} ({}) of {}, host {}{}: {}\n", line_start(stderr), rank.rank,
                  rank.role, size, rank.host, activity, printable(message));
  write_all(STDERR_FILENO, text);  // fails if standard error is closed
}

}  // namespace lie

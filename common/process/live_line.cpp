#include "common/process/live_line.h"

#include <fmt/format.h>

#include <string>

#include "common/process/terminal.h"

namespace lie {

LiveLine::LiveLine(std::FILE* out) : out_(out), columns_(terminal_columns(out)) {}

void LiveLine::show(std::string_view text) {
  // Some terminals wrap a line that is exactly as wide as they are.
  const std::string line =
      columns_ ? fmt::format("\r\033[K{}", fitted(text, *columns_ - 1)) : fmt::format("{}\n", text);
  // Write errors, as on a full disk, are ignored: the line is not part of the run's results.
  std::fputs(line.c_str(), out_);
  std::fflush(out_);
  is_open_ = is_rewritten();
}

void LiveLine::finish() {
  if (is_open_) std::fputs("\n", out_);
  std::fflush(out_);
  is_open_ = false;
}

}  // namespace lie

#include "common/process/log.h"

#include <cstdio>

#include "common/process/terminal.h"
#include "common/text/printable.h"

namespace lie {

Log::Log(std::string_view role, int rank)
    : line_start_(fmt::format("{}[{} {}] ", lie::line_start(stderr), role, rank)) {}

void Log::write(bool is_warning, const std::string& message) const {
  const std::string line =
      fmt::format("{}{}{}\n", line_start_, is_warning ? "warning: " : "", printable(message));
  std::fputs(line.c_str(), stderr);  // not buffered: one call writes the line
}

}  // namespace lie

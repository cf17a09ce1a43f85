#include "common/live_line.h"

#include <fmt/format.h>

#include "common/terminal.h"

namespace lie {

LiveLine::LiveLine(std::FILE* out) : out_(out), columns_(terminal_columns(out)) {}

void LiveLine::show(std::string_view text) {
  // A line as wide as the terminal would wrap on some.
  if (columns_) {
    fmt::print(out_, "\r\033[K{}", fitted(text, *columns_ - 1));
  } else {
    fmt::print(out_, "{}\n", text);
  }
  std::fflush(out_);
  is_open_ = is_rewritten();
}

void LiveLine::finish() {
  if (is_open_) fmt::print(out_, "\n");
  std::fflush(out_);
  is_open_ = false;
}

}  // namespace lie

#include "common/live_line.h"

#include <fmt/format.h>
#include <unistd.h>

namespace lie {

LiveLine::LiveLine(std::FILE* out) : out_(out), is_terminal_(::isatty(::fileno(out)) != 0) {}

void LiveLine::show(std::string_view text) {
  fmt::print(out_, "{}{}{}", is_terminal_ ? "\r\033[K" : "", text, is_terminal_ ? "" : "\n");
  std::fflush(out_);
  is_open_ = is_terminal_;
}

void LiveLine::finish() {
  if (is_open_) fmt::print(out_, "\n");
  std::fflush(out_);
  is_open_ = false;
}

}  // namespace lie

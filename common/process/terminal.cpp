#include "common/process/terminal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "common/io/descriptor.h"

namespace lie {

namespace {

constexpr std::size_t kUnknownColumns = 80;
constexpr std::string_view kBetween = " | ";

std::optional<std::size_t> columns_of(int descriptor) {
  if (::isatty(descriptor) == 0) return std::nullopt;
  winsize size{};
  const bool known = ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : kUnknownColumns;
}

/// Returns the indentation of a line's continuation: its second column, or else its own
/// indentation, if at least kMinColumns columns remain.
std::size_t hang_of(std::string_view line, std::size_t columns) {
  constexpr std::size_t kMinColumns = 30;
  const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t gap = line.find("  ", begin);
  const std::size_t second = gap == std::string_view::npos ? gap : line.find_first_not_of(' ', gap);
  for (const std::size_t hang : {second, begin}) {
    if (hang < columns && hang + kMinColumns <= columns) return hang;
  }
  return 0;
}

std::string folded_line(std::string line, std::size_t columns) {
  const std::string hang(hang_of(line, columns), ' ');
  std::string text;
  while (line.size() > columns) {
    std::size_t space = line.rfind(' ', columns);
    if (space == std::string::npos || space <= hang.size()) space = line.find(' ', columns);
    if (space == std::string::npos) break;
    text += line.substr(0, space) + "\n";
    line.replace(0, space + 1, hang);
  }
  return text + line;
}

}  // namespace

std::string folded(std::string_view text, std::size_t columns) {
  std::string out;
  while (true) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    out += folded_line(std::string(text.substr(0, end)), columns);
    if (end == text.size()) return out;
    out += '\n';
    text.remove_prefix(end + 1);
  }
}

std::optional<std::size_t> terminal_columns(std::FILE* out) {
  const int number = ::fileno(out);
  if (const auto columns = columns_of(number)) return columns;
  if (number > 2 || std::getenv("OMPI_COMM_WORLD_RANK") == nullptr) return std::nullopt;
  const std::string launchers = fmt::format("/proc/{}/fd/{}", ::getppid(), number);
  const Descriptor copied_to(::open(launchers.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC));
  return columns_of(copied_to.number());
}

std::string line_start(std::FILE* out) { return terminal_columns(out) ? "\r\033[K" : ""; }

std::string fitted(std::string_view line, std::size_t columns) {
  std::string text(line);
  while (text.size() > columns) {
    const std::size_t last = text.rfind(kBetween);
    if (last == std::string::npos || last == 0) break;
    const std::size_t before = text.rfind(kBetween, last - 1);
    if (before == std::string::npos) break;
    text.erase(before, last - before);
  }
  return text.substr(0, columns);
}

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

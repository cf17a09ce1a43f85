#include "common/terminal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

#include "common/descriptor.h"

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

}  // namespace

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

}  // namespace lie

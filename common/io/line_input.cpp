#include "common/io/line_input.h"

#include <cerrno>
#include <cstdio>
#include <iostream>
#include <system_error>

#include "common/base/error.h"

namespace lie {
namespace {

[[noreturn]] void fail_to_read(const std::string& name, int code) {
  fail("cannot read {}: {}; check the path", name,
       code == EISDIR ? "it is a directory" : std::generic_category().message(code));
}

}  // namespace

LineInput::LineInput(const std::filesystem::path& file)
    : name_(file == "-" ? "standard input" : file.string()), is_standard_input_(file == "-") {
  if (is_standard_input_) return;
  file_.open(file, std::ios::binary);
  if (!file_) fail_to_read(name_, errno);
  if (std::filesystem::is_directory(file)) fail_to_read(name_, EISDIR);
}

std::istream& LineInput::stream() { return is_standard_input_ ? std::cin : file_; }

bool LineInput::next(std::string& line) {
  ++number_;
  if (std::getline(stream(), line)) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // files of Windows begin with it
    if (number_ == 1 && line.starts_with(kByteOrderMark)) line.erase(0, kByteOrderMark.size());
    return true;
  }
  require_read();
  return false;
}

void LineInput::require_read() {
  if (stream().bad() || (is_standard_input_ && std::ferror(stdin) != 0)) fail_to_read(name_, errno);
}

std::string LineInput::place() const { return fmt::format("{}:{}", name_, number_); }

std::string_view for_each_whole_line(
    std::string_view text, const std::function<void(std::string_view, std::size_t)>& visit) {
  std::size_t begin = 0;
  for (std::size_t end, number = 1; (end = text.find('\n', begin)) != text.npos; ++number) {
    visit(text.substr(begin, end - begin), number);
    begin = end + 1;
  }
  return text.substr(begin);
}

}  // namespace lie

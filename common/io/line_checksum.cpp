#include "common/io/line_checksum.h"

#include <fmt/format.h>

#include "common/io/crc32c.h"

namespace lie {
namespace {

constexpr std::string_view kChecksumComment = "# crc32c: ";

std::size_t place_of_checksum(std::string_view line) {
  return line.rfind(fmt::format(",\"{}\":", kLineChecksum));
}

}  // namespace

std::string with_checksum(std::string_view object) {
  return fmt::format("{},\"{}\":{}}}", object.substr(0, object.size() - 1), kLineChecksum,
                     crc32c(object));
}

bool has_checksum(std::string_view line) {
  return place_of_checksum(line) != std::string_view::npos;
}

bool is_valid(std::string_view line) {
  return has_checksum(line) &&
         with_checksum(std::string(line.substr(0, place_of_checksum(line))) + "}") == line;
}

std::string with_checksum_comment(std::string_view text) {
  return fmt::format("{}{}{}\n", text, kChecksumComment, crc32c(text));
}

std::optional<bool> fits_checksum_comment(std::string_view text) {
  const std::size_t at = text.rfind(kChecksumComment);
  if (at == std::string_view::npos) return std::nullopt;
  return with_checksum_comment(text.substr(0, at)) == text;
}

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

#include "common/config/number_range.h"

#include <charconv>

#include "common/base/error.h"

namespace lie {
namespace {

/// Reads a number into `value`. Empty `digits` leave `value` unchanged. Returns false if `digits`
/// is not a number.
bool read_number(std::string_view digits, std::int64_t& value) {
  if (digits.empty()) return true;
  if (digits.front() == '-') return false;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return error == std::errc() && end == digits.data() + digits.size();
}

}  // namespace

NumberRange parse_number_range(std::string_view option, const std::string& text) {
  NumberRange range;
  const std::string_view all = text;
  const std::size_t dash = all.find('-');
  const bool is_one = dash == std::string_view::npos;
  const bool is_read = read_number(all.substr(0, dash), range.first) &&
                       read_number(is_one ? all : all.substr(dash + 1), range.last);
  if (!is_read || range.first > range.last) {
    fail("{} {}: expected a range such as 5-10, 5-, -10 or 7", option, text);
  }
  return range;
}

}  // namespace lie

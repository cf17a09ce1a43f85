#include "common/config/number_text.h"

#include <charconv>
#include <cmath>
#include <system_error>

#include "common/base/error.h"
#include "common/text/scan.h"

namespace lie {

namespace {

std::string_view without_plus(std::string_view text) {
  const bool plus = text.size() > 1 && text[0] == '+' && text[1] != '-';
  return plus ? text.substr(1) : text;
}

/// Errors ask for a `kind` if the text is not a number, and for a `sort` if it is out of range.
template <typename Number>
Number parse(std::string_view text, const FieldInfo& info, const char* kind, const char* sort,
             const char* size) {
  const std::string range = range_text(info);
  const std::string_view digits = without_plus(text);
  Number value = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (code == std::errc::result_out_of_range) {
    fail("expected {}, found {}, which does not fit into {}", with_range(sort, range), text, size);
  }
  const bool is_whole = code == std::errc() && end == digits.data() + digits.size();
  if (!is_whole || !std::isfinite(static_cast<double>(value))) {
    fail("expected {}, found \"{}\"", with_range(kind, range), text);
  }
  // A long double represents every 64-bit integer and every double exactly.
  const auto wide = static_cast<long double>(value);
  if (wide < static_cast<long double>(info.min) || wide > static_cast<long double>(info.max)) {
    fail("expected {}, found {}", with_range(sort, range), text);
  }
  return value;
}

}  // namespace

std::string range_text(const FieldInfo& info) {
  const bool below = std::isfinite(info.min);
  const bool above = std::isfinite(info.max);
  if (below && above) return fmt::format("{} to {}", info.min, info.max);
  if (below) return fmt::format("at least {}", info.min);
  if (above) return fmt::format("at most {}", info.max);
  return "";
}

std::string with_range(std::string kind, const std::string& range) {
  return range.empty() ? kind : kind + ", " + range;
}

std::int64_t parse_integer(std::string_view text, const FieldInfo& info) {
  return parse<std::int64_t>(text, info, "an integer", "an integer", "64 bits");
}

double parse_number(std::string_view text, const FieldInfo& info) {
  // no negative zero
  return parse<double>(text, info, "a finite number", "a number", "a double") + 0.0;
}

namespace {

/// Reads a number into `value`. Empty `digits` leave `value` unchanged. Returns false if `digits`
/// is not a number.
bool read_number(std::string_view digits, std::int64_t& value) {
  const auto number = number_in_name(digits, "");
  value = number.value_or(value);
  return digits.empty() || (number && *number >= 0);
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

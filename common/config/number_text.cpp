#include "common/config/number_text.h"

#include <charconv>
#include <cmath>
#include <system_error>

#include "common/base/error.h"

namespace lie {
namespace {

template <typename Number>
void require_in_range(Number value, const FieldInfo& info, std::string_view kind,
                      std::string_view text) {
  // A long double represents every 64-bit integer and every double exactly.
  const auto wide = static_cast<long double>(value);
  if (wide < static_cast<long double>(info.min) || wide > static_cast<long double>(info.max)) {
    fail("expected {}, found {}", with_range(std::string(kind), range_text(info)), text);
  }
}

std::string_view without_plus(std::string_view text) {
  const bool plus = text.size() > 1 && text[0] == '+' && text[1] != '-';
  return plus ? text.substr(1) : text;
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
  const std::string_view digits = without_plus(text);
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (code == std::errc::result_out_of_range) {
    fail("expected {}, found {}, which does not fit into 64 bits",
         with_range("an integer", range_text(info)), text);
  }
  if (code != std::errc() || end != digits.data() + digits.size()) {
    fail("expected {}, found \"{}\"", with_range("an integer", range_text(info)), text);
  }
  require_in_range(value, info, "an integer", text);
  return value;
}

double parse_number(std::string_view text, const FieldInfo& info) {
  const std::string_view digits = without_plus(text);
  double value = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (code == std::errc::result_out_of_range) {
    fail("expected {}, found {}, which does not fit into a double",
         with_range("a number", range_text(info)), text);
  }
  const bool whole = code == std::errc() && end == digits.data() + digits.size();
  if (!whole || !std::isfinite(value)) {
    fail("expected {}, found \"{}\"", with_range("a finite number", range_text(info)), text);
  }
  require_in_range(value, info, "a number", text);
  return value + 0.0;  // no negative zero
}

}  // namespace lie

#include "verifier/equal/literal.h"

#include <utility>

#include "common/text/scan.h"
#include "verifier/scalar/decimals.h"

namespace lie::equal {
namespace {

using exact::Rational;

constexpr std::size_t kLongest = 200;  // bytes

// Takes digits with at most one point from the front of s.
std::optional<Rational> take_decimal(std::string_view& s, bool& decimal) {
  std::size_t n = 0;
  bool point = false;
  while (n < s.size() &&
         (is_digit(s[n]) || (s[n] == '.' && !point && n + 1 < s.size() && is_digit(s[n + 1])))) {
    point = point || s[n] == '.';
    ++n;
  }
  std::optional<Rational> value = exact::from_decimal(s.substr(0, n));
  decimal = decimal || point;
  s.remove_prefix(n);
  return value;
}

std::optional<Rational> take_integer(std::string_view& s) {
  bool decimal = false;
  std::optional<Rational> value = take_decimal(s, decimal);
  return decimal ? std::nullopt : value;
}

std::optional<Rational> take_braced_fraction(std::string_view& s) {
  if (!take(s, "{")) return std::nullopt;
  const bool negative = take(s, "-");
  std::optional<Rational> top = take_integer(s);
  if (!top || !take(s, "}{")) return std::nullopt;
  std::optional<Rational> bottom = take_integer(s);
  if (!bottom || bottom->is_zero() || !take(s, "}")) return std::nullopt;
  return negative ? -*top / *bottom : *top / *bottom;
}

}  // namespace

std::optional<Literal> read_literal(std::string_view text) {
  std::string_view s = trimmed(text);
  if (s.size() > kLongest) return std::nullopt;
  const bool negative = take(s, "-");
  Literal out;
  std::optional<Rational> value;
  if (take(s, "\\frac") || take(s, "\\dfrac") || take(s, "\\tfrac")) {
    value = take_braced_fraction(s);
  } else {
    value = take_decimal(s, out.decimal);
    if (value && !out.decimal && take(s, "/")) {
      std::optional<Rational> bottom = take_integer(s);
      if (!bottom || bottom->is_zero()) return std::nullopt;
      value = *value / *bottom;
    }
  }
  if (!value || !s.empty()) return std::nullopt;
  out.value = negative ? -*value : std::move(*value);
  return out;
}

bool equal_literals(const Literal& gold, const Literal& answer, const VerifierOptions& options) {
  return scalar::equal_numbers(gold.value, answer.value, gold.decimal || answer.decimal, options);
}

}  // namespace lie::equal

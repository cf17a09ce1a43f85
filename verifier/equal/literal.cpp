#include "verifier/equal/literal.h"

#include <utility>

#include "common/text/scan.h"
#include "verifier/scalar/equality.h"

namespace lie::equal {
namespace {

using exact::Rational;

constexpr std::size_t kLongest = 200;  // bytes

// Reads digits with at most one point, which has digits after it.
std::optional<Rational> plain_number(std::string_view digits) {
  return digits.ends_with('.') ? std::nullopt : exact::from_decimal(digits);
}

bool is_decimal(std::string_view s) { return s.find('.') != std::string_view::npos; }

std::optional<Rational> quotient(std::string_view top, std::string_view bottom) {
  if (is_decimal(top) || is_decimal(bottom)) return std::nullopt;
  const bool negative = take(top, "-");
  const std::optional<Rational> a = plain_number(top), b = plain_number(bottom);
  if (!a || !b || b->is_zero()) return std::nullopt;
  return negative ? -*a / *b : *a / *b;
}

std::optional<Rational> value_of(std::string_view s) {
  if (take(s, "\\frac{") || take(s, "\\dfrac{") || take(s, "\\tfrac{")) {
    const std::size_t middle = s.find("}{");
    if (middle == std::string_view::npos || !s.ends_with('}')) return std::nullopt;
    return quotient(s.substr(0, middle), s.substr(middle + 2, s.size() - middle - 3));
  }
  const std::size_t slash = s.find('/');
  if (slash == std::string_view::npos) return plain_number(s);
  return s.starts_with('-') ? std::nullopt : quotient(s.substr(0, slash), s.substr(slash + 1));
}

}  // namespace

std::optional<Literal> read_literal(std::string_view text) {
  std::string_view s = trimmed(text);
  if (s.size() > kLongest) return std::nullopt;
  const bool negative = take(s, "-");
  std::optional<Rational> value = value_of(s);
  if (!value) return std::nullopt;
  return Literal{negative ? -*value : std::move(*value), is_decimal(s)};
}

bool equal_literals(const Literal& gold, const Literal& answer, const VerifierOptions& options) {
  return scalar::equal_numbers(gold.value, answer.value, gold.decimal || answer.decimal, options);
}

}  // namespace lie::equal

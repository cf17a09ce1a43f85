#include "verifier/equal/literal.h"

#include <algorithm>
#include <string>
#include <utility>

#include "common/text/scan.h"
#include "verifier/scalar/decimals.h"

namespace lie::equal {
namespace {

using exact::Rational, scalar::equal_numbers;

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

std::optional<Rational> read_number(std::string_view s, bool& decimal) {
  s = trimmed(s);
  const bool negative = take(s, "-");
  std::optional<Rational> value;
  if (take(s, "\\frac") || take(s, "\\dfrac") || take(s, "\\tfrac")) {
    value = take_braced_fraction(s);
  } else {
    value = take_decimal(s, decimal);
    if (value && !decimal && take(s, "/")) {
      std::optional<Rational> bottom = take_integer(s);
      if (!bottom || bottom->is_zero()) return std::nullopt;
      value = *value / *bottom;
    }
  }
  if (!value || !s.empty()) return std::nullopt;
  return negative ? -*value : value;
}

// Reads groups of three digits after commas: "1,000,000.5". Returns nothing for any other text.
std::optional<Rational> read_thousands(std::string_view s, bool& decimal) {
  const bool negative = take(s, "-");
  const std::size_t first = s.find(',');
  if (first == 0 || first > 3 || s.front() == '0') return std::nullopt;
  std::string digits(s.substr(0, first));
  s.remove_prefix(first);
  while (take(s, ",")) {
    const std::string_view group = s.substr(0, 3);
    if (group.size() < 3 || !std::ranges::all_of(group, is_digit)) return std::nullopt;
    digits += group;
    s.remove_prefix(3);
  }
  if (!s.empty() && is_digit(s.front())) return std::nullopt;
  digits += s;
  if (!std::ranges::all_of(digits.substr(0, first), is_digit)) return std::nullopt;
  std::string_view rest = digits;
  std::optional<Rational> value = take_decimal(rest, decimal);
  if (!value || !rest.empty()) return std::nullopt;
  return negative ? -*value : value;
}

// Returns whether exactly three digits directly follow a comma that directly follows a digit.
bool holds_thousands(std::string_view s) {
  for (std::size_t comma = s.find(',', 1); comma != std::string_view::npos;
       comma = s.find(',', comma + 1)) {
    std::size_t end = comma + 1;
    while (end < s.size() && is_digit(s[end])) ++end;
    if (end == comma + 4 && is_digit(s[comma - 1])) return true;
  }
  return false;
}

std::optional<Literal> read_numbers(std::string_view s, Literal::Shape shape) {
  Literal out;
  out.shape = shape;
  while (true) {
    const std::size_t comma = s.find(',');
    std::optional<Rational> value = read_number(s.substr(0, comma), out.decimal);
    if (!value) return std::nullopt;
    out.numbers.push_back(std::move(*value));
    if (comma == std::string_view::npos) return out;
    s.remove_prefix(comma + 1);
  }
}

std::optional<Literal> read_bracketed(std::string_view s) {
  if (s.starts_with('(') && s.ends_with(')'))
    return read_numbers(s.substr(1, s.size() - 2), Literal::Shape::kTuple);
  if (s.starts_with("\\{") && s.ends_with("\\}") && s.size() >= 4)
    return read_numbers(s.substr(2, s.size() - 4), Literal::Shape::kSet);
  return std::nullopt;
}

bool starts_number(char c) { return is_digit(c) || c == '-' || c == '.' || c == '\\'; }

std::vector<Rational> sorted(std::vector<Rational> numbers) {
  std::ranges::sort(numbers, [](const Rational& a, const Rational& b) { return a < b; });
  return numbers;
}

bool equal_all(const std::vector<Rational>& a, const std::vector<Rational>& b, bool decimal,
               const VerifierOptions& options) {
  return std::ranges::equal(a, b, [&](const Rational& x, const Rational& y) {
    return equal_numbers(x, y, decimal, options);
  });
}

}  // namespace

std::optional<Literal> read_literal(std::string_view text) {
  text = trimmed(text);
  if (text.empty() || text.size() > kLongest) return std::nullopt;
  if (text.front() == '(' || text.starts_with("\\{")) return read_bracketed(text);
  if (!starts_number(text.front())) return std::nullopt;
  if (text.find(',') == std::string_view::npos) return read_numbers(text, Literal::Shape::kNumber);
  Literal thousands;
  if (std::optional<Rational> value = read_thousands(text, thousands.decimal)) {
    thousands.numbers.push_back(std::move(*value));
    return thousands;
  }
  // The parser decides which commas of "1,000, 2" separate numbers.
  if (holds_thousands(text)) return std::nullopt;
  return read_numbers(text, Literal::Shape::kList);
}

std::optional<bool> equal_literals(const Literal& gold, const Literal& answer,
                                   const VerifierOptions& options) {
  if (options.decimals == DecimalRule::kHalfUlp && (gold.decimal || answer.decimal))
    return std::nullopt;
  if (gold.shape != answer.shape) return std::nullopt;
  const bool decimal = gold.decimal || answer.decimal;
  const bool ordered = gold.shape == Literal::Shape::kTuple || !options.unordered_lists;
  if (gold.numbers.size() != answer.numbers.size()) {
    // A list may repeat a value.
    if (!ordered) return std::nullopt;
    return false;
  }
  if (ordered || gold.numbers.size() == 1)
    return equal_all(gold.numbers, answer.numbers, decimal, options);
  return equal_all(sorted(gold.numbers), sorted(answer.numbers), decimal, options);
}

}  // namespace lie::equal

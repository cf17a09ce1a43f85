#include "common/io/json_numbers.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <system_error>

namespace lie {
namespace {

// Begins the string that replaces a word such as NaN, or a number. JSON text cannot hold the
// character itself, and an escaped one becomes a number again only if such a token follows.
constexpr std::string_view kMark = "\\u0001";

bool is_not_finite(std::string_view token) {
  return token == "NaN" || token == "Infinity" || token == "-Infinity";
}

/// Returns the significant digits of a decimal number: "12" for "-0.0120e5".
std::string significant_digits(std::string_view number) {
  std::string digits;
  for (const char c : number.substr(0, number.find_first_of("eE"))) {
    if (c >= '0' && c <= '9' && (c != '0' || !digits.empty())) digits += c;
  }
  return digits.erase(digits.find_last_not_of('0') + 1);
}

template <typename Number>
std::from_chars_result read(std::string_view token, Number& value) {
  return std::from_chars(token.data(), token.data() + token.size(), value);
}

bool is_exact_integer(std::string_view token) {
  std::int64_t value = 0;
  std::uint64_t natural = 0;
  return read(token, value).ec == std::errc() || read(token, natural).ec == std::errc();
}

bool is_exact_fraction(std::string_view token) {
  double value = 0;
  if (read(token, value).ec != std::errc()) return false;  // 1e400
  const std::string digits = significant_digits(token);
  return std::ssize(digits) <= std::numeric_limits<double>::digits10 ||
         digits == significant_digits(fmt::format("{}", value));
}

/// Returns whether `token` is a number that a parser would round.
bool is_rounded(std::string_view token) {
  if (token.find_first_not_of("0123456789+-.eE") != std::string_view::npos) return false;
  if (token.find_first_of("0123456789") == std::string_view::npos) return false;
  const bool is_integer = token.find_first_of(".eE") == std::string_view::npos;
  return is_integer ? !is_exact_integer(token) : !is_exact_fraction(token);
}

/// Copies JSON text, with quotes around the literals that are to be kept.
class LiteralQuoter {
 public:
  /// With `words`, NaN and the infinities become marked strings. With `marks_numbers`, the strings
  /// of numbers are marked, too.
  LiteralQuoter(std::string_view text, bool words, bool marks_numbers = false)
      : text_(text), words_(words), mark_of_numbers_(marks_numbers ? kMark : "") {}

  std::string run() {
    while (at_ < text_.size()) {
      if (text_[at_] == '"') {
        copy_string();
      } else if (std::string_view("-0123456789NI").find(text_[at_]) != std::string_view::npos) {
        copy_token();
      } else {
        out_ += text_[at_++];
      }
    }
    return std::move(out_);
  }

 private:
  void copy_string() {
    const std::size_t begin = at_++;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    at_ = std::min(at_ + 1, text_.size());
    out_ += text_.substr(begin, at_ - begin);
  }

  void copy_token() {
    const std::size_t end = std::min(text_.find_first_of(",:]} \t\r\n\"", at_), text_.size());
    const std::string_view token = text_.substr(at_, end - at_);
    at_ = end;
    if (words_ && is_not_finite(token)) {
      out_ += fmt::format("\"{}{}\"", kMark, token);
    } else if (is_rounded(token)) {
      out_ += fmt::format("\"{}{}\"", mark_of_numbers_, token);
    } else {
      out_ += token;
    }
  }

  std::string_view text_;
  bool words_;
  std::string_view mark_of_numbers_;
  std::size_t at_ = 0;
  std::string out_;
};

/// Replaces marked strings by numbers.
void restore_not_finite(Json& value) {
  if (value.is_structured()) {
    for (Json& element : value) restore_not_finite(element);
  } else if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    if (!text.starts_with('\1') || !is_not_finite(std::string_view(text).substr(1))) return;
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    value = text[1] == 'N' ? std::nan("") : text[1] == '-' ? -kInfinity : kInfinity;
  }
}

}  // namespace

Json parse_exact_json(std::string_view text, std::string_view where) {
  const std::string quoted = LiteralQuoter(text, true).run();
  Json value = parse_json(quoted, where);
  if (quoted.find(kMark) != std::string::npos) restore_not_finite(value);
  return value;
}

std::optional<double> value_of_literal(std::string_view text) {
  double value = 0;
  if (!is_rounded(text) || read(text, value).ec != std::errc()) return std::nullopt;
  return value;
}

std::string quote_rounded_numbers(std::string_view text) {
  return LiteralQuoter(text, false).run();
}

std::string mark_rounded_numbers(std::string_view text) {
  return LiteralQuoter(text, true, true).run();
}

std::string restored_numbers(std::string_view text) {
  const std::string begin = fmt::format("\"{}", kMark);
  std::string out;
  for (std::size_t at = text.find(begin); at != text.npos; at = text.find(begin)) {
    const std::string_view rest = text.substr(at + begin.size());
    const std::string_view token = rest.substr(0, rest.find('"'));
    const bool is_inside = at > 0 && text[at - 1] == '\\';  // an escaped quote of a text
    const bool is_marked = !is_inside && (is_not_finite(token) || is_rounded(token));
    out += is_marked ? text.substr(0, at) : text.substr(0, at + begin.size());
    if (is_marked) out += token;
    text = is_marked ? rest.substr(token.size() + 1) : rest;
  }
  return out += text;
}

}  // namespace lie

// Lexes words, characters beyond ASCII, and numbers: decimals, groups of thousands, exponents.
#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <string>

#include "verifier/latex/lexer/lexer_state.h"

namespace lie::latex {

namespace {

// Returns whether a short run of letters is a word instead of a product. Words are some common
// ones, and those with an o, which names no variable (a point is O).
bool is_word(std::string_view run) {
  constexpr std::string_view kWords[] = {
      "per", "yes", "the", "are", "all", "any", "but", "has", "was", "ten", "six",
      "red", "man", "men", "day", "may", "jan", "feb", "mar", "apr", "jun", "jul",
      "aug", "sep", "dec", "tue", "wed", "thu", "fri", "sat", "sun", "ann", "amy",
      "ben", "sam", "dan", "jim", "tim", "kim", "ted", "sue", "eve", "lee", "ray",
      "liz", "meg", "ian", "win", "tie", "hen", "pig", "cat", "bus"};
  if (run.size() > 1 && run.find('o') != std::string_view::npos) return true;
  return std::ranges::any_of(kWords, [run](std::string_view word) {
    return std::ranges::equal(word, run, [](char a, char b) { return a == (b | 0x20); });
  });
}

}  // namespace

void Lexer::word() {
  const std::size_t begin = at_;
  skip_letters();
  const std::string_view run = text_.substr(begin, at_ - begin);
  const Meaning* meaning = run.size() > 1 ? plain_word(run) : nullptr;
  if (meaning != nullptr) {
    push(*meaning, begin);
  } else if (run.size() > 3 || is_word(run)) {
    if (peek() == '-' && is_letter(peek(1))) ++at_, skip_letters();  // twenty-five
    push(Tok::kWord, begin).name = text_.substr(begin, at_ - begin);
  } else {
    letters(begin, run);
  }
}

void Lexer::letters(std::size_t begin, std::string_view run) {
  for (std::size_t i = 0; i < run.size(); ++i) {
    at_ = begin + i + 1;
    push(Tok::kSymbol, begin + i).name = run.substr(i, 1);
  }
}

void Lexer::character() {
  const auto lead = static_cast<unsigned char>(peek());
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  const std::size_t begin = at_;
  const std::string_view bytes = rest().substr(0, length);
  at_ += bytes.size();
  if (const Meaning* meaning = unicode(bytes)) return push(*meaning, begin);
  if (superscript(begin) || subscript(begin) || vulgar_fraction(bytes, begin)) return;
  push(Tok::kWord, begin).name = bytes;
}

namespace {

/// A character above or below the line, and what it is on the line.
struct Script {
  std::string_view text;
  char plain = 0;
};
constexpr Script kAbove[] = {
    {"⁰", '0'}, {"¹", '1'}, {"²", '2'}, {"³", '3'}, {"⁴", '4'}, {"⁵", '5'}, {"⁶", '6'}, {"⁷", '7'},
    {"⁸", '8'}, {"⁹", '9'}, {"⁺", '+'}, {"⁻", '-'}, {"⁽", '('}, {"⁾", ')'}, {"ⁿ", 'n'}, {"ⁱ", 'i'},
    {"ˣ", 'x'}, {"ʸ", 'y'}, {"ᵃ", 'a'}, {"ᵇ", 'b'}, {"ᵏ", 'k'}, {"ᵐ", 'm'}, {"ᵗ", 't'}, {"ᵀ", 'T'}};
constexpr Script kBelow[] = {{"₀", '0'}, {"₁", '1'}, {"₂", '2'}, {"₃", '3'}, {"₄", '4'}, {"₅", '5'},
                             {"₆", '6'}, {"₇", '7'}, {"₈", '8'}, {"₉", '9'}, {"₊", '+'}, {"₋", '-'},
                             {"₍", '('}, {"₎", ')'}, {"ₐ", 'a'}, {"ₑ", 'e'}, {"ᵢ", 'i'}, {"ⱼ", 'j'},
                             {"ₖ", 'k'}, {"ₗ", 'l'}, {"ₘ", 'm'}, {"ₙ", 'n'}, {"ₚ", 'p'}, {"ₛ", 's'},
                             {"ₜ", 't'}, {"ₓ", 'x'}};

// Takes the characters of one script from the front of a text, and returns them on the line.
std::string take_script(std::string_view& text, std::span<const Script> script) {
  std::string out;
  while (true) {
    const auto at = std::ranges::find_if(
        script, [text](const Script& entry) { return text.starts_with(entry.text); });
    if (at == script.end()) return out;
    out.push_back(at->plain);
    text.remove_prefix(at->text.size());
  }
}

}  // namespace

// Lexes x¹⁰, 10⁻³, xⁿ⁺¹ and Ca²⁺.
bool Lexer::superscript(std::size_t begin) {
  std::string_view after = text_.substr(begin);
  const std::string plain = take_script(after, kAbove);
  if (plain.empty()) return false;
  at_ = text_.size() - after.size();
  push(Tok::kCaret, begin);
  const std::string& kept = out_.names.emplace_back(plain);
  const bool group =
      kept.find_first_not_of("0123456789", kept[0] == '-' ? 1 : 0) != kept.npos && kept.size() > 1;
  if (group) push(Tok::kBraceOpen, begin);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const char c = kept[i];
    if (is_digit(c)) {
      const std::size_t end = std::min(kept.find_first_not_of("0123456789", i), kept.size());
      const std::string_view digits = std::string_view(kept).substr(i, end - i);
      if (std::optional<exact::Rational> value = exact::from_decimal(digits))
        push_number(std::move(*value), begin);
      out_.tokens.back().name = digits;
      i = end - 1;
    } else if (is_letter(c)) {
      push(Tok::kSymbol, begin).name = std::string_view(kept).substr(i, 1);
    } else {
      const Tok kind = c == '+'   ? Tok::kPlus
                       : c == '-' ? Tok::kMinus
                       : c == '(' ? Tok::kOpen
                                  : Tok::kClose;
      push(kind, begin).bracket = c;
    }
  }
  if (group) push(Tok::kBraceClose, begin);
  return true;
}

// Lexes x₁₂, xₙ₊₁ and \log₂ 8.
bool Lexer::subscript(std::size_t begin) {
  std::string_view after = text_.substr(begin);
  const std::string plain = take_script(after, kBelow);
  if (plain.empty()) return false;
  at_ = text_.size() - after.size();
  push(Tok::kUnderscore, begin);
  const std::string& kept = out_.names.emplace_back(plain);
  std::optional<exact::Rational> value = exact::from_decimal(kept);
  if (value)
    push_number(std::move(*value), begin);
  else
    push(Tok::kSymbol, begin);
  out_.tokens.back().name = kept;
  return true;
}

bool Lexer::vulgar_fraction(std::string_view bytes, std::size_t begin) {
  struct Vulgar {
    std::string_view text;
    int top, bottom;
  };
  constexpr Vulgar kVulgar[] = {{"½", 1, 2}, {"⅓", 1, 3}, {"⅔", 2, 3}, {"¼", 1, 4}, {"¾", 3, 4},
                                {"⅕", 1, 5}, {"⅖", 2, 5}, {"⅗", 3, 5}, {"⅘", 4, 5}, {"⅙", 1, 6},
                                {"⅚", 5, 6}, {"⅛", 1, 8}, {"⅜", 3, 8}, {"⅝", 5, 8}, {"⅞", 7, 8}};
  const auto at = std::ranges::find(kVulgar, bytes, &Vulgar::text);
  if (at == std::end(kVulgar)) return false;
  push(Tok::kFrac, begin);
  integer(at->top, begin);
  integer(at->bottom, begin);
  return true;
}

void Lexer::integer(std::int64_t value, std::size_t begin) {
  Token& token = push(Tok::kNumber, begin);
  token.number = static_cast<std::uint32_t>(out_.numbers.size());
  out_.numbers.emplace_back(value);
}

void Lexer::push_number(exact::Rational value, std::size_t begin) {
  Token& token = push(Tok::kNumber, begin);
  token.name = text_.substr(begin, at_ - begin);
  token.number = static_cast<std::uint32_t>(out_.numbers.size());
  out_.numbers.push_back(std::move(value));
}

std::optional<RadixLiteral> radix_literal(std::string_view text) {
  constexpr std::size_t kMostDigits = 600;
  const char mark = text.size() > 2 && text[0] == '0' ? text[1] : '\0';
  const int radix = mark == 'x' || mark == 'X' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 0;
  if (radix == 0) return std::nullopt;
  RadixLiteral out{exact::Rational(0), 2};
  for (; out.length < text.size() && is_letter_or_digit(text[out.length]); ++out.length) {
    const char c = text[out.length];
    const int digit = is_digit(c) ? c - '0' : to_upper(c) - 'A' + 10;
    if (digit >= radix || out.length > kMostDigits) return std::nullopt;
    out.value = out.value * exact::Rational(radix) + exact::Rational(digit);
  }
  if (out.length == 2) return std::nullopt;
  return out;
}

// --- numbers -----------------------------------------------------------------------------------

std::size_t Lexer::digits_from(std::size_t i) const {
  while (i < text_.size() && is_digit(text_[i])) ++i;
  return i;
}

// Returns the length of a separator of thousands after a number, which comes before exactly three
// digits. In "2 100/300" the space separates a whole number from its fraction.
std::size_t Lexer::glue_length(std::size_t i) const {
  constexpr std::string_view kStarts = " ~{,'\\\xc2\xe2";
  if (i >= text_.size() || kStarts.find(text_[i]) == std::string_view::npos) return 0;
  for (const std::string_view sign : {"{,}", "{, }", ",\\!", ", \\!", "\\,", "\\ ", "\\;",
                                      "\\:", "'", " ", "~", "\u00a0", "\u2009", "\u202f"}) {
    const std::size_t at = sign.front() == '{' ? text_.find_first_not_of(' ', i) : i;
    if (!text_.substr(std::min(at, text_.size())).starts_with(sign)) continue;
    std::size_t first = at + sign.size();
    while (sign.front() != ' ' && first < text_.size() && text_[first] == ' ') ++first;
    const std::size_t end = digits_from(first);
    const bool divided = end < text_.size() && text_[end] == '/' && is_one_of(sign, " ", "~");
    if (end == first + 3) return divided ? 0 : first - i;
  }
  return 0;
}

namespace {

// Returns how many digits recur at the end of a decimal, or 0. They must occur twice, or three
// times if fewer than five digits recur.
std::size_t period_of(std::string_view digits) {
  const std::string_view places = digits.substr(digits.find('.') + 1);
  for (std::size_t period = 1; period <= 12; ++period) {
    // The whole of 0.1212 recurs. In 2.718281828 only the last digits seem to.
    const bool whole = period > 1 && places.size() == 2 * period;
    const std::size_t needed = period * (period < 5 && !whole ? 3 : 2);
    if (needed > places.size()) continue;
    const std::string_view tail = places.substr(places.size() - needed);
    if (tail.substr(period) == tail.substr(0, needed - period)) return period;
  }
  return 0;
}

// Returns the value of a decimal whose last digits recur forever.
exact::Rational recurring(const exact::Rational& value, std::string_view digits) {
  const auto period = static_cast<std::int64_t>(period_of(digits));
  const auto places = static_cast<std::int64_t>(digits.size() - digits.find('.') - 1);
  const std::string_view block = digits.substr(digits.size() - static_cast<std::size_t>(period));
  const exact::Rational nines = exact::power_of_ten(period) - exact::Rational(1);
  return value + *exact::from_decimal(block) / nines * exact::power_of_ten(-places);
}

}  // namespace

// Takes the dots of 0.333... and 0.1212\ldots, if the digits before them recur.
bool Lexer::take_dots(std::string_view digits) {
  constexpr std::size_t kLongest = 100;
  if (digits.size() > kLongest || period_of(digits) == 0) return false;
  for (const std::string_view dots : {"...", "\\ldots", "\\dots", "\\cdots", "\u2026"}) {
    if (!rest().starts_with(dots)) continue;
    at_ += dots.size();
    return true;
  }
  return false;
}

std::size_t ordinal_ending(std::string_view text) {
  if (text.size() < 2 || (text.size() > 2 && is_letter_or_digit(text[2]))) return 0;
  return is_one_of(text.substr(0, 2), "st", "nd", "rd", "th") ? 2 : 0;
}

// Lexes 0x1F, 0b101 and 0o17.
bool Lexer::radix_number() {
  std::optional<RadixLiteral> literal = radix_literal(rest());
  if (!literal) return false;
  const std::size_t begin = at_;
  at_ += literal->length;
  push_number(std::move(literal->value), begin);
  return true;
}

void Lexer::number() {
  if (peek() == '0' && is_letter(peek(1)) && radix_number()) return;
  const std::size_t begin = at_;
  std::size_t end = digits_from(at_);
  std::string digits(text_.substr(at_, end - at_));
  at_ = end;
  const bool groups = !digits.empty() && digits.size() <= 3 && digits != "0";
  for (std::size_t n = glue_length(at_); groups && n > 0; n = glue_length(at_)) {
    end = digits_from(at_ + n);
    digits.append(text_.substr(at_ + n, end - at_ - n));
    at_ = end;
  }
  bool decimal = fraction(digits);
  const bool repeating = !decimal && peek() == '.' && repeats(text_.substr(at_ + 1));
  if (repeating) ++at_;
  const bool repeats_later = decimal && repeats(rest());
  std::optional<exact::Rational> value = exact::from_decimal(digits);
  if (value && decimal && take_dots(digits)) {
    value = recurring(*value, digits);
    decimal = false;
  }
  if (value && !repeating) value = exponent(std::move(*value));
  if (value && !decimal && is_letter(peek())) at_ += ordinal_ending(rest());
  Token& token = push(value ? Tok::kNumber : Tok::kBad, begin);
  token.decimal = decimal;
  token.repeating = repeating || repeats_later;
  token.thousands = is_group_behind_comma(begin);
  token.name = text_.substr(begin, at_ - begin);
  if (!value) return;
  token.number = static_cast<std::uint32_t>(out_.numbers.size());
  out_.numbers.push_back(std::move(*value));
}

// Returns whether a text begins with the digits that recur after a point: \overline{3}, (3).
bool Lexer::repeats(std::string_view s) {
  const std::size_t close = s.starts_with('(') ? s.find_first_not_of("0123456789", 1) : s.npos;
  const bool group = close != s.npos && close > 1 && s[close] == ')';
  return group || s.starts_with("\\overline") || s.starts_with("\\bar") || s.starts_with("\\dot{");
}

// Takes the decimals after a point, or after "{,}" as a decimal comma.
bool Lexer::fraction(std::string& digits) {
  if (peek() == '.' && peek(1) == '/' && is_digit(peek(2))) ++at_;  // -1./3
  std::size_t skip = 0;
  if (peek() == '.' && is_digit(peek(1))) skip = 1;
  if (rest().starts_with("{,}") && is_digit(peek(3))) skip = 3;
  if (skip == 0) return false;
  const std::size_t end = digits_from(at_ + skip);
  digits.push_back('.');
  digits.append(text_.substr(at_ + skip, end - at_ - skip));
  at_ = end;
  return true;
}

// Takes the exponent of "2.5E4" and "1e-7", which has digits and no letter after them.
exact::Rational Lexer::exponent(exact::Rational value) {
  if (peek() != 'e' && peek() != 'E') return value;
  std::size_t i = at_ + 1;
  if (i < text_.size() && (text_[i] == '-' || text_[i] == '+')) ++i;
  const std::size_t end = digits_from(i);
  if (end == i || end - i > 6 || (end < text_.size() && is_letter(text_[end]))) return value;
  std::int64_t power = 0;
  for (std::size_t k = i; k < end; ++k) power = power * 10 + (text_[k] - '0');
  if (!budget_.allow_bits(power * 4)) return value;
  if (text_[at_ + 1] == '-') power = -power;
  at_ = end;
  return value * exact::power_of_ten(power);
}

// Returns whether exactly three digits (and decimals) directly follow the comma after a number.
bool Lexer::is_group_behind_comma(std::size_t begin) const {
  if (digits_from(begin) - begin != 3 || begin < 2 || text_[begin - 1] != ',') return false;
  return is_digit(text_[begin - 2]);
}

}  // namespace lie::latex

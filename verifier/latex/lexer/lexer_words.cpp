// Lexes words, and characters beyond ASCII.
#include <algorithm>
#include <iterator>

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
  if (superscript(bytes, begin) || subscript(bytes, begin) || vulgar_fraction(bytes, begin)) return;
  push(Tok::kWord, begin).name = bytes;
}

// Lexes x¹⁰ and 10⁻³.
bool Lexer::superscript(std::string_view bytes, std::size_t begin) {
  constexpr std::string_view kDigits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  const auto digit_of = [&](std::string_view text) {
    return std::ranges::find_if(kDigits, [text](auto digit) { return text.starts_with(digit); });
  };
  const bool negative = bytes == "⁻";
  const auto* digit = digit_of(negative ? rest() : bytes);
  if (digit == std::end(kDigits)) return false;
  push(Tok::kCaret, begin);
  if (negative) push(Tok::kMinus, begin);
  if (negative) at_ += digit->size();
  std::int64_t value = digit - kDigits;
  for (digit = digit_of(rest()); value < 1000 && digit != std::end(kDigits);
       digit = digit_of(rest())) {
    value = value * 10 + (digit - kDigits);
    at_ += digit->size();
  }
  integer(value, begin);
  return true;
}

// Lexes x₁ and \log₂ 8.
bool Lexer::subscript(std::string_view bytes, std::size_t begin) {
  constexpr std::string_view kDigits[] = {"₀", "₁", "₂", "₃", "₄", "₅", "₆", "₇", "₈", "₉"};
  static constexpr std::string_view kPlain = "0123456789";
  const auto* digit = std::ranges::find(kDigits, bytes);
  if (digit == std::end(kDigits)) return false;
  push(Tok::kUnderscore, begin);
  integer(digit - kDigits, begin);
  out_.tokens.back().name = kPlain.substr(static_cast<std::size_t>(digit - kDigits), 1);
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

}  // namespace lie::latex

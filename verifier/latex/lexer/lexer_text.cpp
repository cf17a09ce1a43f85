// Lexes \text and \mathrm: words, quantities, formulas and other mathematics.
#include <algorithm>
#include <optional>
#include <string>

#include "verifier/latex/lexer/lexer_state.h"

namespace lie::latex {

// Returns whether a group with digits and without letters follows.
bool Lexer::holds_number() const {
  if (peek() != '{') return false;
  const std::string_view content = text_.substr(at_, closing_brace(at_) - at_);
  return std::ranges::any_of(content, is_digit) && std::ranges::none_of(content, is_letter) &&
         content.find('$') == std::string_view::npos;
}

// Returns whether a group with a formula and its charge follows, as in \mathrm{SO_4^{2-}}.
bool Lexer::holds_ion() const {
  if (peek() != '{' || peek(1) < 'A' || peek(1) > 'Z') return false;
  const std::string_view content = text_.substr(at_, closing_brace(at_) - at_);
  return content.find('^') != content.npos && std::ranges::all_of(content, [](char c) {
           return is_letter_or_digit(c) ||
                  std::string_view("{}_^+-").find(c) != std::string_view::npos;
         });
}

namespace {

// Returns whether a text consists of symbols of chemical elements: H, Na, CO.
bool names_elements(std::string_view s) {
  bool after_capital = false;
  for (const char c : s) {
    const bool capital = is_letter(c) && to_lower(c) != c;
    if (!capital && (!after_capital || !is_letter(c))) return false;
    after_capital = capital;
  }
  return !s.empty();
}

}  // namespace

// Returns whether the last token may end an operand that is no text.
bool Lexer::after_operand() const {
  if (out_.tokens.empty()) return false;
  return is_one_of(out_.tokens.back().kind, Tok::kNumber, Tok::kSymbol, Tok::kConstant, Tok::kClose,
                   Tok::kBraceClose, Tok::kBang);
}

// Returns whether the last tokens are the symbol of an element, with or without its index: O, H_2.
bool Lexer::after_element() const {
  const std::vector<Token>& all = out_.tokens;
  std::size_t end = all.size();
  for (const std::size_t n : {2U, 4U})
    if (end > n && all[end - n].kind == Tok::kUnderscore) end -= n;
  const auto is_letter_at = [&](std::size_t back, bool capital) {
    if (end < back || all[end - back].kind != Tok::kSymbol) return false;
    const std::string_view name = all[end - back].name;
    return name.size() == 1 && (to_lower(name[0]) != name[0]) == capital;
  };
  return is_letter_at(1, true) || (is_letter_at(1, false) && is_letter_at(2, true));
}

namespace {

// Returns the text of "or 0.5", "(or 50%)" or "(mod 7)" without the brackets of the first two,
// which is mathematics. Returns nothing for other texts.
std::string_view second_value(std::string_view text) {
  constexpr std::string_view kOfNumbers = "0123456789.,/% -\\{}frac";
  std::string_view content = trimmed(text);
  std::string_view inner = content;
  if (lie::take(inner, "(mod ") || lie::take(inner, "mod ")) {
    if (inner.ends_with(')')) inner.remove_suffix(1);
    return std::ranges::all_of(inner, is_digit) && !inner.empty() ? content : std::string_view();
  }
  if (lie::take(content, "(") && content.ends_with(')')) content.remove_suffix(1);
  inner = content;
  if (!lie::take(inner, "or ") && !lie::take(inner, "and ")) return {};
  return inner.find_first_not_of(kOfNumbers) == inner.npos && std::ranges::any_of(inner, is_digit)
             ? content
             : std::string_view();
}

}  // namespace

// Lexes a part of the group ahead as mathematics without its braces.
void Lexer::splice(std::string_view content) {
  const std::size_t close = closing_brace(at_);
  const auto end = static_cast<std::size_t>(content.data() + content.size() - text_.data());
  at_ = end - content.size();
  while (at_ < end && budget_.spend()) step();
  at_ = std::min(close + 1, text_.size());
}

// Lexes text after an operand that is mathematics: 2\mathrm{R}, 5\text{+1}, \text{H}_2\text{O}.
bool Lexer::upright_formula() {
  if (peek() != '{') {
    const std::string_view letter = trimmed(rest().substr(0, 2)).substr(0, 1);
    if (letter.empty() || !is_letter(letter[0]) || !rules_.is_formula(letter)) return false;
    while (is_space(peek())) ++at_;
    letters(at_++, letter);
    return true;
  }
  const std::string_view content = text_.substr(at_ + 1, closing_brace(at_) - at_ - 1);
  // The prefix of \text{ k}\Omega belongs to a unit.
  const std::string_view after = rest().substr(std::min(content.size() + 2, rest().size()));
  if (after.starts_with("\\Omega") && is_one_of(trimmed(content), "k", "M", "G", "m")) return false;
  if (const std::string_view second = second_value(content); !second.empty()) {
    splice(second);
    return true;
  }
  const bool term = holds_number() && is_one_of(trimmed(content).front(), '+', '-');
  if (names_elements(content) && after_element()) {
    const std::size_t close = closing_brace(at_);
    letters(at_ + 1, content);
    at_ = std::min(close + 1, text_.size());
    return true;
  }
  if (!term && !rules_.is_formula(content)) return false;
  splice(content);
  return true;
}

// Lexes \text{12 cm} as 12\text{ cm}.
bool Lexer::quantity() {
  constexpr std::string_view kOfNumbers = "0123456789.,/";
  if (peek() != '{') return false;
  const std::size_t close = closing_brace(at_);
  const std::string_view content = text_.substr(at_ + 1, close - at_ - 1);
  if (!is_digit(peek(1))) return after_operand() && two_units(content, close);
  const std::size_t split = text_.find_first_not_of(kOfNumbers, at_ + 1);
  if (split >= close || text_[split] != ' ' || !is_digit(text_[split - 1])) return false;
  const std::string_view words = text_.substr(split, close - split);
  const bool plain = std::ranges::all_of(words, [](char c) { return is_letter(c) || c == ' '; });
  if (!plain && !rules_.parts_of_sum(words)) return false;
  ++at_;
  while (at_ < split && budget_.spend()) step();
  if (!plain) return two_units(words, close);
  at_ = std::min(close + 1, text_.size());
  push(Tok::kText, split).name = words;
  return true;
}

// Lexes \text{ hours 30 minutes} as two units and the number between them.
bool Lexer::two_units(std::string_view words, std::size_t close) {
  const std::optional<UnitsOfSum> parts = rules_.parts_of_sum(words);
  if (!parts) return false;
  const auto position = [this](std::string_view part) {
    return static_cast<std::size_t>(part.data() - text_.data());
  };
  const auto unit = [&](std::string_view part) {
    at_ = position(part) + part.size();
    push(Tok::kText, position(part)).name = part;
  };
  unit(parts->first);
  at_ = position(parts->number);
  while (at_ < position(parts->second) && budget_.spend()) step();
  unit(parts->second);
  at_ = std::min(close + 1, text_.size());
  return true;
}

// Lexes \text{SO}_4 and \text{Na}^+ as SO_4 and Na^+.
bool Lexer::formula() {
  if (peek() != '{') return false;
  const std::size_t close = closing_brace(at_);
  const std::string_view content = text_.substr(at_ + 1, close - at_ - 1);
  const std::string_view next = text_.substr(std::min(close + 1, text_.size()), 4);
  const bool marked =
      next.starts_with('_') || (next.starts_with('^') && next.find_first_of("+-") != next.npos);
  if (!marked || !names_elements(content)) return false;
  letters(at_ + 1, content);
  at_ = std::min(close + 1, text_.size());
  return true;
}

// Returns whether words begin the condition of a row that has no mark of alignment before it:
// x^2 \quad \text{if } x > 0.
bool Lexer::parts_cell(std::string_view words) const {
  const bool condition = words == "if" || words.starts_with("if ") || words == "otherwise";
  return condition && (after_operand() || out_.tokens.back().kind == Tok::kComma);
}

// Takes the argument in braces as text. A single letter needs no braces.
void Lexer::braced_name(const Meaning& meaning, std::size_t begin) {
  if (peek() == '*') ++at_;
  while (is_space(peek())) ++at_;
  std::string_view content = rest().substr(0, 1);
  if (peek() == '{') {
    const std::size_t close = closing_brace(at_);
    content = text_.substr(at_ + 1, close - at_ - 1);
    at_ = std::min(close + 1, text_.size());
  } else {
    at_ += content.size();
  }
  if (meaning.kind == Tok::kText && environments_ > 0 && parts_cell(trimmed(content)))
    push(Tok::kAmpersand, begin);
  // In 7 \text{ goats and } 4 the word separates.
  constexpr std::string_view kAnd = " and";
  const std::string_view words = trimmed(content);
  const bool separates = meaning.kind == Tok::kText && words.size() > kAnd.size() &&
                         words.ends_with(kAnd) && !out_.tokens.empty() &&
                         out_.tokens.back().kind == Tok::kNumber;
  if (separates) content = words.substr(0, words.size() - kAnd.size());
  Token& token = push(meaning.kind, begin);
  token.name = content;
  if (separates)
    token.end = static_cast<std::uint32_t>(content.data() + content.size() - text_.data());
  if (separates) return void(push(Tok::kAnd, begin));
  if (meaning.kind == Tok::kText) typed_text(meaning, token, content);
}

// Corrects the kind of \mathbb and \mathrm, which hold mathematics instead of words.
void Lexer::typed_text(const Meaning& meaning, Token& token, std::string_view content) {
  if (meaning.word == "mathbb" && content.size() == 1) token.kind = Tok::kNamedSet;
  if (meaning.word == "mathrm" && (content == "d" || content == "e" || content == "i"))
    token.kind = Tok::kSymbol;
  const std::size_t sign = content.find_first_not_of(" \\");
  if (sign != std::string_view::npos && content.substr(sign) == "%") token.kind = Tok::kPercent;
}

}  // namespace lie::latex

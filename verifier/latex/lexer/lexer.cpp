#include "verifier/latex/lexer/lexer.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "verifier/latex/lexer/lexer_state.h"

namespace lie::latex {
Lexed Lexer::run() {
  while (at_ < text_.size() && budget_.spend()) step();
  push(Tok::kEnd, at_);
  return std::move(out_);
}

Token& Lexer::push(Tok kind, std::size_t begin) {
  Token& token = out_.tokens.emplace_back();
  token.kind = kind;
  token.begin = static_cast<std::uint32_t>(begin);
  token.end = static_cast<std::uint32_t>(at_);
  token.spaced = std::exchange(spaced_, false);
  return token;
}

void Lexer::push(const Meaning& meaning, std::size_t begin) {
  if (meaning.kind == Tok::kIgnore) {
    spaced_ = true;
    return;
  }
  if (meaning.kind == Tok::kLogic) out_.logic = true;
  Token& token = push(meaning.kind, begin);
  token.fn = meaning.fn;
  token.rel = meaning.rel;
  token.bracket = meaning.bracket;
  token.name = meaning.name;
}

void Lexer::step() {
  const char c = peek();
  if (c < ' ' && lost_backslash()) return;
  if (is_space(c) || c == '~') {
    ++at_;
    spaced_ = true;
  } else if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
    number();
  } else if (is_letter(c)) {
    word();
  } else if (c == '\\') {
    backslash();
  } else if (static_cast<unsigned char>(c) >= 0x80) {
    character();
  } else {
    punctuation();
  }
}

// Lexes commands whose backslash and first letter became a control character when the text was
// unescaped: a form feed and "rac{1}{2}".
bool Lexer::lost_backslash() {
  constexpr std::string_view kControls = "\t\f\b\v\r", kLetters = "tfbvr";
  static constexpr std::string_view kCommands[] = {
      "text",  "textcirc", "textbf", "textit", "theta", "times", "triangle", "tfrac", "frac",
      "begin", "beta",     "boxed",  "binom",  "vec",   "right", "rho",      "varphi"};
  const std::size_t at = kControls.find(peek());
  if (at == std::string_view::npos) return false;
  const std::size_t begin = at_;
  std::size_t end = at_ + 1;
  while (end < text_.size() && is_letter(text_[end])) ++end;
  std::string word(1, kLetters[at]);
  word += text_.substr(at_ + 1, end - at_ - 1);
  const auto* known = std::ranges::find(kCommands, word);
  if (known == std::end(kCommands)) return false;
  at_ = end;
  known_command(*command(*known), begin);
  return true;
}

// Lexes the tags of exponents and subscripts: x<sup>2</sup>.
bool Lexer::script_tag() {
  struct Tag {
    std::string_view text;
    Tok first, second = Tok::kIgnore;
  };
  static constexpr Tag kTags[] = {{"<sup>", Tok::kCaret, Tok::kBraceOpen},
                                  {"<sub>", Tok::kUnderscore, Tok::kBraceOpen},
                                  {"</sup>", Tok::kBraceClose},
                                  {"</sub>", Tok::kBraceClose}};
  for (const Tag& tag : kTags) {
    if (!rest().starts_with(tag.text)) continue;
    const std::size_t begin = at_;
    at_ += tag.text.size();
    push(tag.first, begin);
    if (tag.second != Tok::kIgnore) push(tag.second, at_);
    return true;
  }
  return false;
}

namespace {

struct Sign {
  char text;
  Tok kind;
};
constexpr Sign kSigns[] = {
    {'+', Tok::kPlus},   {'-', Tok::kMinus},     {'*', Tok::kTimes},      {'/', Tok::kDivide},
    {':', Tok::kColon},  {'^', Tok::kCaret},     {'_', Tok::kUnderscore}, {'!', Tok::kBang},
    {'\'', Tok::kPrime}, {'%', Tok::kPercent},   {',', Tok::kComma},      {';', Tok::kSemicolon},
    {'|', Tok::kBar},    {'(', Tok::kOpen},      {'[', Tok::kOpen},       {')', Tok::kClose},
    {']', Tok::kClose},  {'{', Tok::kBraceOpen}, {'}', Tok::kBraceClose}, {'&', Tok::kAmpersand}};

}  // namespace

void Lexer::punctuation() {
  if ((peek() == '<' && script_tag()) || comparison() || emphasis()) return;
  const std::size_t begin = at_;
  const char c = text_[at_++];
  if (c == '.') return period(begin);
  if (c == '$') return dollar(begin);
  if (c == '"') return quotation_mark(begin);
  if (c == '&') return ampersand(begin);
  if (c == '*' && peek() == '*') {
    ++at_;
    push(Tok::kCaret, begin);
    return;
  }
  const auto* sign = std::ranges::find(kSigns, c, &Sign::text);
  push(sign == std::end(kSigns) ? Tok::kBad : sign->kind, begin).bracket = c;
}

// The mark is the sign of seconds after 30^\circ 15' 36. Others are skipped.
void Lexer::quotation_mark(std::size_t begin) {
  constexpr std::ptrdiff_t kFarthest = 10;  // tokens
  const auto end = out_.tokens.end();
  const auto first = end - std::min(kFarthest, end - out_.tokens.begin());
  const bool number = first != end && (end - 1)->kind == Tok::kNumber && (end - 1)->end == begin;
  if (number && std::ranges::find(first, end, Tok::kDegree, &Token::kind) != end)
    push(Tok::kPrime, begin);
  else
    spaced_ = true;
}

// Skips emphasis, as in **5** and `5`.
bool Lexer::emphasis() {
  constexpr std::string_view kMarks = "*`";
  const std::size_t end = text_.find_first_not_of(kMarks, at_);
  const bool opens = out_.tokens.empty() && kMarks.find(peek()) != std::string_view::npos;
  const bool closes = emphasized_ && end == std::string_view::npos;
  if (!opens && !closes) return false;
  emphasized_ = true;
  at_ = std::min(end, text_.size());
  return true;
}

// A mark of alignment stands next to a relation sign, as in x &= 5, and does not count. Other marks
// divide cells.
void Lexer::ampersand(std::size_t begin) {
  static constexpr std::string_view kRelations[] = {
      "=", "<", ">", "\\le", "\\ge", "\\ne", "\\approx", "\\equiv", "\\in ", "≤", "≥", "≈"};
  const std::string_view next = trimmed(rest().substr(0, 40));
  const bool before = std::ranges::any_of(kRelations, [next](std::string_view sign) {
    return next.starts_with(sign) && !next.starts_with("\\left");
  });
  const bool after = !out_.tokens.empty() && out_.tokens.back().kind == Tok::kRelation;
  if (!before && !after) return void(push(Tok::kAmpersand, begin));
  spaced_ = true;
  // A row that begins with the sign continues the row before.
  const bool continues = before && next.find_first_of("\\") != 0;
  if (continues && !out_.tokens.empty() && out_.tokens.back().kind == Tok::kRowBreak)
    out_.tokens.pop_back();
}

// In "$...$ $...$" one statement ends and another begins, so a comma separates them.
void Lexer::dollar(std::size_t begin) {
  const bool opens = dollars_++ % 2 == 0;
  const bool touches =
      begin > 0 && opens && text_.find_last_not_of(" \n\t", begin - 1) == last_dollar_;
  if (touches && last_dollar_ != std::string_view::npos) push(Tok::kComma, begin);
  last_dollar_ = begin;
  spaced_ = true;
}

void Lexer::period(std::size_t begin) {
  at_ = std::min(text_.find_first_not_of('.', at_), text_.size());
  const bool dots = at_ > begin + 1;
  out_.points = out_.points || !dots;
  push(dots ? Tok::kDots : Tok::kPeriod, begin);
}

bool Lexer::comparison() {
  struct Comparison {
    std::string_view text;
    expr::Rel rel;
  };
  using expr::Rel;
  static constexpr Comparison kComparisons[] = {
      {"<=", Rel::kLessEqual},    {"=<", Rel::kLessEqual}, {">=", Rel::kGreaterEqual},
      {"=>", Rel::kGreaterEqual}, {"!=", Rel::kNotEqual},  {"==", Rel::kEqual},
      {"->", Rel::kArrow},        {"~=", Rel::kApprox},    {"<", Rel::kLess},
      {">", Rel::kGreater},       {"=", Rel::kEqual}};
  for (const Comparison& sign : kComparisons) {
    if (!rest().starts_with(sign.text)) continue;
    // The text 5!=120 has a factorial.
    if (sign.rel == Rel::kNotEqual && at_ > 0 && is_digit(text_[at_ - 1])) continue;
    const std::size_t begin = at_;
    at_ += sign.text.size();
    push(Tok::kRelation, begin).rel = sign.rel;
    return true;
  }
  return false;
}

// --- commands, which begin with a backslash ---------------------------------------------------

void Lexer::backslash() {
  const std::size_t begin = at_++;
  if (peek() == '\\') return double_backslash(begin);
  if (!is_letter(peek())) {
    const std::string_view sign = rest().substr(0, 1);
    if (!sign.empty()) ++at_;
    // At the end it is a control space whose blank was trimmed.
    if (sign.empty() || is_space(sign.front())) return void(spaced_ = true);
    if (const Meaning* meaning = command(sign)) return push(*meaning, begin);
    push(Tok::kBad, begin);
    return;
  }
  std::size_t end = at_;
  while (end < text_.size() && is_letter(text_[end])) ++end;
  std::string_view word = text_.substr(at_, end - at_);
  const Meaning* meaning = command(word);
  if (meaning == nullptr) meaning = command_prefix(word);
  if (meaning == nullptr) {
    at_ = end;
    push(Tok::kBad, begin).name = word;
    return;
  }
  at_ += meaning->word.size();
  known_command(*meaning, begin);
}

// The sign "\\" breaks a row within an environment. Elsewhere it is the doubled backslash of an
// escaped text, or ends a line.
void Lexer::double_backslash(std::size_t begin) {
  ++at_;
  const bool ends = rest().find_first_not_of(" \t\r\n$") == std::string_view::npos;
  if (ends && environments_ == 0 && !out_.tokens.empty()) return;
  if (environments_ == 0 && out_.tokens.empty() && is_digit(peek())) return;
  if (environments_ == 0 &&
      (is_letter(peek()) || peek() == '{' || peek() == '}' || peek() == ',')) {
    at_ = begin + 1;
    return backslash();
  }
  if (peek() == '[' && environments_ > 0)
    at_ = std::min(text_.find(']', at_), text_.size() - 1) + 1;
  push(Tok::kRowBreak, begin);
}

void Lexer::known_command(const Meaning& meaning, std::size_t begin) {
  if (meaning.word == "left" || meaning.word == "mleft") return delimiter(Tok::kOpen, begin);
  if (meaning.word == "right" || meaning.word == "mright") return delimiter(Tok::kClose, begin);
  if (meaning.word == "not") return negated(begin);
  if (meaning.word == "rm" && roman_group()) return;
  if (meaning.kind == Tok::kText && meaning.word != "mathbb" && after_operand() &&
      upright_formula())
    return;
  if (meaning.kind == Tok::kText && (holds_number() || (meaning.word == "mathrm" && holds_ion())))
    return;  // \text{2/3}: the group is read as mathematics
  if (meaning.kind == Tok::kText && (quantity() || (meaning.word != "mathbb" && formula()))) return;
  if (meaning.kind == Tok::kSiunitx) return si_command(meaning.word, begin);
  if (meaning.kind == Tok::kBegin) ++environments_;
  if (meaning.kind == Tok::kEndEnvironment && environments_ > 0) --environments_;
  if (is_one_of(meaning.kind, Tok::kText, Tok::kOperatorName, Tok::kBegin, Tok::kEndEnvironment))
    return braced_name(meaning, begin);
  if (meaning.kind == Tok::kIgnore && !meaning.name.empty()) {
    if (peek() == '*') ++at_;
    if (meaning.name == "[]" && peek() == '[')
      at_ = std::min(text_.find(']', at_), text_.size() - 1) + 1;
    else if (peek() == '{')
      at_ = std::min(closing_brace(at_) + 1, text_.size());
  }
  if (meaning.word.ends_with("quad") && between_statements())
    push(Tok::kComma, begin);
  else
    push(meaning, begin);
}

// Lexes {\rm cm} and \rm{cm} as \mathrm{cm}. Returns false for anything but a word.
bool Lexer::roman_group() {
  const bool inside = peek() != '{';
  if (inside && (out_.tokens.empty() || out_.tokens.back().kind != Tok::kBraceOpen)) return false;
  const std::size_t first = inside ? at_ : at_ + 1;
  const std::size_t close = std::min(text_.find('}', first), text_.size());
  const std::string_view word = trimmed(text_.substr(first, close - first));
  if (word.size() < 2 || close == text_.size() || !std::ranges::all_of(word, is_letter))
    return false;
  if (inside) out_.tokens.pop_back();
  const std::size_t begin = std::exchange(at_, close + 1) - 3;  // that of \rm
  push(Tok::kText, begin).name = word;
  return true;
}

// Lexes \not= and \not\in.
void Lexer::negated(std::size_t begin) {
  const bool equal = peek() == '=';
  const bool in = rest().starts_with("\\in") && !is_letter(peek(3));
  at_ += equal ? 1 : in ? 3 : 0;
  Token& token = push(equal || in ? Tok::kRelation : Tok::kBad, begin);
  token.rel = equal ? expr::Rel::kNotEqual : expr::Rel::kNotIn;
}

// Returns whether a space separates two statements with relation signs: "x = 1 \quad y = 2".
bool Lexer::between_statements() const {
  constexpr std::size_t kFarthest = 200;  // bytes, and tokens
  const std::string_view next = rest().substr(0, kFarthest);
  const std::size_t end = std::min(next.find_first_of(",;"), next.find("\\quad"));
  const std::size_t left = next.find_first_not_of(" \t\r\n");
  std::size_t sign = next.find_first_of("=<>");
  for (const std::string_view word : {"\\leq", "\\le ", "\\geq", "\\ge ", "\\neq", "\\in "})
    sign = std::min(sign, next.find(word));
  if (environments_ > 0 || sign == left || sign >= end || sign == std::string_view::npos)
    return false;
  const std::size_t count = out_.tokens.size();
  for (std::size_t i = count; i-- > count - std::min(count, kFarthest);) {
    if (out_.tokens[i].kind == Tok::kRelation) return true;
    if (out_.tokens[i].kind == Tok::kComma || out_.tokens[i].kind == Tok::kSemicolon) return false;
  }
  return false;
}

// Takes an argument in braces, after an option in square brackets. Returns its content.
std::string_view Lexer::argument() {
  while (is_space(peek())) ++at_;
  if (peek() == '[') at_ = std::min(text_.find(']', at_), text_.size() - 1) + 1;
  if (peek() != '{') return {};
  const std::size_t close = closing_brace(at_);
  const std::string_view content = text_.substr(at_ + 1, close - at_ - 1);
  at_ = std::min(close + 1, text_.size());
  return content;
}

// Lexes a part of the text as a group.
void Lexer::group(std::string_view content) {
  const std::size_t after =
      std::exchange(at_, static_cast<std::size_t>(content.data() - text_.data()));
  const std::size_t end = at_ + content.size();
  push(Tok::kBraceOpen, at_).bracket = '{';
  while (at_ < end && budget_.spend()) step();
  at_ = after;
  push(Tok::kBraceClose, end).bracket = '}';
}

namespace {

// Spells a unit of siunitx as read_unit() does: \kilo\gram\per\cubic\meter is kilogram/meter^3.
std::string spelled_unit(std::string_view unit) {
  std::string out, power;  // power: that of the next unit
  bool joins = true;       // no unit ends before
  while (!unit.empty()) {
    const std::size_t length =
        std::max<std::size_t>(1, std::min(unit.find_first_of("\\ .~{}^", 1), unit.size()));
    std::string_view word = unit.substr(0, length);
    unit.remove_prefix(length);
    if (word.front() == '.') word.remove_prefix(1);
    if (word.empty()) continue;
    const bool command = word.starts_with('\\');
    if (command) word.remove_prefix(1);
    constexpr std::string_view kPrefixes[] = {"tera", "giga", "mega",  "kilo",  "hecto",
                                              "deca", "deci", "centi", "milli", "micro",
                                              "nano", "pico", "femto"};
    if (is_one_of(word, "per", "/")) {
      out += '/', joins = true;
    } else if (word == "squared" || word == "cubed") {
      out += word == "squared" ? "^2" : "^3";
    } else if (word == "square" || word == "cubic") {
      power = word == "square" ? "^2" : "^3";
    } else if ((word == "tothe" || word == "^") && unit.starts_with('{')) {
      const std::size_t end = std::min(unit.find('}'), unit.size() - 1);
      out.append("^").append(unit.substr(1, end - 1));
      unit.remove_prefix(end + 1);
    } else if (word.starts_with('^')) {
      out += word;
    } else if (is_letter(word.front()) || static_cast<unsigned char>(word.front()) >= 0x80) {
      const bool starts = command && std::ranges::find(kPrefixes, word) != std::end(kPrefixes);
      if (!joins) out += '*';
      out += word == "degreeCelsius" ? "celsius" : word;
      if (!starts) out += std::exchange(power, {});
      joins = starts;
    }
  }
  return out;
}

}  // namespace

// Lexes the parts of an angle, 30;15;0, as degrees.
void Lexer::angle(std::string_view parts, std::size_t begin) {
  exact::Rational value(0), size(1);
  for (std::size_t first = 0; first <= parts.size();) {
    const std::size_t end = std::min(parts.find(';', first), parts.size());
    const std::string_view part = trimmed(parts.substr(first, end - first));
    if (const auto number = exact::from_decimal(part)) value = value + *number * size;
    size = size / exact::Rational(60);
    first = end + 1;
  }
  push_number(std::move(value), begin);
  push(Tok::kDegree, begin);
}

// Lexes \num{1e3}, \qty{5}{\meter}, \SI{5}{m}, \unit{m} and \ang{90}.
void Lexer::si_command(std::string_view name, std::size_t begin) {
  const std::string_view first = argument();
  if (first.empty()) return void(push(Tok::kBad, begin));
  if (name == "ang" && std::ranges::none_of(first, is_letter)) return angle(first, begin);
  const bool unit_only = name == "si" || name == "unit";
  if (!unit_only) group(first);
  if (name == "num" || name == "ang") return;
  const std::string& unit = out_.names.emplace_back(spelled_unit(unit_only ? first : argument()));
  push(unit == "percent" || unit == "%" ? Tok::kPercent : Tok::kText, begin).name = unit;
}

// Lexes what follows \left or \right. The brace of \left{ needs no backslash, and \left. is
// skipped.
void Lexer::delimiter(Tok kind, std::size_t begin) {
  if (peek() == '.') ++at_;
  const char bracket = peek();
  if (bracket != (kind == Tok::kOpen ? '{' : '}') && bracket != '|') return;
  ++at_;
  push(kind, begin).bracket = bracket;
}

std::size_t Lexer::closing_brace(std::size_t open) const {
  std::size_t depth = 0;
  for (std::size_t i = open; i < text_.size(); ++i) {
    if (text_[i] == '\\')
      ++i;
    else if (text_[i] == '{')
      ++depth;
    else if (text_[i] == '}' && --depth == 0)
      return i;
  }
  return text_.size();
}

Lexed lex(std::string_view text, Budget& budget, const TextRules& rules) {
  Lexed out = Lexer(text, budget, rules).run();
  respell(out);
  return out;
}

}  // namespace lie::latex

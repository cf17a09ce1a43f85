#include "verifier/latex/lexer/lexer.h"

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
  Token& token = push(meaning.kind, begin);
  token.fn = meaning.fn;
  token.rel = meaning.rel;
  token.bracket = meaning.bracket;
  token.name = meaning.name;
}

void Lexer::step() {
  const char c = peek();
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
  if (comparison() || emphasis()) return;
  const std::size_t begin = at_;
  const char c = text_[at_++];
  if (c == '.') return period(begin);
  if (c == '$') return dollar(begin);
  if (c == '"') return void(spaced_ = true);
  if (c == '*' && peek() == '*') {
    ++at_;
    push(Tok::kCaret, begin);
    return;
  }
  const auto* sign = std::ranges::find(kSigns, c, &Sign::text);
  push(sign == std::end(kSigns) ? Tok::kBad : sign->kind, begin).bracket = c;
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
  push(at_ > begin + 1 ? Tok::kDots : Tok::kPeriod, begin);
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

Lexed lex(std::string_view text, Budget& budget) {
  Lexed out = Lexer(text, budget).run();
  respell(out);
  return out;
}

}  // namespace lie::latex

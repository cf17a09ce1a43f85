#include "verifier/latex/lexer.h"

#include <algorithm>
#include <optional>

namespace lie::latex {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

class Lexer {
 public:
  Lexer(std::string_view text, Budget& budget) : text_(text), budget_(budget) {}

  Lexed run() {
    while (at_ < text_.size() && budget_.spend()) step();
    push(Tok::kEnd, at_);
    return std::move(out_);
  }

 private:
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  std::string_view rest() const { return text_.substr(std::min(at_, text_.size())); }

  Token& push(Tok kind, std::size_t begin) {
    Token token;
    token.kind = kind;
    token.begin = static_cast<std::uint32_t>(begin);
    token.end = static_cast<std::uint32_t>(at_);
    token.spaced = spaced_;
    spaced_ = false;
    return out_.tokens.emplace_back(token);
  }

  void push(const Meaning& meaning, std::size_t begin) {
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

  void step() {
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

  // --- numbers ---------------------------------------------------------------------------------

  std::size_t digits_from(std::size_t i) const {
    while (i < text_.size() && is_digit(text_[i])) ++i;
    return i;
  }

  // Behind a number: how long a glued separator of thousands is: "{,}", ",\!" or "\," before
  // exactly three digits.
  std::size_t glue_length(std::size_t i) const {
    const std::size_t start = i;
    while (i < text_.size() && text_[i] == ' ') ++i;
    const std::string_view here = text_.substr(i);
    std::size_t n = 0;
    if (here.starts_with("{,}"))
      n = 3;
    else if (here.starts_with("{, }"))
      n = 4;
    else if (i > start)
      return 0;
    else if (here.starts_with(",\\!"))
      n = 3;
    else if (here.starts_with("\\,") || here.starts_with("\\ "))
      n = 2;
    if (n == 0) return 0;
    i += n;
    while (i < text_.size() && text_[i] == ' ' && !here.starts_with('{')) ++i;
    return digits_from(i) - i == 3 ? i - start : 0;
  }

  void number() {
    const std::size_t begin = at_;
    std::string digits;
    std::size_t end = digits_from(at_);
    digits.assign(text_.substr(at_, end - at_));
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
    if (value && !repeating) value = exponent(std::move(*value));
    Token& token = push(value ? Tok::kNumber : Tok::kBad, begin);
    token.decimal = decimal;
    token.repeating = repeating || repeats_later;
    token.thousands = is_group_behind_comma(begin);
    token.name = text_.substr(begin, at_ - begin);
    if (!value) return;
    token.number = static_cast<std::uint32_t>(out_.numbers.size());
    out_.numbers.push_back(std::move(*value));
  }

  static bool repeats(std::string_view s) {
    return s.starts_with("\\overline") || s.starts_with("\\bar") || s.starts_with("\\dot{");
  }

  // The decimals behind a point, or behind "{,}" as a decimal comma.
  bool fraction(std::string& digits) {
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

  // "2.5E4", "1e-7": digits must follow, and no letter behind them.
  exact::Rational exponent(exact::Rational value) {
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

  // Exactly three digits (and decimals) directly behind a comma that stands directly behind a
  // number.
  bool is_group_behind_comma(std::size_t begin) const {
    if (digits_from(begin) - begin != 3 || begin < 2 || text_[begin - 1] != ',') return false;
    return is_digit(text_[begin - 2]);
  }

  // --- words -----------------------------------------------------------------------------------

  void word() {
    const std::size_t begin = at_;
    while (is_letter(peek())) ++at_;
    const std::string_view run = text_.substr(begin, at_ - begin);
    if (const Meaning* meaning = run.size() > 1 ? plain_word(run) : nullptr) {
      push(*meaning, begin);
    } else if (run.size() > 3) {
      push(Tok::kWord, begin).name = run;
    } else {
      letters(begin, run);
    }
  }

  void letters(std::size_t begin, std::string_view run) {
    for (std::size_t i = 0; i < run.size(); ++i) {
      at_ = begin + i + 1;
      push(Tok::kSymbol, begin + i).name = run.substr(i, 1);
    }
  }

  void character() {
    const auto lead = static_cast<unsigned char>(peek());
    const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    const std::size_t begin = at_;
    const std::string_view bytes = rest().substr(0, length);
    at_ += bytes.size();
    if (const Meaning* meaning = unicode(bytes)) return push(*meaning, begin);
    if (superscript(bytes, begin) || vulgar_fraction(bytes, begin)) return;
    push(Tok::kWord, begin).name = bytes;
  }

  bool superscript(std::string_view bytes, std::size_t begin) {
    constexpr std::string_view kDigits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    const auto digit = std::ranges::find(kDigits, bytes);
    if (digit == std::end(kDigits)) return false;
    push(Tok::kCaret, begin);
    integer(digit - std::begin(kDigits), begin);
    return true;
  }

  bool vulgar_fraction(std::string_view bytes, std::size_t begin) {
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

  void integer(std::int64_t value, std::size_t begin) {
    Token& token = push(Tok::kNumber, begin);
    token.number = static_cast<std::uint32_t>(out_.numbers.size());
    out_.numbers.emplace_back(value);
  }

  // --- commands --------------------------------------------------------------------------------

  void backslash() {
    const std::size_t begin = at_++;
    if (peek() == '\\') return double_backslash(begin);
    if (!is_letter(peek())) {
      const std::string_view sign = rest().substr(0, 1);
      if (!sign.empty()) ++at_;
      const Meaning* meaning = command(sign);
      if (meaning == nullptr && !sign.empty() && is_space(sign.front())) meaning = command(" ");
      return meaning != nullptr ? push(*meaning, begin) : bad_or_trailing(begin);
    }
    std::size_t end = at_;
    while (end < text_.size() && is_letter(text_[end])) ++end;
    std::string_view word = text_.substr(at_, end - at_);
    const Meaning* meaning = command(word);
    if (meaning == nullptr && word == "char") return character_code(begin);
    if (meaning == nullptr) meaning = command_prefix(word);
    if (meaning == nullptr) {
      at_ = end;
      push(Tok::kBad, begin).name = word;
      return;
    }
    at_ += meaning->word.size();
    known_command(*meaning, begin);
  }

  // A backslash at the very end is a slip of the pen.
  void bad_or_trailing(std::size_t begin) {
    if (at_ >= text_.size() && !out_.tokens.empty()) return;
    push(Tok::kBad, begin);
  }

  void character_code(std::size_t begin) {
    constexpr std::string_view kEpsilon = "char\"000190";
    if (!rest().starts_with(kEpsilon)) {
      push(Tok::kBad, begin);
      return;
    }
    at_ += kEpsilon.size();
    push(Tok::kSymbol, begin).name = "epsilon";
  }

  // "\\" breaks a row within an environment. Elsewhere it is a doubled backslash of an escaped
  // text.
  void double_backslash(std::size_t begin) {
    ++at_;
    if (environments_ == 0 &&
        (is_letter(peek()) || peek() == '{' || peek() == '}' || peek() == ',')) {
      at_ = begin + 1;
      return backslash();
    }
    if (peek() == '[' && environments_ > 0)
      at_ = std::min(text_.find(']', at_), text_.size() - 1) + 1;
    push(Tok::kRowBreak, begin);
  }

  void known_command(const Meaning& meaning, std::size_t begin) {
    if (meaning.word == "left" || meaning.word == "mleft") return left(begin);
    if (meaning.word == "right" || meaning.word == "mright") return right(begin);
    if (meaning.kind == Tok::kText) return braced_name(meaning, begin, Tok::kText);
    if (meaning.kind == Tok::kOperatorName) return braced_name(meaning, begin, Tok::kOperatorName);
    if (meaning.kind == Tok::kBegin) {
      ++environments_;
      return braced_name(meaning, begin, Tok::kBegin);
    }
    if (meaning.kind == Tok::kEndEnvironment) {
      environments_ -= environments_ > 0 ? 1 : 0;
      return braced_name(meaning, begin, Tok::kEndEnvironment);
    }
    push(meaning, begin);
  }

  // \left{ opens a set although the brace lacks its backslash; \left. is nothing.
  void left(std::size_t begin) {
    if (peek() == '.') ++at_;
    if (peek() == '{') {
      ++at_;
      push(Tok::kOpen, begin).bracket = '{';
    } else if (peek() == '|') {
      ++at_;
      push(Tok::kOpen, begin).bracket = '|';
    }
  }

  void right(std::size_t begin) {
    if (peek() == '.') ++at_;
    if (peek() == '}') {
      ++at_;
      push(Tok::kClose, begin).bracket = '}';
    } else if (peek() == '|') {
      ++at_;
      push(Tok::kClose, begin).bracket = '|';
    }
  }

  // The argument in braces, as text; a single letter may stand without them.
  void braced_name(const Meaning& meaning, std::size_t begin, Tok kind) {
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
    Token& token = push(kind, begin);
    token.name = content;
    if (kind == Tok::kText) typed_text(meaning, token, content);
  }

  // \mathbb, \mathrm and \variable hold mathematics, not words.
  void typed_text(const Meaning& meaning, Token& token, std::string_view content) {
    if (meaning.word == "mathbb" && content.size() == 1) token.kind = Tok::kNamedSet;
    if (meaning.word == "mathrm" && (content == "d" || content == "e" || content == "i"))
      token.kind = Tok::kSymbol;
    if (meaning.word == "mathrm" && content == "T") token.kind = Tok::kTranspose;
    if (meaning.word == "variable") token.kind = is_variable(content) ? Tok::kSymbol : Tok::kBad;
  }

  static bool is_greek(std::string_view base) {
    if (base.size() < 2 || base.front() != '\\') return false;
    const Meaning* meaning = command(base.substr(1, base.find(' ') - 1));
    return meaning != nullptr && meaning->kind == Tok::kSymbol;
  }

  // A name in the sense of latex2sympy: letters, digits and commands, then at most one subscript.
  static bool is_variable(std::string_view s) {
    const std::size_t underscore = s.find('_');
    const std::string_view base = s.substr(0, underscore);
    if (base.empty() || command(base.substr(1, base.find(' ') - 1)) != nullptr)
      return is_greek(base);
    if (underscore == std::string_view::npos) return true;
    const std::string_view sub = s.substr(underscore + 1);
    return sub.size() == 1 || (sub.size() > 2 && sub.front() == '{' && sub.back() == '}');
  }

  std::size_t closing_brace(std::size_t open) const {
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

  // --- other signs -----------------------------------------------------------------------------

  void punctuation() {
    if (comparison()) return;
    const std::size_t begin = at_;
    const char c = text_[at_++];
    switch (c) {
      case '+':
        push(Tok::kPlus, begin);
        return;
      case '-':
        push(Tok::kMinus, begin);
        return;
      case '*':
        if (peek() == '*') {
          ++at_;
          push(Tok::kCaret, begin);
        } else {
          push(Tok::kTimes, begin);
        }
        return;
      case '/':
        push(Tok::kDivide, begin);
        return;
      case ':':
        push(Tok::kColon, begin);
        return;
      case '^':
        push(Tok::kCaret, begin);
        return;
      case '_':
        push(Tok::kUnderscore, begin);
        return;
      case '!':
        push(Tok::kBang, begin);
        return;
      case '\'':
        push(Tok::kPrime, begin);
        return;
      case '%':
        push(Tok::kPercent, begin);
        return;
      case ',':
        push(Tok::kComma, begin);
        return;
      case ';':
        push(Tok::kSemicolon, begin);
        return;
      case '|':
        bar(begin);
        return;
      case '(':
      case '[':
        push(Tok::kOpen, begin).bracket = c;
        return;
      case ')':
      case ']':
        push(Tok::kClose, begin).bracket = c;
        return;
      case '{':
        push(Tok::kBraceOpen, begin);
        return;
      case '}':
        push(Tok::kBraceClose, begin);
        return;
      case '&':
        push(Tok::kAmpersand, begin);
        return;
      case '.':
        period(begin);
        return;
      case '$':
      case '"':
        spaced_ = true;
        return;
      default:
        push(Tok::kBad, begin);
        return;
    }
  }

  void bar(std::size_t begin) { push(Tok::kBar, begin); }

  void period(std::size_t begin) {
    std::size_t n = 1;
    while (peek() == '.') {
      ++at_;
      ++n;
    }
    push(n > 1 ? Tok::kDots : Tok::kPeriod, begin);
  }

  bool comparison() {
    struct Sign {
      std::string_view text;
      expr::Rel rel;
    };
    using expr::Rel;
    static constexpr Sign kSigns[] = {
        {"<=", Rel::kLessEqual},    {"=<", Rel::kLessEqual}, {">=", Rel::kGreaterEqual},
        {"=>", Rel::kGreaterEqual}, {"!=", Rel::kNotEqual},  {"==", Rel::kEqual},
        {"->", Rel::kArrow},        {"~=", Rel::kApprox},    {"<", Rel::kLess},
        {">", Rel::kGreater},       {"=", Rel::kEqual}};
    for (const Sign& sign : kSigns) {
      if (!rest().starts_with(sign.text)) continue;
      // 5!=120 is a factorial.
      if (sign.rel == Rel::kNotEqual && at_ > 0 && is_digit(text_[at_ - 1])) continue;
      const std::size_t begin = at_;
      at_ += sign.text.size();
      push(Tok::kRelation, begin).rel = sign.rel;
      return true;
    }
    return false;
  }

  std::string_view text_;
  Budget& budget_;
  Lexed out_;
  std::size_t at_ = 0;
  std::size_t environments_ = 0;
  bool spaced_ = false;
};

}  // namespace

Lexed lex(std::string_view text, Budget& budget) { return Lexer(text, budget).run(); }

}  // namespace lie::latex

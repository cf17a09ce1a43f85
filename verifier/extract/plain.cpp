#include "verifier/extract/places.h"

#include <algorithm>

#include "common/text/scan.h"

namespace lie::extract {
namespace {

// Returns whether the text starts with a character or punctuation mark of Chinese, Japanese or
// Korean. These languages set no spaces around numbers and letters.
bool starts_with_ideograph(std::string_view text) {
  // The range is U+3000 to U+FFFF without the private use area: three bytes that start at E3.
  if (text.size() < 3) return false;
  const auto lead = static_cast<unsigned char>(text[0]);
  return lead >= 0xe3 && lead <= 0xef && lead != 0xee;
}

bool ends_with_ideograph(std::string_view text) {
  return text.size() >= 3 && starts_with_ideograph(text.substr(text.size() - 3));
}

constexpr std::size_t kLongestExpression = 400;  // bytes
constexpr CharSet kNumberStart("0123456789.-(");
constexpr CharSet kArithmetic("0123456789.+-*/^() ");
constexpr CharSet kNumberOperators("+-*/^");
constexpr CharSet kBeforeNumber(" \n\t=$");
constexpr CharSet kHanging(" .+-*/^(");  // not part of an expression that they end
constexpr CharSet kBehindExpression(" .,:)$\n");
constexpr CharSet kBeforeChoice(" \n*(:");
constexpr CharSet kBehindChoice(" .,:\n*)");

class NumberScanner {
 public:
  explicit NumberScanner(std::string_view text) : text_(text) {}

  std::vector<PlainNumber> run() {
    out_.reserve(16);
    while ((at_ = kNumberStart.first_in(text_, at_)) < text_.size()) {
      if (!starts_here() || !(expression() || number())) skip();
    }
    return std::move(out_);
  }

 private:
  // Skips a run of digits, so that no number starts within it.
  void skip() {
    if (!is_digit(text_[at_])) {
      ++at_;
      return;
    }
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
  }

  bool starts_here() const {
    if (at_ == 0 || kBeforeNumber.holds(text_[at_ - 1])) return true;
    const bool ascii = static_cast<unsigned char>(text_[at_ - 1]) < 0x80;
    const std::string_view before = text_.substr(0, at_);
    if (before.ends_with(':')) return names_an_answer(before.substr(0, at_ - 1));
    if (ascii && text_[at_ - 1] != '*') return false;
    for (const std::string_view sign : {"**", "€", "£", "¥", "₹"})
      if (before.ends_with(sign)) return true;
    return ends_with_ideograph(before);
  }

  // Returns whether a text ends with a word after which a colon has the answer: "答案:5".
  static bool names_an_answer(std::string_view before) {
    constexpr std::array<std::string_view, 9> kNames = {
        "answer", "Answer", "ANSWER", "réponse", "Réponse", "答案", "答案是", "答案为", "is"};
    return std::ranges::any_of(kNames, [before](auto name) { return before.ends_with(name); });
  }

  std::size_t digits(std::size_t i) const {
    while (i < text_.size() && is_digit(text_[i])) ++i;
    return i;
  }

  bool add(PlainNumber found) {
    found.begin = at_;
    found.end = found.digits_end + percent_length(text_.substr(found.digits_end));
    at_ = found.end;
    out_.push_back(found);
    return true;
  }

  // Finds arithmetic with at least one operator between digits and a clear end.
  bool expression() {
    if (at_ >= run_end_) run_end_ = kArithmetic.first_not_in(text_, at_);
    if (run_end_ - at_ > kLongestExpression) return false;
    std::size_t end = run_end_;
    while (end > at_ && kHanging.holds(text_[end - 1])) --end;
    if (end < text_.size() && !kBehindExpression.holds(text_[end])) return false;
    const std::string_view found = text_.substr(at_, end - at_);
    if (kNumberOperators.first_in(found, 1) >= found.size()) return false;
    if (!std::ranges::any_of(found, is_digit)) return false;
    if (std::ranges::count(found, '(') != std::ranges::count(found, ')')) return false;
    return add({.digits_end = end});
  }

  // Returns the end of groups of exactly three digits, each after the same comma or blank.
  std::size_t groups_end(std::size_t i) const {
    const std::size_t first = i;
    while (i + 3 < text_.size() && (text_[i] == ',' || text_[i] == ' ')) {
      if (digits(i + 1) - (i + 1) != 3 || text_[i] != text_[first]) break;
      i += 4;
    }
    return i;
  }

  bool number() {
    const std::size_t first = at_ + (text_[at_] == '-' ? 1 : 0), end = digits(first);
    const bool may_group = end > first && end - first <= 3 && text_[first] != '0';
    const std::size_t whole = may_group ? groups_end(end) : end;
    const bool grouped = whole != end;
    const bool point = whole + 1 < text_.size() && is_digit(text_[whole + 1]) &&
                       (text_[whole] == '.' || (text_[whole] == ',' && !grouped));
    const std::size_t last = point ? digits(whole + 1) : whole;
    if (last == first) return false;
    return add({.digits_end = last,
                .decimal_comma = point && text_[whole] == ',' ? whole : 0,
                .separator = grouped ? text_[end] : '\0'});
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t run_end_ = 0;  // end of the arithmetic signs around at_
  std::vector<PlainNumber> out_;
};

bool ends_word(std::string_view rest) {
  return rest.empty() || kBehindChoice.holds(rest.front()) || starts_with_ideograph(rest);
}

}  // namespace

std::string spelling(const PlainNumber& number, std::string_view text) {
  std::string out(text.substr(number.begin, number.digits_end - number.begin));
  if (number.decimal_comma > 0) out[number.decimal_comma - number.begin] = '.';
  if (number.separator != 0) std::erase(out, number.separator);
  if (number.end > number.digits_end) out += "\\%";
  return out;
}

std::vector<PlainNumber> plain_numbers(std::string_view text) { return NumberScanner(text).run(); }

std::vector<Choice> find_choices(std::string_view text, std::span<const std::string> choices) {
  std::vector<Choice> out;
  if (choices.empty()) return out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i > 0 && !kBeforeChoice.holds(text[i - 1]) && !ends_with_ideograph(text.substr(0, i)))
      continue;
    for (const std::string& choice : choices) {
      if (choice.empty() || !text.substr(i).starts_with(choice) ||
          !ends_word(text.substr(i + choice.size())))
        continue;
      out.push_back({i, i + choice.size()});
      break;
    }
  }
  return out;
}

}  // namespace lie::extract

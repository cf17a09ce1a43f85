#include "verifier/latex/forms.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "common/text/scan.h"
#include "verifier/expr/expr.h"
#include "verifier/latex/lexer/lexer.h"

namespace lie::latex {
namespace {

constexpr std::size_t kLongest = 60;  // bytes of a form

bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }

// Returns the text with hyphens for dashes, single spaces, and without what only sets it.
std::string compact(std::string_view text) {
  static constexpr std::string_view kDropped[] = {
      "\\text",   "\\mathrm", "\\textbf", "\\texttt", "\\mathtt", "{",
      "}",        "$",        "\\textrm", "\\textit", "\\textsf", "\\textnormal",
      "\\textup", "\\emph",   "\\mbox",   "\\$",      "\\%",      "%",
      "€",        "£",        "¥",        "₹"};
  static constexpr std::string_view kSpaces[] = {"\\,", "\\;", "\\ ", "~", " ", "\t", "\n"};
  static constexpr std::string_view kDashes[] = {"‐", "‑", "‒", "–", "—", "−", "---", "--"};
  const auto length = [&text](const auto& words) {
    std::size_t longest = 0;
    for (const std::string_view word : words)
      if (text.starts_with(word)) longest = std::max(longest, word.size());
    return longest;
  };
  std::string out;
  while (!text.empty()) {
    std::size_t n = 0;
    if (n = length(kDropped); n > 0) {
    } else if (n = length(kSpaces); n > 0) {
      if (!out.empty() && out.back() != ' ') out.push_back(' ');
    } else if (n = length(kDashes); n > 0) {
      out.push_back('-');
    } else {
      n = 1;
      out.push_back(text.front());
    }
    text.remove_prefix(n);
  }
  return std::string(trimmed(out));
}

/// Digits and the marks between them: "2021-06-01" has the marks "--".
struct Groups {
  std::vector<std::string> digits;
  std::string marks;
};

// Splits digits at hyphens, slashes, colons and points. Spaces may stand around the marks. Returns
// nothing for other text.
std::optional<Groups> split(std::string_view text) {
  Groups out;
  std::string digits;
  bool spaced = false;
  for (const char c : text) {
    if (is_digit(c)) {
      if (spaced && !digits.empty()) return std::nullopt;  // two numbers side by side
      digits.push_back(c);
      spaced = false;
    } else if (c == ' ') {
      spaced = true;
    } else if (std::string_view("-/:.").find(c) != std::string_view::npos && !digits.empty()) {
      out.digits.push_back(std::exchange(digits, {}));
      out.marks.push_back(c);
      spaced = false;
    } else {
      return std::nullopt;
    }
  }
  if (digits.empty()) return std::nullopt;
  out.digits.push_back(std::move(digits));
  return out;
}

int number(std::string_view digits) {
  int out = 0;
  for (const char c : digits.substr(0, 6)) out = out * 10 + (c - '0');
  return out;
}

bool all_marks(const Groups& groups, char mark) {
  return std::ranges::all_of(groups.marks, [mark](char c) { return c == mark; });
}

bool has_leading_zero(std::string_view digits) { return digits.size() > 1 && digits[0] == '0'; }

// --- dates and times ---------------------------------------------------------------------------

bool is_year(std::string_view digits) { return digits.size() == 4; }
bool is_day(std::string_view digits) {
  return digits.size() <= 2 && number(digits) >= 1 && number(digits) <= 31;
}
bool is_month(std::string_view digits) { return is_day(digits) && number(digits) <= 12; }

std::string date(int year, int month, int day) {
  return fmt::format("{}-{:02}-{:02}", year > 0 ? fmt::format("{:04}", year) : "-", month, day);
}

// Reads 2021-06-01, 2021/6/1, 13.06.2021 and 06/01/2021. The last keeps its order, since it is
// unknown which part is the month.
std::optional<Form> numeric_date(const Groups& groups) {
  const std::vector<std::string>& parts = groups.digits;
  if (parts.size() != 3 || groups.marks[0] != groups.marks[1] || groups.marks[0] == ':')
    return std::nullopt;
  if (is_year(parts[0]) && is_month(parts[1]) && is_day(parts[2]))
    return Form{Sort::kDate, date(number(parts[0]), number(parts[1]), number(parts[2]))};
  if (!is_year(parts[2]) || !is_day(parts[0]) || !is_day(parts[1])) return std::nullopt;
  const int first = number(parts[0]), second = number(parts[1]), year = number(parts[2]);
  if (first > 12 && second > 12) return std::nullopt;
  if (first == second || second > 12) return Form{Sort::kDate, date(year, first, second)};
  if (first > 12 || groups.marks[0] == '.') return Form{Sort::kDate, date(year, second, first)};
  return Form{Sort::kDate, fmt::format("{}/{}/{}", first, second, year)};
}

// Returns the month from 1 on that letters name in full or by at least three letters, or 0.
int month_named(std::string_view letters) {
  constexpr std::array<std::string_view, 12> kMonths = {
      "january", "february", "march",     "april",   "may",      "june",
      "july",    "august",   "september", "october", "november", "december"};
  const std::string small = lowered(letters);
  if (small == "sept") return 9;
  for (std::size_t i = 0; i < kMonths.size(); ++i)
    if (small == kMonths[i] || (small.size() == 3 && kMonths[i].starts_with(small)))
      return static_cast<int>(i) + 1;
  return 0;
}

// Splits a text into runs of digits and of letters. Returns nothing if it has other signs than
// spaces, commas and points.
std::optional<std::vector<std::string>> runs(std::string_view text) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < text.size();) {
    const bool digit = is_digit(text[i]);
    if (!digit && !is_letter(text[i])) {
      if (std::string_view(" ,.").find(text[i]) == std::string_view::npos) return std::nullopt;
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < text.size() && (digit ? is_digit(text[end]) : is_letter(text[end]))) ++end;
    out.emplace_back(text.substr(i, end - i));
    i = end;
    if (out.size() > 6) return std::nullopt;
  }
  return out;
}

// Reads "June 1, 2021", "1 June 2021", "June 1st" and "June 2021".
std::optional<Form> worded_date(std::string_view text) {
  std::optional<std::vector<std::string>> words = runs(text);
  if (!words) return std::nullopt;
  std::erase_if(*words, [](const std::string& word) {
    const std::string small = lowered(word);
    return is_one_of(std::string_view(small), "st", "nd", "rd", "th", "of", "the");
  });
  int month = 0, day = 0, year = 0;
  for (const std::string& word : *words) {
    if (is_letter(word[0])) {
      if (month > 0 || (month = month_named(word)) == 0) return std::nullopt;
    } else if (is_year(word) && year == 0) {
      year = number(word);
    } else if (is_day(word) && day == 0 && year == 0) {
      day = number(word);
    } else {
      return std::nullopt;
    }
  }
  if (month == 0 || (day == 0 && year == 0)) return std::nullopt;
  return Form{Sort::kDate, date(year, month, day)};
}

// Reads 2021年6月1日 and 6月1日.
std::optional<Form> chinese_date(std::string_view text) {
  if (text.find("月") == std::string_view::npos) return std::nullopt;
  std::string plain;
  for (std::string_view rest = text; !rest.empty();) {
    if (take(rest, "年") || take(rest, "月")) {
      plain.push_back('-');
    } else if (!take(rest, "日") && !take(rest, "号") && !take(rest, " ")) {
      plain.push_back(rest.front());
      rest.remove_prefix(1);
    }
  }
  const std::optional<Groups> groups = split(plain);
  if (!groups || !all_marks(*groups, '-')) return std::nullopt;
  if (groups->digits.size() == 3) return numeric_date(*groups);
  if (groups->digits.size() != 2 || !is_month(groups->digits[0]) || !is_day(groups->digits[1]))
    return std::nullopt;
  return Form{Sort::kDate, date(0, number(groups->digits[0]), number(groups->digits[1]))};
}

// Returns the time of day, in 24 hours. Seconds of 0 are left out.
std::optional<Form> time(int hour, int minute, int second) {
  if (hour > 24 || minute > 59 || second > 59) return std::nullopt;
  std::string out = fmt::format("{:02}:{:02}", hour, minute);
  if (second > 0) out += fmt::format(":{:02}", second);
  return Form{Sort::kTime, std::move(out)};
}

// Removes "a.m." or "PM" from the end of a text, or 下午 from its front. Returns 'a', 'p', or 0 if
// there is none. The text 2am may be a product unless `joined` is set.
char take_half_of_day(std::string_view& text, bool joined) {
  for (const std::string_view word : {"上午", "早上", "凌晨"})
    if (take(text, word)) return 'a';
  for (const std::string_view word : {"下午", "晚上"})
    if (take(text, word)) return 'p';
  for (const char half : {'a', 'p'}) {
    for (const std::string_view ending : {"m", ".m.", ".m", ". m."}) {
      const std::string word = half + std::string(ending);
      const std::string end =
          lowered(text.substr(text.size() - std::min(text.size(), word.size())));
      if (end != word) continue;
      const std::string_view before = trimmed(text.substr(0, text.size() - word.size()));
      if (before.empty() || !is_digit(before.back())) continue;
      const bool apart = joined || before.size() + word.size() < text.size() || ending.size() > 1 ||
                         before.find(':') != std::string_view::npos;
      if (!apart) continue;
      text = before;
      return half;
    }
  }
  return 0;
}

// Reads 3:05 p.m., 7 a.m., 08:30 and 23:59:10. Without a.m., p.m. or a zero in front, 8:30 is a
// ratio. With `joined`, 7am is a time as well.
std::optional<Form> clock(std::string_view text, bool joined = false) {
  if (text.empty()) return std::nullopt;
  if (lowered(text) == "noon") return time(12, 0, 0);
  if (lowered(text) == "midnight") return time(0, 0, 0);
  if (text.find(':') == std::string_view::npos && !is_letter(text.back()) && text.back() != '.')
    return std::nullopt;
  const char half = take_half_of_day(text, joined);
  const std::optional<Groups> groups = split(text);
  if (!groups || groups->digits.size() > 3 || !all_marks(*groups, ':')) return std::nullopt;
  const std::vector<std::string>& parts = groups->digits;
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (parts[i].size() > 2 || (i > 0 && parts[i].size() != 2)) return std::nullopt;
  int hour = number(parts[0]);
  const int minute = parts.size() > 1 ? number(parts[1]) : 0;
  const int second = parts.size() > 2 ? number(parts[2]) : 0;
  if (half == 0) {
    const bool zero = has_leading_zero(parts[0]) || (parts.size() > 1 && parts[1][0] == '0');
    const bool is_ratio = parts.size() == 1 || !(zero || parts.size() == 3);
    return is_ratio ? std::nullopt : time(hour, minute, second);
  }
  if (half == 'a' && hour == 12) hour = 0;
  if (half == 'p' && hour < 12) hour += 12;
  return time(hour, minute, second);
}

// --- codes -------------------------------------------------------------------------------------

// Returns whether capitals are a Roman numeral in its usual form. Those without I, V and X may be
// the ends of a segment.
bool is_roman(std::string_view text) {
  struct Digit {
    std::string_view signs;
    int most;
  };
  constexpr Digit kDigits[] = {{"M", 3},  {"CM", 1}, {"D", 1},  {"CD", 1}, {"C", 3},
                               {"XC", 1}, {"L", 1},  {"XL", 1}, {"X", 3},  {"IX", 1},
                               {"V", 1},  {"IV", 1}, {"I", 3}};
  if (text.size() < 2 || text.find_first_of("IVX") == std::string_view::npos) return false;
  for (const Digit& digit : kDigits)
    for (int n = 0; n < digit.most && take(text, digit.signs); ++n) {
    }
  return text.empty();
}

// Returns whether small letters are a Roman numeral. Those such as ix are products.
bool is_small_roman(std::string_view text) {
  return is_one_of(text, "ii", "iii", "iv", "vi", "vii", "viii", "xii", "xiii", "xiv", "xvi",
                   "xvii", "xviii", "xix");
}

// Returns whether letters and digits are a code: FF0000, B0, 0A, H2O, a1b2, IV, ii, BCA. Words and
// products such as 2x, 3AB, AB and abc are none.
bool is_code(std::string_view text) {
  if (is_roman(text) || is_small_roman(text)) return true;
  int changes = 0;  // from a letter to a digit
  for (std::size_t i = 1; i < text.size(); ++i)
    changes += is_letter(text[i - 1]) && is_digit(text[i]) ? 1 : 0;
  const bool letters = std::ranges::any_of(text, is_letter);
  if (!letters || text.size() < 2) return false;
  if (text.size() > 2 && std::ranges::all_of(text, is_capital)) return true;
  if (is_digit(text[0])) {
    const std::size_t end = text.find_first_not_of("0123456789");
    const bool no_factor = text[0] == '0' || (end == 1 && text[0] == '1' && is_capital(text[1]));
    if (no_factor || changes == 0) return no_factor;
  }
  const bool capitals =
      std::ranges::none_of(text, [](char c) { return is_letter(c) && !is_capital(c); });
  const bool hexadecimal =
      text.size() >= 6 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  return changes > 0 && (capitals || is_capital(text[0]) || changes > 1 || hexadecimal);
}

// Reads quotient and remainder: 12 R 3, 12r3, 12 remainder 3.
std::optional<Form> remainder(std::string_view text) {
  const auto whole = [&text] {
    text = trimmed(text);
    const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
    const std::string_view digits = text.substr(0, end);
    text = trimmed(text.substr(end));
    return digits;
  };
  const std::string_view quotient = whole();
  if (quotient.empty() || !(take(text, "remainder") || take(text, "r") || take(text, "R")))
    return std::nullopt;
  const std::string_view rest = whole();
  if (rest.empty() || !text.empty()) return std::nullopt;
  return Form{Sort::kCode, fmt::format("{}R{}", quotient, rest)};
}

// Returns the second year of 1990-95 in full, and any other number as it is.
std::string with_century(std::string_view first, std::string_view second) {
  const bool years = first.size() == 4 && second.size() == 2 && first.find('.') == first.npos &&
                     first.substr(2) < second && (first[0] == '1' || first[0] == '2');
  return years ? fmt::format("{}{}", first.substr(0, 2), second) : std::string(second);
}

// Reads groups of digits: 3-1, 1.5-2.5, 555-123-4567, 1/2/3, 192.168.0.1.
std::optional<Form> grouped_digits(std::string_view text) {
  // (555) 123-4567
  std::string joined(text);
  if (joined.starts_with('(') && joined.find(") ") < 6) {
    joined[joined.find(") ")] = '-';
    joined.erase(joined.find("- ") + 1, 1);
    joined.erase(0, 1);
  }
  const std::size_t hyphen = joined.find('-');
  if (std::ranges::count(joined, '-') == 1 && joined.find_first_of("/:") == std::string::npos) {
    const std::string_view left = trimmed(std::string_view(joined).substr(0, hyphen));
    const std::string_view right = trimmed(std::string_view(joined).substr(hyphen + 1));
    const auto plain = [](std::string_view s) {
      return !s.empty() && s.find_first_not_of("0123456789.") == std::string_view::npos &&
             std::ranges::count(s, '.') <= 1 && is_digit(s.back());
    };
    if (plain(left) && plain(right))
      return Form{Sort::kRange, fmt::format("{}-{}", left, with_century(left, right)), true};
  }
  const std::optional<Groups> groups = split(joined);
  if (!groups || groups->digits.size() < 3) return std::nullopt;
  const char mark = groups->marks[0];
  if (!all_marks(*groups, mark) || mark == ':') return std::nullopt;
  if (mark == '/' && groups->digits.size() > 3) return std::nullopt;
  const bool zeros = std::ranges::any_of(groups->digits, has_leading_zero);
  return Form{Sort::kCode, fmt::format("{}", fmt::join(groups->digits, std::string(1, mark))),
              !zeros && mark != '.'};
}

// Reads the range 10 to 20.
std::optional<Form> range_in_words(std::string_view text) {
  const std::size_t to = text.find(" to ");
  if (to == std::string_view::npos || text.empty() || !is_digit(text.back())) return std::nullopt;
  std::optional<Form> form =
      grouped_digits(fmt::format("{}-{}", text.substr(0, to), text.substr(to + 4)));
  return form && form->sort == Sort::kRange ? form : std::nullopt;
}

// Reads a range of times or dates: 9am-5pm, 8:00 - 16:00, June 1 to June 5.
std::optional<Form> range_of_forms(std::string_view text) {
  std::size_t mark = text.find(" to "), length = 4;
  if (mark == text.npos) {
    mark = text.find('-');
    length = 1;
    if (mark == text.npos || text.find('-', mark + 1) != text.npos) return std::nullopt;
  }
  const auto half = [](std::string_view part) -> std::optional<Form> {
    part = trimmed(part);
    if (part.empty()) return std::nullopt;
    if (std::optional<Form> form = clock(part, true)) return form;
    return worded_date(part);
  };
  const std::optional<Form> first = half(text.substr(0, mark));
  const std::optional<Form> second = first ? half(text.substr(mark + length)) : std::nullopt;
  if (!second || first->sort != second->sort) return std::nullopt;
  return Form{Sort::kRange, fmt::format("{}/{}", first->text, second->text)};
}

// Reads several codes such as SW1A 1AA.
std::optional<Form> words_of_codes(std::string_view text) {
  if (text.find(' ') == text.npos || !std::ranges::any_of(text, is_digit)) return std::nullopt;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    const std::string_view word = rest.substr(0, end);
    if (!std::ranges::all_of(word, is_letter_or_digit) || !is_code(word)) return std::nullopt;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return Form{Sort::kCode, std::string(text)};
}

}  // namespace

std::optional<Form> read_form(std::string_view text) {
  if (text.size() > kLongest) return std::nullopt;
  std::string plain = compact(text);
  while (plain.ends_with(' ')) plain.pop_back();
  if (plain.empty()) return std::nullopt;
  const std::optional<RadixLiteral> literal = radix_literal(plain);
  if (literal && literal->length == plain.size()) return std::nullopt;
  if (std::optional<Form> form = remainder(plain)) return form;
  if (std::ranges::all_of(plain, is_letter_or_digit) && is_code(plain)) {
    if (is_small_roman(plain)) std::ranges::transform(plain, plain.begin(), to_upper);
    return Form{Sort::kCode, std::move(plain)};
  }
  if (std::optional<Form> form = range_in_words(plain)) return form;
  if (std::optional<Form> form = range_of_forms(plain)) return form;
  if (std::optional<Form> form = words_of_codes(plain)) return form;
  if (std::optional<Form> form = clock(plain)) return form;
  if (plain.ends_with('.')) plain.pop_back();
  if (const std::optional<Groups> groups = split(plain))
    if (std::optional<Form> form = numeric_date(*groups)) return form;
  if (std::optional<Form> form = chinese_date(plain)) return form;
  if (std::ranges::any_of(plain, is_letter)) return worded_date(plain);
  return grouped_digits(plain);
}

bool is_clock_reading(std::string_view text, int hour, int minute, int second) {
  for (const int h : {hour, hour % 12, hour % 12 + 12}) {
    const std::optional<Form> reading =
        h == hour || (hour > 0 && hour <= 12) ? time(h, minute, second) : std::nullopt;
    if (reading && reading->text == text) return true;
  }
  return false;
}

bool may_be_same_date(std::string_view a, std::string_view b) {
  const auto readings = [](std::string_view text) {
    std::vector<std::string> out = {std::string(text)};
    const std::optional<Groups> groups = split(text);
    if (!groups || !all_marks(*groups, '/') || groups->digits.size() != 3) return out;
    const std::vector<std::string>& parts = groups->digits;
    out = {date(number(parts[2]), number(parts[0]), number(parts[1])),
           date(number(parts[2]), number(parts[1]), number(parts[0]))};
    return out;
  };
  const std::vector<std::string> here = readings(a), there = readings(b);
  return std::ranges::any_of(here, [&](const std::string& reading) {
    return std::ranges::find(there, reading) != there.end();
  });
}

}  // namespace lie::latex

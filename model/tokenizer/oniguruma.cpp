#include "model/tokenizer/oniguruma.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "common/base/error.h"
#include "common/text/scan.h"
#include "model/tokenizer/unicode.h"

namespace lie {
namespace {

constexpr std::size_t kNone = std::string::npos;

/// An interval such as {1,3} with its place in the pattern.
struct Interval {
  std::string text;  // in PCRE2's form
  std::size_t end = 0;
  bool is_fixed = false;  // {n}
};

/// A group that is open at the current position.
struct Group {
  std::size_t begin = 0;    // in the output
  std::size_t options = 0;  // groups that options such as (?i) opened within this one
};

class Translator {
 public:
  explicit Translator(const std::string& pattern) : pattern_(pattern), groups_(1) {}

  std::string run() {
    while (at_ < pattern_.size()) step();
    close_options();  // PCRE2 reports a group that is not closed
    return std::move(out_);
  }

 private:
  [[noreturn]] void refuse(std::string_view what) const {
    fail(
        "regular expression \"{}\": {} at position {} is not supported, since Oniguruma reads it "
        "in another way than PCRE2",
        pattern_, what, at_);
  }

  std::string_view rest() const { return std::string_view(pattern_).substr(at_); }

  /// Copies `length` bytes.
  void copy(std::size_t length) {
    out_.append(rest().substr(0, length));
    at_ = std::min(at_ + length, pattern_.size());
  }

  void step() {
    switch (pattern_[at_]) {
      case '\\': return escape();
      case '[': return set();
      case '(': return open();
      case ')': return close();
      case '{': return brace();
      case '*':
      case '+':
      case '?': return copy(1);
      case '|': atom_ = kNone; return copy(1);
      default: atom_ = out_.size(); return copy(utf8_length(pattern_[at_]));
    }
  }

  /// Copies an escape outside of a set.
  void escape() {
    atom_ = out_.size();
    const char c = at_ + 1 < pattern_.size() ? pattern_[at_ + 1] : '\0';
    if (c == 'h' || c == 'H') {
      out_ += c == 'h' ? "[0-9a-fA-F]" : "[^0-9a-fA-F]";
      at_ += 2;
    } else {
      escaped_character(c);
    }
  }

  /// Copies an escape with its argument in braces or angle brackets.
  void escaped_character(char c) {
    if (c == 'v') {
      out_ += "\\x0b";
      at_ += 2;
      return;
    }
    if (c == 'u') return code_point();
    if (std::string_view("QEyYOcCM").find(c) != std::string_view::npos) refuse("this escape");
    const std::string_view next = rest().substr(std::min<std::size_t>(2, rest().size()));
    const bool has_braces = std::string_view("pPxo").find(c) != std::string_view::npos;
    const bool has_brackets = c == 'k' || c == 'g';
    const char end = has_braces && next.starts_with('{')     ? '}'
                     : has_brackets && next.starts_with('<') ? '>'
                                                             : '\0';
    if (end == '\0') return copy(2);
    const std::size_t length = next.find(end);
    if (length == kNone) refuse("an escape that is not closed");
    copy(2 + length + 1);
  }

  /// Writes \uHHHH as \x{HHHH}.
  void code_point() {
    const std::string_view digits = rest().substr(2, 4);
    if (digits.size() < 4 || digits.find_first_not_of("0123456789abcdefABCDEF") != kNone) {
      refuse("this escape");
    }
    out_ += fmt::format("\\x{{{}}}", digits);
    at_ += 6;
  }

  /// Copies a set such as [^\s\p{L}].
  void set() {
    atom_ = out_.size();
    copy(1);
    if (rest().starts_with('^')) copy(1);
    if (rest().starts_with(']')) {  // a literal in this place
      out_ += '\\';
      copy(1);
    }
    while (!rest().starts_with(']')) {
      if (rest().empty()) return;  // PCRE2 reports it
      if (rest().starts_with("&&")) refuse("an intersection of sets");
      if (rest().starts_with("[:")) {
        named_set();
      } else if (rest().starts_with('[')) {
        refuse("a set within a set");
      } else if (rest().starts_with('\\')) {
        escape_in_set();
      } else {
        copy(utf8_length(pattern_[at_]));
      }
    }
    copy(1);
  }

  void named_set() {
    const std::size_t end = rest().find(":]");
    if (end == kNone) refuse("a set within a set");
    copy(end + 2);
  }

  void escape_in_set() {
    const char c = at_ + 1 < pattern_.size() ? pattern_[at_ + 1] : '\0';
    if (c == 'H' || c == 'R' || c == 'X' || c == 'N') refuse("this escape in a set");
    if (c != 'h') return escaped_character(c);
    out_ += "0-9a-fA-F";
    at_ += 2;
  }

  /// Copies the opening of a group.
  void open() {
    const std::size_t begin = out_.size();
    if (!rest().starts_with("(?")) {
      copy(1);
    } else if (rest().starts_with("(?#")) {
      const std::size_t end = rest().find(')');
      if (end == kNone) refuse("a comment that is not closed");
      at_ += end + 1;
      return;
    } else if (const char c = rest().size() > 2 ? rest()[2] : '\0'; is_letter(c) || c == '-') {
      if (c == 'P' || c == 'R') refuse("this group");
      return open_options(begin);
    } else {
      copy_kind(c);
    }
    groups_.push_back({begin});
    atom_ = kNone;
  }

  /// Copies "(?:", "(?<=", "(?<name>" and the like.
  void copy_kind(char c) {
    if (c == ':' || c == '=' || c == '!' || c == '>') return copy(3);
    if (c == '<') {
      const char next = rest().size() > 3 ? rest()[3] : '\0';
      if (next == '=' || next == '!') return copy(4);
      const std::size_t end = rest().find('>');
      if (end != kNone) return copy(end + 1);
    }
    refuse("this group");
  }

  /// Copies "(?i:" or "(?i)". The latter is a group up to the end of the surrounding one.
  void open_options(std::size_t begin) {
    const std::size_t end = rest().find_first_of(":)");
    if (end == kNone) refuse("a group that is not closed");
    std::string letters(rest().substr(2, end - 2));
    if (letters.find_first_not_of("im-") != kNone) refuse("this option");
    std::ranges::replace(letters, 'm', 's');
    const bool is_group = rest()[end] == ':';
    at_ += end + 1;
    out_ += "(?" + letters + ":";
    atom_ = kNone;
    if (is_group) {
      groups_.push_back({begin});
    } else {
      ++groups_.back().options;
    }
  }

  void close_options() { out_.append(groups_.back().options, ')'); }

  void close() {
    if (groups_.size() == 1) return copy(1);  // PCRE2 reports it
    close_options();
    atom_ = groups_.back().begin;
    groups_.pop_back();
    copy(1);
  }

  /// Copies an interval, or a brace that is literal.
  void brace() {
    const std::optional<Interval> interval = read_interval();
    if (!interval) {
      atom_ = out_.size();
      out_ += '\\';
      return copy(1);
    }
    if (atom_ == kNone) refuse("an interval without anything to repeat");
    at_ = interval->end;
    // A second quantifier repeats the interval, and "?" makes a fixed one optional.
    const std::string_view second = interval->is_fixed ? "+*{?" : "+*{";
    const bool is_repeated = !rest().empty() && second.find(rest()[0]) != std::string_view::npos;
    if (is_repeated) out_.insert(atom_, "(?:");
    out_ += interval->text;
    if (is_repeated) out_ += ')';
  }

  /// Returns the interval at the current position: {n}, {n,}, {,m} or {n,m}.
  std::optional<Interval> read_interval() const {
    const std::size_t end = rest().find('}');
    if (end == kNone) return std::nullopt;
    const std::string_view inner = rest().substr(1, end - 1);
    const std::size_t comma = inner.find(',');
    const std::string_view low = inner.substr(0, comma);
    const std::string_view high = comma == kNone ? "" : inner.substr(comma + 1);
    const bool are_digits =
        std::ranges::all_of(low, is_digit) && std::ranges::all_of(high, is_digit);
    if (!are_digits || (low.empty() && high.empty())) return std::nullopt;
    if (low.size() > 5 || high.size() > 5) refuse("an interval of this size");
    const int least = low.empty() ? 0 : std::stoi(std::string(low));
    if (!high.empty() && std::stoi(std::string(high)) < least)
      refuse("an interval in falling order");
    Interval interval{.text = fmt::format("{{{}", least), .end = at_ + end + 1};
    interval.is_fixed = comma == kNone;
    interval.text += comma == kNone ? "}" : fmt::format(",{}}}", high);
    return interval;
  }

  const std::string& pattern_;
  std::size_t at_ = 0;
  std::string out_;
  std::size_t atom_ = kNone;   // the begin, in the output, of what a quantifier would repeat
  std::vector<Group> groups_;  // the outermost is the pattern itself
};

}  // namespace

std::string pcre2_pattern(const std::string& pattern) { return Translator(pattern).run(); }

}  // namespace lie

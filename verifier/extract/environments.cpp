#include "verifier/extract/places.h"

#include <algorithm>

#include "common/text/scan.h"

namespace lie::extract {
namespace {

constexpr std::size_t kMostJoined = 6;
constexpr CharSet kOpening("$\\[-");
constexpr CharSet kBracketEnd("[]\n");

// Returns whether the text between two environments is only a comma, "and" or "or".
bool separates(std::string_view between) {
  std::string word;
  for (char c : between)
    if (!is_space(c)) word.push_back(c);
  return word == "," || word == "and" || word == "or" || word == ",and" || word == ",or";
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::vector<Environment> run() {
    while ((at_ = kOpening.first_in(text_, at_)) < text_.size()) {
      if (!(dollars() || backslash() || bracket())) ++at_;
    }
    return std::move(out_);
  }

 private:
  bool add(std::size_t begin, std::size_t open, std::size_t close, std::size_t end) {
    const std::string_view inside = text_.substr(open, close - open);
    if (inside.find_first_not_of(" \t\r\n$") == std::string_view::npos) return at_ = end, true;
    const std::size_t percent = percent_length(text_.substr(end));
    at_ = end + percent;
    out_.push_back({inside, begin, at_, percent > 0, joins_last(begin)});
    return true;
  }

  // Returns whether an environment that begins here is joined to the last one.
  bool joins_last(std::size_t begin) {
    constexpr std::size_t kFarthest = 16;  // bytes between joined environments
    const bool joins = !out_.empty() && run_ < kMostJoined && begin >= out_.back().end &&
                       begin - out_.back().end < kFarthest &&
                       separates(text_.substr(out_.back().end, begin - out_.back().end));
    run_ = joins ? run_ + 1 : 1;
    return joins;
  }

  // Returns the position of `close` after `from`. Text before `none_until` is known to hold none.
  std::size_t closer(std::string_view close, std::size_t from, bool same_line,
                     std::size_t& none_until) {
    if (from < none_until) return std::string_view::npos;
    const std::size_t line = same_line ? line_end(from) : text_.size();
    const std::size_t at = text_.substr(0, line).find(close, from);
    if (at == std::string_view::npos) none_until = line;
    return at;
  }

  std::size_t line_end(std::size_t from) {
    if (from > line_end_ || line_end_ == 0)
      line_end_ = std::min(text_.find('\n', from), text_.size());
    return line_end_;
  }

  bool dollars() {
    if (text_[at_] != '$') return false;
    if (text_.substr(at_).starts_with("$$")) {
      const std::size_t close = closer("$$", at_ + 2, false, no_dollars_);
      if (close == std::string_view::npos) return ++at_, false;
      return add(at_, at_ + 2, close, close + 2);
    }
    if (at_ > 0 && (is_digit(text_[at_ - 1]) || text_[at_ - 1] == '\\')) return false;
    std::size_t close = at_ + 1;
    while (close < text_.size() && text_[close] != '$' && text_[close] != '\n')
      close += text_[close] == '\\' ? 2 : 1;
    if (close >= text_.size() || text_[close] != '$' || close == at_ + 1) {
      // This line holds no further dollar sign.
      at_ = std::min(close, text_.size() - 1);
      return false;
    }
    return add(at_, at_ + 1, close, close + 1);
  }

  bool backslash() {
    const bool negative = text_[at_] == '-';
    const std::string_view here = text_.substr(at_ + (negative ? 1 : 0));
    if (!here.starts_with('\\')) return false;
    if (!negative && here.starts_with("\\[")) return delimited("\\]", false, no_square_);
    if (!negative && here.starts_with("\\(")) return delimited("\\)", true, no_round_);
    const std::size_t length = bare_fraction(here);
    if (length == 0) return false;
    const std::size_t end = at_ + length + (negative ? 1 : 0);
    return add(at_, at_, end, end);
  }

  bool delimited(std::string_view close_sign, bool same_line, std::size_t& none_until) {
    const std::size_t close = closer(close_sign, at_ + 2, same_line, none_until);
    return close != std::string_view::npos && add(at_, at_ + 2, close, close + 2);
  }

  // Returns the length of \frac{1}{2} with plain numbers, or 0.
  static std::size_t bare_fraction(std::string_view s) {
    std::string_view rest = s;
    const auto digits = [&rest] {
      const std::size_t before = rest.size();
      while (!rest.empty() && is_digit(rest.front())) rest.remove_prefix(1);
      return rest.size() < before;
    };
    const bool found =
        take(rest, "\\frac{") && digits() && take(rest, "}{") && digits() && take(rest, "}");
    return found ? s.size() - rest.size() : 0;
  }

  // Finds " [ ... ] " on one line with white space on both sides and no brackets inside.
  bool bracket() {
    if (text_[at_] != '[' || (at_ > 0 && !is_space(text_[at_ - 1]))) return false;
    const std::size_t close = kBracketEnd.first_in(text_, at_ + 1);
    if (close >= text_.size() || text_[close] != ']') return false;
    if (close + 1 < text_.size() && !is_space(text_[close + 1])) return false;
    return add(at_, at_ + 1, close, close + 1);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<Environment> out_;
  std::size_t run_ = 0;         // number of environments in the last list
  std::size_t line_end_ = 0;    // end of the last line that was searched
  std::size_t no_dollars_ = 0;  // no "$$" before this position
  std::size_t no_square_ = 0, no_round_ = 0;
};

void append_content(std::string& out, const Environment& environment) {
  const std::size_t begin = out.size();
  const std::vector<Box> boxes = all_boxes(environment.inside, true);
  if (boxes.empty()) out += environment.inside;
  for (const Box& box : boxes) out.append(out.size() == begin ? "" : ", ").append(box.content);
  if (environment.percent) out += "\\%";
}

}  // namespace

std::size_t percent_length(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size() && text[i] == ' ') ++i;
  for (const std::string_view word : {"percentage", "percent", "pct", "\\%", "%"})
    if (text.substr(i).starts_with(word)) return i + word.size();
  return 0;
}

std::vector<Environment> math_environments(std::string_view text) { return Scanner(text).run(); }

std::string content_of(std::span<const Environment> joined) {
  std::string out;
  for (const Environment& environment : joined) {
    if (&environment != &joined.front()) out += ", ";
    append_content(out, environment);
  }
  return out;
}

}  // namespace lie::extract

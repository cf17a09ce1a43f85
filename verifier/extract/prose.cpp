// Lenient extraction finds the places where Math-Verify's default looks, by rank.
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "common/text/scan.h"
#include "verifier/extract/answer.h"
#include "verifier/extract/places.h"

namespace lie::extract {
namespace {

// The ranks are those of Math-Verify. Lower ones are tried first.
constexpr int kFinalHope = 0;      // "final answer is X. I hope"
constexpr int kFinal = 50;         // "final answer ... is X"
constexpr int kAnswerColon = 100;  // "answer: ... X"
constexpr int kAnswer = 200;       // "answer ... X"
constexpr int kStart = 250;        // a choice at the start
constexpr int kAnywhere = 300;

constexpr std::array<std::string_view, 11> kDenials = {
    " not", "n't", "n’t", "\\ne", "\\neq", "≠", "不是", "cannot", " never", "anything but", "*not"};

// Signs that make the number after them part of a larger expression.
constexpr std::array<std::string_view, 13> kRelations = {
    "<", ">", "≤", "≥", "±", "\\ge", "\\geq", "\\le", "\\leq", "\\pm", "\\mp", "\\pmod", "\\bmod"};

constexpr std::size_t kFinalWindow = 100;  // bytes between an anchor and its answer
constexpr std::size_t kAnswerWindow = 50;
constexpr std::size_t kProseBytes = 256 * 1024;  // only the end of a text is searched

struct Found {
  enum class Kind : std::uint8_t { kMath, kPlain, kChoice, kBoxes } kind = Kind::kMath;
  std::size_t begin = 0, end = 0;
  std::size_t index = 0;  // index of the first environment or number
  std::size_t count = 1;  // environments or numbers
  int rank = kAnywhere;
};

// Returns whether a is tried after b. Ranks come in order, and the last candidate of a rank first.
bool comes_after(const Found& a, const Found& b) {
  if (a.rank != b.rank) return a.rank > b.rank;
  if (a.end != b.end) return a.end < b.end;
  return a.begin != b.begin ? a.begin > b.begin : a.kind > b.kind;
}

class Prose {
 public:
  Prose(std::string_view text, const VerifierOptions& options) : text_(text), options_(options) {}

  // A heap orders the candidates, since usually the first or second one is accepted.
  void run(const Taker& take) {
    collect();
    rank_by_anchors();
    add_boxes();
    std::ranges::make_heap(found_, comes_after);
    while (!found_.empty()) {
      std::ranges::pop_heap(found_, comes_after);
      const Found best = found_.back();
      found_.pop_back();
      if (is_denied(best) || is_fragment(best)) continue;
      if (take({text_of(best), best.kind == Found::Kind::kChoice})) return;
    }
  }

 private:
  std::string text_of(const Found& found) const {
    switch (found.kind) {
      case Found::Kind::kMath:
        return content_of(std::span(environments_).subspan(found.index, found.count));
      case Found::Kind::kPlain: {
        std::string out = spelling(numbers_[found.index], text_);
        for (std::size_t i = 1; i < found.count; ++i)
          out.append(" or ").append(spelling(numbers_[found.index + i], text_));
        return out;
      }
      case Found::Kind::kChoice:
        return std::string(text_.substr(found.begin, found.end - found.begin));
      case Found::Kind::kBoxes: break;
    }
    return boxed_;
  }

  // Returns the end of the text before a position, which is long enough for a denial.
  std::string_view words_before(std::size_t at) const {
    constexpr std::size_t kLongest = 64;
    return trimmed(text_.substr(at - std::min(at, kLongest), std::min(at, kLongest)));
  }

  // Returns whether the text denies a candidate: "not 7", "is not equal to $7$", "\\ne 7".
  bool is_denied(const Found& f) const {
    std::string_view before = words_before(f.begin);
    for (const std::string_view words : {"equal to", "equals", "simply", "just", " be"})
      if (before.ends_with(words)) before = trimmed(before.substr(0, before.size() - words.size()));
    while (before.ends_with('*') || before.ends_with('$'))
      before = trimmed(before.substr(0, before.size() - 1));  // **not** and $\\ne$
    return std::ranges::any_of(kDenials, [before](auto word) { return before.ends_with(word); });
  }

  // Returns whether the text continues with an exponent or an index. Degrees are a unit.
  static bool is_raised_or_indexed(std::string_view rest) {
    if (!rest.starts_with('^')) return rest.starts_with('_');
    const std::size_t first = std::min(rest.find_first_not_of("^ {"), rest.size());
    const bool braced = rest.substr(0, first).ends_with('{');
    rest.remove_prefix(first);
    if (!lie::take(rest, "\\circ") && !lie::take(rest, "\\degree") &&
        !lie::take(rest, "\\textdegree"))
      return true;
    return braced ? !rest.starts_with('}') : !rest.empty() && is_letter(rest.front());
  }

  // Returns whether a sign stands apart before a number: "is - 3", "= - 3". In "Answer - 3" it is a
  // dash.
  static bool has_sign(std::string_view before) {
    constexpr std::string_view kDash = "–";
    const bool is_dash = before.ends_with(kDash);
    if (!is_dash && !before.ends_with('-')) return false;
    before = trimmed(before.substr(0, before.size() - (is_dash ? kDash.size() : 1)));
    constexpr std::array<std::string_view, 5> kBeforeSign = {"is", "=", ":", "be", "equals"};
    return std::ranges::any_of(kBeforeSign, [before](auto word) { return before.ends_with(word); });
  }

  // Returns whether a plain number is only a part of an expression that stands around it: the 2 of
  // x > 2, of \\pm 2, of 2π and of 2^\\pi.
  bool is_fragment(const Found& f) const {
    if (f.kind != Found::Kind::kPlain) return false;
    const std::string_view before = words_before(f.begin), rest = text_.substr(f.end);
    if (is_raised_or_indexed(rest) || has_sign(before)) return true;
    // An asterisk also sets bold text.
    const bool is_product = rest.starts_with('*') && rest.size() > 1 &&
                            (is_letter(rest[1]) || is_digit(rest[1]) || rest[1] == '(');
    if (is_product) return true;
    constexpr std::array<std::string_view, 35> kOperators = {
        "\\cdot", "\\times", "\\sqrt", "\\pi", "\\pmod", "\\bmod", "\\approx", ",\\!", "{,}",
        "sqrt",   "root ",   "choose", "mod ", "+",      "π",      "×",        "÷",    "·",
        "∙",      "⋅",       "√",      "∛",    "⁰",      "¹",      "²",        "³",    "⁴",
        "⁵",      "⁶",       "⁷",      "⁸",    "⁹",      "⁻",      "ⁿ",        "½"};
    const auto follows = [rest = trimmed(rest)](auto sign) { return rest.starts_with(sign); };
    const auto precedes = [before](auto sign) { return before.ends_with(sign); };
    return std::ranges::any_of(kOperators, follows) || std::ranges::any_of(kRelations, precedes) ||
           before.ends_with("sqrt");
  }

  // Collects the candidates in the order of the text.
  void collect() {
    if (options_.lenient_latex) environments_ = math_environments(text_);
    if (options_.lenient_plain) numbers_ = plain_numbers(text_);
    found_.reserve(environments_.size() + numbers_.size() + 1);
    add_environments();
    drop_numbers_in_environments();
    merge_from(add_numbers());
    merge_from(add_choices());
  }

  void add_environments() {
    for (std::size_t i = 0; i < environments_.size(); ++i) {
      const Environment& here = environments_[i];
      if (here.joins_before) {
        found_.back().end = here.end;
        ++found_.back().count;
      } else {
        found_.push_back({Found::Kind::kMath, here.begin, here.end, i});
      }
    }
  }

  // A number inside mathematics is no answer without the rest of it.
  void drop_numbers_in_environments() {
    std::size_t i = 0;
    std::erase_if(numbers_, [&](const PlainNumber& number) {
      while (i < environments_.size() && environments_[i].end <= number.begin) ++i;
      return i < environments_.size() && environments_[i].begin <= number.begin &&
             !is_prose(environments_[i]);
    });
  }

  // Returns whether a delimiter stands in prose: the dollar signs of "$16 + $2" and of "how many $?
  // About 1$", or brackets.
  bool is_prose(const Environment& here) const {
    if (text_[here.begin] == '[') return true;
    const std::string_view inside = here.inside;
    if (text_[here.begin] != '$' || inside.find('\\') != inside.npos) return false;
    const bool amount = inside.back() == ' ' || is_digit(at_or_blank(here.end));
    return (is_digit(inside.front()) && amount) || words(inside) > 1;
  }

  char at_or_blank(std::size_t at) const { return at < text_.size() ? text_[at] : ' '; }

  // Returns the number of runs of at least three letters.
  static int words(std::string_view text) {
    int out = 0, letters = 0;
    for (const char c : text) {
      letters = is_letter(c) ? letters + 1 : 0;
      out += letters == 3 ? 1 : 0;
    }
    return out;
  }

  std::size_t add_numbers() {
    const std::size_t before = found_.size();
    for (std::size_t i = 0; i < numbers_.size(); ++i) {
      const PlainNumber& here = numbers_[i];
      // "7 or 5" is one answer.
      const bool joins = i > 0 && text_.substr(numbers_[i - 1].end).starts_with(" or ") &&
                         here.begin == numbers_[i - 1].end + 4;
      if (joins) {
        found_.back().end = here.end;
        ++found_.back().count;
      } else {
        found_.push_back({Found::Kind::kPlain, here.begin, here.end, i});
      }
    }
    return before;
  }

  std::size_t add_choices() {
    const std::size_t before = found_.size();
    for (const Choice& choice : find_choices(text_, options_.choices)) {
      found_.push_back({Found::Kind::kChoice, choice.begin, choice.end});
      if (choice.begin == 0) found_.back().rank = kStart;
    }
    return before;
  }

  void merge_from(std::size_t middle) {
    std::ranges::inplace_merge(found_, found_.begin() + static_cast<std::ptrdiff_t>(middle), {},
                               &Found::begin);
  }

  // Returns the index of the first candidate at or after a position, or their number.
  std::size_t first_from(std::size_t position) const {
    const auto at = std::ranges::lower_bound(found_, position, {}, &Found::begin);
    return static_cast<std::size_t>(at - found_.begin());
  }

  void raise(std::size_t index, int rank) {
    found_[index].rank = std::min(found_[index].rank, rank);
  }

  std::size_t skip(std::size_t i, std::string_view signs) const {
    while (i < text_.size() && signs.find(text_[i]) != std::string_view::npos) ++i;
    return i;
  }

  // Each word is searched by one of its bytes that is rare in prose.
  void rank_by_anchors() {
    for (const char sign : {'w', 'W'}) look_for_anchor("answer", 3, sign);
    look_for_anchor("réponse", 1, "é"[0]);
    look_for_anchor("答案", 0, "答"[0]);
  }

  void look_for_anchor(std::string_view anchor, std::size_t rare, char sign) {
    for (std::size_t at = text_.find(sign, rare); at != std::string_view::npos;
         at = text_.find(sign, at + 1)) {
      if (lowered(at - rare, anchor.size()) == anchor) found_anchor(at - rare, anchor);
    }
  }

  std::string lowered(std::size_t at, std::size_t length) const {
    return lie::lowered(text_.substr(at, length));
  }

  void found_anchor(std::size_t at, std::string_view anchor) {
    const std::size_t behind = at + anchor.size();
    const bool final = at >= 6 && lowered(at - 6, 6) == "final ";
    const bool colon = behind < text_.size() && text_[behind] == ':';
    near(behind, kAnswerWindow, colon ? kAnswerColon : kAnswer);
    if (final) final_answer(behind);
  }

  void near(std::size_t behind, std::size_t window, int rank) {
    std::size_t index = first_from(behind);
    while (index < found_.size() && found_[index].begin - behind <= window &&
           (is_on_another_line(behind, found_[index]) || is_denied(found_[index])))
      ++index;
    while (index + 1 < found_.size() && found_[index + 1].begin - behind <= window &&
           before_equals(found_[index]))
      ++index;
    if (index < found_.size() && found_[index].begin - behind <= window) raise(index, rank);
  }

  // As in Math-Verify, an anchor reaches mathematics on later lines. A plain number counts on the
  // next line only if nothing but the end of the line is between.
  bool is_on_another_line(std::size_t behind, const Found& found) const {
    if (found.kind == Found::Kind::kMath) return false;
    std::string_view between = text_.substr(behind, found.begin - behind);
    while (between.ends_with('*') || between.ends_with('$')) between.remove_suffix(1);
    if (between.ends_with('\n')) between.remove_suffix(1);
    return between.find('\n') != std::string_view::npos;
  }

  // In 35 + 70 = 105 the number after the sign counts.
  bool before_equals(const Found& found) const {
    const std::size_t i = skip(found.end, " ");
    return i < text_.size() && text_[i] == '=';
  }

  // Finds "final answer ... is[:] X", also with "I hope" after X.
  void final_answer(std::size_t behind) {
    const std::string window = lowered(behind, kFinalWindow + 4);
    for (std::size_t is = window.find("is"); is != std::string::npos;
         is = window.find("is", is + 2)) {
      const std::size_t start = skip(behind + is + 2, ": \"\\*");
      for (const std::size_t from : {start, behind + is + 2}) {
        const std::size_t index = first_from(from);
        if (index >= found_.size() || found_[index].begin > start) continue;
        if (is_on_another_line(behind, found_[index])) continue;
        raise(index, kFinal);
        const bool hope = lowered(found_[index].end, 16).find("i hope") != std::string::npos;
        if (is == 1 && hope) raise(index, kFinalHope);
      }
    }
  }

  // All boxes are one candidate, whose rank the options give. Boxes in mathematics count as
  // environments as well.
  void add_boxes() {
    if (options_.boxed_priority < 0 || !options_.lenient_latex) return;
    std::vector<Box> boxes = all_boxes(text_, options_.fbox);
    if (boxes.empty()) return;
    auto first = boxes.end() - 1;
    while (first != boxes.begin() && belongs(*(first - 1), *first)) --first;
    boxes.erase(boxes.begin(), first);
    Found all{Found::Kind::kBoxes, boxes.front().begin, boxes.back().end};
    boxed_ = joined(boxes);
    const std::size_t behind = skip(all.end, "$)\\] ");
    if (percent_length(text_.substr(all.end)) > 0 || percent_length(text_.substr(behind)) > 0)
      boxed_ += "\\%";
    all.rank = static_cast<int>(options_.boxed_priority);
    // A number inside a box is no answer without the rest of the box.
    std::erase_if(found_, [&](const Found& f) {
      return f.kind == Found::Kind::kPlain && f.begin >= all.begin && f.end <= all.end;
    });
    found_.push_back(all);
  }

  // Math-Verify requires fewer than 10 bytes in between, or fewer than 70 with a comma, semicolon,
  // "and" or "or".
  bool belongs(const Box& before, const Box& box) const {
    const std::string_view between = text_.substr(before.end, box.begin - before.end);
    if (between.size() < 10) return true;
    if (between.size() >= 70) return false;
    for (const std::string_view sign : {",", ";", "and", "or"})
      if (between.find(sign) != std::string_view::npos) return true;
    return false;
  }

  std::string_view text_;
  const VerifierOptions& options_;
  std::vector<Environment> environments_;
  std::vector<PlainNumber> numbers_;
  std::string boxed_;
  std::vector<Found> found_;
};

// Returns whether a gold holds an environment or a box. The sign \$ is that of an amount.
bool holds_mathematics(std::string_view gold) {
  for (std::size_t at = gold.find('$'); at != std::string_view::npos; at = gold.find('$', at + 1))
    if (at == 0 || gold[at - 1] != '\\') return true;
  for (const std::string_view sign : {"\\(", "\\[", "\\boxed", "\\fbox"})
    if (gold.find(sign) != std::string_view::npos) return true;
  return false;
}

// Returns the content of the last <answer>...</answer>, as models are trained to write.
std::string_view in_answer_tags(std::string_view text) {
  constexpr std::string_view kOpen = "<answer>", kClose = "</answer>";
  const std::size_t end = text.rfind(kClose);
  if (end == std::string_view::npos) return {};
  const std::size_t begin = text.rfind(kOpen, end);
  if (begin == std::string_view::npos) return {};
  return trimmed(text.substr(begin + kOpen.size(), end - begin - kOpen.size()));
}

// Returns the start of a text without the signs that set off what follows.
std::string_view without_end(std::string_view text, std::string_view signs) {
  return text.substr(0, text.find_last_not_of(signs) + 1);
}

}  // namespace

bool ends_with_gold(std::string_view response, std::string_view gold) {
  constexpr std::size_t kIs = std::string_view("answer is").size();
  constexpr std::string_view ending = " \t\r\n.";
  gold = without_end(trimmed(gold), ending);
  response = without_end(response, ending);
  if (!response.ends_with(gold) && response.ends_with('$'))
    response = without_end(response.substr(0, response.size() - 1), ending);
  if (gold.empty() || !response.ends_with(gold)) return false;
  response.remove_suffix(gold.size());
  const std::string_view before = without_end(response, " \t\r\n$*:");
  const std::string end = lie::lowered(before.substr(before.size() - std::min(before.size(), kIs)));
  return before.empty() || end.ends_with("answer") || end == "answer is";
}

void from_prose(std::string_view text, const VerifierOptions& options, const Taker& take) {
  if (options.after_think) text = after_think(text);
  if (text.size() > kProseBytes) text.remove_prefix(text.size() - kProseBytes);
  if (const std::string_view tagged = in_answer_tags(text); !tagged.empty()) {
    text = tagged;
    const bool sentence = holds_mathematics(text) || text.find(" is ") != text.npos;
    if (!sentence && options.choices.empty() && take({std::string(text)})) return;
  }
  Prose(text, options).run(take);
}

void from_lenient_gold(std::string_view gold, const VerifierOptions& options, const Taker& take) {
  if (!options.choices.empty()) return from_prose(gold, options, take);
  std::string whole = from_gold(gold, options);
  // A part of a gold is not the gold, but its boxes and its final answer are.
  if (gold.find("\\boxed") != gold.npos || gold.find("final answer is") != gold.npos)
    return from_prose(gold, options, take);
  if (holds_mathematics(gold)) return void(take({std::move(whole)}));
  std::vector<PlainNumber> numbers =
      options.lenient_plain ? plain_numbers(whole) : std::vector<PlainNumber>();
  const bool all = numbers.size() == 1 && numbers[0].begin == 0 && numbers[0].end == whole.size() &&
                   (options.gold_decimal_comma || numbers[0].decimal_comma == 0);
  take({all ? spelling(numbers[0], whole) : std::move(whole)});
}

}  // namespace lie::extract

#include "verifier/verify.h"

#include <flint/flint.h>
#include <fmt/format.h>

#include <optional>
#include <utility>

#include "common/text/scan.h"
#include "verifier/equal/compare.h"
#include "verifier/equal/copied.h"
#include "verifier/equal/literal.h"
#include "verifier/extract/answer.h"
#include "verifier/latex/characters.h"
#include "verifier/latex/forms.h"
#include "verifier/latex/parser.h"
#include "verifier/latex/text.h"
#include "verifier/rules/budget.h"

namespace lie {
namespace {

using expr::Expr, extract::Candidate, scalar::Tri;

constexpr std::int64_t kStepsPerCandidate = 20;

// One side of a pair: its text, and its literal or tree once they are read.
struct Side {
  std::string text;
  std::optional<equal::Literal> literal = {};
  const Expr* tree = nullptr;
  latex::ParseError error = {};
  bool choice = false, found = false;
};

class Pair {
 public:
  Pair(const VerifierOptions& options, bool explains)
      : options_(options), explains_(explains), budget_(options), arena_(budget_) {}

  Verdict decide(std::string_view gold, std::string_view response, std::string_view prompt) {
    decide_reward_or_lenient(gold, response);
    if (options_.refuse_copied && !prompt.empty() && verdict_.correct())
      refuse_copied(gold, prompt);
    verdict_.steps = budget_.spent();
    return std::move(verdict_);
  }

 private:
  // Lenient mode accepts what reward mode accepts, and more.
  void decide_reward_or_lenient(std::string_view gold, std::string_view response) {
    const bool lenient_mode = options_.mode == ExtractionMode::kLenient;
    const bool boxes_first = options_.boxed_priority == 0 && options_.choices.empty() &&
                             response.find('\\') != std::string_view::npos &&
                             response.find("</answer>") == std::string_view::npos;
    if (!lenient_mode || boxes_first) from_box(gold, response);
    if (lenient_mode && !verdict_.correct()) lenient(gold, response);
  }

  void refuse_copied(std::string_view gold, std::string_view prompt) {
    Side right = side(extract::from_gold(gold, options_)), given = side(verdict_.extracted);
    bring_to_one_spelling(right, given);
    given = parsed(std::move(given));
    if (equal::is_copied(right.text, given.text, given.tree,
                         latex::has_other_characters(prompt) ? latex::with_plain_characters(prompt)
                                                             : std::string(prompt)))
      set(VerdictCode::kCopied, "an expression of the prompt with operations to carry out");
  }

  void from_box(std::string_view gold, std::string_view response) {
    std::optional<std::string> boxed = extract::from_boxes(response, options_);
    if (!boxed) return set(VerdictCode::kNoAnswer, "no balanced \\boxed{...} in the response");
    Side right = side(extract::from_gold(gold, options_));
    Side given = side(std::move(*boxed));
    bring_to_one_spelling(right, given);
    if (!shortcut(right, given)) compare_sides(right, given);
    compare_options(right, given);
    verdict_.extracted = std::move(written_.empty() ? given.text : written_);
  }

  void lenient(std::string_view gold, std::string_view response) {
    std::string plain_gold, plain_response;
    if (latex::has_other_characters(gold) || latex::has_other_characters(response)) {
      gold = plain_gold = latex::with_plain_characters(gold);
      response = plain_response = latex::with_plain_characters(response);
    }
    Side right, given;
    extract::from_lenient_gold(gold, options_, taker(right));
    if (!right.found) right = parsed(side(extract::from_gold(gold, options_)));
    extract::from_prose(response, options_, taker(given));
    if (!given.found)
      set(VerdictCode::kNoAnswer, "no answer found in the response");
    else if (!compare_literals(right, given))
      compare_sides(right, given);
    compare_options(right, given);
    if (!verdict_.correct() && options_.identical_text && !has_box(response) &&
        extract::ends_with_gold(response, gold)) {
      set(VerdictCode::kEqual, "the same text");
      given.text = gold;
    }
    verdict_.extracted = std::move(given.text);
  }

  // A box comes before the text at the end, as in Math-Verify.
  bool has_box(std::string_view response) const {
    return options_.boxed_priority >= 0 && extract::from_boxes(response, options_).has_value();
  }

  // Brings both sides to one spelling of characters, if one of them has any beyond ASCII.
  void bring_to_one_spelling(Side& right, Side& given) {
    if (!latex::has_other_characters(right.text) && !latex::has_other_characters(given.text))
      return;
    right.text = latex::with_plain_characters(right.text);
    written_ = std::exchange(given.text, latex::with_plain_characters(given.text));
  }

  static Side side(std::string text) { return {.text = std::move(text), .found = true}; }

  // Accepts the first candidate that parses or is a choice. If none does, `best` is the first
  // one with its error.
  extract::Taker taker(Side& best) {
    return [this, &best](Candidate candidate) {
      if (!budget_.spend(kStepsPerCandidate)) return true;
      Side next = side(std::move(candidate.text));
      next.choice = candidate.choice;
      if (!next.choice) next = read(std::move(next));
      const bool good = next.choice || next.literal || next.tree != nullptr;
      if (good || !best.found) best = std::move(next);
      return good || budget_.exhausted();
    };
  }

  // Plain numbers need no tree while they are compared with plain numbers.
  Side read(Side side) {
    side.literal = equal::read_literal(side.text);
    return side.literal ? std::move(side) : parsed(std::move(side));
  }

  Side parsed(Side side) {
    if (static_cast<std::int64_t>(side.text.size()) > options_.max_answer_bytes) {
      budget_.exhaust();
      return side;
    }
    latex::Parsed out = latex::parse(side.text, arena_, options_.bare_fractions);
    if (out.tree == nullptr && options_.salvage_last_equals && !budget_.exhausted()) {
      const std::size_t equals = side.text.rfind('=');
      if (equals != std::string::npos)
        out.tree = latex::parse(side.text.substr(equals + 1), arena_).tree;
    }
    side.tree = out.tree;
    side.error = std::move(out.error);
    return side;
  }

  // Identical texts and plain numbers need no tree.
  bool shortcut(Side& right, Side& given) {
    if (explains_ || options_.decimals == DecimalRule::kHalfUlp) return false;
    if (options_.identical_text && right.text == given.text && !right.text.empty()) {
      set(VerdictCode::kEqual, "the same text");
      return true;
    }
    right.literal = equal::read_literal(right.text);
    if (right.literal) given.literal = equal::read_literal(given.text);
    return compare_literals(right, given);
  }

  bool compare_literals(const Side& right, const Side& given) {
    if (explains_ || options_.decimals == DecimalRule::kHalfUlp || !right.literal || !given.literal)
      return false;
    const bool same = equal::equal_literals(*right.literal, *given.literal, options_);
    set(same ? VerdictCode::kEqual : VerdictCode::kUnequal, "compared as numbers");
    return true;
  }

  void compare_sides(Side& right, Side& given) {
    if (right.choice || given.choice) {
      const bool same = latex::normal_text(right.text) == latex::normal_text(given.text);
      return set(same ? VerdictCode::kEqual : VerdictCode::kUnequal, "compared as choices");
    }
    if (right.tree == nullptr) right = parsed(std::move(right));
    if (given.tree == nullptr && !budget_.exhausted()) given = parsed(std::move(given));
    note_forms(right, given);
    if (right.tree == nullptr || given.tree == nullptr) return unparsed(right, given);
    const Tri same = equal::compare(right.tree, given.tree, arena_, options_);
    if (same == Tri::kYes) return set(VerdictCode::kEqual, "equal under the table of rules");
    if (budget_.exhausted()) return out_of_budget(right, given);
    if (same == Tri::kNo)
      return set(VerdictCode::kUnequal, "not equal under any rule that applies");
    set(VerdictCode::kUndecided,
        "neither equality nor difference could be shown within the precision");
  }

  // The option "(C) 12" equals C, and 12. Two letters must agree.
  void compare_options(const Side& right, const Side& given) {
    if (verdict_.correct() || right.choice || given.choice) return;
    const auto gold = extract::read_option(right.text), answer = extract::read_option(given.text);
    if (!gold && !answer) return;
    if (gold && answer && gold->letter != answer->letter) return;
    Side wanted = side(gold ? gold->value : right.text);
    Side found = side(answer ? answer->value : given.text);
    // A lone letter may be lower case.
    const std::string_view letter = trimmed(given.text);
    if (gold && wanted.text.empty() && letter.size() == 1 && to_upper(letter[0]) == gold->letter)
      return set(VerdictCode::kEqual, "the same option");
    if (gold && answer && (wanted.text.empty() || found.text.empty()))
      return set(VerdictCode::kEqual, "the same option");
    if (wanted.text.empty() || found.text.empty()) return;
    Verdict before = verdict_;
    if (!shortcut(wanted, found)) compare_sides(wanted, found);
    if (!verdict_.correct()) verdict_ = std::move(before);
  }

  void note_forms(const Side& right, const Side& given) {
    if (!explains_) return;
    if (right.tree != nullptr) verdict_.gold_form = to_text(*right.tree);
    if (given.tree != nullptr) verdict_.answer_form = to_text(*given.tree);
  }

  static bool same_text(const Side& right, const Side& given) {
    const std::string a = latex::without_spacing(right.text);
    return !a.empty() && a == latex::without_spacing(given.text);
  }

  // Text that does not parse must match word for word.
  void unparsed(const Side& right, const Side& given) {
    if (same_text(right, given))
      return set(VerdictCode::kEqual, "the same text, which is not mathematics");
    if (budget_.exhausted()) return out_of_budget(right, given);
    const bool gold = right.tree == nullptr;
    const latex::ParseError& error = gold ? right.error : given.error;
    set(gold ? VerdictCode::kUnparsableGold : VerdictCode::kUnparsableAnswer,
        fmt::format("{} at byte {}: {}", gold ? "gold" : "answer", error.position, error.reason));
  }

  void out_of_budget(const Side& right, const Side& given) {
    if (same_text(right, given))
      return set(VerdictCode::kEqual, "the same text, too large to be parsed");
    set(VerdictCode::kOutOfBudget, "steps, nesting, bits or length beyond the budget");
  }

  void set(VerdictCode code, std::string reason) {
    verdict_.code = code;
    verdict_.reason = std::move(reason);
  }

  const VerifierOptions& options_;
  bool explains_;
  Budget budget_;
  expr::Arena arena_;
  Verdict verdict_;
  std::string written_;  // the answer before its characters were brought to one spelling
};

}  // namespace

Verdict verify(std::string_view gold, std::string_view response, const VerifierOptions& options,
               std::string_view prompt) {
  return Pair(options, false).decide(gold, response, prompt);
}

Verdict explain(std::string_view gold, std::string_view response, const VerifierOptions& options,
                std::string_view prompt) {
  return Pair(options, true).decide(gold, response, prompt);
}

std::string unreadable_gold(std::string_view gold, const VerifierOptions& options) {
  VerifierOptions strict = options;
  strict.mode = ExtractionMode::kReward;
  const std::string answer = extract::from_gold(gold, strict);
  if (trimmed(answer).empty()) return "it is empty";
  const Verdict verdict = explain(gold, "\\boxed{" + answer + "}", strict);
  return verdict.correct() && !verdict.gold_form.empty() ? "" : verdict.reason;
}

std::string answer_in_gold(std::string_view gold, const VerifierOptions& options) {
  return extract::from_gold(gold, options);
}

std::string_view form_of_gold(std::string_view gold, const VerifierOptions& options) {
  std::string answer = extract::from_gold(gold, options);
  if (latex::has_other_characters(answer)) answer = latex::with_plain_characters(answer);
  const std::optional<latex::Form> form = latex::read_form(answer);
  if (!form) return "";
  switch (form->sort) {
    case latex::Sort::kDate: return "dates";
    case latex::Sort::kTime: return "times of day";
    case latex::Sort::kRange: return "ranges";
    case latex::Sort::kCode: return "codes";
  }
  return "";
}

void release_thread_caches() { flint_cleanup(); }

}  // namespace lie

#include "verifier/verify.h"

#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "verifier/equal/compare.h"
#include "verifier/equal/literal.h"
#include "verifier/exact/flint.h"
#include "verifier/extract/answer.h"
#include "verifier/latex/parser.h"

namespace lie {
namespace {

using equal::Tri;
using expr::Expr;
using extract::Candidate;

constexpr std::int64_t kStepsPerCandidate = 20;

// One side of a pair: its text, and its tree where the text is mathematics.
struct Side {
  std::string text;
  const Expr* tree = nullptr;
  latex::ParseError error;
  bool choice = false;
  bool found = false;
};

class Pair {
 public:
  Pair(const VerifierOptions& options, bool explains)
      : options_(options), explains_(explains), budget_(options), arena_(budget_) {}

  Verdict decide(std::string_view gold, std::string_view response) {
    decide_reward_or_lenient(gold, response);
    verdict_.steps = budget_.spent();
    return std::move(verdict_);
  }

 private:
  void decide_reward_or_lenient(std::string_view gold, std::string_view response) {
    if (options_.mode == ExtractionMode::kLenient) return lenient(gold, response);
    std::vector<Candidate> boxes = extract::from_boxes(response, options_);
    if (boxes.empty())
      return set(VerdictCode::kNoAnswer, "no balanced \\boxed{...} in the response");
    Side right = side(extract::from_gold(gold, options_));
    Side given = side(std::move(boxes.front().text));
    if (!shortcut(right, given)) compare_sides(right, given);
    verdict_.extracted = std::move(given.text);
  }

  void lenient(std::string_view gold, std::string_view response) {
    Side right = first_parsed(extract::from_lenient_gold(gold, options_));
    if (!right.found) right = parsed(side(extract::from_gold(gold, options_)));
    Side given = first_parsed(extract::from_prose(response, options_));
    if (!given.found) return set(VerdictCode::kNoAnswer, "no answer found in the response");
    compare_sides(right, given);
    verdict_.extracted = std::move(given.text);
  }

  static Side side(std::string text) {
    Side out;
    out.text = std::move(text);
    out.found = true;
    return out;
  }

  // The first candidate that is mathematics; the first one with its error where none is.
  Side first_parsed(std::vector<Candidate> candidates) {
    Side first;
    for (Candidate& candidate : candidates) {
      if (!budget_.spend(kStepsPerCandidate)) break;
      Side next = side(std::move(candidate.text));
      next.choice = candidate.choice;
      if (!next.choice) next = parsed(std::move(next));
      if (next.choice || next.tree != nullptr) return next;
      if (!first.found) first = std::move(next);
      if (budget_.exhausted()) break;
    }
    return first;
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
  bool shortcut(const Side& right, const Side& given) {
    if (explains_ || options_.decimals == DecimalRule::kHalfUlp) return false;
    if (options_.identical_text && right.text == given.text && !right.text.empty()) {
      set(VerdictCode::kEqual, "the same text");
      return true;
    }
    const auto a = equal::read_literal(right.text);
    const auto b = a ? equal::read_literal(given.text) : std::nullopt;
    const std::optional<bool> same = b ? equal::equal_literals(*a, *b, options_) : std::nullopt;
    if (!same) return false;
    set(*same ? VerdictCode::kEqual : VerdictCode::kUnequal, "compared as numbers");
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

  void note_forms(const Side& right, const Side& given) {
    if (!explains_) return;
    if (right.tree != nullptr) verdict_.gold_form = to_text(*right.tree);
    if (given.tree != nullptr) verdict_.answer_form = to_text(*given.tree);
  }

  static bool same_text(const Side& right, const Side& given) {
    const std::string a = latex::without_spacing(right.text);
    return !a.empty() && a == latex::without_spacing(given.text);
  }

  // What is no mathematics is right only word for word.
  void unparsed(const Side& right, const Side& given) {
    if (same_text(right, given))
      return set(VerdictCode::kEqual, "the same text, which is no mathematics");
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
};

}  // namespace

Verdict verify(std::string_view gold, std::string_view response, const VerifierOptions& options) {
  return Pair(options, false).decide(gold, response);
}

Verdict explain(std::string_view gold, std::string_view response, const VerifierOptions& options) {
  return Pair(options, true).decide(gold, response);
}

void release_thread_caches() { flint_cleanup(); }

}  // namespace lie

#include "verifier/verify.h"

#include <optional>

#include "verifier/equal/literal.h"
#include "verifier/extract/boxed.h"

namespace lie {
namespace {

std::optional<std::string> extract_reward(std::string_view response,
                                          const VerifierOptions& options) {
  if (options.after_think) response = extract::after_think(response);
  const auto boxes = extract::last_boxes(response, options.fbox, options.join_boxes);
  if (boxes.empty()) return std::nullopt;
  std::string joined(boxes.front().content);
  for (std::size_t i = 1; i < boxes.size(); ++i) joined.append(", ").append(boxes[i].content);
  return joined;
}

}  // namespace

Verdict verify(std::string_view gold, std::string_view response, const VerifierOptions& options) {
  Verdict verdict;
  std::optional<std::string> answer = extract_reward(response, options);
  if (!answer) {
    verdict.reason = "no balanced \\boxed{...} in the response";
    return verdict;
  }
  verdict.extracted = std::move(*answer);
  const auto right = equal::read_literal(gold);
  const auto given = equal::read_literal(verdict.extracted);
  const std::optional<bool> equal =
      right && given ? equal::equal_literals(*right, *given, options) : std::optional<bool>();
  verdict.code = equal ? (*equal ? VerdictCode::kEqual : VerdictCode::kUnequal)
                       : (right ? VerdictCode::kUnparsableAnswer : VerdictCode::kUnparsableGold);
  verdict.reason =
      equal ? "compared as numbers" : "only numbers, tuples and sets of numbers are understood";
  return verdict;
}

Verdict explain(std::string_view gold, std::string_view response, const VerifierOptions& options) {
  return verify(gold, response, options);
}

std::string_view name(VerdictCode code) {
  switch (code) {
    case VerdictCode::kEqual:
      return "equal";
    case VerdictCode::kUnequal:
      return "unequal";
    case VerdictCode::kNoAnswer:
      return "no_answer";
    case VerdictCode::kUnparsableAnswer:
      return "unparsable_answer";
    case VerdictCode::kUnparsableGold:
      return "unparsable_gold";
    case VerdictCode::kOutOfBudget:
      return "out_of_budget";
    case VerdictCode::kUndecided:
      return "undecided";
  }
  return "unknown";
}

void release_thread_caches() { flint_cleanup(); }

}  // namespace lie

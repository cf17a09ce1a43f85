#include "common/rollout/verdict.h"

namespace lie {

std::string_view name(VerdictCode code) {
  switch (code) {
    case VerdictCode::kEqual: return "equal";
    case VerdictCode::kUnequal: return "unequal";
    case VerdictCode::kNoAnswer: return "no_answer";
    case VerdictCode::kUnparsableAnswer: return "unparsable_answer";
    case VerdictCode::kUnparsableGold: return "unparsable_gold";
    case VerdictCode::kOutOfBudget: return "out_of_budget";
    case VerdictCode::kUndecided: return "undecided";
    case VerdictCode::kCopied: return "copied";
  }
  return "unknown";
}

}  // namespace lie

// The reason codes of the verifier's decisions.
#pragma once

#include <cstdint>
#include <string_view>

namespace lie {

/// The reason for a decision of the verifier. Every reward carries one (invariant E6).
enum class VerdictCode : std::uint8_t {
  kEqual = 0,
  kUnequal = 1,
  kNoAnswer = 2,
  kUnparsableAnswer = 3,
  kUnparsableGold = 4,
  kOutOfBudget = 5,
  kUndecided = 6,
  kCopied = 7,
};

inline constexpr VerdictCode kLastVerdict = VerdictCode::kCopied;

inline constexpr std::size_t kVerdictCount = static_cast<std::size_t>(kLastVerdict) + 1;

/// Returns "equal", "unequal", "no_answer", "unparsable_answer", "unparsable_gold",
/// "out_of_budget", "undecided" or "copied". These names appear in the output of lie_verify and in
/// the metrics verdict_<name>_share.
constexpr std::string_view name(VerdictCode code) {
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

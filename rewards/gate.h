// The gate of a reward term: the groups and verdicts to which the term applies.
#pragma once

#include <cstdint>
#include <string_view>

#include "common/config/options.h"
#include "rewards/term.h"

namespace lie {

/// The answers to which a term applies.
enum class Answers : std::uint8_t { kAny, kCorrect, kIncorrect };

/// Options of a gate. Outside it the term is 0.
struct RewardGate {
  double min_group_accuracy = 0;  // share of correct responses in the group, 0 to 1
  double max_group_accuracy = 1;
  Answers answers = Answers::kAny;
};

void describe(FieldList& fields, RewardGate& gate);

/// Throws Error if no group is within the bounds. `term`: the name of the term, for the message.
void check_gate(const RewardGate& gate, std::string_view term);

/// Returns whether a group of this accuracy is within the bounds, both included.
bool applies_at(const RewardGate& gate, double group_accuracy);

/// Returns whether the term applies to an answer with this verdict.
bool applies_to(const RewardGate& gate, bool correct);

/// Returns whether the term applies to the response.
bool passes(const RewardGate& gate, const VerifiedResponse& response);

}  // namespace lie

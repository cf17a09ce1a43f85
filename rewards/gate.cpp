#include "rewards/gate.h"

#include "common/base/error.h"

namespace lie {

void describe(FieldList& fields, RewardGate& gate) {
  fields.add("min_group_accuracy", gate.min_group_accuracy,
             {.help = "The term is 0 in groups with a smaller share of correct responses.",
              .min = 0,
              .max = 1});
  fields.add("max_group_accuracy", gate.max_group_accuracy,
             {.help = "The term is 0 in groups with a larger share of correct responses.",
              .min = 0,
              .max = 1});
  fields.add(
      "answers", gate.answers,
      {{"any", Answers::kAny}, {"correct", Answers::kCorrect}, {"incorrect", Answers::kIncorrect}},
      {.help = "Answers to which the term applies, by the verifier's verdict."});
}

void check_gate(const RewardGate& gate, std::string_view term) {
  if (gate.min_group_accuracy <= gate.max_group_accuracy) return;
  fail(
      "reward.{}.min_group_accuracy {} is above max_group_accuracy {}: no group is between "
      "them; correct one of the two",
      term, gate.min_group_accuracy, gate.max_group_accuracy);
}

bool applies_at(const RewardGate& gate, double group_accuracy) {
  return group_accuracy >= gate.min_group_accuracy && group_accuracy <= gate.max_group_accuracy;
}

bool applies_to(const RewardGate& gate, bool correct) {
  return gate.answers == Answers::kAny || correct == (gate.answers == Answers::kCorrect);
}

bool passes(const RewardGate& gate, const VerifiedResponse& response) {
  return applies_at(gate, response.group_accuracy) && applies_to(gate, response.correct());
}

}  // namespace lie

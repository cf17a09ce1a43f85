// Weight sync without bytes between processes: actors on a learner's GPU compute with its packed
// weights. Both ends of the agreement. No such memory has been opened on a GPU yet.
#pragma once

#include <optional>
#include <string>

#include "common/comm/collective/collective.h"
#include "model/transformer/transformer.h"

namespace lie {

/// Who agrees, once, before the first weights: all learners, then all actors of a run.
struct LoanMembers {
  Collective& group;
  int learners = 1;
  std::string device;  // name of this member's GPU, host and address
};

/// A learner: whether actors compute with the learners' policies from now on, each with that of the
/// first learner on its GPU. All of them do or none: if one is on a GPU of no learner, or a member
/// cannot share or open the memory, each goes on with weights of its own, which one line of the log
/// says with the reason. Collective with borrow_policy().
///
/// Weights may change in place where nothing is in flight meanwhile (lends_policy()): what an actor
/// sends it has waited for, and a header is sent when all learners' devices have the weights
/// (PolicyUpdater::lend()). A learner that dies takes its memory along, and the run ends with it.
bool lend_policy(const LoanMembers& members, Transformer& policy);

/// An actor: its learner's policy for these operators, or nothing. Throws Error where the learner's
/// is another model's.
std::optional<Transformer> borrow_policy(const LoanMembers& members, const ModelConfig& config,
                                         Operators& operators);

}  // namespace lie

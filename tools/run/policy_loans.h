// Weight sync without bytes between processes: actors on learner 0's GPU compute with its packed
// weights. Both ends of the agreement. No such memory has been opened on a GPU yet.
#pragma once

#include <optional>
#include <string>

#include "common/comm/collective.h"
#include "model/transformer.h"

namespace lie {

/// Learner 0, member 0 of the group of hosts with all actors: whether they compute with `policy`
/// from now on. `device`: the name of a member's GPU, host and address. All of them do or none: if
/// a member is on another GPU, or cannot share or open the memory, each goes on with weights of its
/// own, which one line of the log says with the reason. Collective with borrow_policy().
///
/// Weights may change in place where nothing is in flight meanwhile (lends_policy()): what an actor
/// sends it has waited for, and the learner waits for its device before it sends a header. A
/// learner that dies takes its memory along, and the run ends with it.
bool lend_policy(Collective& group, const std::string& device, Transformer& policy);

/// An actor: the learner's policy for these operators, or nothing. Throws Error where the learner's
/// is another model's.
std::optional<Transformer> borrow_policy(Collective& group, const std::string& device,
                                         const ModelConfig& config, Operators& operators);

}  // namespace lie

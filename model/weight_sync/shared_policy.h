// Actors that compute with the packed weights of a learner on the same GPU, by CUDA IPC: both ends
// of their agreement. Opening CUDA IPC memory has not been tested on a GPU yet.
#pragma once

#include <optional>
#include <string>

#include "common/comm/collective/collective.h"
#include "model/transformer/transformer.h"

namespace lie {

/// The members of the agreement: all learners, then all actors of a run.
struct SharedPolicyGroup {
  Collective& members;
  int learners = 1;
  std::string gpu;  // name of this member's GPU, see gpu_name()
};

/// A learner's end: offers its policy's memory to the actors on its GPU, once, before the first
/// weights. Returns whether all actors compute with the policy of the first learner on their GPU
/// from now on. If an actor's GPU has no learner, or a member cannot share or open the memory, all
/// actors hold weights of their own, and learner 0 logs the reason. Collective with
/// open_shared_policy().
///
/// The weights then change in place. This needs that actors have no response in flight when they do
/// (allows_shared_policy()), and that a header is published when the devices of all learners have
/// the weights. The memory ends with the learner's process, and the run ends with it.
bool share_policy(const SharedPolicyGroup& group, Transformer& policy);

/// An actor's end: returns the learner's policy for these operators, or nothing if the members did
/// not agree. Throws Error if the learner's policy is of another model.
std::optional<Transformer> open_shared_policy(const SharedPolicyGroup& group,
                                              const ModelConfig& config, Operators& operators);

}  // namespace lie

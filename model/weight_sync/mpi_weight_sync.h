// Weight sync over MPI: chooses the transport and makes this rank's end.
#pragma once

#include <cstddef>
#include <memory>

#include "common/comm/job.h"
#include "common/comm/roles.h"
#include "model/weight_sync/shared_policy.h"
#include "model/weight_sync/weight_sync.h"

namespace lie {

/// Which transports a run may use. Broadcast is always possible.
struct WeightTransports {
  std::size_t host_copy_bytes = 0;  // > 0: the actors of a host share one copy of this size
  bool shared_policy = false;       // actors may compute with the weights of a learner on their GPU
};

/// A rank's part in weight sync. Outlives the end that it makes.
class MpiWeightSync {
 public:
  /// Keeps references to job and layout. Collective over the world.
  MpiWeightSync(Job& job, const RoleLayout& layout, const WeightSyncOptions& options,
                const WeightTransports& transports);

  /// Returns the memory in which this actor's operators must place weights; empty: any.
  SharedFloats memory() const;

  /// A learner's end. Collective over learners and actors where the operators compute on GPUs.
  std::unique_ptr<WeightSender> sender(const LearnerWeights& learner);
  /// An actor's end. Collective as sender() is. Throws Error if the learner has another model.
  std::unique_ptr<WeightReceiver> receiver(const ModelConfig& config, Operators& operators);

 private:
  bool may_share_policy(const Operators& operators) const;
  std::unique_ptr<Collective> policy_members() const;
  SharedPolicyGroup policy_group(Collective& members, const Operators& operators) const;
  Collective& group_for(Operators& operators);

  Job& job_;
  const RoleLayout& layout_;
  WeightSyncOptions options_;
  WeightTransports transports_;
  HostCopies copies_;
  std::unique_ptr<Collective> host_group_;  // learner 0 and the actors that receive; null on others
  std::unique_ptr<Collective> group_;       // the same for the operators' memory
};

}  // namespace lie

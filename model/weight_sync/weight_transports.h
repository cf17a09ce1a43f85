// Chooses the transport of weight sync and makes its ends: in one process, and over MPI.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <utility>

#include "common/base/stream.h"
#include "common/comm/collective/collective.h"
#include "common/comm/collective/thread_collective.h"
#include "common/comm/job.h"
#include "common/comm/roles.h"
#include "model/transformer/transformer.h"
#include "model/weight_sync/weight_sync.h"

namespace lie {

/// Weight sync between a learner and an actor that are threads of one process. Chooses the
/// transport and makes both ends, each for its own thread. Outlives them.
class LocalWeightSync {
 public:
  /// `shared_policy`: the actor computes with the learner's weights instead of receiving them.
  /// The learner calls `poll_progress`, if there is one, while it waits for the actor to be ready
  /// for new weights.
  LocalWeightSync(const WeightSyncOptions& options, bool shared_policy,
                  std::function<void()> poll_progress = {})
      : options_(options),
        shared_policy_(shared_policy),
        poll_progress_(std::move(poll_progress)) {}

  /// Makes the learner's end. With a shared policy it waits for the actor, and keeps the policy
  /// alive as long as this object, because the actor may still compute when the learner fails.
  std::unique_ptr<WeightSender> sender(const LearnerWeights& learner);
  /// Makes the actor's end. With a shared policy it waits for the learner.
  std::unique_ptr<WeightReceiver> receiver(const ModelConfig& config, Operators& operators);

  /// Makes every call of both ends throw `cause`, waiting ones included. The first cause stays.
  void poison(std::exception_ptr cause);

 private:
  /// One thread's member of the group.
  struct End {
    std::unique_ptr<Collective> host, group;  // for host memory, for the operators' memory
  };
  Collective& group_of(End& end, std::unique_ptr<Collective> host, Operators& operators);

  WeightSyncOptions options_;
  bool shared_policy_;
  std::function<void()> poll_progress_;
  ThreadGroup threads_{2};  // learner, actor
  End learner_, actor_;
  std::shared_ptr<Transformer> policy_;  // the learner's
  BoundedQueue<Operators*> operators_{1};
  BoundedQueue<Transformer> policies_{1};  // the learner's policy for the actor's operators
};

/// A rank's part in weight sync over MPI. Outlives the end that it makes.
class MpiWeightSync {
 public:
  /// Keeps references to job and layout. If `host_copy_bytes` is above 0, the actors of a host
  /// share one copy of this size. Collective over the world.
  MpiWeightSync(Job& job, const RoleLayout& layout, const WeightSyncOptions& options,
                std::size_t host_copy_bytes);

  /// Returns the memory in which this actor's operators must place weights; empty: any.
  SharedFloats memory() const;

  /// Makes a learner's end. Collective with receiver() if the operators compute on GPUs.
  std::unique_ptr<WeightSender> sender(const LearnerWeights& learner);
  /// Makes an actor's end. Throws Error if the learner has another model.
  std::unique_ptr<WeightReceiver> receiver(const ModelConfig& config, Operators& operators);

 private:
  Collective& group_for(Operators& operators);

  Job& job_;
  const RoleLayout& layout_;
  WeightSyncOptions options_;
  HostCopies copies_;
  std::unique_ptr<Collective> host_group_;  // learner 0 and the actors that receive; null on others
  std::unique_ptr<Collective> group_;       // the same for the operators' memory
};

}  // namespace lie

// Weight sync between a learner and an actor that are threads of one process.
#pragma once

#include <exception>
#include <memory>

#include "common/base/stream.h"
#include "common/comm/collective/thread_collective.h"
#include "model/weight_sync/weight_sync.h"

namespace lie {

/// Chooses the transport and makes both ends, each for its own thread. Outlives them.
class LocalWeightSync {
 public:
  /// `shared_policy`: the actor computes with the learner's weights instead of receiving them.
  LocalWeightSync(const WeightSyncOptions& options, bool shared_policy)
      : options_(options), shared_policy_(shared_policy) {}

  /// The learner's end. With a shared policy it waits for the actor, and keeps the learner's policy
  /// alive as long as this object, because the actor may still compute when the learner fails.
  std::unique_ptr<WeightSender> sender(const LearnerWeights& learner);
  /// The actor's end. With a shared policy it waits for the learner.
  std::unique_ptr<WeightReceiver> receiver(const ModelConfig& config, Operators& operators);

  /// Makes every call of both ends throw `cause`, waiting ones included. The first cause stays.
  void poison(std::exception_ptr cause);

 private:
  /// One thread's member of the group.
  struct End {
    std::unique_ptr<Collective> host, group;  // for host memory, for the operators' memory
  };
  Collective& group_of(End& end, int rank, Operators& operators);

  WeightSyncOptions options_;
  bool shared_policy_;
  ThreadGroup threads_{2};  // learner, actor
  End learner_, actor_;
  std::shared_ptr<Transformer> policy_;  // the learner's
  BoundedQueue<Operators*> operators_{1};
  BoundedQueue<Transformer> policies_{1};  // the learner's policy for the actor's operators
};

}  // namespace lie

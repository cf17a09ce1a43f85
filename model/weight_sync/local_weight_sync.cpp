#include "model/weight_sync/local_weight_sync.h"

#include <utility>

#include "model/collective/through_host_collective.h"

namespace lie {

std::unique_ptr<WeightSender> LocalWeightSync::sender(const LearnerWeights& learner) {
  Collective& group = group_of(learner_, 0, learner.operators);
  if (!shared_policy_) return std::make_unique<WeightSender>(group, learner.weights, options_);
  policy_ = learner.policy;
  policies_.send(policy_->with_shared_weights(*operators_.receive().value()));
  return std::make_unique<WeightSender>(&group, learner.learners);
}

std::unique_ptr<WeightReceiver> LocalWeightSync::receiver(const ModelConfig& config,
                                                          Operators& operators) {
  Collective& group = group_of(actor_, 1, operators);
  if (!shared_policy_) return std::make_unique<WeightReceiver>(config, operators, group);
  operators_.send(&operators);
  return std::make_unique<WeightReceiver>(std::move(policies_.receive().value()), group);
}

Collective& LocalWeightSync::group_of(End& end, int rank, Operators& operators) {
  end.host = threads_.member(rank);
  end.group = through_host_collective(*end.host, operators);
  return *end.group;
}

void LocalWeightSync::poison(std::exception_ptr cause) {
  threads_.poison(cause);
  operators_.poison(cause);
  policies_.poison(cause);
}

}  // namespace lie

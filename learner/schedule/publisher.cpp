#include "learner/schedule/publisher.h"

namespace lie {

void Publisher::announce() {
  if (coordinator_ != nullptr) coordinator_->announce(Assignment::Kind::kWeights);
  std::uint8_t is_announced = 1;
  if (learners_ != nullptr) broadcast_value(*learners_, is_announced);
}

void Publisher::publish(std::int64_t policy_version) {
  if (policy_version < first_version_) return;
  announce();
  weights_.publish(policy_version);
  if (coordinator_ != nullptr) coordinator_->set_version(policy_version);
}

void Publisher::finish() {
  announce();
  weights_.finish();
}

}  // namespace lie

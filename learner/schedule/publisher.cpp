#include "learner/schedule/publisher.h"

namespace lie {
void Publisher::publish(std::int64_t policy_version) {
  if (policy_version < first_version_) return;
  coordinator_.announce(Assignment::Kind::kWeights);
  weights_.publish(policy_version);
  coordinator_.set_version(policy_version);
}

void Publisher::finish() {
  coordinator_.announce(Assignment::Kind::kWeights);
  weights_.finish();
}

}  // namespace lie

#include "learner/schedule/publisher.h"

namespace lie {

void Publisher::publish(std::int64_t policy_version) {
  if (policy_version < first_version_) return;
  coordinator_.announce(Assignment::Kind::kWeights);
  publish_weights(weight_group_, policy_version, weights_, options_);
  coordinator_.set_version(policy_version);
}

void Publisher::finish() {
  coordinator_.announce(Assignment::Kind::kWeights);
  publish_finish(weight_group_);
}

}  // namespace lie

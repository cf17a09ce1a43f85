#include "model/weight_sync/weight_transports.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/comm/collective/mpi_collective.h"
#include "model/collective/device_collective.h"

namespace lie {

std::unique_ptr<WeightSender> LocalWeightSync::sender(const LearnerWeights& learner) {
  Collective& group = group_of(learner_, threads_.member(0, poll_progress_), learner.operators);
  if (!shared_policy_) return std::make_unique<WeightSender>(group, learner.weights, options_);
  policy_ = learner.policy;
  policies_.send(policy_->for_generation(*operators_.receive().value()));
  return std::make_unique<WeightSender>(&group, learner.learners);
}

std::unique_ptr<WeightReceiver> LocalWeightSync::receiver(const ModelConfig& config,
                                                          Operators& operators) {
  Collective& group = group_of(actor_, threads_.member(1), operators);
  if (!shared_policy_) return std::make_unique<WeightReceiver>(config, operators, group);
  operators_.send(&operators);
  return std::make_unique<WeightReceiver>(std::move(policies_.receive().value()), group);
}

Collective& LocalWeightSync::group_of(End& end, std::unique_ptr<Collective> host,
                                      Operators& operators) {
  end.host = std::move(host);
  end.group = through_host_collective(*end.host, operators);
  return *end.group;
}

void LocalWeightSync::poison(std::exception_ptr cause) {
  threads_.poison(cause);
  operators_.poison(cause);
  policies_.poison(cause);
}

namespace {

HostCopies host_copies(Job& job, const RoleLayout& layout, std::size_t bytes) {
  if (bytes == 0) return {layout.actors, nullptr};  // each holds weights of its own
  return make_host_copies(job, layout, bytes);
}

/// Returns the group of learner 0 and the actors that receive weights; null on all other ranks.
std::unique_ptr<Collective> receiving_group(Job& job, const RoleLayout& layout,
                                            const HostCopies& copies) {
  std::vector<int> members = {layout.learners.front()};
  members.insert(members.end(), copies.receivers.begin(), copies.receivers.end());
  if (std::ranges::find(members, job.rank()) == members.end()) return nullptr;
  return mpi_collective(job, std::move(members), Tag::kWeightGroup);
}

}  // namespace

MpiWeightSync::MpiWeightSync(Job& job, const RoleLayout& layout, const WeightSyncOptions& options,
                             std::size_t host_copy_bytes)
    : job_(job),
      layout_(layout),
      options_(options),
      copies_(host_copies(job, layout, host_copy_bytes)),
      host_group_(receiving_group(job, layout, copies_)) {}

SharedFloats MpiWeightSync::memory() const {
  return copies_.mine ? copies_.mine->weights() : SharedFloats();
}

std::unique_ptr<WeightSender> MpiWeightSync::sender(const LearnerWeights& learner) {
  if (!host_group_) return std::make_unique<WeightSender>(learner.weights);
  return std::make_unique<WeightSender>(group_for(learner.operators), learner.weights, options_);
}

std::unique_ptr<WeightReceiver> MpiWeightSync::receiver(const ModelConfig& config,
                                                        Operators& operators) {
  return std::make_unique<WeightReceiver>(config, operators, group_for(operators),
                                          copies_.mine.get());
}

/// A reader of a host's copy receives nothing itself: its group is this rank alone.
Collective& MpiWeightSync::group_for(Operators& operators) {
  if (!host_group_) host_group_ = solo_collective();
  group_ = device_collective(job_, *host_group_, operators);
  return *group_;
}

}  // namespace lie

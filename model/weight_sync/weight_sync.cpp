#include "model/weight_sync/weight_sync.h"

#include <utility>

#include "common/base/error.h"

namespace lie {
namespace {

constexpr int kLearner0 = 0;

std::int64_t number(DType type) { return static_cast<std::int64_t>(type); }

void check_header(const WeightHeader& header, std::int64_t elements) {
  if (header.magic != WeightHeader::kMagic) {
    fail("weight sync: no header where one was expected: learner and actor are out of step");
  }
  if (header.elements != elements) {
    fail(
        "weight sync: the learner's model has {} parameters, this actor's {}: give all ranks the "
        "same model directory",
        header.elements, elements);
  }
  if (header.type != number(DType::kFloat32) && header.type != number(DType::kBFloat16)) {
    fail("weight sync: the weights have the unknown type {}: start the same build on all ranks",
         header.type);
  }
}

void broadcast_weights(Collective& group, DeviceSpan weights, std::int64_t type) {
  if (type == number(DType::kBFloat16)) return group.broadcast_as_bfloat16(weights, kLearner0);
  group.broadcast(weights, kLearner0);
}

}  // namespace

void describe(FieldList& fields, WeightSyncOptions& options) {
  fields.add("weights", options.weights,
             {{"float32", DType::kFloat32}, {"bfloat16", DType::kBFloat16}},
             {.help = "Type in which learner 0 sends the weights to the actors. bfloat16 (rounded "
                      "to nearest even) takes half the bytes, but the actors' policy then differs "
                      "from the learner's: first_minibatch_ratio_max_deviation shows how much."});
}

void publish_weights(Collective& group, std::int64_t policy_version, DeviceSpan weights,
                     const WeightSyncOptions& options) {
  WeightHeader header{
      .policy_version = policy_version, .elements = weights.count, .type = number(options.weights)};
  broadcast_value(group, header);
  broadcast_weights(group, weights, header.type);
}

void publish_finish(Collective& group) {
  WeightHeader header{.elements = WeightHeader::kFinish};
  broadcast_value(group, header);
}

std::optional<std::int64_t> receive_weights(Collective& group, DeviceSpan weights) {
  WeightHeader header;
  broadcast_value(group, header);
  if (header.elements == WeightHeader::kFinish) return std::nullopt;
  check_header(header, weights.count);
  broadcast_weights(group, weights, header.type);
  return header.policy_version;
}

void WeightSender::publish(std::int64_t policy_version) {
  if (actors_) publish_weights(*actors_, policy_version, weights_, options_);
}

void WeightSender::finish() {
  if (actors_) publish_finish(*actors_);
  double nothing = 0;
  if (learners_) learners_->all_reduce_sum(std::span(&nothing, 1));  // wait for all learners
}

WeightReceiver::WeightReceiver(const ModelConfig& config, Operators& operators, Collective& group,
                               HostCopy* host_copy)
    : group_(&group),
      host_copy_(host_copy),
      own_(std::make_unique<Weights>(config, operators)),
      policy_(*own_) {}

WeightReceiver::WeightReceiver(Transformer policy, Collective& group)
    : group_(&group), policy_(std::move(policy)) {}

WeightReceiver::WeightReceiver(Transformer policy) : policy_(std::move(policy)) {}

std::optional<std::int64_t> WeightReceiver::receive(BusyIdleClock& clock) {
  if (!group_) fail("weight sync: the weights of a fixed policy do not change");
  const auto receive = [&] { return receive_and_pack(clock); };
  return clock.waiting([&] { return host_copy_ ? host_copy_->update(receive) : receive(); });
}

std::optional<std::int64_t> WeightReceiver::receive_and_pack(BusyIdleClock& clock) {
  const auto version = receive_weights(*group_, own_ ? own_->span() : DeviceSpan());
  clock.busy();
  if (version) policy_.weights_changed();
  clock.idle();
  return version;
}

}  // namespace lie

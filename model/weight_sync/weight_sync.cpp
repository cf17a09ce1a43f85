#include "model/weight_sync/weight_sync.h"

#include <algorithm>
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
  if (header.part <= 0) fail("weight sync: parts of {} weights", header.part);
  if (header.type != number(DType::kFloat32) && header.type != number(DType::kBFloat16)) {
    fail("weight sync: the weights have the unknown type {}: start the same build on all ranks",
         header.type);
  }
}

void broadcast_weights(Collective& group, DeviceSpan weights, std::int64_t type) {
  if (type == number(DType::kBFloat16)) return group.broadcast_as_bfloat16(weights, kLearner0);
  group.broadcast(weights, kLearner0);
}

/// Calls on_part(range) for each part of an update, in the flat order.
template <typename OnPart>
void for_each_part(std::int64_t elements, std::int64_t part, const OnPart& on_part) {
  for (std::int64_t first = 0; first < elements; first += part) {
    on_part(FlatRange{first, std::min(part, elements - first)});
  }
}

}  // namespace

void describe(FieldList& fields, WeightSyncOptions& options) {
  fields.add("weights", options.weights,
             {{"float32", DType::kFloat32}, {"bfloat16", DType::kBFloat16}},
             {.help = "Type in which learner 0 sends the weights to the actors. bfloat16 (rounded "
                      "to nearest even) takes half the bytes, but the actors' policy then differs "
                      "from the learner's: first_minibatch_ratio_max_deviation shows how much."});
}

void publish_weights(Collective& group, std::int64_t policy_version, const SentWeights& weights,
                     const WeightSyncOptions& options, std::int64_t part) {
  WeightHeader header{.policy_version = policy_version,
                      .elements = weights.elements,
                      .type = number(options.weights),
                      .part = part};
  broadcast_value(group, header);
  for_each_part(header.elements, header.part, [&](FlatRange range) {
    broadcast_weights(group, weights.part(range), header.type);
  });
}

void publish_finish(Collective& group) {
  WeightHeader header{.elements = WeightHeader::kFinish};
  broadcast_value(group, header);
}

std::optional<std::int64_t> receive_weights(Collective& group, const WeightParts& parts) {
  WeightHeader header;
  broadcast_value(group, header);
  if (header.elements == WeightHeader::kFinish) return std::nullopt;
  check_header(header, parts.elements);
  for_each_part(header.elements, header.part, [&](FlatRange range) {
    broadcast_weights(group, parts.next(range.count), header.type);
    parts.arrived();
  });
  return header.policy_version;
}

void WeightSender::publish(std::int64_t policy_version) {
  if (actors_) return publish_weights(*actors_, policy_version, weights_, options_);
  for_each_part(weights_.elements, kWeightPartElements,
                [&](FlatRange range) { weights_.part(range); });
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
      arriving_(std::in_place, config, operators),
      policy_(Transformer::received(config, operators)) {}

WeightReceiver::WeightReceiver(Transformer policy, Collective& group)
    : group_(&group), policy_(std::move(policy)) {}

WeightReceiver::WeightReceiver(Transformer policy) : policy_(std::move(policy)) {}

std::optional<std::int64_t> WeightReceiver::receive(BusyIdleClock& clock) {
  if (!group_) fail("weight sync: the weights of a fixed policy do not change");
  const auto receive = [&] { return receive_and_pack(clock); };
  return clock.waiting([&] { return host_copy_ ? host_copy_->update(receive) : receive(); });
}

std::optional<std::int64_t> WeightReceiver::receive_and_pack(BusyIdleClock& clock) {
  if (!arriving_) return receive_weights(*group_, {});
  arriving_->begin();
  const auto pack = [&] {
    clock.busy();
    arriving_->pack_into(policy_);
    clock.idle();
  };
  return receive_weights(*group_, {.elements = arriving_->elements(),
                                   .next = [&](auto count) { return arriving_->next(count); },
                                   .arrived = pack});
}

}  // namespace lie

#include "common/comm/weight_sync.h"

#include "common/base/error.h"

namespace lie {
namespace {

constexpr int kLearner = 0;

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
    fail(
        "weight sync: weights come in type {}, which is not known: start the same build on all "
        "ranks",
        header.type);
  }
}

void broadcast_weights(Collective& group, DeviceSpan weights, std::int64_t type) {
  if (type == number(DType::kBFloat16)) return group.broadcast_as_bfloat16(weights, kLearner);
  group.broadcast(weights, kLearner);
}

}  // namespace

void describe(FieldList& fields, WeightSyncOptions& options) {
  fields.add("weights", options.weights,
             {{"float32", DType::kFloat32}, {"bfloat16", DType::kBFloat16}},
             {.help = "Type in which learner 0 sends the actors its weights. bfloat16 (rounded to "
                      "nearest even) takes half the bytes, but the actors' policy then differs "
                      "from the learner's: first_minibatch_ratio_max_deviation tells how much."});
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

}  // namespace lie

#include "common/comm/weight_sync.h"

#include "common/error.h"

namespace lie {
namespace {

constexpr int kLearner = 0;

void broadcast_header(Collective& group, WeightHeader& header) {
  group.broadcast_bytes(std::as_writable_bytes(std::span(&header, 1)), kLearner);
}

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
}

}  // namespace

void publish_weights(Collective& group, std::int64_t policy_version, DeviceSpan weights) {
  WeightHeader header{.policy_version = policy_version, .elements = weights.count};
  broadcast_header(group, header);
  group.broadcast(weights, kLearner);
}

void publish_finish(Collective& group) {
  WeightHeader header{.elements = WeightHeader::kFinish};
  broadcast_header(group, header);
}

std::optional<std::int64_t> receive_weights(Collective& group, DeviceSpan weights) {
  WeightHeader header;
  broadcast_header(group, header);
  if (header.elements == WeightHeader::kFinish) return std::nullopt;
  check_header(header, weights.count);
  group.broadcast(weights, kLearner);
  return header.policy_version;
}

}  // namespace lie

#include "learner/schedule/shared_groups.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "common/comm/wire.h"

namespace lie {
namespace {

constexpr std::int64_t kEnd = -1;

struct Header {
  std::int64_t step = 0;
  std::int64_t bytes = kEnd;  // of the packed groups
  std::int64_t is_logged = 0;
};

}  // namespace

std::optional<StepGroups> SharedGroups::receive() {
  std::optional<StepGroups> step;
  if (own_ != nullptr) step = own_->receive();
  if (learners_.size() == 1) return step;
  Header header;
  Bytes bytes;
  if (step) {
    bytes = wire::pack(step->groups);
    header = {step->step, std::ssize(bytes), step->is_logged ? 1 : 0};
  }
  broadcast_value(learners_, header);
  if (header.bytes == kEnd) return std::nullopt;
  bytes.resize(static_cast<std::size_t>(header.bytes));
  learners_.broadcast_bytes(bytes, 0);
  if (own_ != nullptr) return step;
  return StepGroups{.step = header.step,
                    .groups = wire::unpack<std::vector<ScoredGroup>>(bytes),
                    .is_logged = header.is_logged != 0};
}

}  // namespace lie

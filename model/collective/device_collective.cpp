#include "tools/run/roles/device_collective.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "common/comm/collective/nccl_collective.h"
#include "common/process/log.h"
#include "tools/run/roles/staged_collective.h"

namespace lie {
namespace {

class RoundingCollective : public Collective {
 public:
  RoundingCollective(std::unique_ptr<Collective> group, Operators& operators)
      : group_(std::move(group)), operators_(operators) {}

  int rank() const override { return group_->rank(); }
  int size() const override { return group_->size(); }
  void broadcast_bytes(std::span<std::byte> bytes, int root) override {
    group_->broadcast_bytes(bytes, root);
  }
  void broadcast(DeviceSpan values, int root) override { group_->broadcast(values, root); }
  void broadcast_as_bfloat16(DeviceSpan values, int root) override {
    if (values.place.is_host()) return group_->broadcast_as_bfloat16(values, root);
    constexpr std::int64_t kAtOnce = std::int64_t{1} << 24;  // elements: 32 MiB
    const Buffer memory = operators_.allocate(1, std::min(kAtOnce, values.count), DType::kBFloat16);
    for (std::int64_t first = 0; first < values.count; first += kAtOnce) {
      const std::int64_t count = std::min(kAtOnce, values.count - first);
      const DeviceSpan part = values.part(first, count);
      const Tensor wide{part.data, 1, count, count, part.dtype};
      const Tensor sent = memory.view().elements_at(0, count);
      if (rank() == root) operators_.copy(wide, sent);
      group_->broadcast(operators_.span(sent), root);
      if (rank() != root) operators_.copy(sent, wide);
    }
  }
  void all_reduce_sum(DeviceSpan values) override { group_->all_reduce_sum(values); }
  void exchange(std::span<const DeviceSpan> out, std::span<const DeviceSpan> in) override {
    group_->exchange(out, in);
  }

 private:
  std::unique_ptr<Collective> group_;
  Operators& operators_;
};

}  // namespace

std::unique_ptr<Collective> rounding_collective(std::unique_ptr<Collective> group,
                                                Operators& operators) {
  return std::make_unique<RoundingCollective>(std::move(group), operators);
}

std::string device_name(Job& job, const Operators& operators) {
  return fmt::format("{} {}", job.environment().host(), gpu_bus_address(operators.place().device));
}

std::vector<std::string> texts_of_members(Collective& group, const std::string& own) {
  std::vector<std::string> all;
  for (int member = 0; member < group.size(); ++member) {
    all.push_back(own);
    broadcast_values(group, all.back(), member);
  }
  return all;
}

bool all_differ(Collective& group, const std::string& own) {
  const std::vector<std::string> all = texts_of_members(group, own);
  return std::set<std::string>(all.begin(), all.end()).size() == all.size();
}

std::unique_ptr<Collective> device_collective(Job& job, Collective& host, Operators& operators) {
  auto staged = staged_collective(host, operators);
  const MemoryPlace place = operators.place();
  if (host.size() == 1 || place.is_host()) return staged;
  const bool have_own_gpus = all_differ(host, device_name(job, operators));
  if (host.rank() == 0) {
    Log("learner", 0)
        .info("{} ranks {}", host.size(),
              have_own_gpus ? "with a GPU each: what they share travels over NCCL"
                            : "share GPUs: what they share travels through host memory");
  }
  if (!have_own_gpus) return staged;
  return rounding_collective(nccl_collective(job, std::move(staged), place.device), operators);
}

}  // namespace lie

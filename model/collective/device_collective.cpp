#include "model/collective/device_collective.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "common/comm/collective/nccl_collective.h"
#include "common/process/log.h"
#include "model/collective/through_host_collective.h"

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
    constexpr std::int64_t kChunkElements = std::int64_t{1} << 24;  // 32 MiB
    const Buffer memory =
        operators_.allocate(1, std::min(kChunkElements, values.count), DType::kBFloat16);
    for (std::int64_t first = 0; first < values.count; first += kChunkElements) {
      const std::int64_t count = std::min(kChunkElements, values.count - first);
      const DeviceSpan chunk = values.part(first, count);
      const Tensor wide{chunk.data, 1, count, count, chunk.dtype};
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

std::string gpu_name(Job& job, const Operators& operators) {
  return fmt::format("{} {}", job.environment().host(), gpu_bus_address(operators.place().device));
}

std::vector<std::string> gather_texts(Collective& group, const std::string& own) {
  std::vector<std::string> all;
  for (int member = 0; member < group.size(); ++member) {
    all.push_back(own);
    broadcast_values(group, all.back(), member);
  }
  return all;
}

bool all_differ(Collective& group, const std::string& own) {
  const std::vector<std::string> all = gather_texts(group, own);
  return std::set<std::string>(all.begin(), all.end()).size() == all.size();
}

std::unique_ptr<Collective> device_collective(Job& job, Collective& host, Operators& operators) {
  auto through_host = through_host_collective(host, operators);
  const MemoryPlace place = operators.place();
  if (host.size() == 1 || place.is_host()) return through_host;
  const bool have_own_gpus = all_differ(host, gpu_name(job, operators));
  if (host.rank() == 0) {
    Log("learner", 0)
        .info("{} ranks {}", host.size(),
              have_own_gpus ? "have a GPU each: their collectives run over NCCL"
                            : "share GPUs: their collectives run through host memory");
  }
  if (!have_own_gpus) return through_host;
  return rounding_collective(nccl_collective(job, std::move(through_host), place.device),
                             operators);
}

}  // namespace lie

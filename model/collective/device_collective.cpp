#include "model/collective/device_collective.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <set>
#include <utility>

#include "common/base/error.h"
#include "common/comm/collective/nccl_collective.h"
#include "common/process/log.h"
#include "model/weights/host_blocks.h"

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
  std::unique_ptr<StartedExchange> start_exchange(std::span<const DeviceSpan> out,
                                                  std::span<const DeviceSpan> in) override {
    return group_->start_exchange(out, in);
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

namespace {

/// Returns the host and the bus address of the GPU that the operators compute on, for example
/// "node7 0000:3B:00.0". No two GPUs of a job have the same name.
std::string gpu_name(Job& job, const Operators& operators) {
  return fmt::format("{} {}", job.environment().host(), gpu_bus_address(operators.place().device));
}

}  // namespace

bool all_differ(Collective& group, const std::string& own) {
  std::set<std::string> all;
  for (int member = 0; member < group.size(); ++member) {
    std::string text = own;
    broadcast_values(group, text, member);
    all.insert(std::move(text));
  }
  return static_cast<int>(all.size()) == group.size();
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

namespace {

class ThroughHostCollective : public Collective {
 public:
  ThroughHostCollective(Collective& host, Operators& operators)
      : host_(host), operators_(operators) {}

  int rank() const override { return host_.rank(); }
  int size() const override { return host_.size(); }
  void broadcast_bytes(std::span<std::byte> bytes, int root) override {
    host_.broadcast_bytes(bytes, root);
  }
  void broadcast(DeviceSpan values, int root) override {
    from_root(values, root, &Collective::broadcast);
  }
  void broadcast_as_bfloat16(DeviceSpan values, int root) override {
    from_root(values, root, &Collective::broadcast_as_bfloat16);
  }
  void all_reduce_sum(DeviceSpan values) override {
    if (is_in_host_memory(values)) return host_.all_reduce_sum(values);
    by_chunks(values, [&](Tensor chunk, std::span<float> on_host) {
      operators_.copy_to_host(chunk, on_host);
      host_.all_reduce_sum(on_host);
      operators_.copy_from_host(on_host, chunk);
    });
  }
  void exchange(std::span<const DeviceSpan> out, std::span<const DeviceSpan> in) override {
    check_exchange(*this, out, in);
    const auto is_host = [&](const DeviceSpan& span) {
      return is_in_host_memory(span, {DType::kFloat32, DType::kBFloat16});
    };
    if (std::ranges::all_of(out, is_host) && std::ranges::all_of(in, is_host)) {
      return host_.exchange(out, in);
    }
    std::vector<std::vector<float>> sent, received;
    for (const DeviceSpan& span : out) sent.push_back(to_host(span));
    for (const DeviceSpan& span : in) received.emplace_back(static_cast<std::size_t>(span.count));
    host_.exchange(std::vector<DeviceSpan>(sent.begin(), sent.end()),
                   std::vector<DeviceSpan>(received.begin(), received.end()));
    for (std::size_t i = 0; i < received.size(); ++i) {
      if (!received[i].empty()) operators_.copy_from_host(received[i], tensor(in[i]));
    }
  }

 private:
  bool is_in_host_memory(DeviceSpan values,
                         std::initializer_list<DType> types = {DType::kFloat32}) const {
    if (values.place.is_host()) return true;
    if (values.place != operators_.place() || std::ranges::count(types, values.dtype) == 0) {
      fail(
          "collective: values in device memory must be fp32, or bf16 in an exchange, and in the "
          "memory of this member's own operators");
    }
    return false;
  }
  void from_root(DeviceSpan values, int root, void (Collective::*send)(DeviceSpan, int)) {
    if (is_in_host_memory(values)) return (host_.*send)(values, root);
    by_chunks(values, [&](Tensor chunk, std::span<float> on_host) {
      if (rank() == root) operators_.copy_to_host(chunk, on_host);
      (host_.*send)(on_host, root);
      if (rank() != root) operators_.copy_from_host(on_host, chunk);
    });
  }
  static Tensor tensor(DeviceSpan x) { return {x.data, 1, x.count, x.count, x.dtype}; }

  template <typename Work>
  void by_chunks(DeviceSpan values, const Work& work) {
    std::vector<float> memory(static_cast<std::size_t>(std::min(kHostBlockElements, values.count)));
    for (std::int64_t first = 0; first < values.count; first += kHostBlockElements) {
      const std::int64_t count = std::min(kHostBlockElements, values.count - first);
      work(tensor(values.part(first, count)),
           std::span(memory).first(static_cast<std::size_t>(count)));
    }
  }
  std::vector<float> to_host(DeviceSpan from) {
    std::vector<float> values(static_cast<std::size_t>(from.count));
    if (from.count > 0) operators_.copy_to_host(tensor(from), values);
    return values;
  }

  Collective& host_;
  Operators& operators_;
};

}  // namespace

std::unique_ptr<Collective> through_host_collective(Collective& host, Operators& operators) {
  if (host.size() == 1) return solo_collective();
  return std::make_unique<ThroughHostCollective>(host, operators);
}

}  // namespace lie

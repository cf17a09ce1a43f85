#include "model/collective/through_host_collective.h"

#include <algorithm>
#include <vector>

#include "common/base/error.h"
#include "model/weights/host_blocks.h"

namespace lie {
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
    const auto is_host = [&](const DeviceSpan& span) { return is_in_host_memory(span); };
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
  bool is_in_host_memory(DeviceSpan values) const {
    if (values.place.is_host()) return true;
    if (values.place != operators_.place() || values.dtype != DType::kFloat32) {
      fail(
          "collective: values in device memory must be fp32 and in the memory of this member's own "
          "operators");
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

#include "tools/run/staged_collective.h"

#include <algorithm>
#include <vector>

#include "common/error.h"
#include "model/host_parts.h"

namespace lie {
namespace {

class StagedCollective : public Collective {
 public:
  StagedCollective(Collective& host, Operators& operators) : host_(host), operators_(operators) {}

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
    if (goes_as_it_is(values)) return host_.all_reduce_sum(values);
    by_parts(values, [&](Tensor part, std::span<float> staged) {
      operators_.copy_to_host(part, staged);
      host_.all_reduce_sum(staged);
      operators_.copy_from_host(staged, part);
    });
  }
  void reduce_scatter_sum(DeviceSpan whole, DeviceSpan slice) override {
    if (goes_as_it_is(whole)) return host_.reduce_scatter_sum(whole, slice);
    std::vector<float> values = to_host(whole);
    const DeviceSpan own = slice_of(std::span(values), rank(), size());
    host_.reduce_scatter_sum(std::span(values), own);
    to_device(own, slice);
  }
  void all_gather(DeviceSpan slice, DeviceSpan whole) override {
    if (goes_as_it_is(whole)) return host_.all_gather(slice, whole);
    std::vector<float> own = to_host(slice), values(static_cast<std::size_t>(whole.count));
    host_.all_gather(std::span(own), std::span(values));
    to_device(std::span(values), whole);
  }

 private:
  bool goes_as_it_is(DeviceSpan values) const {
    if (values.place.is_host()) return true;
    if (values.place != operators_.place() || values.dtype != DType::kFloat32) {
      fail("collective: only fp32 in the memory of the group's own operators can be staged");
    }
    return false;
  }
  void from_root(DeviceSpan values, int root, void (Collective::*send)(DeviceSpan, int)) {
    if (goes_as_it_is(values)) return (host_.*send)(values, root);
    by_parts(values, [&](Tensor part, std::span<float> staged) {
      if (rank() == root) operators_.copy_to_host(part, staged);
      (host_.*send)(staged, root);
      if (rank() != root) operators_.copy_from_host(staged, part);
    });
  }
  static Tensor tensor(DeviceSpan x) { return {x.data, 1, x.count, x.count, x.dtype}; }

  template <typename Work>
  void by_parts(DeviceSpan values, const Work& work) {
    std::vector<float> memory(static_cast<std::size_t>(std::min(kHostPartElements, values.count)));
    for (std::int64_t first = 0; first < values.count; first += kHostPartElements) {
      const std::int64_t count = std::min(kHostPartElements, values.count - first);
      work(tensor(values.part(first, count)),
           std::span(memory).first(static_cast<std::size_t>(count)));
    }
  }
  std::vector<float> to_host(DeviceSpan from) {
    std::vector<float> values(static_cast<std::size_t>(from.count));
    operators_.copy_to_host(tensor(from), values);
    return values;
  }
  void to_device(DeviceSpan from, DeviceSpan to) {
    operators_.copy_from_host(
        {static_cast<const float*>(from.data), static_cast<std::size_t>(from.count)}, tensor(to));
  }

  Collective& host_;
  Operators& operators_;
};

}  // namespace

std::unique_ptr<Collective> staged_collective(Collective& host, Operators& operators) {
  if (host.size() == 1) return solo_collective();  // nothing needs to travel
  return std::make_unique<StagedCollective>(host, operators);
}

}  // namespace lie

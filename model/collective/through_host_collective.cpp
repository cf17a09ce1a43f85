#include "tools/run/roles/staged_collective.h"

#include <algorithm>
#include <vector>

#include "common/base/error.h"
#include "model/weights/host_parts.h"

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
  void exchange(std::span<const DeviceSpan> out, std::span<const DeviceSpan> in) override {
    check_exchange(*this, out, in);
    const auto is_host = [&](const DeviceSpan& span) { return goes_as_it_is(span); };
    if (std::ranges::all_of(out, is_host) && std::ranges::all_of(in, is_host)) {
      return host_.exchange(out, in);
    }
    std::vector<std::vector<float>> sent, taken;
    for (const DeviceSpan& span : out) sent.push_back(to_host(span));
    for (const DeviceSpan& span : in) taken.emplace_back(static_cast<std::size_t>(span.count));
    host_.exchange(std::vector<DeviceSpan>(sent.begin(), sent.end()),
                   std::vector<DeviceSpan>(taken.begin(), taken.end()));
    for (std::size_t i = 0; i < taken.size(); ++i) {
      if (!taken[i].empty()) operators_.copy_from_host(taken[i], tensor(in[i]));
    }
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
    if (from.count > 0) operators_.copy_to_host(tensor(from), values);
    return values;
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

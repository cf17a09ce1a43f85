#include <cstring>

#include "common/comm/collective/collective.h"

namespace lie {
namespace {

class SoloCollective : public Collective {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void broadcast_bytes(std::span<std::byte>, int) override {}
  void broadcast(DeviceSpan, int) override {}
  void broadcast_as_bfloat16(DeviceSpan, int) override {}
  void all_reduce_sum(DeviceSpan) override {}
  void exchange(std::span<const DeviceSpan> out, std::span<const DeviceSpan> in) override {
    check_exchange(*this, out, in);
    const DeviceSpan from = out.front(), to = in.front();
    if (from.data == to.data || from.count == 0) return;
    const auto bytes = host_bytes(from, "a group of one");
    std::memcpy(host_bytes(to, "a group of one").data(), bytes.data(), bytes.size());
  }
};

}  // namespace

std::unique_ptr<Collective> solo_collective() { return std::make_unique<SoloCollective>(); }

}  // namespace lie

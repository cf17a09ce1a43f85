#include "common/comm/collective/collective.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "common/base/dtype.h"
#include "common/base/error.h"

namespace lie {
namespace {

constexpr std::size_t kRoundedAtOnce = std::size_t{1} << 20;  // elements

std::span<float> host_floats(DeviceSpan values) {
  if (!values.place.is_host() || values.dtype != DType::kFloat32) {
    fail("collective: only fp32 in host memory is sent as bf16: set rollout.weights to float32");
  }
  return {static_cast<float*>(values.data), static_cast<std::size_t>(values.count)};
}

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

void Collective::broadcast_as_bfloat16(DeviceSpan values, int root) {
  std::span<float> rest = host_floats(values);
  std::vector<std::uint16_t> memory(std::min(kRoundedAtOnce, rest.size()));
  while (!rest.empty()) {
    const auto part = rest.first(std::min(kRoundedAtOnce, rest.size()));
    const auto sent = std::span(memory).first(part.size());
    if (rank() == root) std::ranges::transform(part, sent.begin(), to_bfloat16);
    broadcast_bytes(std::as_writable_bytes(sent), root);
    if (rank() != root) std::ranges::transform(sent, part.begin(), from_bfloat16);
    rest = rest.subspan(part.size());
  }
}

void check_exchange(const Collective& group, std::span<const DeviceSpan> out,
                    std::span<const DeviceSpan> in) {
  const auto size = static_cast<std::size_t>(group.size());
  if (out.size() != size || in.size() != size) {
    fail("collective: {} spans to send and {} to receive in a group of {}", out.size(), in.size(),
         size);
  }
  const auto me = static_cast<std::size_t>(group.rank());
  if (out[me].bytes() != in[me].bytes()) {
    fail("collective: a member sends itself {} bytes but receives {}", out[me].bytes(),
         in[me].bytes());
  }
}

void check_host_sum(DType dtype, std::string_view implementation) {
  if (dtype == DType::kBFloat16) fail("collective: {} adds fp32 and fp64 only", implementation);
}

std::span<std::byte> host_bytes(DeviceSpan values, std::string_view implementation) {
  if (!values.place.is_host()) {
    fail(
        "collective: {} supports host memory only, but {} elements are on CUDA device {}: use a "
        "group over NCCL, or copy them to the host",
        implementation, values.count, values.place.device);
  }
  return {static_cast<std::byte*>(values.data), static_cast<std::size_t>(values.bytes())};
}

std::unique_ptr<Collective> solo_collective() { return std::make_unique<SoloCollective>(); }

}  // namespace lie

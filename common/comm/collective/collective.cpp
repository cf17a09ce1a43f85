#include "common/comm/collective/collective.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "common/base/dtype.h"
#include "common/base/error.h"

namespace lie {
namespace {

constexpr std::size_t kRoundedAtOnce = std::size_t{1} << 20;  // elements
constexpr std::int64_t kPartBytes = 1 << 20;  // largest share of one member in a block of a sum

std::span<float> host_floats(DeviceSpan values) {
  if (!values.place.is_host() || values.dtype != DType::kFloat32) {
    fail("collective: only fp32 in host memory is sent as bf16: set rollout.weights to float32");
  }
  return {static_cast<float*>(values.data), static_cast<std::size_t>(values.count)};
}

using Spans = std::vector<DeviceSpan>;

/// Returns `parts` near-equal parts of a block.
Spans split(DeviceSpan block, std::int64_t parts) {
  Spans spans;
  for (std::int64_t i = 0; i < parts; ++i) {
    const std::int64_t begin = block.count * i / parts, end = block.count * (i + 1) / parts;
    spans.push_back(block.part(begin, end - begin));
  }
  return spans;
}

/// Adds all spans to the first one, in order.
template <typename T>
void add_up(const Spans& spans) {
  T* const sum = static_cast<T*>(spans.front().data);
  for (const DeviceSpan& span : std::span(spans).subspan(1)) {
    const T* const values = static_cast<const T*>(span.data);
    for (std::int64_t i = 0; i < span.count; ++i) sum[i] += values[i];
  }
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
    const auto bytes = host_bytes(from);
    std::memcpy(host_bytes(to).data(), bytes.data(), bytes.size());
  }
};

}  // namespace

std::unique_ptr<StartedExchange> Collective::start_exchange(std::span<const DeviceSpan> out,
                                                            std::span<const DeviceSpan> in) {
  struct Complete : StartedExchange {
    void wait() override {}
  };
  exchange(out, in);
  return std::make_unique<Complete>();
}

void Collective::broadcast(DeviceSpan values, int root) {
  broadcast_bytes(host_bytes(values), root);
}

void Collective::all_reduce_sum(DeviceSpan values) {
  host_bytes(values);  // refuses device memory before anything is sent
  if (values.dtype != DType::kFloat32 && values.dtype != DType::kFloat64) {
    fail("collective: a group of hosts adds fp32 and fp64 only");
  }
  const auto me = static_cast<std::size_t>(rank());
  std::vector<std::byte> memory;  // for the other members' values
  const std::int64_t most = kPartBytes / dtype_bytes(values.dtype) * size();
  for (std::int64_t done = 0; done < values.count; done += most) {
    const Spans parts = split(values.part(done, std::min(most, values.count - done)), size());
    const DeviceSpan own = parts[me];
    memory.resize(static_cast<std::size_t>(own.bytes() * size()));
    Spans received = split({memory.data(), own.count * size(), own.dtype, {}}, size());
    received[me] = own;
    exchange(parts, received);
    own.dtype == DType::kFloat64 ? add_up<double>(received) : add_up<float>(received);
    if (me > 0) std::ranges::copy(host_bytes(received.front()), host_bytes(own).begin());
    exchange(Spans(received.size(), own), parts);
  }
}

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

std::span<std::byte> host_bytes(DeviceSpan values) {
  if (!values.place.is_host()) {
    fail(
        "collective: this group supports host memory only, but {} elements are on CUDA device {}: "
        "use a group over NCCL, or copy them to the host",
        values.count, values.place.device);
  }
  return {static_cast<std::byte*>(values.data), static_cast<std::size_t>(values.bytes())};
}

std::unique_ptr<Collective> solo_collective() { return std::make_unique<SoloCollective>(); }

}  // namespace lie

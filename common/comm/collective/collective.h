// The group operations of weight sync and gradient reduction, over MPI (host memory), NCCL (device
// memory) or threads of one process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>

#include "common/base/device_span.h"

namespace lie {

/// A fixed group of participants. Every method is collective: all members call it in the same
/// order, each from one thread, with spans of the same count and dtype, and it blocks. Results have
/// the same bits on every member, and in every run of the same layout where the implementation adds
/// in a fixed order; each says which. Throws Error for a span in memory that the implementation
/// does not reach, and when the job is ending because another rank failed.
class Collective {
 public:
  virtual ~Collective() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// The root's bytes, in host memory, reach all members: headers, sizes, packed messages.
  virtual void broadcast_bytes(std::span<std::byte> bytes, int root) = 0;
  /// The root's values reach all members.
  virtual void broadcast(DeviceSpan values, int root) = 0;
  /// The root's fp32 values reach the others as bf16 (common/base/bfloat16.h) in half the bytes;
  /// the root keeps its own. Host memory, unless the implementation says more.
  virtual void broadcast_as_bfloat16(DeviceSpan values, int root);
  /// Element-wise sum over members, in place on every member.
  virtual void all_reduce_sum(DeviceSpan values) = 0;
  /// out[j] reaches member j as its in[rank()]: spans of the same count on both ends, which may be
  /// 0; what is long goes in several calls. This member's own may be the same memory in both.
  virtual void exchange(std::span<const DeviceSpan> out, std::span<const DeviceSpan> in) = 0;
};

/// The root's value reaches all members.
template <typename Value>
requires std::is_trivially_copyable_v<Value>
void broadcast_value(Collective& group, Value& value, int root = 0) {
  group.broadcast_bytes(std::as_writable_bytes(std::span(&value, 1)), root);
}

/// The root's string or vector, of any length, reaches all members.
template <typename Values>
void broadcast_values(Collective& group, Values& values, int root = 0) {
  std::uint64_t size = values.size();
  broadcast_value(group, size, root);
  values.resize(size);
  group.broadcast_bytes(std::as_writable_bytes(std::span(values)), root);
}

/// The group of one: every operation is the identity. In place it takes memory of any kind.
std::unique_ptr<Collective> solo_collective();

// ---- For implementations

/// Throws Error unless there is a span for each member, and this member's own agree.
void check_exchange(const Collective& group, std::span<const DeviceSpan> out,
                    std::span<const DeviceSpan> in);
/// Throws Error that names `implementation` unless this is a dtype that hosts add in.
void check_host_sum(DType dtype, std::string_view implementation);
/// The span as host bytes; Error that names `implementation` where it lies elsewhere.
std::span<std::byte> host_bytes(DeviceSpan values, std::string_view implementation);

}  // namespace lie

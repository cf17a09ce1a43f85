// Group operations, used by weight sync and gradient reduction, over MPI (host memory), NCCL
// (device memory) or threads of one process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

#include "common/base/device_span.h"

namespace lie {

/// An exchange that has started: see Collective::start_exchange().
class StartedExchange {
 public:
  virtual ~StartedExchange() = default;
  /// Returns when this member has received everything. Blocks. Call it once.
  virtual void wait() = 0;
};

/// A fixed group of members. Every method is collective and blocks: all members call it in the same
/// order, each from one thread, with spans of the same count and dtype. Results are bit-identical
/// on all members. They are also bit-identical in every run of the same layout, unless the
/// implementation documents otherwise. Throws Error for a span in memory that the implementation
/// cannot reach, and when the job ends because another rank failed.
class Collective {
 public:
  virtual ~Collective() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Copies the root's bytes, in host memory, to all members: headers, sizes, packed messages.
  virtual void broadcast_bytes(std::span<std::byte> bytes, int root) = 0;
  /// Copies the root's values to all members.
  virtual void broadcast(DeviceSpan values, int root);
  /// Copies the root's fp32 values to the other members, rounded to bf16 (common/base/dtype.h),
  /// which halves the bytes. The root's values are unchanged. Spans must be in host memory unless
  /// the implementation documents more.
  virtual void broadcast_as_bfloat16(DeviceSpan values, int root);
  /// Replaces the values, fp32 or fp64, on every member by their element-wise sum over all members.
  /// Works in blocks, by two exchanges: each member adds its share of a block over all members, in
  /// rank order and beginning with member 0's value, and sends the sums to all. Each member of k
  /// sends 2 (k-1)/k of the data.
  virtual void all_reduce_sum(DeviceSpan values);
  /// Sends out[j] to member j, which receives it in its in[rank()]. Both spans have the same count,
  /// which may be 0. Split long data over several calls. This member's own spans may share memory.
  virtual void exchange(std::span<const DeviceSpan> out, std::span<const DeviceSpan> in) = 0;
  /// Starts exchange() with the values that all work of the device so far produces, so that later
  /// work of the device overlaps it. Until wait() of the result returns, that work must neither
  /// write to `out` nor use `in`. More exchanges may be started meanwhile, which take place one
  /// after the other, but no other method of this group may be called. Only NCCL overlaps; by
  /// default the exchange is complete when this function returns.
  virtual std::unique_ptr<StartedExchange> start_exchange(std::span<const DeviceSpan> out,
                                                          std::span<const DeviceSpan> in);
};

/// Copies the root's value to all members.
template <typename Value>
requires std::is_trivially_copyable_v<Value>
void broadcast_value(Collective& group, Value& value, int root = 0) {
  group.broadcast_bytes(std::as_writable_bytes(std::span(&value, 1)), root);
}

/// Copies the root's string or vector, of any length, to all members.
template <typename Values>
void broadcast_values(Collective& group, Values& values, int root = 0) {
  std::uint64_t size = values.size();
  broadcast_value(group, size, root);
  values.resize(size);
  group.broadcast_bytes(std::as_writable_bytes(std::span(values)), root);
}

/// Creates the group of one member, in which every operation is the identity. Operations in place
/// accept memory of any kind.
std::unique_ptr<Collective> solo_collective();

// ---- For implementations

/// Throws Error unless there is a span for each member, and this member's own two spans have the
/// same size.
void check_exchange(const Collective& group, std::span<const DeviceSpan> out,
                    std::span<const DeviceSpan> in);
/// Returns the span as host bytes. Throws Error if it is in device memory.
std::span<std::byte> host_bytes(DeviceSpan values);

}  // namespace lie

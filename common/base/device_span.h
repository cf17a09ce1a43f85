// Contiguous numbers with the memory that holds them: the arguments of collectives and weight sync.
#pragma once

#include <cstdint>
#include <span>

#include "common/base/dtype.h"

namespace lie {

/// The memory of the host, or of one CUDA device of this process.
struct MemoryPlace {
  static constexpr int kHost = -1;
  int device = kHost;  // number of the CUDA device

  bool is_host() const { return device == kHost; }
  bool operator==(const MemoryPlace&) const = default;
};

/// A view of `count` elements from `data` on. Does not own the memory.
struct DeviceSpan {
  void* data = nullptr;
  std::int64_t count = 0;
  DType dtype = DType::kFloat32;
  MemoryPlace place;

  DeviceSpan() = default;
  DeviceSpan(void* first, std::int64_t elements, DType type, MemoryPlace where)
      : data(first), count(elements), dtype(type), place(where) {}
  /// Makes a view of host memory.
  DeviceSpan(std::span<float> host)
      : data(host.data()), count(std::ssize(host)), dtype(DType::kFloat32) {}
  DeviceSpan(std::span<double> host)
      : data(host.data()), count(std::ssize(host)), dtype(DType::kFloat64) {}

  std::int64_t bytes() const { return count * dtype_bytes(dtype); }
  /// Returns the view of `elements` elements from `first` on.
  DeviceSpan part(std::int64_t first, std::int64_t elements) const {
    return {static_cast<char*>(data) + first * dtype_bytes(dtype), elements, dtype, place};
  }
};

}  // namespace lie

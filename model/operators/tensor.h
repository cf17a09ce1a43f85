// Views of and handles on the memory that an Operators implementation computes in.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "common/base/dtype.h"

namespace lie {

/// A view of a row-major matrix in the memory of one Operators (host or device). Owns nothing.
/// A vector is one row. Only Operators look at the elements.
struct Tensor {
  void* data = nullptr;
  std::int64_t rows = 0, cols = 0;
  std::int64_t stride = 0;  // elements from one row to the next
  DType dtype = DType::kFloat32;

  bool empty() const { return data == nullptr; }
  std::int64_t elements() const { return rows * cols; }

  /// Returns the rows [first, first + count).
  Tensor rows_at(std::int64_t first, std::int64_t count) const {
    return {at(first * stride), count, cols, stride, dtype};
  }
  /// Returns the columns [first, first + count).
  Tensor cols_at(std::int64_t first, std::int64_t count) const {
    return {at(first), rows, count, stride, dtype};
  }
  /// Returns the elements [first, first + count) as one row. The rows must be contiguous.
  Tensor elements_at(std::int64_t first, std::int64_t count) const {
    return {at(first), 1, count, count, dtype};
  }

 private:
  void* at(std::int64_t element) const {
    return static_cast<char*>(data) + element * dtype_bytes(dtype);
  }
};

/// 32-bit integers in the memory of one Operators. Owns nothing.
struct Indices {
  const std::int32_t* data = nullptr;
  std::int64_t count = 0;

  /// Returns the integers [first, first + length).
  Indices from(std::int64_t first, std::int64_t length) const { return {data + first, length}; }
};

/// A tensor that owns its memory; move-only. The owner is null if other code owns the memory (for
/// example the caller, in a CPU implementation).
class Buffer {
 public:
  using Owner = std::unique_ptr<void, void (*)(void*)>;

  Buffer()
      : owner_(
            nullptr, +[](void*) {}) {}
  Buffer(Tensor view, Owner owner) : view_(view), owner_(std::move(owner)) {}

  const Tensor& view() const { return view_; }
  bool empty() const { return view_.empty(); }

 private:
  Tensor view_;
  Owner owner_;
};

}  // namespace lie

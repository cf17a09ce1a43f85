// Memory of tensors whose number of rows differs between calls.
#pragma once

#include <algorithm>
#include <cstdint>

#include "model/operators/operators.h"

namespace lie {

/// A tensor that grows to the largest number of rows requested so far and never shrinks.
class GrowingTensor {
 public:
  /// Returns the first `rows` rows. Their content is undefined after growth.
  Tensor rows(Operators& operators, std::int64_t rows, std::int64_t cols, DType dtype) {
    if (buffer_.empty() || buffer_.view().rows < rows || buffer_.view().cols != cols) {
      const std::int64_t capacity = buffer_.empty() ? rows : rows + rows / 4;
      buffer_ = Buffer();
      buffer_ = operators.allocate(std::max<std::int64_t>(capacity, 1), cols, dtype);
    }
    return buffer_.view().rows_at(0, rows);
  }
  /// Returns rows in the operators' activation dtype.
  Tensor activations(Operators& operators, std::int64_t rows, std::int64_t cols) {
    return this->rows(operators, rows, cols, operators.activation_dtype());
  }
  /// Returns a tensor [1, rows] in fp32, with one number per row.
  Tensor statistics(Operators& operators, std::int64_t rows) {
    const Tensor column = this->rows(operators, rows, 1, DType::kFloat32);
    return {column.data, 1, rows, rows, DType::kFloat32};
  }

 private:
  Buffer buffer_;
};

}  // namespace lie

// Sums over rows, for gradients of norm weights.
#pragma once

#include <cstdint>

#include "model/cuda/kernels/numbers.h"

namespace lie::cuda {

/// The number of rows that are summed one after another. Blocks of rows are summed concurrently on
/// the GPU and then added in order. The first block starts at the result's previous value. So the
/// result is bit-identical to the CPU operators up to kRowBlock rows. Beyond, with n terms t and u
/// = 2^-24, this order has an error below (kRowBlock + n / kRowBlock) u sum|t| to first order, and
/// the CPU's order below n u sum|t|. They differ by no more than the sum of both.
constexpr std::int64_t kRowBlock = 256;
LIE_ROW std::int64_t row_blocks_of(std::int64_t rows) { return (rows + kRowBlock - 1) / kRowBlock; }

/// Sums one block of rows of one column. Terms is called with (row, column, sum before) and returns
/// the new sum. Its Row iterates over rows. `partial` is [blocks - 1, columns].
template <typename Terms>
struct RowBlockSums {
  Terms terms;
  std::int64_t rows, columns;
  float *sums, *partial;

  LIE_ROW void operator()(std::int64_t i) const {
    constexpr int kAtOnce = 8;  // loads in flight
    const std::int64_t block = i / columns, column = i % columns, first = block * kRowBlock;
    const std::int64_t left = rows - first;
    const int count = static_cast<int>(left < kRowBlock ? left : kRowBlock);
    float* const to = block == 0 ? sums + column : partial + (block - 1) * columns + column;
    float sum = block == 0 ? *to : 0.0f;
    typename Terms::Row row = terms.row(first);
    int n = 0;
    for (; n + kAtOnce <= count; n += kAtOnce) {
      for (int c = 0; c < kAtOnce; ++c, terms.next(row)) sum = terms(row, column, sum);
    }
    for (; n < count; ++n, terms.next(row)) sum = terms(row, column, sum);
    *to = sum;
  }
};

/// Adds the sums of the later blocks to the first.
struct AddRowBlocks {
  std::int64_t blocks, columns;
  float* sums;
  const float* partial;

  LIE_ROW void operator()(std::int64_t column) const {
    constexpr int kAtOnce = 32;  // loads in flight
    float sum = sums[column];
    std::int64_t b = 0;
    for (; b + kAtOnce < blocks; b += kAtOnce) {
      for (int c = 0; c < kAtOnce; ++c) sum += partial[(b + c) * columns + column];
    }
    for (; b + 1 < blocks; ++b) sum += partial[b * columns + column];
    sums[column] = sum;
  }
};

template <typename T>
struct NormWeightTerms {
  Rows<const T> dy, x;
  const float* inverse_rms;

  using Row = std::int64_t;
  LIE_ROW Row row(std::int64_t first) const { return first; }
  LIE_ROW void next(Row& row) const { ++row; }
  LIE_ROW float operator()(Row row, std::int64_t column, float sum) const {
    return fmaf(widen(dy[row][column]), widen(x[row][column]) * inverse_rms[row], sum);
  }
};

/// The terms of a sum over heads. A row has `heads` adjacent heads from `x` on: head h of row t is
/// row t * heads + h.
template <typename T>
struct HeadTerms {
  Rows<const T> x;
  std::int64_t heads, head_width;

  struct Row {
    std::int64_t row, head;
  };
  LIE_ROW Row row(std::int64_t first) const { return {first / heads, first % heads}; }
  LIE_ROW void next(Row& at) const {
    if (++at.head < heads) return;
    at = {at.row + 1, 0};
  }
  LIE_ROW float operator()(const Row& at, std::int64_t column, float sum) const {
    return sum + widen(x[at.row][at.head * head_width + column]);
  }
};

}  // namespace lie::cuda

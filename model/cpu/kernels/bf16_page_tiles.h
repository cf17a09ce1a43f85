// Attention's matmuls in bf16: up to 16 rows times pages of 16 positions, on the matrix unit or
// bit-identical in vector code. As in TileRun, each block of inner indices adds (the sum over
// even indices) + (the sum over odd indices), each from 0 in order. A block has 32 head dimensions
// (16 if no more remain) or 16 positions.
#pragma once

#include <cstdint>

#include "model/cpu/kernels/bf16_tiles.h"

namespace lie::cpu {

/// The pages of a sequence: keys [E / 2 pairs, 16 positions, 2], then values [E / 16, 8 pairs of
/// positions, 16, 2].
struct TilePages {
  std::int64_t width = 0;  // E
  const std::uint16_t* first = nullptr;
  std::int64_t stride = 0;              // elements from one page to the next in memory
  const std::int32_t* table = nullptr;  // page numbers; null: pages are consecutive
  std::int64_t count = 0;
  const std::uint16_t* last_values = nullptr;  // replaces the values of the last page unless null

  const std::uint16_t* keys(std::int64_t page) const {
    return first + (table == nullptr ? page : table[page]) * stride;
  }
  const std::uint16_t* values(std::int64_t page) const {
    if (last_values != nullptr && page == count - 1) return last_values;
    return keys(page) + kTileRows * width;
  }
  TilePages from(std::int64_t page) const {
    return {width, first + page * stride, stride, nullptr, count - page};
  }
};

struct TileRowsOf {
  const std::uint16_t* at = nullptr;
  std::int64_t stride = 0;
  std::int64_t count = 0;  // at most 16
};

/// Configures the matrix unit, if there is one, for the calling thread's matmuls of `rows` rows.
class AttentionUnit {
 public:
  explicit AttentionUnit(std::int64_t rows);
  ~AttentionUnit();
  AttentionUnit(const AttentionUnit&) = delete;
  AttentionUnit& operator=(const AttentionUnit&) = delete;
};

/// sums [rows, 16 count] = x [rows, E] times the keys of every page.
void multiply_keys(const TilePages& pages, const TileRowsOf& x, float* sums, std::int64_t stride);
/// sums [rows, E] = weights [rows, 16 count] times the values of every page, in order.
void multiply_values(const TilePages& pages, const TileRowsOf& weights, float* sums,
                     std::int64_t stride);
/// sums [width, 16] += x [width, 16] times right [8 pairs, 16, 2]. Requires an AttentionUnit of 16
/// rows.
void add_matmul_of_16(std::int64_t width, const std::uint16_t* x, const std::uint16_t* right,
                      float* sums);

/// Vector-code versions of the functions above, without the matrix unit.
void multiply_keys_in_vectors(const TilePages& pages, const TileRowsOf& x, float* sums,
                              std::int64_t stride);
void multiply_values_in_vectors(const TilePages& pages, const TileRowsOf& weights, float* sums,
                                std::int64_t stride);
void add_matmul_of_16_in_vectors(std::int64_t width, const std::uint16_t* x,
                                 const std::uint16_t* right, float* sums);

}  // namespace lie::cpu

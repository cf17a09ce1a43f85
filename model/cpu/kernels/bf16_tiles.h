// The arithmetic of matmuls in bf16: tile multiplication on a matrix unit (AMX), or
// bit-identical vector code without one.
#pragma once

#include <cstdint>

namespace lie::cpu {

constexpr std::int64_t kTileRows = 16;   // rows of both operands, and columns of the result
constexpr std::int64_t kTileDepth = 32;  // inner indices
constexpr std::int64_t kTile = kTileRows * kTileDepth;
inline std::int64_t tiles_for(std::int64_t depth) { return (depth + kTileDepth - 1) / kTileDepth; }

/// sums [16 row_blocks, 16 panels]: for each of `blocks` tiles in order,
///   sums[i, j] += (sum over even k of left[i, k] right[k, j]) + (sum over odd k of the same
///   terms),
/// each sum from 0 in the order of k, with fused multiply-add. Subnormal inputs and results are
/// zeros.
struct TileRun {
  const std::uint16_t* left = nullptr;   // consecutive tiles [16 rows, 32]
  std::int64_t next_left = 0;            // elements to the second row block's tiles
  const std::uint16_t* right = nullptr;  // tiles [16 pairs of inner indices, 16 columns, 2]
  std::int64_t next_right = 0;           // elements to the second panel's tiles
  std::int64_t blocks = 0;
  int row_blocks = 1, panels = 1;  // 1 or 2
  bool from_zero = true;           // else the sums' current values are the start
  float* sums = nullptr;
  std::int64_t sums_stride = 2 * kTileRows;
};

/// Returns whether this processor has a matrix unit (AMX) that the system lets this process use.
bool has_tile_unit();

/// Configures the matrix unit, if there is one, for the calling thread's tile runs.
class TileUnit {
 public:
  TileUnit();
  ~TileUnit();
  TileUnit(const TileUnit&) = delete;
  TileUnit& operator=(const TileUnit&) = delete;
};

/// Runs on the matrix unit, which a TileUnit of this thread must have configured, or without one.
void run_tiles(const TileRun& run);
/// Runs without the matrix unit.
void run_tiles_in_vectors(const TileRun& run);

}  // namespace lie::cpu

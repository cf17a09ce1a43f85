// The arithmetic of products in bf16: tiles as a matrix unit (AMX) multiplies them, and the same
// bits in vector code where there is none.
#pragma once

#include <cstdint>

namespace lie::cpu {

constexpr std::int64_t kTileRows = 16;   // of both operands, and columns of what they make
constexpr std::int64_t kTileDepth = 32;  // inner indices
constexpr std::int64_t kTile = kTileRows * kTileDepth;
inline std::int64_t tiles_for(std::int64_t depth) { return (depth + kTileDepth - 1) / kTileDepth; }

/// sums [16 row_blocks, 16 panels]: for each of `blocks` tiles in order,
///   sums[i, j] += (sum over even k of left[i, k] right[k, j]) + (the same over odd k),
/// each from 0 in the order of k, every term fused. Subnormal numbers, read or made, are zeros.
struct TileRun {
  const std::uint16_t* left = nullptr;   // tiles [16 rows, 32], one after another
  std::int64_t next_left = 0;            // elements to the second row block's
  const std::uint16_t* right = nullptr;  // tiles [16 pairs of inner indices, 16 columns, 2]
  std::int64_t next_right = 0;           // elements to the second panel's
  std::int64_t blocks = 0;
  int row_blocks = 1, panels = 1;  // 1 or 2
  bool from_zero = true;           // else from what the sums hold
  float* sums = nullptr;
  std::int64_t sums_stride = 2 * kTileRows;
};

/// Whether this processor multiplies tiles, and the system lets this process.
bool has_tile_unit();

/// Makes the matrix unit, where there is one, ready for the calling thread's runs.
class TileUnit {
 public:
  TileUnit();
  ~TileUnit();
  TileUnit(const TileUnit&) = delete;
  TileUnit& operator=(const TileUnit&) = delete;
};

/// By the matrix unit, which the thread's TileUnit has made ready, or without it.
void run_tiles(const TileRun& run);
/// Without it.
void run_tiles_in_vectors(const TileRun& run);

}  // namespace lie::cpu

#include "model/cpu/kernels/bf16_tiles.h"

#include "model/cpu/kernels/bf16_page_tiles.h"

#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

// The instructions of Intel's matrix unit (AMX), for tile numbers known at compile time. GCC's
// intrinsics require literal tile numbers and do not declare that they read memory.
namespace lie::cpu::unit {

/// The tile configuration in the format of LDTILECFG.
struct alignas(64) Shapes {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

inline void configure(const Shapes& shapes) { asm volatile("ldtilecfg %0" : : "m"(shapes)); }
inline void release() { asm volatile("tilerelease"); }

template <int kTile>
void zero() {
  asm volatile("tilezero %%tmm%c0" : : "i"(kTile));
}
template <int kTile>
void load(const void* from, std::int64_t row_bytes) {
  asm volatile("tileloadd (%0, %1), %%tmm%c2" : : "r"(from), "r"(row_bytes), "i"(kTile) : "memory");
}
template <int kTile>
void store(void* to, std::int64_t row_bytes) {
  asm volatile("tilestored %%tmm%c2, (%0, %1)" : : "r"(to), "r"(row_bytes), "i"(kTile) : "memory");
}
/// sum += left times right, with bf16 operands.
template <int kSum, int kLeft, int kRight>
void multiply_add() {
  asm volatile("tdpbf16ps %%tmm%c0, %%tmm%c1, %%tmm%c2" : : "i"(kRight), "i"(kLeft), "i"(kSum));
}

}  // namespace lie::cpu::unit

namespace lie::cpu {
namespace {

/// Requests permission for AMX tile data, which Linux requires per process.
bool ask_for_tiles() {
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

constexpr std::int64_t kTileBytes = 64;  // bytes of a tile's row

// Tiles 0 to 3 hold the sums, [row block][panel]. Tiles 4 and 5 hold the rows, 6 and 7 the panels.

/// Calls of.operator()<sum, row block, panel> for every tile of sums.
template <int kRowBlocks, int kPanels, typename F>
void each_sum(const F& of) {
  of.template operator()<0, 0, 0>();
  if constexpr (kPanels == 2) of.template operator()<1, 0, 1>();
  if constexpr (kRowBlocks == 2) of.template operator()<2, 1, 0>();
  if constexpr (kRowBlocks + kPanels == 4) of.template operator()<3, 1, 1>();
}

template <int kRowBlocks, int kPanels>
void run_on_unit(const TileRun& run) {
  const auto place = [&](int row_block, int panel) {
    return run.sums + (row_block * run.sums_stride + panel) * kTileRows;
  };
  each_sum<kRowBlocks, kPanels>([&]<int kSum, int kRow, int kPanel>() {
    if (run.from_zero) return unit::zero<kSum>();
    unit::load<kSum>(place(kRow, kPanel), run.sums_stride * 4);
  });
  const std::uint16_t* left = run.left;
  const std::uint16_t* right = run.right;
  for (std::int64_t i = 0; i < run.blocks; ++i, left += kTile, right += kTile) {
    unit::load<4>(left, kTileBytes);
    unit::load<6>(right, kTileBytes);
    if constexpr (kPanels == 2) unit::load<7>(right + run.next_right, kTileBytes);
    if constexpr (kRowBlocks == 2) unit::load<5>(left + run.next_left, kTileBytes);
    each_sum<kRowBlocks, kPanels>(
        []<int kSum, int kRow, int kPanel>() { unit::multiply_add<kSum, 4 + kRow, 6 + kPanel>(); });
  }
  each_sum<kRowBlocks, kPanels>([&]<int kSum, int kRow, int kPanel>() {
    unit::store<kSum>(place(kRow, kPanel), run.sums_stride * 4);
  });
}

}  // namespace

bool has_tile_unit() {
  static const bool has = __builtin_cpu_supports("amx-bf16") > 0 && ask_for_tiles();
  return has;
}

TileUnit::TileUnit() {
  static constexpr unit::Shapes kShapes;
  if (has_tile_unit()) unit::configure(kShapes);
}

TileUnit::~TileUnit() {
  if (has_tile_unit()) unit::release();
}

void run_tiles(const TileRun& run) {
  if (!has_tile_unit()) return run_tiles_in_vectors(run);
  if (run.row_blocks == 2) {
    run.panels == 2 ? run_on_unit<2, 2>(run) : run_on_unit<2, 1>(run);
  } else {
    run.panels == 2 ? run_on_unit<1, 2>(run) : run_on_unit<1, 1>(run);
  }
}

namespace {

constexpr int kLine = 64;  // bytes of a cache line and of a tile's row
constexpr std::int64_t kHalf = kTile / 2;

/// Tiles 0 to 3 hold sums. Tile 4 holds rows of 32 inner indices, tile 5 rows of 16. Tiles 6 and 7
/// hold the right operands of tiles 4 and 5.
unit::Shapes shapes_for(std::int64_t rows) {
  const auto count = static_cast<std::uint8_t>(rows);
  return {.row_bytes = {kLine, kLine, kLine, kLine, kLine, kLine / 2, kLine, kLine},
          .rows = {count, count, count, count, count, count, 16, 8}};
}

void prefetch(const std::uint16_t* from, std::int64_t elements) {
  for (std::int64_t i = 0; i < elements; i += kLine / 2) _mm_prefetch(from + i, _MM_HINT_T0);
}

/// Prefetches what is read in step `i`: the keys of all pages come first, then their values.
void prefetch_place(const TilePages& pages, std::int64_t i) {
  const std::int64_t elements = kTileRows * pages.width;
  if (i < pages.count) return prefetch(pages.keys(i), elements);
  if (i < 2 * pages.count) prefetch(pages.values(i - pages.count), elements);
}

template <int... kSum>
using Sums = std::integer_sequence<int, kSum...>;

template <int... kSum>
void keys_on_unit(Sums<kSum...>, const TilePages& pages, const TileRowsOf& x, std::int64_t page,
                  float* sums, std::int64_t stride) {
  constexpr std::int64_t kCount = sizeof...(kSum);
  const std::uint16_t* keys[] = {pages.keys(page + kSum)...};
  if (pages.table != nullptr) (prefetch_place(pages, page + kCount + kSum), ...);
  (unit::zero<kSum>(), ...);
  std::int64_t k = 0;
  for (; k + kTileDepth <= pages.width; k += kTileDepth) {
    unit::load<4>(x.at + k, x.stride * 2);
    ((unit::load<6>(keys[kSum] + k * kTileRows, kLine), unit::multiply_add<kSum, 4, 6>()), ...);
  }
  if (k < pages.width) {
    unit::load<5>(x.at + k, x.stride * 2);
    ((unit::load<7>(keys[kSum] + k * kTileRows, kLine), unit::multiply_add<kSum, 5, 7>()), ...);
  }
  (unit::store<kSum>(sums + (page + kSum) * kTileRows, stride * 4), ...);
}

/// Computes the columns of the values from 16 * panel on.
template <int... kSum>
void values_on_unit(Sums<kSum...>, const TilePages& pages, const TileRowsOf& weights,
                    std::int64_t panel, float* sums, std::int64_t stride) {
  (unit::zero<kSum>(), ...);
  for (std::int64_t page = 0; page < pages.count; ++page) {
    if (pages.table != nullptr && panel == 0) prefetch_place(pages, pages.count + page + 1);
    const std::uint16_t* values = pages.values(page) + panel * kHalf;
    unit::load<5>(weights.at + page * kTileRows, weights.stride * 2);
    ((unit::load<7>(values + kSum * kHalf, kLine), unit::multiply_add<kSum, 5, 7>()), ...);
  }
  (unit::store<kSum>(sums + (panel + kSum) * kTileRows, stride * 4), ...);
}

void add_16_on_unit(const std::uint16_t* x, const std::uint16_t* right, float* sums) {
  unit::load<0>(sums, kLine);
  unit::load<5>(x, kLine / 2);
  unit::load<7>(right, kLine);
  unit::multiply_add<0, 5, 7>();
  unit::store<0>(sums, kLine);
}

/// Calls some(Sums, i) for [0, count) in steps of four indices, then for the rest. Sums has one
/// tile per index.
template <typename F>
void by_fours(std::int64_t count, const F& some) {
  std::int64_t i = 0;
  for (; i + 4 <= count; i += 4) some(Sums<0, 1, 2, 3>(), i);
  if (count - i == 3) some(Sums<0, 1, 2>(), i);
  if (count - i == 2) some(Sums<0, 1>(), i);
  if (count - i == 1) some(Sums<0>(), i);
}

}  // namespace

AttentionUnit::AttentionUnit(std::int64_t rows) {
  if (has_tile_unit()) unit::configure(shapes_for(rows));
}

AttentionUnit::~AttentionUnit() {
  if (has_tile_unit()) unit::release();
}

void multiply_keys(const TilePages& pages, const TileRowsOf& x, float* sums, std::int64_t stride) {
  if (!has_tile_unit()) return multiply_keys_in_vectors(pages, x, sums, stride);
  by_fours(pages.count, [&](auto tiles, std::int64_t page) {
    keys_on_unit(tiles, pages, x, page, sums, stride);
  });
}

void multiply_values(const TilePages& pages, const TileRowsOf& weights, float* sums,
                     std::int64_t stride) {
  if (!has_tile_unit()) return multiply_values_in_vectors(pages, weights, sums, stride);
  by_fours(pages.width / kTileRows, [&](auto tiles, std::int64_t panel) {
    values_on_unit(tiles, pages, weights, panel, sums, stride);
  });
}

void add_matmul_of_16(std::int64_t width, const std::uint16_t* x, const std::uint16_t* right,
                      float* sums) {
  if (!has_tile_unit()) return add_matmul_of_16_in_vectors(width, x, right, sums);
  for (std::int64_t row = 0; row < width; row += kTileRows) {
    add_16_on_unit(x + row * kTileRows, right, sums + row * kTileRows);
  }
}

}  // namespace lie::cpu

#include "model/cpu/bf16_tiles.h"

#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LIE_TILE_UNIT __attribute__((target("amx-tile,amx-bf16")))

namespace lie::cpu {
namespace {

/// Linux saves the tiles of threads only where their process has asked for it.
bool ask_for_tiles() {
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

/// What LDTILECFG reads: all eight tiles of 16 rows of 64 bytes.
struct alignas(64) TileShapes {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

// Tiles 0 to 3 hold the sums, [row block][panel]; 4 and 5 the rows; 6 and 7 the panels.
constexpr int kTileBytes = 64;  // of a row

struct SumsPlace {
  explicit SumsPlace(const TileRun& run)
      : upper(run.sums),
        lower(run.sums + kTileRows * run.sums_stride),
        row_bytes(run.sums_stride * 4) {}
  float *upper, *lower;
  std::int64_t row_bytes;
};

template <int kRowBlocks, int kPanels>
LIE_TILE_UNIT void load_sums(const SumsPlace& at) {
  _tile_loadd(0, at.upper, at.row_bytes);
  if constexpr (kPanels == 2) _tile_loadd(1, at.upper + kTileRows, at.row_bytes);
  if constexpr (kRowBlocks == 2) _tile_loadd(2, at.lower, at.row_bytes);
  if constexpr (kRowBlocks + kPanels == 4) _tile_loadd(3, at.lower + kTileRows, at.row_bytes);
}

template <int kRowBlocks, int kPanels>
LIE_TILE_UNIT void store_sums(const SumsPlace& at) {
  _tile_stored(0, at.upper, at.row_bytes);
  if constexpr (kPanels == 2) _tile_stored(1, at.upper + kTileRows, at.row_bytes);
  if constexpr (kRowBlocks == 2) _tile_stored(2, at.lower, at.row_bytes);
  if constexpr (kRowBlocks + kPanels == 4) _tile_stored(3, at.lower + kTileRows, at.row_bytes);
}

LIE_TILE_UNIT void zero_sums() {
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
}

template <int kRowBlocks, int kPanels>
LIE_TILE_UNIT void run_on_unit(const TileRun& run) {
  asm volatile("" ::: "memory");  // GCC's tile loads do not say that they read memory
  const SumsPlace sums(run);
  run.from_zero ? zero_sums() : load_sums<kRowBlocks, kPanels>(sums);
  const std::uint16_t* left = run.left;
  const std::uint16_t* right = run.right;
  for (std::int64_t i = 0; i < run.blocks; ++i, left += kTile, right += kTile) {
    _tile_loadd(4, left, kTileBytes);
    _tile_loadd(6, right, kTileBytes);
    _tile_dpbf16ps(0, 4, 6);
    if constexpr (kPanels == 2) {
      _tile_loadd(7, right + run.next_right, kTileBytes);
      _tile_dpbf16ps(1, 4, 7);
    }
    if constexpr (kRowBlocks == 2) {
      _tile_loadd(5, left + run.next_left, kTileBytes);
      _tile_dpbf16ps(2, 5, 6);
    }
    if constexpr (kRowBlocks + kPanels == 4) _tile_dpbf16ps(3, 5, 7);
  }
  store_sums<kRowBlocks, kPanels>(sums);
}

LIE_TILE_UNIT void make_ready() {
  static constexpr TileShapes kShapes;
  _tile_loadconfig(&kShapes);
}

LIE_TILE_UNIT void put_away() { _tile_release(); }

}  // namespace

bool has_tile_unit() {
  static const bool has = __builtin_cpu_supports("amx-bf16") > 0 && ask_for_tiles();
  return has;
}

TileUnit::TileUnit() {
  if (has_tile_unit()) make_ready();
}

TileUnit::~TileUnit() {
  if (has_tile_unit()) put_away();
}

void run_tiles(const TileRun& run) {
  if (!has_tile_unit()) return run_tiles_in_vectors(run);
  if (run.row_blocks == 2) {
    run.panels == 2 ? run_on_unit<2, 2>(run) : run_on_unit<2, 1>(run);
  } else {
    run.panels == 2 ? run_on_unit<1, 2>(run) : run_on_unit<1, 1>(run);
  }
}

}  // namespace lie::cpu

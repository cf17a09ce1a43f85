#include "model/cpu/kernels/bf16_tiles.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "model/cpu/kernels/matrix_unit.h"

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

}  // namespace lie::cpu

#include "model/cpu/bf16_attention_tiles.h"

#include <immintrin.h>

#include <algorithm>

#define LIE_TILE_UNIT __attribute__((target("amx-tile,amx-bf16")))

namespace lie::cpu {
namespace {

constexpr int kLine = 64;  // bytes, also of a tile's row
constexpr std::int64_t kHalf = kTile / 2;

/// What LDTILECFG reads. Tiles 0 to 3 hold sums, 4 rows of 32 inner indices, 5 of 16; 6 and 7 the
/// right operands of these.
struct alignas(64) Shapes {
  explicit Shapes(std::uint8_t count) : rows{count, count, count, count, count, count, 16, 8} {}
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t row_bytes[16] = {kLine, kLine, kLine, kLine, kLine, kLine / 2, kLine, kLine};
  std::uint8_t rows[16];
};

// GCC's configuration and tile loads do not say which memory they read: what was written before
// must be there.
LIE_TILE_UNIT void make_ready(const Shapes& shapes) {
  asm volatile("" ::"r"(&shapes) : "memory");
  _tile_loadconfig(&shapes);
}
LIE_TILE_UNIT void put_away() { _tile_release(); }

void prefetch(const std::uint16_t* from, std::int64_t elements) {
  for (std::int64_t i = 0; i < elements; i += kLine / 2) _mm_prefetch(from + i, _MM_HINT_T0);
}

/// What is read in place `i`: the keys of all pages, then their values.
void prefetch_place(const TilePages& pages, std::int64_t i) {
  const std::int64_t elements = kTileRows * pages.width;
  if (i < pages.count) return prefetch(pages.keys(i), elements);
  if (i < 2 * pages.count) prefetch(pages.values(i - pages.count), elements);
}

template <int kCount>
LIE_TILE_UNIT void zero_sums() {
  _tile_zero(0);
  if constexpr (kCount > 1) _tile_zero(1);
  if constexpr (kCount > 2) _tile_zero(2);
  if constexpr (kCount > 3) _tile_zero(3);
}

/// The sums' tiles lie 16 columns apart.
template <int kCount>
LIE_TILE_UNIT void store_sums(float* sums, std::int64_t stride) {
  _tile_stored(0, sums, stride * 4);
  if constexpr (kCount > 1) _tile_stored(1, sums + kTileRows, stride * 4);
  if constexpr (kCount > 2) _tile_stored(2, sums + 2 * kTileRows, stride * 4);
  if constexpr (kCount > 3) _tile_stored(3, sums + 3 * kTileRows, stride * 4);
}

/// Sum i += tile 4 times what right(i) points to.
template <int kCount, typename F>
LIE_TILE_UNIT void add_32(const F& right) {
  _tile_loadd(6, right(0), kLine);
  _tile_dpbf16ps(0, 4, 6);
  if constexpr (kCount > 1) {
    _tile_loadd(6, right(1), kLine);
    _tile_dpbf16ps(1, 4, 6);
  }
  if constexpr (kCount > 2) {
    _tile_loadd(6, right(2), kLine);
    _tile_dpbf16ps(2, 4, 6);
  }
  if constexpr (kCount > 3) {
    _tile_loadd(6, right(3), kLine);
    _tile_dpbf16ps(3, 4, 6);
  }
}

/// Sum i += tile 5 times what right(i) points to.
template <int kCount, typename F>
LIE_TILE_UNIT void add_16(const F& right) {
  _tile_loadd(7, right(0), kLine);
  _tile_dpbf16ps(0, 5, 7);
  if constexpr (kCount > 1) {
    _tile_loadd(7, right(1), kLine);
    _tile_dpbf16ps(1, 5, 7);
  }
  if constexpr (kCount > 2) {
    _tile_loadd(7, right(2), kLine);
    _tile_dpbf16ps(2, 5, 7);
  }
  if constexpr (kCount > 3) {
    _tile_loadd(7, right(3), kLine);
    _tile_dpbf16ps(3, 5, 7);
  }
}

template <int kCount>
LIE_TILE_UNIT void keys_on_unit(const TilePages& pages, const TileRowsOf& x, std::int64_t page,
                                float* sums, std::int64_t stride) {
  const std::uint16_t* keys[kCount];
  for (int i = 0; i < kCount; ++i) {
    keys[i] = pages.keys(page + i);
    if (pages.table != nullptr) prefetch_place(pages, page + kCount + i);
  }
  zero_sums<kCount>();
  std::int64_t k = 0;
  for (; k + kTileDepth <= pages.width; k += kTileDepth) {
    _tile_loadd(4, x.at + k, x.stride * 2);
    add_32<kCount>([&](int i) { return keys[i] + k * kTileRows; });
  }
  if (k < pages.width) {
    _tile_loadd(5, x.at + k, x.stride * 2);
    add_16<kCount>([&](int i) { return keys[i] + k * kTileRows; });
  }
  store_sums<kCount>(sums + page * kTileRows, stride);
}

/// Columns of the values from 16 `panel` on.
template <int kCount>
LIE_TILE_UNIT void values_on_unit(const TilePages& pages, const TileRowsOf& weights,
                                  std::int64_t panel, float* sums, std::int64_t stride) {
  zero_sums<kCount>();
  for (std::int64_t page = 0; page < pages.count; ++page) {
    if (pages.table != nullptr && panel == 0) prefetch_place(pages, pages.count + page + 1);
    const std::uint16_t* values = pages.values(page) + panel * kHalf;
    _tile_loadd(5, weights.at + page * kTileRows, weights.stride * 2);
    add_16<kCount>([&](int i) { return values + i * kHalf; });
  }
  store_sums<kCount>(sums + panel * kTileRows, stride);
}

LIE_TILE_UNIT void add_16_on_unit(const std::uint16_t* x, const std::uint16_t* right, float* sums) {
  _tile_loadd(0, sums, kLine);
  _tile_loadd(5, x, kLine / 2);
  add_16<1>([&](int) { return right; });
  _tile_stored(0, sums, kLine);
}

/// Calls four<4>(i), or at the end fewer of them, for all i in [0, count).
template <typename F>
void by_fours(std::int64_t count, const F& some) {
  std::int64_t i = 0;
  for (; i + 4 <= count; i += 4) some.template operator()<4>(i);
  if (count - i == 3) some.template operator()<3>(i);
  if (count - i == 2) some.template operator()<2>(i);
  if (count - i == 1) some.template operator()<1>(i);
}

}  // namespace

AttentionUnit::AttentionUnit(std::int64_t rows) {
  if (has_tile_unit()) make_ready(Shapes(static_cast<std::uint8_t>(rows)));
}

AttentionUnit::~AttentionUnit() {
  if (has_tile_unit()) put_away();
}

void multiply_keys(const TilePages& pages, const TileRowsOf& x, float* sums, std::int64_t stride) {
  if (!has_tile_unit()) return multiply_keys_in_vectors(pages, x, sums, stride);
  asm volatile("" ::: "memory");
  by_fours(pages.count, [&]<int kCount>(std::int64_t page) {
    keys_on_unit<kCount>(pages, x, page, sums, stride);
  });
}

void multiply_values(const TilePages& pages, const TileRowsOf& weights, float* sums,
                     std::int64_t stride) {
  if (!has_tile_unit()) return multiply_values_in_vectors(pages, weights, sums, stride);
  asm volatile("" ::: "memory");
  by_fours(pages.width / kTileRows, [&]<int kCount>(std::int64_t panel) {
    values_on_unit<kCount>(pages, weights, panel, sums, stride);
  });
}

void add_product_of_16(std::int64_t width, const std::uint16_t* x, const std::uint16_t* right,
                       float* sums) {
  if (!has_tile_unit()) return add_product_of_16_in_vectors(width, x, right, sums);
  asm volatile("" ::: "memory");
  for (std::int64_t row = 0; row < width; row += kTileRows) {
    add_16_on_unit(x + row * kTileRows, right, sums + row * kTileRows);
  }
}

}  // namespace lie::cpu

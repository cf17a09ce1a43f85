// Functions shared by bf16 attention forward and backward. Included once per Highway target.
#if defined(LIE_MODEL_CPU_BF16_ATTENTION_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LIE_MODEL_CPU_BF16_ATTENTION_INL_H
#undef LIE_MODEL_CPU_BF16_ATTENTION_INL_H
#else
#define LIE_MODEL_CPU_BF16_ATTENTION_INL_H
#endif

#include "model/cpu/kernels/attention-inl.h"
#include "model/cpu/kernels/bf16-inl.h"
#include "model/cpu/kernels/bf16_page_tiles.h"

HWY_BEFORE_NAMESPACE();
namespace lie {
namespace HWY_NAMESPACE {

using cpu::kPage, cpu::Rows;
static_assert(kPage == cpu::kTileRows);

HWY_INLINE void zero_rows(Rows to, std::int64_t count) {
  for (std::int64_t r = 0; r < count; ++r) store16(zero16(), to[r]);
}

/// to [padded, width] = `count` rows rounded to bf16, then rows of zeros.
HWY_INLINE void round_rows(const float* rows, std::int64_t stride, std::int64_t count,
                           std::int64_t padded, std::int64_t width, std::uint16_t* to) {
  for (std::int64_t r = 0; r < count; ++r, rows += stride) {
    for (std::int64_t c = 0; c < width; c += 16, to += 16) store_rounded(load16(rows + c), to);
  }
  std::fill(to, to + (padded - count) * width, std::uint16_t{0});
}

/// Packs the values of a page in the layout of TilePages from `count` <= 16 rows. Missing rows are
/// zeros.
HWY_INLINE void pack_values(Rows rows, std::int64_t count, std::int64_t width, std::uint16_t* to) {
  for (std::int64_t c = 0; c < width; c += 16) {
    for (std::int64_t j = 0; j < kPage; j += 2, to += 32) {
      const V16 low = j < count ? load16(rows[j] + c) : zero16();
      const V16 high = j + 1 < count ? load16(rows[j + 1] + c) : zero16();
      store_words(rounded_pairs(low, high), reinterpret_cast<std::uint32_t*>(to));
    }
  }
}

/// Packs a sequence's rows as consecutive pages into `to`, [pages, 2, 16, width].
HWY_INLINE cpu::TilePages pack_pages(Rows keys, Rows values, std::int64_t length,
                                     std::int64_t width, std::uint16_t* to) {
  const cpu::TilePages pages{width, to, 2 * kPage * width, nullptr, pages_of(length)};
  for (std::int64_t p = 0; p < length; p += kPage, to += pages.stride) {
    const std::int64_t count = std::min(kPage, length - p);
    for (std::int64_t k = 0; k < width; k += cpu::kTileDepth) {
      // A tile of only 16 dimensions has zeros in its second half. That overlaps the values, which
      // are written afterwards.
      pack_tile(keys[p] + k, keys.stride, count, std::min(width - k, cpu::kTileDepth),
                to + k * kPage);
    }
    pack_values({values[p], values.stride}, count, width, to + kPage * width);
  }
  return pages;
}

}  // namespace HWY_NAMESPACE
}  // namespace lie
HWY_AFTER_NAMESPACE();

#endif  // LIE_MODEL_CPU_BF16_ATTENTION_INL_H

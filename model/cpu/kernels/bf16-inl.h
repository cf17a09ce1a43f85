// Rounding to bf16, packing of tile operands, and the matrix unit's arithmetic in vector code.
// Included once per Highway target.
#if defined(LIE_MODEL_CPU_BF16_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LIE_MODEL_CPU_BF16_INL_H
#undef LIE_MODEL_CPU_BF16_INL_H
#else
#define LIE_MODEL_CPU_BF16_INL_H
#endif

#include <immintrin.h>

#include <algorithm>

#include "common/base/dtype.h"
#include "model/cpu/kernels/bf16_tiles.h"
#include "model/cpu/kernels/vec16-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lie {
namespace HWY_NAMESPACE {

// ---- Rounding to bf16, as to_bfloat16() does

using Words = hn::RebindToUnsigned<Floats>;
using Bits = hn::Vec<Words>;

struct W16 {
  Bits part[kParts];
};

/// Returns bits whose upper half is the bf16 number nearest to x. The lower half is not cleared.
HWY_INLINE Bits nearest_bits(Vec x) {
  const Words d;
  const Bits bits = hn::BitCast(d, x);
  const Bits odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(d, 1u));
  const Bits nearest = hn::Add(bits, hn::Add(odd, hn::Set(d, 0x7fffu)));
  return hn::IfThenElse(hn::RebindMask(d, hn::IsNaN(x)), hn::Or(bits, hn::Set(d, 0x40'0000u)),
                        nearest);
}

/// Returns x rounded to bf16, as fp32.
HWY_INLINE V16 rounded(const V16& x) {
  return each(
      [](Vec v) {
        return hn::BitCast(Floats(), hn::And(nearest_bits(v), hn::Set(Words(), 0xffff'0000u)));
      },
      x);
}

HWY_INLINE void store_upper_half(Bits bits, std::uint16_t* to) {
  const hn::Rebind<std::uint16_t, Floats> narrow;
  hn::StoreU(hn::TruncateTo(narrow, hn::ShiftRight<16>(bits)), narrow, to);
}
HWY_INLINE void store_rounded(const V16& x, std::uint16_t* to) {
  for (int i = 0; i < kParts; ++i) store_upper_half(nearest_bits(x.part[i]), to + i * kLanes);
}
/// Stores x, which must be exact in bf16.
HWY_INLINE void store_exact(const V16& x, std::uint16_t* to) {
  for (int i = 0; i < kParts; ++i) {
    store_upper_half(hn::BitCast(Words(), x.part[i]), to + i * kLanes);
  }
}

/// Returns words with rounded `low` in the lower halves and rounded `high` in the upper halves.
HWY_INLINE W16 rounded_pairs(const V16& low, const V16& high) {
  W16 pairs;
  for (int i = 0; i < kParts; ++i) {
    pairs.part[i] = hn::Or(hn::ShiftRight<16>(nearest_bits(low.part[i])),
                           hn::And(nearest_bits(high.part[i]), hn::Set(Words(), 0xffff'0000u)));
  }
  return pairs;
}

HWY_INLINE W16 load_words(const std::uint16_t* pairs) {
  W16 words;
  for (int i = 0; i < kParts; ++i) {
    words.part[i] = hn::LoadU(Words(), reinterpret_cast<const std::uint32_t*>(pairs) + i * kLanes);
  }
  return words;
}
HWY_INLINE void store_words(const W16& words, std::uint32_t* to) {
  for (int i = 0; i < kParts; ++i) hn::StoreU(words.part[i], Words(), to + i * kLanes);
}

// ---- Tiles

/// Packs rows as left operands, [row blocks][tiles][16, 32], padded with zeros.
inline void pack_rows(const float* x, std::int64_t stride, std::int64_t rows, std::int64_t depth,
                      std::uint16_t* to) {
  const std::int64_t of_block = cpu::tiles_for(depth) * cpu::kTile;
  for (std::int64_t r = 0; r < (rows + cpu::kTileRows - 1) / cpu::kTileRows * cpu::kTileRows;
       ++r, x += stride) {
    std::uint16_t* row = to + r / cpu::kTileRows * of_block + r % cpu::kTileRows * cpu::kTileDepth;
    for (std::int64_t k = 0; k < depth; k += cpu::kTileDepth, row += cpu::kTile) {
      const std::int64_t there = r < rows ? depth - k : 0;
      store_rounded(load16(x + k, std::max<std::int64_t>(there, 0)), row);
      store_rounded(load16(x + k + 16, std::max<std::int64_t>(there - 16, 0)), row + 16);
    }
  }
}

/// Stores four vectors as columns: word i of all four goes to to + stride * i.
HWY_INLINE void store_columns(const W16 (&vectors)[4], std::uint32_t* to, std::int64_t stride) {
  const Words d;
  const hn::RepartitionToWide<Words> two;
  const hn::FixedTag<std::uint32_t, 4> four;
  for (int part = 0; part < kParts; ++part) {
    const auto low = [&](int v) {
      return hn::BitCast(two,
                         hn::InterleaveLower(d, vectors[v].part[part], vectors[v + 1].part[part]));
    };
    const auto high = [&](int v) {
      return hn::BitCast(two,
                         hn::InterleaveUpper(d, vectors[v].part[part], vectors[v + 1].part[part]));
    };
    // words[i] holds word i of each block of four words, from all four vectors.
    alignas(64) std::uint32_t words[4][kLanes];
    hn::Store(hn::BitCast(d, hn::InterleaveLower(two, low(0), low(2))), d, words[0]);
    hn::Store(hn::BitCast(d, hn::InterleaveUpper(two, low(0), low(2))), d, words[1]);
    hn::Store(hn::BitCast(d, hn::InterleaveLower(two, high(0), high(2))), d, words[2]);
    hn::Store(hn::BitCast(d, hn::InterleaveUpper(two, high(0), high(2))), d, words[3]);
    for (int i = 0; i < kLanes; ++i, to += stride) {
      hn::StoreU(hn::Load(four, words[i % 4] + i / 4 * 4), four, to);
    }
  }
}

/// Packs up to 16 rows of up to 32 columns as a right operand; see bf16_kernels.h.
inline void pack_tile(const float* rows, std::int64_t stride, std::int64_t count,
                      std::int64_t depth, std::uint16_t* tile) {
  alignas(64) std::uint16_t rounded[cpu::kTile];
  pack_rows(rows, stride, count, depth, rounded);
  for (std::int64_t r = 0; r < cpu::kTileRows; r += 4) {
    W16 pairs[4];
    for (int i = 0; i < 4; ++i) pairs[i] = load_words(rounded + (r + i) * cpu::kTileDepth);
    store_columns(pairs, reinterpret_cast<std::uint32_t*>(tile) + r, 16);
  }
}

// ---- The matrix unit's arithmetic

/// Treats subnormal numbers as zeros during the object's lifetime, as the matrix unit does.
class WithoutSubnormals {
 public:
  WithoutSubnormals() : before_(_mm_getcsr()) {
    constexpr unsigned kReadAsZero = 1U << 6, kMadeZero = 1U << 15;
    _mm_setcsr(before_ | kReadAsZero | kMadeZero);
  }
  ~WithoutSubnormals() { _mm_setcsr(before_); }
  WithoutSubnormals(const WithoutSubnormals&) = delete;
  WithoutSubnormals& operator=(const WithoutSubnormals&) = delete;

 private:
  unsigned before_;
};

/// The operands of one block of inner indices: some rows and one panel.
struct TileBlock {
  const std::uint16_t* left;  // [rows, depth]
  std::int64_t left_stride, rows;
  const std::uint16_t* right;  // [depth / 2 pairs, 16 columns, 2]
  std::int64_t depth;
};

/// sums [rows, 16] += (the sum over even k) + (the sum over odd k). Not inlined, so that the
/// compiler moves no part of it outside of WithoutSubnormals.
HWY_NOINLINE inline void add_block(const TileBlock& block, float* sums, std::int64_t stride) {
  for (std::int64_t r = 0; r < block.rows; ++r) {
    V16 even = zero16(), odd = zero16();
    for (std::int64_t k = 0; k < block.depth; k += 2) {
      const std::uint16_t* x = block.left + r * block.left_stride + k;
      const W16 pairs = load_words(block.right + k * cpu::kTileRows);
      for (int part = 0; part < kParts; ++part) {
        const Bits word = pairs.part[part];
        const Vec low = hn::BitCast(Floats(), hn::ShiftLeft<16>(word));
        const Vec high = hn::BitCast(Floats(), hn::And(word, hn::Set(Words(), 0xffff'0000u)));
        even.part[part] = hn::MulAdd(set1(from_bfloat16(x[0])), low, even.part[part]);
        odd.part[part] = hn::MulAdd(set1(from_bfloat16(x[1])), high, odd.part[part]);
      }
    }
    store16(add(load16(sums + r * stride), add(even, odd)), sums + r * stride);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace lie
HWY_AFTER_NAMESPACE();

#endif  // LIE_MODEL_CPU_BF16_INL_H

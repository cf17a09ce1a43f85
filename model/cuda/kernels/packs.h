// Loads and stores of sixteen bytes: a pack is a few adjacent elements of a row. Row functions are
// written for any number N of adjacent elements, and run with N = 1 if a tensor is not aligned.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "model/cuda/kernels/numbers.h"

namespace lie::cuda {

/// N adjacent elements, widened.
template <int N>
struct Floats {
  float x[N];
  LIE_ROW float operator[](int i) const { return x[i]; }
  LIE_ROW float& operator[](int i) { return x[i]; }
};

/// Converts between 64 bits of memory and the elements in them.
LIE_ROW std::uint64_t word_of(const float* x, float /*type*/) {
  return std::bit_cast<std::uint32_t>(x[0]) | std::uint64_t{std::bit_cast<std::uint32_t>(x[1])}
                                                  << 32;
}
LIE_ROW std::uint64_t word_of(const float* x, BFloat16 /*type*/) {
  const std::uint32_t low = to_bfloat16(x[0]) | std::uint32_t{to_bfloat16(x[1])} << 16,
                      high = to_bfloat16(x[2]) | std::uint32_t{to_bfloat16(x[3])} << 16;
  return low | std::uint64_t{high} << 32;
}
LIE_ROW void widen_word(std::uint64_t word, float* to, float /*type*/) {
  to[0] = std::bit_cast<float>(static_cast<std::uint32_t>(word));
  to[1] = std::bit_cast<float>(static_cast<std::uint32_t>(word >> 32));
}
LIE_ROW void widen_word(std::uint64_t word, float* to, BFloat16 /*type*/) {
  const auto low = static_cast<std::uint32_t>(word), high = static_cast<std::uint32_t>(word >> 32);
  to[0] = std::bit_cast<float>(low << 16);
  to[1] = std::bit_cast<float>(low & 0xffff'0000u);
  to[2] = std::bit_cast<float>(high << 16);
  to[3] = std::bit_cast<float>(high & 0xffff'0000u);
}

template <int N, typename T>
LIE_ROW Floats<N> load(const T* from) {
  if constexpr (N == 1) return {widen(*from)};
  constexpr int kOfWord = 8 / sizeof(T);
  Floats<N> out;
  for (int c = 0; c < N; c += 2 * kOfWord) {
    const Bytes16 in = *reinterpret_cast<const Bytes16*>(from + c);
    widen_word(static_cast<std::uint64_t>(in), out.x + c, T());
    widen_word(static_cast<std::uint64_t>(in >> 64), out.x + c + kOfWord, T());
  }
  return out;
}
template <int N, typename T>
LIE_ROW void store(const Floats<N>& from, T* to) {
  if constexpr (N == 1) return put(from[0], *to);
  constexpr int kOfWord = 8 / sizeof(T);
  for (int c = 0; c < N; c += 2 * kOfWord) {
    *reinterpret_cast<Bytes16*>(to + c) =
        word_of(from.x + c, T()) | Bytes16{word_of(from.x + c + kOfWord, T())} << 64;
  }
}

/// The number of elements of type T in a pack. With several types, that of the smallest.
template <typename... T>
constexpr int kPack = [] {
  int most = 0;
  ((most = 16 / static_cast<int>(sizeof(T)) > most ? 16 / static_cast<int>(sizeof(T)) : most), ...);
  return most;
}();

template <int N>
using Count = std::integral_constant<int, N>;

/// Runs body(row, column, Count<N>()) for N columns at a time, over all packs of some rows.
/// Requires fewer than 2^32 packs. `wide` tells whether all addresses are aligned.
template <typename Body>
struct OverPacks {
  Body body;
  std::int64_t width;
  bool wide;

  LIE_ROW std::int64_t packs() const { return (width + Body::kSize - 1) / Body::kSize; }
  LIE_ROW void operator()(std::int64_t item) const {
    const auto at = static_cast<std::uint32_t>(item), all = static_cast<std::uint32_t>(packs());
    const std::int64_t row = at / all, first = std::int64_t{at % all} * Body::kSize;
    if (wide) return body(row, first, Count<Body::kSize>());
    for (std::int64_t i = first; i < first + Body::kSize && i < width; ++i)
      body(row, i, Count<1>());
  }
};

/// Calls f(column, Count<N>()) for N columns at a time, distributed over the threads of a block.
template <int N, typename Block, typename F>
LIE_ROW void each_pack(const Block& block, std::int64_t width, bool wide, const F& f) {
  if (wide) return block.each(width / N, [&](std::int64_t pack) { f(pack * N, Count<N>()); });
  block.each(width, [&](std::int64_t i) { f(i, Count<1>()); });
}

}  // namespace lie::cuda

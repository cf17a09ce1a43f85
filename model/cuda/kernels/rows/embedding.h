// Embedding and its gradient.
#pragma once

#include <cstdint>

#include "model/cuda/kernels/numbers.h"
#include "model/cuda/kernels/packs.h"

namespace lie::cuda {

template <typename From, typename T>
struct Embed {
  static constexpr int kSize = kPack<From, T>;
  Rows<const From> table;
  const std::int32_t* tokens;
  Rows<T> y;

  template <int N>
  LIE_ROW void operator()(std::int64_t row, std::int64_t i, Count<N> /*n*/) const {
    store(load<N>(table[tokens[row]] + i), y[row] + i);
  }
};

/// Links the rows of each token: links[row] is the next row of the same token, or `rows` if there
/// is none, and ~that for the token's first row.
struct LinkRows {
  const std::int32_t* tokens;
  std::int32_t rows;
  std::int32_t* links;

  template <typename Lanes>
  LIE_ROW void operator()(const Lanes& lanes, std::int64_t item) const {
    constexpr int kAtOnce = 8;  // loads in flight
    const auto row = static_cast<std::int32_t>(item), token = tokens[row];
    std::int32_t next = rows;
    bool is_first = true;
    const auto same_at = [&](std::int32_t i) { return i < rows && tokens[i] == token; };
    for (std::int32_t begin = 0; begin < rows && next == rows; begin += kAtOnce * kLanes) {
      const std::uint32_t any = lanes.where([&](int lane) {
        bool same = false;
        for (int c = 0; c < kAtOnce; ++c) same |= same_at(begin + c * kLanes + lane);
        return same;
      });
      if (any == 0) continue;
      for (std::int32_t first = begin; first < begin + kAtOnce * kLanes; first += kLanes) {
        std::uint32_t same = lanes.where([&](int lane) { return same_at(first + lane); });
        for (std::int32_t other = first; same != 0; same >>= 1, ++other) {
          if ((same & 1u) == 0) continue;
          is_first = is_first && other >= row;
          if (other > row && next == rows) next = other;
        }
      }
    }
    lanes.once([&] { links[row] = is_first ? ~next : next; });
  }
};

/// The first row of a token adds all rows of that token in order, for one pack of columns.
template <typename T>
struct EmbedBackward {
  static constexpr int kSize = kPack<T>;
  Rows<const T> dy;
  const std::int32_t *tokens, *links;  // of LinkRows
  std::int32_t rows;
  Rows<float> dtable;

  template <int N>
  LIE_ROW void operator()(std::int64_t row, std::int64_t i, Count<N> /*n*/) const {
    constexpr int kAtOnce = 4;    // loads in flight
    if (links[row] >= 0) return;  // another row adds this row
    float* const table = dtable[tokens[row]] + i;
    Floats<N> sum = load<N>(table);
    auto other = static_cast<std::int32_t>(row);
    while (other < rows) {
      Floats<N> d[kAtOnce];
      int count = 0;
      for (int k = 0; k < kAtOnce; ++k) {
        if (other >= rows) continue;
        d[k] = load<N>(dy[other] + i);
        other = other == row ? ~links[other] : links[other];
        count = k + 1;
      }
      for (int k = 0; k < kAtOnce; ++k) {
        for (int c = 0; c < N && k < count; ++c) sum[c] = sum[c] + d[k][c];
      }
    }
    store(sum, table);
  }
};

}  // namespace lie::cuda

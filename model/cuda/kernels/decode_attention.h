// Attention of decode rows over pages, bit-identical to the CPU operators
// (model/cpu/kernels/attention_kernels.cpp). The steps are: scores of blocks of positions, softmax
// of a row's scores, sums of values per block, and the sum of these sums in order. Each step is a
// separate kernel. A long sequence then occupies as much of the device as many short ones, and is
// split at the same positions in every batch. StoreKv in rows.h defines the layout of a page.
#pragma once

#include <cstdint>
#include <type_traits>

#include "model/cuda/kernels/numbers.h"
#include "model/operators/operators.h"

namespace lie::cuda {

/// Sixteen bytes aligned to sixteen bytes, which one instruction loads.
template <typename T>
struct alignas(16) Pack {
  static constexpr int kSize = 16 / sizeof(T);
  T of[kSize];
  LIE_ROW static Pack at(const T* first) { return *reinterpret_cast<const Pack*>(first); }
};

/// The arguments of one call over pages: its rows, and the intermediate results of the kernels in
/// fp32.
template <typename T>
struct PagedAttention {
  static constexpr std::int64_t kPage = Operators::kPageTokens;
  static constexpr std::int64_t kPositions = 256;    // positions of a block
  static constexpr int kHeads = Pack<float>::kSize;  // query heads that share a load of keys

  Rows<const T> queries;  // [T, H*E]
  Rows<const T> pool;
  std::int64_t heads, kv_heads, width, layer;
  const std::int32_t *positions, *sequences, *table;
  std::int64_t table_width, stretches;  // stretches: blocks of the longest row
  float scale;                          // factor of the scores
  float* scores;                        // [T, H, stretches, kPositions], then their exponentials
  float* sums;                          // [T, H, stretches, E] of weighted values
  float* inverse;                       // [T, H] 1 / sum of the exponentials
  Rows<float> log_sums;                 // [T, H] of the scores, or data null

  /// Returns the number of floats of scores, sums and inverse per row.
  static std::int64_t scratch(std::int64_t heads, std::int64_t width, std::int64_t stretches) {
    return heads * (stretches * (kPositions + width) + 1);
  }
  LIE_ROW std::int64_t length(std::int64_t row) const { return positions[row] + std::int64_t{1}; }
  LIE_ROW static std::int64_t stretches_of(std::int64_t length) {
    return (length + kPositions - 1) / kPositions;
  }
  LIE_ROW float* scores_of(std::int64_t row, std::int64_t head) const {
    return scores + (row * heads + head) * stretches * kPositions;
  }
  LIE_ROW float* sums_of(std::int64_t row, std::int64_t head) const {
    return sums + (row * heads + head) * stretches * width;
  }
  LIE_ROW const T* key(std::int64_t row, std::int64_t kv_head, std::int64_t position) const {
    const std::int64_t page = table[sequences[row] * table_width + position / kPage];
    return pool[page] + 2 * layer * kPage * kv_heads * width +
           (kv_head * kPage + position % kPage) * width;
  }
  LIE_ROW const T* value(std::int64_t row, std::int64_t kv_head, std::int64_t position) const {
    return key(row, kv_head, position) + kPage * kv_heads * width;
  }
};

/// The work of a thread block: some blocks of positions of up to kHeads query heads of one kv-head.
struct PagedShare {
  std::int64_t row, kv_head, first_head, head_count, first;  // first: position

  /// Returns the number of groups of kHeads query heads per kv-head.
  template <typename T>
  LIE_ROW static std::int64_t chunks(const PagedAttention<T>& of) {
    return (of.heads / of.kv_heads + of.kHeads - 1) / of.kHeads;
  }
  /// Decodes `item` of [T, K, chunks, parts] with `positions` positions per part.
  template <typename T>
  LIE_ROW PagedShare(const PagedAttention<T>& of, std::int64_t item, std::int64_t parts,
                     std::int64_t positions)
      : first(item % parts * positions) {
    const std::int64_t all = item / parts, chunk = all % chunks(of), group = of.heads / of.kv_heads;
    row = all / chunks(of) / of.kv_heads;
    kv_head = all / chunks(of) % of.kv_heads;
    first_head = kv_head * group + chunk * of.kHeads;
    const std::int64_t left = group - chunk * of.kHeads;
    head_count = left < of.kHeads ? left : std::int64_t{of.kHeads};
  }
};

template <typename T>
struct PagedScores {
  using Of = PagedAttention<T>;
  Of of;

  std::int64_t items(std::int64_t rows) const {
    return rows * of.kv_heads * PagedShare::chunks(of) * of.stretches;
  }
  std::int64_t shared_bytes() const { return of.width * Of::kHeads * 4; }

  template <typename Block>
  LIE_ROW void operator()(const Block& block, std::int64_t item) const {
    const PagedShare share(of, item, of.stretches, Of::kPositions);
    const std::int64_t length = of.length(share.row);
    if (share.first >= length) return;
    float* const q = static_cast<float*>(block.memory);  // [E, kHeads]
    block.each(of.width * Of::kHeads, [&](std::int64_t i) {
      const std::int64_t head = i % Of::kHeads, column = i / Of::kHeads;
      q[i] = head < share.head_count
                 ? widen(of.queries[share.row][(share.first_head + head) * of.width + column])
                 : 0.0f;
    });
    block.wait();
    block.each(Of::kPositions, [&](std::int64_t i) {
      float s[Of::kHeads] = {};
      const bool sees = share.first + i < length;
      if (sees) add_products(of.key(share.row, share.kv_head, share.first + i), q, s);
      for (int h = 0; h < Of::kHeads; ++h) {
        if (h >= share.head_count) continue;
        of.scores_of(share.row, share.first_head + h)[share.first + i] =
            sees ? s[h] * of.scale : -kInfinity;
      }
    });
  }

 private:
  LIE_ROW void add_products(const T* key, const float* q, float (&s)[Of::kHeads]) const {
    for (std::int64_t d = 0; d < of.width; d += Pack<T>::kSize) {
      const Pack<T> k = Pack<T>::at(key + d);
      for (int c = 0; c < Pack<T>::kSize; ++c) {
        const Pack<float> of_heads = Pack<float>::at(q + (d + c) * Of::kHeads);
        for (int h = 0; h < Of::kHeads; ++h) s[h] = fmaf(of_heads.of[h], widen(k.of[c]), s[h]);
      }
    }
  }
};

/// Replaces the scores of each row and head by exp(score - largest).
template <typename T>
struct PagedSoftmax {
  using Of = PagedAttention<T>;
  static constexpr std::int64_t kSteps = Of::kPositions / kLanes;  // per lane and position block
  Of of;

  std::int64_t shared_bytes() const { return of.stretches * (1 + kLanes) * 4; }
  template <typename Block>
  LIE_ROW void operator()(const Block& block, std::int64_t item) const {
    float* const x = of.scores_of(item / of.heads, item % of.heads);
    const std::int64_t count = Of::stretches_of(of.length(item / of.heads));
    float* const best = static_cast<float*>(block.memory);
    float* const parts = best + of.stretches;  // [stretches, lanes]
    block.rows(count, [&](const auto& lanes, std::int64_t stretch) {
      typename std::remove_cvref_t<decltype(lanes)>::template Of<float> mine;
      lanes.each([&](int lane) {
        mine[lane] = -kInfinity;
        for (std::int64_t i = 0; i < kSteps; ++i) {
          mine[lane] = larger(mine[lane], x[stretch * Of::kPositions + i * kLanes + lane]);
        }
      });
      const float top = lanes.fold(mine, larger);
      lanes.once([&] { best[stretch] = top; });
    });
    block.wait();
    float top = -kInfinity;
    for (std::int64_t stretch = 0; stretch < count; ++stretch) top = larger(top, best[stretch]);
    block.each(count * kLanes, [&](std::int64_t part) {
      float* const at = x + part / kLanes * Of::kPositions + part % kLanes;
      float sum = 0;
      for (std::int64_t i = 0; i < kSteps; ++i) {
        at[i * kLanes] = exp_of(at[i * kLanes] - top);
        sum += at[i * kLanes];
      }
      parts[part] = sum;
    });
    block.wait();
    block.rows(1, [&](const auto& lanes, std::int64_t) {
      typename std::remove_cvref_t<decltype(lanes)>::template Of<float> sum;
      lanes.each([&](int lane) {
        for (std::int64_t s = 0; s < count; ++s) sum[lane] += parts[s * kLanes + lane];
      });
      const float all = lanes.fold(sum, plus);
      lanes.once([&] {
        of.inverse[item] = 1.0f / all;
        if (of.log_sums.data != nullptr) {
          of.log_sums[item / of.heads][item % of.heads] = top + log_of(all);
        }
      });
    });
  }
};

template <typename T>
struct PagedValues {
  using Of = PagedAttention<T>;
  /// Position blocks of a thread block: one thread for each of 2 * 128 columns.
  static constexpr std::int64_t kStretches = 2;
  Of of;

  LIE_ROW std::int64_t parts() const { return (of.stretches + kStretches - 1) / kStretches; }
  std::int64_t items(std::int64_t rows) const {
    return rows * of.kv_heads * PagedShare::chunks(of) * parts();
  }
  std::int64_t shared_bytes() const { return kStretches * Of::kPositions * Of::kHeads * 4; }

  template <typename Block>
  LIE_ROW void operator()(const Block& block, std::int64_t item) const {
    const PagedShare share(of, item, parts(), kStretches * Of::kPositions);
    const std::int64_t left = of.length(share.row) - share.first;
    if (left <= 0) return;
    float* const weights = static_cast<float*>(block.memory);  // [positions, kHeads]
    block.each(kStretches * Of::kPositions * Of::kHeads, [&](std::int64_t i) {
      const std::int64_t head = i % Of::kHeads, position = i / Of::kHeads;
      const bool is_one = head < share.head_count && position < left;
      weights[i] =
          is_one ? of.scores_of(share.row, share.first_head + head)[share.first + position] : 0.0f;
    });
    block.wait();
    block.each(kStretches * of.width, [&](std::int64_t i) {
      sum_column(share, weights, i / of.width * Of::kPositions, left, i % of.width);
    });
  }

 private:
  /// Sums the block of positions that begins at the share's position `begin`. `left` is the number
  /// of positions that the row sees from the share's first on.
  LIE_ROW void sum_column(const PagedShare& share, const float* weights, std::int64_t begin,
                          std::int64_t left, std::int64_t column) const {
    const std::int64_t end = left < begin + Of::kPositions ? left : begin + Of::kPositions;
    if (begin >= end) return;
    float sum[Of::kHeads] = {};
    for (std::int64_t page = begin; page < end; page += Of::kPage) {
      const T* const values = of.value(share.row, share.kv_head, share.first + page) + column;
      for (int p = 0; p < Of::kPage; ++p) {
        if (page + p >= end) continue;
        const float v = widen(values[p * of.width]);
        const Pack<float> of_heads = Pack<float>::at(weights + (page + p) * Of::kHeads);
        for (int h = 0; h < Of::kHeads; ++h) sum[h] = fmaf(of_heads.of[h], v, sum[h]);
      }
    }
    const std::int64_t stretch = (share.first + begin) / Of::kPositions;
    for (int h = 0; h < Of::kHeads; ++h) {
      if (h >= share.head_count) continue;
      of.sums_of(share.row, share.first_head + h)[stretch * of.width + column] = sum[h];
    }
  }
};

/// Adds the blocks' sums to y [T, H*E], element by element.
template <typename T>
struct PagedJoin {
  PagedAttention<T> of;
  Rows<T> y;

  LIE_ROW void operator()(std::int64_t element) const {
    const std::int64_t cols = of.heads * of.width, row = element / cols, i = element % cols;
    const std::int64_t head = i / of.width, column = i % of.width;
    const std::int64_t count = of.stretches_of(of.length(row));
    const float* const sums = of.sums_of(row, head) + column;
    float total = sums[0];
    for (std::int64_t stretch = 1; stretch < count; ++stretch) total += sums[stretch * of.width];
    put(total * of.inverse[row * of.heads + head], y[row][i]);
  }
};

}  // namespace lie::cuda

// Attention of decode rows over pages, bit-identical to the CPU operators
// (model/cpu/kernels/attention_kernels.cpp). A sequence is divided into splits of kPositions
// positions. The steps are: scores per split, softmax of a row's scores, sums of values per split,
// and the sum of these sums in order. Each step is a separate kernel. A long sequence then occupies
// as much of the device as many short ones, and is divided at the same positions in every batch.
// StoreKv in rows.h defines the layout of a page.
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
  T values[kSize];
  LIE_ROW static Pack at(const T* first) { return *reinterpret_cast<const Pack*>(first); }
};

/// The arguments of one call over pages: its rows, and the intermediate results of the kernels in
/// fp32.
template <typename T>
struct PagedAttention {
  static constexpr std::int64_t kPage = Operators::kPageTokens;
  static constexpr std::int64_t kPositions = 256;    // positions of a split
  static constexpr int kHeads = Pack<float>::kSize;  // query heads that share a load of keys

  Rows<const T> queries;  // [T, H*E]
  Rows<const T> pool;
  std::int64_t heads, kv_heads, width, layer;
  const std::int32_t *positions, *sequences, *table;
  std::int64_t table_width, splits;  // splits: of the longest row
  float scale;                       // factor of the scores
  float* scores;                     // [T, H, splits, kPositions], then their exponentials
  float* sums;                       // [T, H, splits, E] of weighted values
  float* inverse;                    // [T, H] 1 / sum of the exponentials
  Rows<float> log_sums;              // [T, H] of the scores, or data null

  /// Returns the number of floats of scores, sums and inverse per row.
  static std::int64_t scratch(std::int64_t heads, std::int64_t width, std::int64_t splits) {
    return heads * (splits * (kPositions + width) + 1);
  }
  LIE_ROW std::int64_t length(std::int64_t row) const { return positions[row] + std::int64_t{1}; }
  LIE_ROW static std::int64_t splits_of(std::int64_t length) {
    return (length + kPositions - 1) / kPositions;
  }
  LIE_ROW float* scores_of(std::int64_t row, std::int64_t head) const {
    return scores + (row * heads + head) * splits * kPositions;
  }
  LIE_ROW float* sums_of(std::int64_t row, std::int64_t head) const {
    return sums + (row * heads + head) * splits * width;
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

/// The work of a thread block: some splits of up to kHeads query heads of one kv-head.
struct PagedShare {
  std::int64_t row, kv_head, first_head, head_count, first;  // first: position

  /// Returns the number of groups of kHeads query heads per kv-head.
  template <typename T>
  LIE_ROW static std::int64_t chunks(const PagedAttention<T>& attention) {
    return (attention.heads / attention.kv_heads + attention.kHeads - 1) / attention.kHeads;
  }
  /// Decodes `item` of [T, K, chunks, parts] with `positions` positions per part.
  template <typename T>
  LIE_ROW PagedShare(const PagedAttention<T>& attention, std::int64_t item, std::int64_t parts,
                     std::int64_t positions)
      : first(item % parts * positions) {
    const std::int64_t all = item / parts, chunk = all % chunks(attention),
                       group = attention.heads / attention.kv_heads;
    row = all / chunks(attention) / attention.kv_heads;
    kv_head = all / chunks(attention) % attention.kv_heads;
    first_head = kv_head * group + chunk * attention.kHeads;
    const std::int64_t left = group - chunk * attention.kHeads;
    head_count = left < attention.kHeads ? left : std::int64_t{attention.kHeads};
  }
};

template <typename T>
struct PagedScores {
  using Attention = PagedAttention<T>;
  Attention attention;

  std::int64_t items(std::int64_t rows) const {
    return rows * attention.kv_heads * PagedShare::chunks(attention) * attention.splits;
  }
  std::int64_t shared_bytes() const { return attention.width * Attention::kHeads * 4; }

  template <typename Block>
  LIE_ROW void operator()(const Block& block, std::int64_t item) const {
    const PagedShare share(attention, item, attention.splits, Attention::kPositions);
    const std::int64_t length = attention.length(share.row);
    if (share.first >= length) return;
    float* const q = static_cast<float*>(block.memory);  // [E, kHeads]
    block.each(attention.width * Attention::kHeads, [&](std::int64_t i) {
      const std::int64_t head = i % Attention::kHeads, column = i / Attention::kHeads;
      q[i] =
          head < share.head_count
              ? widen(attention
                          .queries[share.row][(share.first_head + head) * attention.width + column])
              : 0.0f;
    });
    block.sync();
    block.each(Attention::kPositions, [&](std::int64_t i) {
      float s[Attention::kHeads] = {};
      const bool sees = share.first + i < length;
      if (sees) add_dot_products(attention.key(share.row, share.kv_head, share.first + i), q, s);
      for (int h = 0; h < Attention::kHeads; ++h) {
        if (h >= share.head_count) continue;
        attention.scores_of(share.row, share.first_head + h)[share.first + i] =
            sees ? s[h] * attention.scale : -kInfinity;
      }
    });
  }

 private:
  LIE_ROW void add_dot_products(const T* key, const float* q, float (&s)[Attention::kHeads]) const {
    for (std::int64_t d = 0; d < attention.width; d += Pack<T>::kSize) {
      const Pack<T> k = Pack<T>::at(key + d);
      for (int c = 0; c < Pack<T>::kSize; ++c) {
        const Pack<float> of_heads = Pack<float>::at(q + (d + c) * Attention::kHeads);
        for (int h = 0; h < Attention::kHeads; ++h)
          s[h] = fmaf(of_heads.values[h], widen(k.values[c]), s[h]);
      }
    }
  }
};

/// Replaces the scores of each row and head by exp(score - largest).
template <typename T>
struct PagedSoftmax {
  using Attention = PagedAttention<T>;
  static constexpr std::int64_t kSteps = Attention::kPositions / kLanes;  // per lane and split
  Attention attention;

  std::int64_t shared_bytes() const { return attention.splits * (1 + kLanes) * 4; }
  template <typename Block>
  LIE_ROW void operator()(const Block& block, std::int64_t item) const {
    const std::int64_t row = item / attention.heads, head = item % attention.heads;
    float* const x = attention.scores_of(row, head);
    const std::int64_t count = Attention::splits_of(attention.length(row));
    float* const best = static_cast<float*>(block.memory);
    float* const parts = best + attention.splits;  // [splits, lanes]
    block.rows(count, [&](const auto& lanes, std::int64_t split) {
      typename std::remove_cvref_t<decltype(lanes)>::template PerLane<float> mine;
      lanes.each([&](int lane) {
        mine[lane] = -kInfinity;
        for (std::int64_t i = 0; i < kSteps; ++i) {
          mine[lane] = larger(mine[lane], x[split * Attention::kPositions + i * kLanes + lane]);
        }
      });
      const float top = lanes.fold(mine, larger);
      lanes.once([&] { best[split] = top; });
    });
    block.sync();
    float top = -kInfinity;
    for (std::int64_t split = 0; split < count; ++split) top = larger(top, best[split]);
    block.each(count * kLanes, [&](std::int64_t part) {
      float* const at = x + part / kLanes * Attention::kPositions + part % kLanes;
      float sum = 0;
      for (std::int64_t i = 0; i < kSteps; ++i) {
        at[i * kLanes] = exp_of(at[i * kLanes] - top);
        sum += at[i * kLanes];
      }
      parts[part] = sum;
    });
    block.sync();
    block.rows(1, [&](const auto& lanes, std::int64_t) {
      typename std::remove_cvref_t<decltype(lanes)>::template PerLane<float> sum;
      lanes.each([&](int lane) {
        for (std::int64_t s = 0; s < count; ++s) sum[lane] += parts[s * kLanes + lane];
      });
      const float all = lanes.fold(sum, plus);
      lanes.once([&] {
        attention.inverse[item] = 1.0f / all;
        if (attention.log_sums.data != nullptr) attention.log_sums[row][head] = top + log_of(all);
      });
    });
  }
};

template <typename T>
struct PagedValues {
  using Attention = PagedAttention<T>;
  /// Splits per thread block: one thread for each of 2 * 128 columns.
  static constexpr std::int64_t kSplits = 2;
  Attention attention;

  LIE_ROW std::int64_t parts() const { return (attention.splits + kSplits - 1) / kSplits; }
  std::int64_t items(std::int64_t rows) const {
    return rows * attention.kv_heads * PagedShare::chunks(attention) * parts();
  }
  std::int64_t shared_bytes() const {
    return kSplits * Attention::kPositions * Attention::kHeads * 4;
  }

  template <typename Block>
  LIE_ROW void operator()(const Block& block, std::int64_t item) const {
    const PagedShare share(attention, item, parts(), kSplits * Attention::kPositions);
    const std::int64_t left = attention.length(share.row) - share.first;
    if (left <= 0) return;
    float* const weights = static_cast<float*>(block.memory);  // [positions, kHeads]
    block.each(kSplits * Attention::kPositions * Attention::kHeads, [&](std::int64_t i) {
      const std::int64_t head = i % Attention::kHeads, position = i / Attention::kHeads;
      const bool is_one = head < share.head_count && position < left;
      weights[i] =
          is_one ? attention.scores_of(share.row, share.first_head + head)[share.first + position]
                 : 0.0f;
    });
    block.sync();
    block.each(kSplits * attention.width, [&](std::int64_t i) {
      const std::int64_t split = i < attention.width ? 0 : 1;  // of kSplits
      sum_column(share, weights, split * Attention::kPositions, left, i - split * attention.width);
    });
  }

 private:
  /// Sums the split that begins at the share's position `begin`. `left` is the number
  /// of positions that the row sees from the share's first on.
  LIE_ROW void sum_column(const PagedShare& share, const float* weights, std::int64_t begin,
                          std::int64_t left, std::int64_t column) const {
    const std::int64_t end =
        left < begin + Attention::kPositions ? left : begin + Attention::kPositions;
    if (begin >= end) return;
    float sum[Attention::kHeads] = {};
    for (std::int64_t page = begin; page < end; page += Attention::kPage) {
      const T* const values =
          attention.value(share.row, share.kv_head, share.first + page) + column;
      for (int p = 0; p < Attention::kPage; ++p) {
        if (page + p >= end) continue;
        const float v = widen(values[p * attention.width]);
        const Pack<float> of_heads = Pack<float>::at(weights + (page + p) * Attention::kHeads);
        for (int h = 0; h < Attention::kHeads; ++h) sum[h] = fmaf(of_heads.values[h], v, sum[h]);
      }
    }
    const std::int64_t split = (share.first + begin) / Attention::kPositions;
    for (int h = 0; h < Attention::kHeads; ++h) {
      if (h >= share.head_count) continue;
      attention.sums_of(share.row, share.first_head + h)[split * attention.width + column] = sum[h];
    }
  }
};

/// Adds the splits' sums to y [T, H*E], element by element.
template <typename T>
struct PagedJoin {
  PagedAttention<T> attention;
  Rows<T> y;

  LIE_ROW void operator()(std::int64_t element) const {
    const std::int64_t cols = attention.heads * attention.width, row = element / cols,
                       i = element % cols;
    const std::int64_t head = i / attention.width, column = i % attention.width;
    const std::int64_t count = attention.splits_of(attention.length(row));
    const float* const sums = attention.sums_of(row, head) + column;
    float total = sums[0];
    for (std::int64_t split = 1; split < count; ++split) total += sums[split * attention.width];
    put(total * attention.inverse[row * attention.heads + head], y[row][i]);
  }
};

}  // namespace lie::cuda

// Attention of decode rows over pages in one pass over keys and values (flash decoding,
// arXiv:2205.14135). A sequence is divided into splits of kPositions positions, and a thread block
// reads one split of one kv-head: sixteen lanes read a page, tile by tile, and keep the largest
// score so far, the sum of exponentials and the weighted sum of values. The block then merges its
// pages, and PagedJoin the splits, both in order of position. The order of every sum depends only
// on the row's length, so a row has the same bits in every batch. StoreKv in rows.h defines the
// layout of a page.
#pragma once

#include <cstdint>
#include <type_traits>

#include "model/cuda/kernels/numbers.h"
#include "model/operators/operators.h"

namespace lie::cuda {

/// Adjacent elements that one instruction loads, or two if they have more than sixteen bytes.
template <typename T, int kCount>
struct alignas(kCount * sizeof(T) < 16 ? kCount * sizeof(T) : 16) Pack {
  T values[kCount];
  LIE_ROW static Pack at(const T* first) { return *reinterpret_cast<const Pack*>(first); }
  /// Loads elements that may not be aligned, one by one then.
  LIE_ROW static Pack anywhere(const T* first) {
    if (reinterpret_cast<std::uintptr_t>(first) % alignof(Pack) == 0) return at(first);
    Pack pack;
    for (int i = 0; i < kCount; ++i) pack.values[i] = first[i];
    return pack;
  }
};

/// The arguments of one call over pages, and the intermediate results of splits in fp32.
template <typename T>
struct PagedAttention {
  static constexpr int kPage = static_cast<int>(Operators::kPageTokens);
  static constexpr int kPositions = 256;  // positions of a split
  static constexpr int kPagesPerSplit = kPositions / kPage;

  Rows<const T> queries;  // [T, H*E]
  Rows<const T> pool;
  Rows<T> y;  // [T, H*E]
  std::int64_t heads, kv_heads, width, layer;
  const std::int32_t *positions, *sequences, *table;
  std::int64_t table_width, splits;  // splits: of the longest row
  float scale;                       // factor of the scores
  float* sums;                       // [T, H, splits, E] of weighted values
  float* statistics;                 // [T, H, splits, 2] largest score, sum of exponentials
  Rows<float> log_sums;              // [T, H] of the scores, or data null

  /// Returns the number of floats of sums and statistics per row.
  static std::int64_t scratch(std::int64_t heads, std::int64_t width, std::int64_t splits) {
    return heads * splits * (width + 2);
  }
  LIE_ROW std::int64_t length(std::int64_t row) const { return positions[row] + std::int64_t{1}; }
  LIE_ROW static std::int64_t splits_of(std::int64_t length) {
    return (length + kPositions - 1) / kPositions;
  }
  LIE_ROW float* sums_of(std::int64_t row, std::int64_t head) const {
    return sums + (row * heads + head) * splits * width;
  }
  LIE_ROW float* statistics_of(std::int64_t row, std::int64_t head) const {
    return statistics + (row * heads + head) * splits * 2;
  }
  /// Returns the keys [kPage, E] of a page of the row's sequence.
  LIE_ROW const T* keys(std::int64_t row, std::int64_t kv_head, std::int64_t page) const {
    const std::int64_t number = table[sequences[row] * table_width + page];
    return pool[number] + (2 * layer * kv_heads + kv_head) * kPage * width;
  }
  LIE_ROW std::int64_t keys_to_values() const { return kPage * kv_heads * width; }
  LIE_ROW void finish(std::int64_t row, std::int64_t head, std::int64_t column, float sum,
                      float top, float total) const {
    put(sum / total, y[row][head * width + column]);
    if (column == 0 && log_sums.data != nullptr) log_sums[row][head] = top + log_of(total);
  }
};

/// The work of a thread block: one split of up to kHeads query heads of one kv-head.
template <int kHeads>
struct PagedShare {
  int row, kv_head, first_head, head_count, split;

  /// Returns the number of groups of kHeads query heads per kv-head.
  LIE_ROW static std::int64_t chunks(std::int64_t heads, std::int64_t kv_heads) {
    return (heads / kv_heads + kHeads - 1) / kHeads;
  }
  /// Decodes `item` of [T, K, chunks, splits].
  template <typename T>
  LIE_ROW PagedShare(const PagedAttention<T>& attention, std::int64_t item)
      : split(static_cast<int>(item % attention.splits)) {
    const auto kv_heads = static_cast<int>(attention.kv_heads),
               group = static_cast<int>(attention.heads) / kv_heads,
               count = (group + kHeads - 1) / kHeads,
               all = static_cast<int>(item / attention.splits), chunk = all % count;
    row = all / count / kv_heads;
    kv_head = all / count % kv_heads;
    first_head = kv_head * group + chunk * kHeads;
    head_count = group - chunk * kHeads < kHeads ? group - chunk * kHeads : kHeads;
  }
};

/// Attends to the splits. A lane holds kColumns adjacent columns of keys, values and queries, of
/// which the last lanes may have none.
template <typename T, int kHeads, int kColumns>
struct PagedSplits {
  using Attention = PagedAttention<T>;
  static constexpr int kTile = kHeads == 2 ? 8 : 4;        // positions that are loaded at once
  static constexpr int kScores = kTile * kHeads / kLanes;  // per lane and tile
  static constexpr int kKeys = kTile / kScores;            // keys of a score per lane
  static constexpr int kBlocksAtOnce = kHeads < 8 ? 2 : 1;
  Attention attention;

  struct Queries {
    Pack<T, kColumns> of[kHeads] = {};
  };
  struct Sums {
    float of[kHeads][kColumns] = {};
  };
  /// The columns of a tile of keys or values.
  struct Tile {
    Pack<T, kColumns> of[kTile];
  };
  struct Scores {
    float of[kScores];
  };
  /// What one page, or the pages so far, contribute: of the head lane % kHeads, but `sums` of all.
  template <typename Lanes>
  struct Page {
    typename Lanes::template PerLane<Queries> queries;
    typename Lanes::template PerLane<Sums> sums;
    typename Lanes::template PerLane<float> top, total;
  };
  /// The block's results by page in shared memory, and the weight of each.
  struct Shared {
    float *sums, *tops, *totals, *weights;  // [pages, kHeads, E], then [pages, kHeads] each
    LIE_ROW Shared(void* memory, std::int64_t width)
        : sums(static_cast<float*>(memory)),
          tops(sums + kOfAll * width),
          totals(tops + kOfAll),
          weights(totals + kOfAll) {}
  };
  static constexpr std::int64_t kOfAll = Attention::kPagesPerSplit * kHeads;

  std::int64_t items(std::int64_t rows) const {
    return rows * attention.kv_heads * attention.splits *
           PagedShare<kHeads>::chunks(attention.heads, attention.kv_heads);
  }
  std::int64_t shared_bytes() const { return kOfAll * (attention.width + 3) * 4; }

  template <typename Block>
  LIE_ROW void operator()(const Block& block, std::int64_t item) const {
    const PagedShare<kHeads> share(attention, item);
    const int left = attention.positions[share.row] + 1 - share.split * Attention::kPositions;
    if (left <= 0) return;
    const Shared shared(block.memory, attention.width);
    const int begun = (left + Attention::kPage - 1) / Attention::kPage,
              pages = begun < Attention::kPagesPerSplit ? begun : Attention::kPagesPerSplit;
    block.rows(pages, [&](const auto& lanes, std::int64_t page) {
      attend_page(lanes, share, static_cast<int>(page), left, shared);
    });
    block.sync();
    block.each(pages * kHeads, [&](std::int64_t i) {
      float top = -kInfinity;
      for (int page = 0; page < pages; ++page) {
        top = larger(top, shared.tops[page * kHeads + i % kHeads]);
      }
      shared.weights[i] = exp_of(shared.tops[i] - top);
    });
    block.sync();
    block.each(share.head_count * attention.width, [&](std::int64_t i) {
      const auto head = static_cast<std::uint32_t>(i) / static_cast<std::uint32_t>(attention.width);
      merge(share, shared, pages, head, i - head * attention.width);
    });
  }

 private:
  template <typename Lanes>
  LIE_ROW void attend_page(const Lanes& lanes, const PagedShare<kHeads>& share, int page, int left,
                           const Shared& shared) const {
    Page<Lanes> so_far;
    lanes.each([&](int lane) {
      so_far.top[lane] = -kInfinity;
      load_queries(share, lane, so_far.queries[lane]);
    });
    const int in_page = left - page * Attention::kPage;  // positions of this page and later ones
    const T* const keys =
        attention.keys(share.row, share.kv_head, share.split * Attention::kPagesPerSplit + page);
    for (int at = 0; at < Attention::kPage && at < in_page; at += kTile) {
      attend_tile(lanes, keys + at * attention.width, in_page - at, so_far);
    }
    auto totals = lanes.template fold_by<kHeads>(so_far.total, plus);
    lanes.each([&](int lane) {
      if (lane < kHeads) {
        shared.tops[page * kHeads + lane] = so_far.top[lane];
        shared.totals[page * kHeads + lane] = totals[lane];
      }
      if (lane * kColumns >= attention.width) return;
      for (int h = 0; h < kHeads; ++h) {
        float* const to = shared.sums + (page * kHeads + h) * attention.width + lane * kColumns;
        for (int c = 0; c < kColumns; ++c) to[c] = so_far.sums[lane].of[h][c];
      }
    });
  }
  LIE_ROW void load_queries(const PagedShare<kHeads>& share, int lane, Queries& to) const {
    if (lane * kColumns >= attention.width) return;
    const T* const from =
        attention.queries[share.row] + share.first_head * attention.width + lane * kColumns;
    LIE_UNROLL
    for (int h = 0; h < kHeads; ++h) {
      if (h < share.head_count) to.of[h] = Pack<T, kColumns>::anywhere(from + h * attention.width);
    }
  }
  /// Loads the first `left` positions of a tile. The others are zero.
  template <typename Lanes, typename Tiles>
  LIE_ROW void load(const Lanes& lanes, const T* from, int left, Tiles& tile) const {
    lanes.each([&](int lane) {
      const bool has_columns = lane * kColumns < attention.width;
      LIE_UNROLL
      for (int p = 0; p < kTile; ++p) {
        tile[lane].of[p] = {};
        if (!has_columns || p >= left) continue;
        tile[lane].of[p] = Pack<T, kColumns>::at(from + p * attention.width + lane * kColumns);
      }
    });
  }
  template <typename Lanes>
  LIE_ROW void attend_tile(const Lanes& lanes, const T* keys, int left, Page<Lanes>& so_far) const {
    typename Lanes::template PerLane<Tile> tile;
    load(lanes, keys, left, tile);
    typename Lanes::template PerLane<Scores> scores;
    score(lanes, tile, left, so_far, scores);
    load(lanes, keys + attention.keys_to_values(), left, tile);
    typename Lanes::template PerLane<float> shrink;
    raise_top(lanes, scores, so_far, shrink);
    LIE_UNROLL
    for (int h = 0; h < kHeads; ++h) {
      const float factor = lanes.from(shrink, h);
      lanes.each([&](int lane) {
        LIE_UNROLL
        for (int c = 0; c < kColumns; ++c) so_far.sums[lane].of[h][c] *= factor;
      });
    }
    add_values(lanes, tile, scores, so_far);
  }
  /// Computes the tile's scores, where lane l has the key l / kHeads and the head l % kHeads of
  /// each kKeys keys. Positions past the end have minus infinity.
  template <typename Lanes, typename Tiles, typename Of>
  LIE_ROW void score(const Lanes& lanes, Tiles& tile, int left, Page<Lanes>& so_far,
                     Of& scores) const {
    LIE_UNROLL
    for (int s = 0; s < kScores; ++s) {
      typename Lanes::template PerLane<LaneValues> products;
      lanes.each([&](int lane) {
        LIE_UNROLL
        for (int i = 0; i < kLanes; ++i) {
          products[lane].of[i] =
              dot(tile[lane].of[s * kKeys + i / kHeads], so_far.queries[lane].of[i % kHeads]);
        }
      });
      auto sums = lanes.sum_each(products);
      lanes.each([&](int lane) {
        scores[lane].of[s] =
            s * kKeys + lane / kHeads < left ? sums[lane] * attention.scale : -kInfinity;
      });
    }
  }
  LIE_ROW static float dot(const Pack<T, kColumns>& key, const Pack<T, kColumns>& query) {
    float sum = 0;
    LIE_UNROLL
    for (int c = 0; c < kColumns; ++c)
      sum = fmaf(widen(key.values[c]), widen(query.values[c]), sum);
    return sum;
  }
  /// Replaces scores by exp(score - top), where top is the largest score so far. `shrink` is the
  /// factor of what was added before.
  template <typename Lanes, typename Of, typename Floats>
  LIE_ROW static void raise_top(const Lanes& lanes, Of& scores, Page<Lanes>& so_far,
                                Floats& shrink) {
    typename Lanes::template PerLane<float> largest;
    lanes.each([&](int lane) {
      largest[lane] = so_far.top[lane];
      for (float score : scores[lane].of) largest[lane] = larger(largest[lane], score);
    });
    largest = lanes.template fold_by<kHeads>(largest, larger);
    lanes.each([&](int lane) {
      shrink[lane] = exp_of(so_far.top[lane] - largest[lane]);
      so_far.top[lane] = largest[lane];
      so_far.total[lane] *= shrink[lane];
      for (float& score : scores[lane].of) {
        score = exp_of(score - largest[lane]);
        so_far.total[lane] += score;
      }
    });
  }
  template <typename Lanes, typename Tiles, typename Of>
  LIE_ROW static void add_values(const Lanes& lanes, Tiles& tile, Of& weights,
                                 Page<Lanes>& so_far) {
    LIE_UNROLL
    for (int s = 0; s < kScores; ++s) {
      typename Lanes::template PerLane<float> mine;
      lanes.each([&](int lane) { mine[lane] = weights[lane].of[s]; });
      LIE_UNROLL
      for (int i = 0; i < kLanes; ++i) {
        const float weight = lanes.from(mine, i);
        lanes.each([&](int lane) {
          const auto& value = tile[lane].of[s * kKeys + i / kHeads];
          float* const sums = so_far.sums[lane].of[i % kHeads];
          LIE_UNROLL
          for (int c = 0; c < kColumns; ++c)
            sums[c] = fmaf(weight, widen(value.values[c]), sums[c]);
        });
      }
    }
  }
  /// Adds the pages of one column.
  LIE_ROW void merge(const PagedShare<kHeads>& share, const Shared& shared, int pages,
                     std::int64_t head, std::int64_t column) const {
    float sum = 0, total = 0, top = -kInfinity;
    for (int page = 0; page < pages; ++page) {
      const std::int64_t i = page * kHeads + head;
      sum = fmaf(shared.weights[i], shared.sums[i * attention.width + column], sum);
      total = fmaf(shared.weights[i], shared.totals[i], total);
      top = larger(top, shared.tops[i]);
    }
    const std::int64_t of_all = share.first_head + head;
    if (Attention::splits_of(attention.length(share.row)) == 1) {
      return attention.finish(share.row, of_all, column, sum, top, total);
    }
    attention.sums_of(share.row, of_all)[share.split * attention.width + column] = sum;
    if (column > 0) return;
    float* const statistics = attention.statistics_of(share.row, of_all) + 2 * share.split;
    statistics[0] = top;
    statistics[1] = total;
  }
};

/// Adds the splits of rows that have more than one, element by element of y.
template <typename T>
struct PagedJoin {
  PagedAttention<T> attention;

  LIE_ROW void operator()(std::int64_t element) const {
    const std::int64_t cols = attention.heads * attention.width, row = element / cols,
                       i = element % cols;
    const std::int64_t head = i / attention.width, column = i % attention.width;
    const std::int64_t count = attention.splits_of(attention.length(row));
    if (count == 1) return;
    const float *const sums = attention.sums_of(row, head) + column, *const statistics =
                                                                         attention.statistics_of(
                                                                             row, head);
    float top = -kInfinity;
    for (std::int64_t split = 0; split < count; ++split) top = larger(top, statistics[2 * split]);
    float sum = 0, total = 0;
    for (std::int64_t split = 0; split < count; ++split) {
      const float weight = exp_of(statistics[2 * split] - top);
      sum = fmaf(weight, sums[split * attention.width], sum);
      total = fmaf(weight, statistics[2 * split + 1], total);
    }
    attention.finish(row, head, column, sum, top, total);
  }
};

}  // namespace lie::cuda

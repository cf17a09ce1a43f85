// Attention of decode rows over pages in one pass over keys and values (flash decoding,
// arXiv:2205.14135). A sequence is divided into splits, and a thread block reads one split of one
// kv-head: groups of sixteen lanes take its pages in turn and keep the largest score so far, the
// sum of exponentials and the weighted sum of values. The block then merges its groups, and
// PagedJoin the splits, both in a fixed order. The order of every sum depends only on the row's
// length, so a row has the same bits in every batch. Rows of one sequence can share a block, which
// reads keys and values once for all of them. StoreKv in rows/kv_places.h defines the layout.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "model/cuda/kernels/numbers.h"
#include "model/operators/operators.h"

namespace lie::cuda {

/// Adjacent elements that one instruction loads, or two if they have more than sixteen bytes. They
/// are held in words, so that no element is loaded alone.
template <typename T, int kCount>
struct alignas(kCount * sizeof(T) < 16 ? kCount * sizeof(T) : 16) Pack {
  static constexpr int kPerWord = 4 / sizeof(T);
  std::uint32_t words[kCount / kPerWord];

  LIE_ROW float operator[](int i) const {
    const std::uint32_t word = words[i / kPerWord];
    if constexpr (kPerWord == 1) return std::bit_cast<float>(word);
    return std::bit_cast<float>(i % 2 == 0 ? word << 16 : word & 0xffff0000u);
  }
};

/// The arguments of one call over pages, and the intermediate results of splits in fp32.
template <typename T>
struct PagedAttention {
  static constexpr int kPage = static_cast<int>(Operators::kPageTokens);
  static constexpr int kGroups = 16;  // of sixteen lanes, which take a split's pages in turn

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
  /// Short sequences have short splits, so that even a few of them occupy the device.
  LIE_ROW static int positions_of_split(std::int64_t length) { return length <= 1024 ? 256 : 1024; }
  LIE_ROW static std::int64_t splits_of(std::int64_t length) {
    return length <= 1024 ? (length + 255) / 256 : (length + 1023) / 1024;
  }
  /// Returns the largest number of splits of any sequence of at most `longest` positions.
  static std::int64_t most_splits(std::int64_t longest) {
    const std::int64_t of_short = splits_of(longest < 1024 ? longest : 1024);
    return of_short > splits_of(longest) ? of_short : splits_of(longest);
  }
  LIE_ROW float* sums_of(std::int64_t row, std::int64_t head) const {
    return sums + (row * heads + head) * splits * width;
  }
  LIE_ROW float* statistics_of(std::int64_t row, std::int64_t head) const {
    return statistics + (row * heads + head) * splits * 2;
  }
  LIE_ROW std::int64_t keys_to_values() const { return kPage * kv_heads * width; }
  LIE_ROW void finish(std::int64_t row, std::int64_t head, std::int64_t column, float sum,
                      float top, float total) const {
    put(sum / total, y[row][head * width + column]);
    if (column == 0 && log_sums.data != nullptr) log_sums[row][head] = top + log_of(total);
  }
};

/// The rows of a launch: any rows if a block has one, else adjacent positions of one sequence.
struct PagedRows {
  std::int64_t first, count;  // of the call
  std::int64_t position = 0;  // of the first row, if a block has several

  /// Returns the number of blocks of kRows rows whose first position is a multiple of kRows. So the
  /// rows of a block have the same splits and pages.
  template <int kRows>
  LIE_ROW std::int64_t blocks() const {
    return (count + position % kRows + kRows - 1) / kRows;
  }
};

/// The work of a thread block: one split of up to kHeads query heads of one kv-head, for up to
/// kRows rows.
template <int kHeads, int kRows>
struct PagedShare {
  int row, row_count, kv_head, first_head, head_count, split;

  /// Returns the number of groups of kHeads query heads per kv-head.
  LIE_ROW static std::int64_t chunks(std::int64_t heads, std::int64_t kv_heads) {
    return (heads / kv_heads + kHeads - 1) / kHeads;
  }
  /// Decodes `item` of [blocks of rows, K, chunks, splits].
  template <typename T>
  LIE_ROW PagedShare(const PagedAttention<T>& attention, const PagedRows& rows, std::int64_t item)
      : split(static_cast<int>(item) % static_cast<int>(attention.splits)) {
    const auto kv_heads = static_cast<int>(attention.kv_heads),
               group = static_cast<int>(attention.heads) / kv_heads,
               count = (group + kHeads - 1) / kHeads,
               all = static_cast<int>(item) / static_cast<int>(attention.splits),
               chunk = all % count;
    const int begin = all / count / kv_heads * kRows - static_cast<int>(rows.position % kRows),
              end = begin + kRows, of_launch = static_cast<int>(rows.count);
    row = begin < 0 ? 0 : begin;
    row_count = (end < of_launch ? end : of_launch) - row;
    row += static_cast<int>(rows.first);
    kv_head = all / count % kv_heads;
    first_head = kv_head * group + chunk * kHeads;
    head_count = group - chunk * kHeads < kHeads ? group - chunk * kHeads : kHeads;
  }
};

/// Attends to the splits. A lane holds kColumns adjacent columns of keys, values and queries, of
/// which the last lanes may have none. The rows of a block share what is read, and each adds in the
/// order in which it would alone.
template <typename T, int kHeads, int kColumns, int kRows = 1>
struct PagedSplits {
  using Attention = PagedAttention<T>;
  using Share = PagedShare<kHeads, kRows>;
  static constexpr int kTile = 8;                          // positions that are loaded at once
  static constexpr int kScores = kTile * kHeads / kLanes;  // per lane and tile
  static constexpr int kKeys = kTile / kScores;            // keys of a score per lane
  static constexpr int kBlocksAtOnce = kHeads * kRows < 8 && sizeof(T) < 4 ? 2 : 1;
  static_assert(Attention::kPage % kRows == 0);
  Attention attention;
  PagedRows rows;

  using Columns = Pack<T, kColumns>;
  struct OfHeads {
    float of[kHeads][kColumns] = {};
  };
  /// Keys or values in shared memory. Each lane reads only the columns that it wrote.
  struct Tile {
    Columns of[kTile][kLanes];
  };
  struct Scores {
    float of[kScores];
  };
  /// The state of a group and a row so far. Lane l has the top and the total of head l % kHeads.
  template <typename Lanes>
  struct Seen {
    typename Lanes::template PerLane<OfHeads> queries, sums;
    typename Lanes::template PerLane<float> top, total;
  };
  /// The memory of a group: its tiles, then its sums by row, each in the words of the lane that has
  /// the column, so that lanes need no barrier.
  struct OfGroup {
    static constexpr int kWords = sizeof(Columns) / 4, kOfRow = kHeads * kColumns / kWords;
    static_assert(kRows * kOfRow <= 3 * kTile);
    Tile tiles[3];

    LIE_ROW Columns& columns(int i, int lane) { return tiles[i / kTile].of[i % kTile][lane]; }
    LIE_ROW float sum(int row, int head, int column) {
      const int word = head * kColumns + column % kColumns;
      return std::bit_cast<float>(
          columns(row * kOfRow + word / kWords, column / kColumns).words[word % kWords]);
    }
    LIE_ROW void store_sums(int row, int lane, const OfHeads& sums) {
      LIE_UNROLL
      for (int i = 0; i < kOfRow; ++i) {
        Columns words;
        LIE_UNROLL
        for (int w = 0; w < kWords; ++w) {
          const int word = i * kWords + w;
          words.words[w] = std::bit_cast<std::uint32_t>(sums.of[word / kColumns][word % kColumns]);
        }
        columns(row * kOfRow + i, lane) = words;
      }
    }
  };
  /// The memory of a block: by group, and by group, row and head. The share is kept here to save
  /// registers.
  struct Shared {
    Share share;
    int count;  // groups that have a page
    OfGroup groups[Attention::kGroups];
    float tops[Attention::kGroups][kRows * kHeads], totals[Attention::kGroups][kRows * kHeads],
        weights[Attention::kGroups][kRows * kHeads];
  };

  std::int64_t items() const {
    return rows.blocks<kRows>() * attention.kv_heads * attention.splits *
           Share::chunks(attention.heads, attention.kv_heads);
  }
  static std::int64_t shared_bytes() { return sizeof(Shared); }

  template <typename Block>
  LIE_ROW void operator()(const Block& block, std::int64_t item) const {
    Shared& shared = *static_cast<Shared*>(block.memory);
    if (!attend(block, Share(attention, rows, item), shared)) return;
    block.sync();
    block.each(shared.count * kRows * kHeads, [&](std::int64_t i) {
      const std::int64_t of = i / (kRows * kHeads), head = i % (kRows * kHeads);
      if (kRows > 1 && head >= shared.share.row_count * kHeads) return;
      float top = -kInfinity;
      for (int group = 0; group < shared.count; ++group) {
        top = larger(top, shared.tops[group][head]);
      }
      shared.weights[of][head] = exp_of(shared.tops[of][head] - top);
    });
    block.sync();
    const int of_row = shared.share.head_count * static_cast<int>(attention.width);
    block.each(shared.share.row_count * of_row, [&](std::int64_t i) {
      const int width = static_cast<int>(attention.width), element = static_cast<int>(i) % of_row;
      merge(shared, static_cast<int>(i) / of_row, element / width, element % width);
    });
  }

 private:
  /// The tiles of a group: every kGroups-th page of the `count` positions of a split. The number of
  /// the next page is loaded ahead of its use.
  struct Tiles {
    const Attention& of;
    int in_pool;                  // the keys of this layer and kv-head in a page
    const std::int32_t* numbers;  // of the group's next page
    int left, in_page = 0;  // positions of the split from this tile on, and before it in the page
    std::int32_t next_page;
    const T* keys;

    LIE_ROW Tiles(const Attention& attention, const Share& share, int group, int first, int count)
        : of(attention),
          in_pool(static_cast<int>((2 * of.layer * of.kv_heads + share.kv_head) * Attention::kPage *
                                   of.width)),
          numbers(of.table + of.sequences[share.row] * of.table_width + first / Attention::kPage +
                  group),
          left(count - group * Attention::kPage),
          next_page(*numbers) {
      begin_page();
    }
    LIE_ROW void advance() {
      left -= kTile;
      in_page += kTile;
      keys += kTile * of.width;
      if (in_page < Attention::kPage) return;
      in_page = 0;
      left -= (Attention::kGroups - 1) * Attention::kPage;
      begin_page();
    }

   private:
    LIE_ROW void begin_page() {
      keys = of.pool[next_page] + in_pool;
      numbers += Attention::kGroups;
      if (left > Attention::kGroups * Attention::kPage) next_page = *numbers;
    }
  };
  /// Begins to load the keys or values of a tile. Those past the end are zero.
  template <typename Lanes>
  LIE_ROW void fetch(const Lanes& lanes, const T* from, int left, Tile& to) const {
    lanes.each([&](int lane) {
      const int count = lane * kColumns < attention.width ? left : 0;
      const T* columns = from + lane * kColumns;
      LIE_UNROLL
      for (int p = 0; p < kTile; ++p, columns += attention.width) {
        copy_async(to.of[p][lane], *reinterpret_cast<const Columns*>(columns), p >= count);
      }
    });
    commit_copies();
  }
  /// Returns whether the rows have positions in this split.
  template <typename Block>
  LIE_ROW bool attend(const Block& block, const Share& share, Shared& shared) const {
    const int length = attention.positions[share.row] + share.row_count,  // of the last row
        most = Attention::positions_of_split(length), left = length - share.split * most;
    if (left <= 0) return false;
    const int count = left < most ? left : most,  // positions
        pages = (count + Attention::kPage - 1) / Attention::kPage,
              groups = pages < Attention::kGroups ? pages : Attention::kGroups;
    block.once([&] {
      shared.share = share;
      shared.count = groups;
    });
    block.rows(Attention::kGroups, [&](const auto& lanes, std::int64_t group) {
      if (group >= groups) return;
      attend_pages(lanes, share, static_cast<int>(group), share.split * most, count, left <= most,
                   shared);
    });
    return true;
  }
  /// While a tile's scores are computed, its values and the next tile's keys are being loaded.
  /// While its values are added, the next tile's keys and values are being loaded. `count` is that
  /// of the last row. In the last split each row has one position less than the next row.
  template <typename Lanes>
  LIE_ROW void attend_pages(const Lanes& lanes, const Share& share, int group, int first, int count,
                            bool is_last, Shared& shared) const {
    Seen<Lanes> so_far[kRows];
    Tiles next(attention, share, group, first, count);
    Tile *keys = shared.groups[group].tiles, *values = keys + 1, *free = keys + 2;
    fetch(lanes, next.keys, next.left, *keys);
    fetch(lanes, next.keys + attention.keys_to_values(), next.left, *values);
    LIE_UNROLL
    for (int r = 0; r < kRows; ++r) {
      lanes.each([&](int lane) {
        so_far[r].top[lane] = -kInfinity;
        if (r < share.row_count) load_queries(share, r, lane, so_far[r].queries[lane]);
      });
    }
    /// Returns how many positions row r has from a tile on, of which the last row has `left`.
    const auto left_of = [&](int r, int left) {
      if constexpr (kRows == 1) return left;
      if (r >= share.row_count) return 0;
      return is_last ? left - (share.row_count - 1 - r) : left;
    };
    while (next.left > 0) {
      const int left = next.left;
      next.advance();
      fetch(lanes, next.keys, next.left, *free);
      wait_for_copies<2>();
      typename Lanes::template PerLane<Scores> scores[kRows];
      LIE_UNROLL
      for (int r = 0; r < kRows; ++r) {
        if (left_of(r, left) <= 0) continue;
        score(lanes, *keys, left_of(r, left), so_far[r], scores[r]);
        raise_top(lanes, scores[r], so_far[r]);
      }
      fetch(lanes, next.keys + attention.keys_to_values(), next.left, *keys);
      wait_for_copies<2>();
      LIE_UNROLL
      for (int r = 0; r < kRows; ++r) {
        if (left_of(r, left) <= 0) continue;
        add_values(lanes, *values, left_of(r, left), scores[r], so_far[r]);
      }
      Tile* const read = values;
      values = keys;
      keys = free;
      free = read;
    }
    wait_for_copies<0>();  // of tiles past the end
    LIE_UNROLL
    for (int r = 0; r < kRows; ++r) {
      if (kRows == 1 || r < share.row_count) store(lanes, group, r, so_far[r], shared);
    }
  }
  template <typename Lanes>
  LIE_ROW void store(const Lanes& lanes, int group, int row, Seen<Lanes>& seen,
                     Shared& shared) const {
    auto totals = lanes.template fold_by<kHeads>(seen.total, plus);
    lanes.each([&](int lane) {
      if (lane < kHeads) {
        shared.tops[group][row * kHeads + lane] = seen.top[lane];
        shared.totals[group][row * kHeads + lane] = totals[lane];
      }
      shared.groups[group].store_sums(row, lane, seen.sums[lane]);
    });
  }
  /// Queries may have any alignment.
  LIE_ROW void load_queries(const Share& share, int row, int lane, OfHeads& to) const {
    if (lane * kColumns >= attention.width) return;
    const T* const from =
        attention.queries[share.row + row] + share.first_head * attention.width + lane * kColumns;
    LIE_UNROLL
    for (int h = 0; h < kHeads; ++h) {
      if (h >= share.head_count) continue;
      LIE_UNROLL
      for (int c = 0; c < kColumns; ++c) to.of[h][c] = widen(from[h * attention.width + c]);
    }
  }
  /// Computes the tile's scores, where lane l has the key l / kHeads and the head l % kHeads of
  /// each kKeys keys. Positions past the end have minus infinity.
  template <typename Lanes, typename Of>
  LIE_ROW void score(const Lanes& lanes, const Tile& tile, int left, Seen<Lanes>& so_far,
                     Of& scores) const {
    LIE_UNROLL
    for (int s = 0; s < kScores; ++s) {
      typename Lanes::template PerLane<LaneValues> products;
      lanes.each([&](int lane) {
        LIE_UNROLL
        for (int k = 0; k < kKeys; ++k) {
          const Columns key = load_at_once(tile.of[s * kKeys + k][lane]);
          LIE_UNROLL
          for (int h = 0; h < kHeads; ++h) {
            products[lane].of[k * kHeads + h] = dot(key, so_far.queries[lane].of[h]);
          }
        }
      });
      auto sums = lanes.sum_each(products);
      lanes.each([&](int lane) {
        scores[lane].of[s] =
            s * kKeys + lane / kHeads < left ? sums[lane] * attention.scale : -kInfinity;
      });
    }
  }
  LIE_ROW static float dot(const Columns& key, const float (&query)[kColumns]) {
    float sum = 0;
    LIE_UNROLL
    for (int c = 0; c < kColumns; ++c) sum = fmaf(key[c], query[c], sum);
    return sum;
  }
  /// Raises the top to the largest score so far, and replaces each score by exp(score - top).
  template <typename Lanes, typename Of>
  LIE_ROW static void raise_top(const Lanes& lanes, Of& scores, Seen<Lanes>& so_far) {
    typename Lanes::template PerLane<float> largest, shrink;
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
    shrink_sums(lanes, shrink, so_far);
  }
  template <typename Lanes, typename Floats>
  LIE_ROW static void shrink_sums(const Lanes& lanes, Floats& shrink, Seen<Lanes>& so_far) {
    LIE_UNROLL
    for (int h = 0; h < kHeads; ++h) {
      const float factor = lanes.from(shrink, h);
      lanes.each([&](int lane) {
        LIE_UNROLL
        for (int c = 0; c < kColumns; ++c) so_far.sums[lane].of[h][c] *= factor;
      });
    }
  }
  /// Values past the row's end count as zero, also where a later row of the block has them.
  template <typename Lanes, typename Of>
  LIE_ROW static void add_values(const Lanes& lanes, const Tile& tile, int left, Of& weights,
                                 Seen<Lanes>& so_far) {
    LIE_UNROLL
    for (int s = 0; s < kScores; ++s) {
      typename Lanes::template PerLane<float> mine;
      lanes.each([&](int lane) { mine[lane] = weights[lane].of[s]; });
      LIE_UNROLL
      for (int k = 0; k < kKeys; ++k) {
        float weight[kHeads];
        LIE_UNROLL
        for (int h = 0; h < kHeads; ++h) weight[h] = lanes.from(mine, k * kHeads + h);
        lanes.each([&](int lane) {
          Columns value = load_at_once(tile.of[s * kKeys + k][lane]);
          if (kRows > 1 && s * kKeys + k >= left) value = Columns();
          add_value(value, weight, so_far.sums[lane]);
        });
      }
    }
  }
  LIE_ROW static void add_value(Columns value, const float (&weight)[kHeads], OfHeads& sums) {
    LIE_UNROLL
    for (int h = 0; h < kHeads; ++h) {
      LIE_UNROLL
      for (int c = 0; c < kColumns; ++c) sums.of[h][c] = fmaf(weight[h], value[c], sums.of[h][c]);
    }
  }
  /// Adds the groups of one column.
  LIE_ROW void merge(Shared& shared, int of_share, int head, int column) const {
    const Share share = shared.share;
    const int row = share.row + of_share, state = of_share * kHeads + head;
    float sum = 0, total = 0, top = -kInfinity;
    for (int group = 0; group < shared.count; ++group) {
      const float weight = shared.weights[group][state];
      sum = fmaf(weight, shared.groups[group].sum(of_share, head, column), sum);
      total = fmaf(weight, shared.totals[group][state], total);
      top = larger(top, shared.tops[group][state]);
    }
    const std::int64_t of_all = share.first_head + head;
    if (Attention::splits_of(attention.length(row)) == 1) {
      return attention.finish(row, of_all, column, sum, top, total);
    }
    attention.sums_of(row, of_all)[share.split * attention.width + column] = sum;
    if (column > 0) return;
    float* const statistics = attention.statistics_of(row, of_all) + 2 * share.split;
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

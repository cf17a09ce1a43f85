// Places the rows of a decode call: their slots in the KV cache's pages, and the index lists that
// the operators read. On a device, steps in which every row wants logits are padded to a bucket of
// rows and pages, so that a few CUDA graphs cover all of them (model/operators/cuda_graphs.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/operators/operators.h"
#include "model/transformer/growing_tensor.h"
#include "model/transformer/kv_cache.h"

namespace lie {

/// One token to append to a sequence of the KV cache.
struct DecodeRow {
  std::int32_t token = 0;     // or -1 - i for element i of `drawn`, which only the device knows yet
  std::int32_t sequence = 0;  // handle from KvCache::open
  bool wants_logits = false;  // false for prompt tokens before the last
};

class DecodePlacement {
 public:
  explicit DecodePlacement(Operators& operators) : operators_(operators) {}

  /// Appends the rows to their sequences in `cache`. `pads`: whether a step in which every row
  /// wants logits is padded. Throws Error for a token outside of `vocabulary` and `drawn`.
  void append(std::span<const DecodeRow> rows, KvCache& cache, std::int64_t vocabulary,
              std::int64_t drawn, bool pads);
  /// Uploads the lists of the appended rows. They are valid until the operators' next begin_pass().
  void upload(Tensor drawn);

  std::int64_t rows() const { return std::ssize(tokens_); }
  /// Returns the rows with logits, ascending. Padding rows are among them.
  const std::vector<std::int32_t>& wanted() const { return wanted_; }
  /// Returns the first row of each sequence, then the number of rows without padding.
  const std::vector<std::int32_t>& starts() const { return starts_; }
  std::int64_t longest() const { return longest_; }  // positions of the longest sequence
  bool is_padded() const { return is_padded_; }

  // ---- After upload()
  /// Returns the rows [first, first + count) as the layers of a group of pages see them.
  DecodeBatch batch(std::int64_t group, std::int64_t first, std::int64_t count) const;
  Indices device_tokens() const { return device_tokens_; }
  Indices device_wanted() const { return device_wanted_; }
  std::int64_t table_width() const { return table_width_; }
  /// Returns the address of all lists, which is that of the previous step if both are padded.
  const void* lists() const { return device_positions_.data; }

 private:
  /// The places of the rows in the pages of one group of layers.
  struct GroupLists {
    std::vector<std::int32_t> slots, table;
    Indices device_slots, device_table;
  };
  void clear(std::int64_t groups);
  void append_row(const DecodeRow& row, bool is_first, KvCache& cache);
  void pad_to_bucket(KvCache& cache);
  void fill_tables(std::int64_t rows, std::int32_t other);
  void upload_lists();
  void move_to_fixed_address();
  void look_up_drawn(Tensor drawn);

  Operators& operators_;
  std::vector<std::int32_t> tokens_, positions_, sequences_, wanted_, starts_;
  std::vector<GroupLists> groups_;
  std::vector<const KvCache::Sequence*> table_sequences_;
  std::int64_t table_width_ = 1, longest_ = 0;
  bool is_padded_ = false;
  bool has_drawn_ = false;            // a row refers to an element of `drawn`
  std::vector<ListUpload> lists_;     // refers to the members, while they are uploaded
  std::vector<std::int32_t> joined_;  // the uploaded lists, end to end
  GrowingTensor fixed_lists_, looked_up_;
  Indices device_positions_, device_sequences_, device_tokens_, device_wanted_;
};

}  // namespace lie

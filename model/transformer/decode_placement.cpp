#include "model/transformer/decode_placement.h"

#include <algorithm>
#include <cstddef>

#include "common/base/error.h"

namespace lie {
namespace {

constexpr std::int64_t kMinPages = 16;  // of a bucket, as many as attention reads at once

std::int32_t int32(std::int64_t x) { return static_cast<std::int32_t>(x); }

}  // namespace

void DecodePlacement::append(std::span<const DecodeRow> rows, KvCache& cache,
                             std::int64_t vocabulary, std::int64_t drawn, bool pads) {
  clear(cache.layout().groups);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (rows[r].token < -drawn || rows[r].token >= vocabulary) {
      fail("token id {} is outside the model's vocabulary of {}", rows[r].token, vocabulary);
    }
    append_row(rows[r], r == 0 || rows[r].sequence != rows[r - 1].sequence, cache);
  }
  starts_.push_back(int32(std::ssize(rows)));
  is_padded_ = pads && wanted_.size() == rows.size();
  is_padded_ ? pad_to_bucket(cache) : fill_tables(std::ssize(table_sequences_), 0);
}

void DecodePlacement::clear(std::int64_t groups) {
  for (auto* list : {&tokens_, &positions_, &sequences_, &wanted_, &starts_}) list->clear();
  groups_.resize(static_cast<std::size_t>(groups));
  for (GroupLists& group : groups_) group.slots.clear();
  table_sequences_.clear();
  table_width_ = 1;
  longest_ = 0;
  has_drawn_ = false;
}

void DecodePlacement::append_row(const DecodeRow& row, bool is_first, KvCache& cache) {
  KvCache::Sequence& sequence = cache.at(row.sequence);
  const auto number = int32(std::ssize(tokens_));
  if (is_first) {
    table_sequences_.push_back(&sequence);
    starts_.push_back(number);
  }
  tokens_.push_back(row.token);
  has_drawn_ = has_drawn_ || row.token < 0;
  positions_.push_back(int32(sequence.length));
  cache.append(sequence);
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    groups_[g].slots.push_back(KvCache::last_slot(sequence, static_cast<std::int64_t>(g)));
    table_width_ = std::max(table_width_, std::ssize(sequence.pages[g]));
  }
  sequences_.push_back(int32(std::ssize(table_sequences_) - 1));
  if (row.wants_logits) wanted_.push_back(number);
  longest_ = std::max(longest_, sequence.length);
}

/// Fills each table [rows, table_width] with the page numbers of each sequence, and the rest with
/// `other`.
void DecodePlacement::fill_tables(std::int64_t rows, std::int32_t other) {
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    std::vector<std::int32_t>& table = groups_[g].table;
    table.assign(static_cast<std::size_t>(rows * table_width_), other);
    for (std::size_t s = 0; s < table_sequences_.size(); ++s) {
      std::ranges::copy(table_sequences_[s]->pages[g],
                        table.begin() + static_cast<std::ptrdiff_t>(s) * table_width_);
    }
  }
}

/// Pads the step to its bucket. Padding rows write to the scratch page and attend only to
/// themselves.
void DecodePlacement::pad_to_bucket(KvCache& cache) {
  const auto rows = static_cast<std::size_t>(cuda_graph_bucket(std::ssize(tokens_)));
  const auto padding_sequence = int32(std::ssize(table_sequences_));
  tokens_.resize(rows, 0);
  positions_.resize(rows, 0);
  sequences_.resize(rows, padding_sequence);
  for (GroupLists& group : groups_) group.slots.resize(rows, cache.scratch_slot());
  while (wanted_.size() < rows) wanted_.push_back(int32(std::ssize(wanted_)));
  table_width_ = cuda_graph_bucket(std::max(table_width_, kMinPages));
  fill_tables(std::ssize(tokens_), cache.scratch_slot() / int32(KvCache::kPageTokens));
}

void DecodePlacement::upload(Tensor drawn) {
  upload_lists();
  if (has_drawn_) look_up_drawn(drawn);
}

void DecodePlacement::upload_lists() {
  lists_.assign({{positions_, &device_positions_}, {sequences_, &device_sequences_}});
  for (GroupLists& group : groups_) {
    lists_.push_back({group.slots, &group.device_slots});
    lists_.push_back({group.table, &group.device_table});
  }
  lists_.push_back({tokens_, &device_tokens_});
  lists_.push_back({wanted_, &device_wanted_});
  upload_together(operators_, joined_, lists_);
  if (is_padded_) move_to_fixed_address();
}

/// Copies the uploaded lists to a fixed address, from which a captured step reads them.
void DecodePlacement::move_to_fixed_address() {
  const std::int64_t count = std::ssize(joined_);
  const std::int32_t* const uploaded = device_positions_.data;  // of the first list
  auto* const place =
      static_cast<std::int32_t*>(fixed_lists_.rows(operators_, count, 1, DType::kInt32).data);
  const auto row = [&](std::int32_t* first) {
    return Tensor{first, 1, count, count, DType::kInt32};
  };
  operators_.copy(row(const_cast<std::int32_t*>(uploaded)), row(place));
  for (const ListUpload& list : lists_) {
    list.uploaded->data = place + (list.uploaded->data - uploaded);
  }
}

/// Replaces references to `drawn` by token ids on the device, since the host does not know these.
void DecodePlacement::look_up_drawn(Tensor drawn) {
  const Tensor tokens = looked_up_.rows(operators_, rows(), 1, DType::kInt32);
  operators_.look_up_drawn(device_tokens_, drawn, tokens);
  device_tokens_ = {static_cast<const std::int32_t*>(tokens.data), rows()};
}

DecodeBatch DecodePlacement::batch(std::int64_t group, std::int64_t first,
                                   std::int64_t count) const {
  const GroupLists& lists = groups_[static_cast<std::size_t>(group)];
  DecodeBatch batch;
  batch.positions = device_positions_.from(first, count);
  batch.slots = lists.device_slots.from(first, count);
  batch.sequences = device_sequences_.from(first, count);
  batch.table = lists.device_table;
  batch.table_width = table_width_;
  if (is_padded_) {  // the step is captured, and replayed with other positions
    batch.longest = table_width_ * KvCache::kPageTokens;
    return batch;
  }
  batch.longest = longest_;
  const auto rows_of = [&](const std::vector<std::int32_t>& list) {
    return std::span(list).subspan(static_cast<std::size_t>(first),
                                   static_cast<std::size_t>(count));
  };
  batch.host_positions = rows_of(positions_);
  batch.host_sequences = rows_of(sequences_);
  return batch;
}

}  // namespace lie

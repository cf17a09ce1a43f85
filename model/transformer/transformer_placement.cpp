// The placement of a decode call's rows: their slots in the KV cache's pages, and the index lists
// that the operators read. On a device, steps in which every row wants logits are padded to a
// bucket of rows and pages. A few CUDA graphs then cover all such steps
// (model/operators/cuda_graphs.h).
#include <algorithm>
#include <cstddef>

#include "common/base/error.h"
#include "model/operators/upload_together.h"
#include "model/transformer/kv_cache_state.h"
#include "model/transformer/transformer_state.h"

namespace lie {
namespace {

constexpr std::int64_t kMinPages = 16;  // of a bucket, as many as attention reads at once

std::int32_t int32(std::int64_t x) { return static_cast<std::int32_t>(x); }

/// Fills the table [rows, width] with the page numbers of each sequence, and the rest with `other`.
void fill_table(const std::vector<const KvCache::State::Sequence*>& sequences, std::int64_t rows,
                std::int64_t width, std::int32_t other, std::vector<std::int32_t>& table) {
  table.assign(static_cast<std::size_t>(rows * width), other);
  for (std::size_t s = 0; s < sequences.size(); ++s) {
    std::ranges::copy(sequences[s]->pages, table.begin() + static_cast<std::ptrdiff_t>(s) * width);
  }
}

}  // namespace

void Transformer::State::place(std::span<const DecodeRow> rows, KvCache& cache, Tensor drawn) {
  placement.clear();
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (rows[r].token < -drawn.elements() || rows[r].token >= config.vocabulary) {
      fail("token id {} is outside the model's vocabulary of {}", rows[r].token, config.vocabulary);
    }
    place_row(rows[r], r == 0 || rows[r].sequence != rows[r - 1].sequence, cache.state());
  }
  placement.starts.push_back(int32(std::ssize(rows)));
  grow_rope(placement.batch.longest);
  placement.is_padded = graphs.cuda_graphs && placement.wanted.size() == rows.size();
  placement.is_padded ? pad_to_bucket(cache.state())
                      : fill_table(placement.table_sequences, std::ssize(placement.table_sequences),
                                   placement.batch.table_width, 0, placement.table);
  upload_lists();
  if (!std::ranges::all_of(rows, [](const DecodeRow& row) { return row.token >= 0; })) {
    look_up_drawn_tokens(drawn);
  }
}

void Transformer::State::Placement::clear() {
  for (auto* list : {&tokens, &positions, &slots, &sequences, &wanted, &starts}) list->clear();
  table_sequences.clear();
  batch = {};
  batch.table_width = 1;
}

void Transformer::State::place_row(const DecodeRow& row, bool is_first, KvCache::State& cache) {
  Placement& p = placement;
  KvCache::State::Sequence& sequence = cache.at(row.sequence);
  const auto number = int32(std::ssize(p.tokens));
  if (is_first) {
    p.table_sequences.push_back(&sequence);
    p.starts.push_back(number);
  }
  p.tokens.push_back(row.token);
  p.positions.push_back(int32(sequence.length));
  p.slots.push_back(cache.append(sequence));
  p.sequences.push_back(int32(std::ssize(p.table_sequences) - 1));
  if (row.wants_logits) p.wanted.push_back(number);
  p.batch.table_width = std::max(p.batch.table_width, std::ssize(sequence.pages));
  p.batch.longest = std::max(p.batch.longest, sequence.length);
}

/// Pads the step to its bucket. Padding rows write to the scratch page and attend only to
/// themselves.
void Transformer::State::pad_to_bucket(KvCache::State& cache) {
  Placement& p = placement;
  const auto rows = static_cast<std::size_t>(cuda_graph_bucket(std::ssize(p.tokens)));
  const auto padding_sequence = int32(std::ssize(p.table_sequences));
  p.tokens.resize(rows, 0);
  p.positions.resize(rows, 0);
  p.slots.resize(rows, cache.scratch_slot());
  p.sequences.resize(rows, padding_sequence);
  while (p.wanted.size() < rows) p.wanted.push_back(int32(std::ssize(p.wanted)));
  p.batch.table_width = cuda_graph_bucket(std::max(p.batch.table_width, kMinPages));
  p.batch.longest = p.batch.table_width * KvCache::kPageTokens;
  fill_table(p.table_sequences, std::ssize(p.tokens), p.batch.table_width,
             cache.scratch_slot() / int32(KvCache::kPageTokens), p.table);
}

void Transformer::State::upload_lists() {
  Placement& p = placement;
  auto lists = upload_together<6>(operators, p.joined,
                                  {p.positions, p.slots, p.sequences, p.table, p.tokens, p.wanted});
  if (p.is_padded) copy_to_fixed_address(lists);
  p.batch.positions = lists[0];
  p.batch.slots = lists[1];
  p.batch.sequences = lists[2];
  p.batch.table = lists[3];
  p.device_tokens = lists[4];
  p.device_wanted = lists[5];
}

/// Copies the lists to a fixed address, from which a captured step reads them.
void Transformer::State::copy_to_fixed_address(std::span<Indices> lists) {
  const std::int64_t count = std::ssize(placement.joined);
  const std::int32_t* const uploaded = lists.front().data;
  auto* const place =
      static_cast<std::int32_t*>(decoding.lists.rows(operators, count, 1, DType::kInt32).data);
  const auto row = [&](std::int32_t* first) {
    return Tensor{first, 1, count, count, DType::kInt32};
  };
  operators.copy(row(const_cast<std::int32_t*>(uploaded)), row(place));
  for (Indices& list : lists) list.data = place + (list.data - uploaded);
}

/// Replaces references to `drawn` by token ids on the device, since the host does not know these.
void Transformer::State::look_up_drawn_tokens(Tensor drawn) {
  const std::int64_t rows = std::ssize(placement.tokens);
  const Tensor tokens = decoding.tokens.rows(operators, rows, 1, DType::kInt32);
  operators.look_up_drawn(placement.device_tokens, drawn, tokens);
  placement.device_tokens = {static_cast<const std::int32_t*>(tokens.data), rows};
}

}  // namespace lie

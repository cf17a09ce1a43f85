// The decode pass of generation. It first places the rows of a call: their slots in the KV cache's
// pages, and the index lists that the operators read. On a device, steps in which every row wants
// logits are padded to a bucket of rows and pages, so that a few CUDA graphs cover all of them
// (model/operators/cuda_graphs.h). It then computes all layers for the rows, and the logits of
// some.
#include <algorithm>
#include <cstddef>
#include <utility>

#include "common/base/error.h"
#include "model/transformer/transformer_state.h"

namespace lie {
namespace {

constexpr std::int64_t kMinPages = 16;  // of a bucket, as many as attention reads at once

std::int32_t int32(std::int64_t x) { return static_cast<std::int32_t>(x); }

/// Fills the table [rows, width] with the page numbers of each sequence, and the rest with `other`.
void fill_table(const std::vector<const KvCache::Sequence*>& sequences, std::int64_t rows,
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
    place_row(rows[r], r == 0 || rows[r].sequence != rows[r - 1].sequence, cache);
  }
  placement.starts.push_back(int32(std::ssize(rows)));
  grow_rope(placement.batch.longest);
  placement.is_padded = graphs.cuda_graphs && placement.wanted.size() == rows.size();
  placement.is_padded ? pad_to_bucket(cache)
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

void Transformer::State::place_row(const DecodeRow& row, bool is_first, KvCache& cache) {
  Placement& p = placement;
  KvCache::Sequence& sequence = cache.at(row.sequence);
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
void Transformer::State::pad_to_bucket(KvCache& cache) {
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

namespace {

std::int64_t first_at_least(const std::vector<std::int32_t>& ascending, std::int64_t least) {
  return std::ranges::lower_bound(ascending, least) - ascending.begin();
}

BlockTensors rows_of_block(const BlockTensors& all, std::int64_t first, std::int64_t count) {
  BlockTensors t;
  t.x = t.middle = t.out = all.x.rows_at(first, count);
  t.normed = all.normed.rows_at(first, count);
  t.qkv = all.qkv.rows_at(first, count);
  t.rotated = all.rotated.rows_at(first, count);
  t.attended = all.attended.rows_at(first, count);
  t.gate_up = all.gate_up.rows_at(first, count);
  t.activated = all.activated.rows_at(first, count);
  return t;
}

DecodeBatch rows_of_batch(DecodeBatch batch, std::int64_t first, std::int64_t count) {
  batch.positions = batch.positions.from(first, count);
  batch.slots = batch.slots.from(first, count);
  batch.sequences = batch.sequences.from(first, count);
  return batch;
}

}  // namespace

DecodeTensors Transformer::State::decode_tensors() {
  const std::int64_t count = std::ssize(placement.tokens), wanted = std::ssize(placement.wanted);
  auto& d = decoding;
  BlockTensors t;
  t.x = t.middle = t.out = rows_of(d.x, count, config.width);
  t.normed = rows_of(d.normed, count, config.width);
  t.qkv = rows_of(d.qkv, count, shape.qkv_cols());
  t.rotated = rows_of(d.rotated, count, shape.q_cols() + shape.kv_cols());
  t.attended = rows_of(d.attended, count, shape.q_cols());
  t.gate_up = rows_of(d.gate_up, count, 2 * config.ffn_width);
  t.activated = rows_of(d.activated, count, config.ffn_width);
  return {t, rows_of(d.wanted, wanted, config.width),
          rows_of(d.wanted_normed, wanted, config.width),
          floats_of(d.logits, wanted, config.vocabulary)};
}

/// Computes all layers and the head for the rows [first, end), which are complete sequences.
void Transformer::State::decode_rows(Operators& ops, const DecodeTensors& all, KvPages pages,
                                     std::int64_t first, std::int64_t end) const {
  const BlockTensors t = rows_of_block(all.block, first, end - first);
  const DecodeBatch batch = rows_of_batch(placement.batch, first, end - first);
  embed(ops, placement.device_tokens.from(first, end - first), t.x);
  for (const LayerWeights& layer : layers) {
    forward_block(ops, layer, t, [&](const BlockTensors& at) {
      ops.rotate_and_store(at.qkv, rotation(layer, batch.positions), at.rotated, batch, pages);
      ops.attention_decode(at.rotated, shape, batch, pages, at.attended);
    });
    ++pages.layer;
  }
  const std::int64_t wanted = first_at_least(placement.wanted, first);
  const std::int64_t count = first_at_least(placement.wanted, end) - wanted;
  if (count == 0) return;
  const Tensor last = all.wanted.rows_at(wanted, count);
  const Tensor normed = all.wanted_normed.rows_at(wanted, count);
  ops.gather_rows(all.block.out, placement.device_wanted.from(wanted, count), last);
  ops.rms_norm(last, final_norm, eps, normed, {});
  ops.linear(normed, *head, all.logits.rows_at(wanted, count));
}

/// Runs a padded step as a CUDA graph. A graph is valid only as long as its memory does not move,
/// so all graphs are discarded when an address has changed.
void Transformer::State::run_step(const DecodeTensors& all, KvPages pages) {
  const BlockTensors& t = all.block;
  std::vector<const void*> memory = {pages.pool.data, rope.view().data};
  for (const Tensor& x : {t.x, t.normed, t.qkv, t.rotated, t.attended, t.gate_up, t.activated,
                          all.wanted, all.wanted_normed, all.logits}) {
    memory.push_back(x.data);
  }
  memory.push_back(placement.batch.positions.data);  // the first of all lists
  if (memory != graphs.memory) {
    graphs.cuda_graphs->clear();
    graphs.memory = std::move(memory);
  }
  const std::int64_t rows = t.x.rows;
  const auto step = [&] { decode_rows(operators, all, pages, 0, rows); };
  if (!graphs.is_enabled) return step();
  graphs.cuda_graphs->run({rows, placement.batch.table_width,
                           reinterpret_cast<std::intptr_t>(placement.device_tokens.data)},
                          step);
}

/// Distributes the sequences over the workers.
void Transformer::State::run_on_workers(const DecodeTensors& all, KvPages pages) {
  const std::vector<Operators*> workers = operators.workers(elements);
  const std::vector<std::int32_t>& starts = placement.starts;
  const auto first_row = [&](std::int64_t worker) {
    return *std::ranges::lower_bound(starts, starts.back() * worker / std::ssize(workers));
  };
  operators.run_workers(std::ssize(workers), [&](std::int64_t i) {
    const std::int32_t first = first_row(i), end = first_row(i + 1);
    if (first < end) {
      decode_rows(*workers[static_cast<std::size_t>(i)], all, pages, first, end);
    }
  });
}

Tensor Transformer::decode(std::span<const DecodeRow> rows, KvCache& cache, Tensor drawn) {
  if (rows.empty()) return {};
  State& s = *state_;
  if (!s.graphs.cuda_graphs) s.graphs.cuda_graphs = s.operators.cuda_graphs();
  s.operators.begin_pass();
  s.place(rows, cache, drawn);
  const DecodeTensors all = s.decode_tensors();
  const KvPages pages{cache.pool(), 0};
  if (!s.placement.is_padded) {
    s.run_on_workers(all, pages);
    return all.logits;
  }
  s.run_step(all, pages);
  return all.logits.rows_at(0, std::ssize(rows));
}

}  // namespace lie

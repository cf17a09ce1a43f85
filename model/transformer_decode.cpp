// Generation: rows appended to the KV cache's sequences, all layers, logits of the rows that want
// them.
#include <algorithm>
#include <cstddef>

#include "common/error.h"
#include "model/kv_cache_state.h"
#include "model/transformer_state.h"
#include "model/upload_together.h"

namespace lie {
namespace {

std::int32_t int32(std::int64_t x) { return static_cast<std::int32_t>(x); }

/// Page numbers of each sequence as rows of a rectangle.
void fill_table(const std::vector<const KvCache::State::Sequence*>& sequences, std::int64_t width,
                std::vector<std::int32_t>& table) {
  table.assign(sequences.size() * static_cast<std::size_t>(width), 0);
  for (std::size_t s = 0; s < sequences.size(); ++s) {
    std::ranges::copy(sequences[s]->pages, table.begin() + static_cast<std::ptrdiff_t>(s) * width);
  }
}

std::int64_t first_at_least(const std::vector<std::int32_t>& ascending, std::int64_t least) {
  return std::ranges::lower_bound(ascending, least) - ascending.begin();
}

BlockTensors rows_of_block(const BlockTensors& whole, std::int64_t first, std::int64_t count) {
  BlockTensors t;
  t.x = t.middle = t.out = whole.x.rows_at(first, count);
  t.normed = whole.normed.rows_at(first, count);
  t.qkv = whole.qkv.rows_at(first, count);
  t.rotated = whole.rotated.rows_at(first, count);
  t.attended = whole.attended.rows_at(first, count);
  t.gate_up = whole.gate_up.rows_at(first, count);
  t.activated = whole.activated.rows_at(first, count);
  return t;
}

DecodeBatch rows_of_batch(DecodeBatch batch, std::int64_t first, std::int64_t count) {
  batch.positions = batch.positions.from(first, count);
  batch.slots = batch.slots.from(first, count);
  batch.sequences = batch.sequences.from(first, count);
  return batch;
}

}  // namespace

void Transformer::State::place(std::span<const DecodeRow> rows, KvCache& cache, Tensor drawn) {
  Placement& p = placement;
  for (auto* list : {&p.tokens, &p.positions, &p.slots, &p.sequences, &p.wanted, &p.starts}) {
    list->clear();
  }
  p.table_sequences.clear();
  std::int64_t width = 1, longest = 0;
  bool all_known = true;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const DecodeRow& row = rows[r];
    if (row.token < -drawn.elements() || row.token >= config.vocabulary) {
      fail("token id {} is outside the model's vocabulary of {}", row.token, config.vocabulary);
    }
    KvCache::State::Sequence& sequence = cache.state().at(row.sequence);
    if (r == 0 || row.sequence != rows[r - 1].sequence) {
      p.table_sequences.push_back(&sequence);
      p.starts.push_back(int32(static_cast<std::int64_t>(r)));
    }
    p.tokens.push_back(row.token);
    all_known = all_known && row.token >= 0;
    p.positions.push_back(int32(sequence.length));
    p.slots.push_back(cache.state().append(sequence));
    p.sequences.push_back(int32(std::ssize(p.table_sequences) - 1));
    if (row.wants_logits) p.wanted.push_back(int32(static_cast<std::int64_t>(r)));
    width = std::max(width, static_cast<std::int64_t>(sequence.pages.size()));
    longest = std::max(longest, sequence.length);
  }
  p.starts.push_back(int32(std::ssize(rows)));
  fill_table(p.table_sequences, width, p.table);
  grow_rope(longest);
  const auto lists = upload_together<6>(
      operators, p.joined, {p.positions, p.slots, p.sequences, p.table, p.tokens, p.wanted});
  p.batch = {lists[0], lists[1], lists[2], lists[3], width, longest};
  p.device_tokens = lists[4];
  p.device_wanted = lists[5];
  if (all_known) return;
  const Tensor tokens = decoding.tokens.rows(operators, std::ssize(rows), 1, DType::kInt32);
  operators.look_up_drawn(lists[4], drawn, tokens);
  p.device_tokens = {static_cast<const std::int32_t*>(tokens.data), std::ssize(rows)};
}

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

/// All layers and the head for the rows [first, end), whole sequences.
void Transformer::State::decode_part(Operators& ops, const DecodeTensors& whole, KvPages pages,
                                     std::int64_t first, std::int64_t end) const {
  const BlockTensors t = rows_of_block(whole.block, first, end - first);
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
  const Tensor last = whole.wanted.rows_at(wanted, count);
  const Tensor normed = whole.wanted_normed.rows_at(wanted, count);
  ops.gather_rows(whole.block.out, placement.device_wanted.from(wanted, count), last);
  ops.rms_norm(last, final_norm, eps, normed, {});
  ops.linear(normed, *head, whole.logits.rows_at(wanted, count));
}

Tensor Transformer::decode(std::span<const DecodeRow> rows, KvCache& cache, Tensor drawn) {
  if (rows.empty()) return {};
  State& s = *state_;
  s.operators.begin_pass();
  s.place(rows, cache, drawn);
  const DecodeTensors whole = s.decode_tensors();
  const KvPages pages{cache.state().pool.view(), 0};
  const std::vector<Operators*> workers = s.operators.workers(s.elements);
  const std::vector<std::int32_t>& starts = s.placement.starts;
  const auto cut = [&](std::int64_t worker) {
    return *std::ranges::lower_bound(starts, starts.back() * worker / std::ssize(workers));
  };
  s.operators.run_workers(std::ssize(workers), [&](std::int64_t i) {
    const std::int32_t first = cut(i), end = cut(i + 1);
    if (first < end) {
      s.decode_part(*workers[static_cast<std::size_t>(i)], whole, pages, first, end);
    }
  });
  return whole.logits;
}

}  // namespace lie

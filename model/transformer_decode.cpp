// Generation: rows appended to the KV cache's sequences, all layers, logits of the rows that want
// them.
#include <algorithm>
#include <cstddef>

#include "common/error.h"
#include "model/kv_cache_state.h"
#include "model/transformer_state.h"

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

}  // namespace

void Transformer::State::place(std::span<const DecodeRow> rows, KvCache& cache) {
  Placement& p = placement;
  for (auto* list : {&p.tokens, &p.positions, &p.slots, &p.sequences, &p.wanted}) list->clear();
  p.table_sequences.clear();
  std::int64_t width = 1, longest = 0;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const DecodeRow& row = rows[r];
    if (row.token < 0 || row.token >= config.vocabulary) {
      fail("token id {} is outside the model's vocabulary of {}", row.token, config.vocabulary);
    }
    KvCache::State::Sequence& sequence = cache.state().at(row.sequence);
    if (r == 0 || row.sequence != rows[r - 1].sequence) p.table_sequences.push_back(&sequence);
    p.tokens.push_back(row.token);
    p.positions.push_back(int32(sequence.length));
    p.slots.push_back(cache.state().append(sequence));
    p.sequences.push_back(int32(std::ssize(p.table_sequences) - 1));
    if (row.wants_logits) p.wanted.push_back(int32(static_cast<std::int64_t>(r)));
    width = std::max(width, static_cast<std::int64_t>(sequence.pages.size()));
    longest = std::max(longest, sequence.length);
  }
  fill_table(p.table_sequences, width, p.table);
  grow_rope(longest);
  p.batch = {operators.upload(p.positions),
             operators.upload(p.slots),
             operators.upload(p.sequences),
             operators.upload(p.table),
             width,
             longest};
}

std::span<const float> Transformer::State::decode_logits(Tensor x) {
  const std::int64_t count = std::ssize(placement.wanted);
  if (count == 0) return {};
  const Tensor last = rows_of(decoding.wanted, count, config.width);
  const Tensor normed = rows_of(decoding.normed, count, config.width);
  const Tensor logits = floats_of(decoding.logits, count, config.vocabulary);
  operators.gather_rows(x, operators.upload(placement.wanted), last);
  operators.rms_norm(last, final_norm.view(), eps, normed, {});
  operators.linear(normed, *head, logits);
  return operators.on_host(logits, host_logits);
}

std::span<const float> Transformer::decode(std::span<const DecodeRow> rows, KvCache& cache) {
  if (rows.empty()) return {};
  State& s = *state_;
  s.operators.begin_pass();
  s.place(rows, cache);
  const std::int64_t count = std::ssize(rows), width = s.config.width;
  auto& d = s.decoding;
  BlockTensors t;
  t.x = t.middle = t.out = s.rows_of(d.x, count, width);
  t.normed = s.rows_of(d.normed, count, width);
  t.qkv = s.rows_of(d.block.qkv, count, s.shape.qkv_cols());
  t.rotated = s.rows_of(d.block.rotated, count, s.shape.q_cols() + s.shape.kv_cols());
  t.attended = s.rows_of(d.block.attended, count, s.shape.q_cols());
  t.gate_up = s.rows_of(d.block.gate_up, count, 2 * s.config.ffn_width);
  t.activated = s.rows_of(d.activated, count, s.config.ffn_width);
  s.operators.embed(s.embedding.view(), s.operators.upload(s.placement.tokens), t.x);
  const DecodeBatch& batch = s.placement.batch;
  KvPages pages{cache.state().pool.view(), 0};
  for (const LayerWeights& layer : s.layers) {
    s.forward_block(layer, t, s.rotation(layer, batch.positions), [&](const BlockTensors& at) {
      s.operators.store_kv(at.rotated, at.qkv, s.shape, batch, pages);
      s.operators.attention_decode(at.rotated, s.shape, batch, pages, at.attended);
    });
    ++pages.layer;
  }
  return s.decode_logits(t.x);
}

}  // namespace lie

// The decode pass of generation: computes all layers for the placed rows, and the logits of some. A
// padded step is captured as a CUDA graph.
#include <algorithm>
#include <cstddef>
#include <utility>

#include "common/base/trace_range.h"
#include "model/transformer/transformer_state.h"

namespace lie {
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
  if (!all.low_rank.empty()) t.low_rank = all.low_rank.rows_at(first, count);
  return t;
}

}  // namespace

DecodeTensors Transformer::State::decode_tensors() {
  const std::int64_t count = placement.rows(), wanted = std::ssize(placement.wanted());
  auto& d = decoding;
  BlockTensors t;
  t.x = t.middle = t.out = rows_of(d.x, count, config.width);
  t.normed = rows_of(d.normed, count, config.width);
  t.qkv = rows_of(d.qkv, count, shape.qkv_cols());
  t.rotated = rows_of(d.rotated, count, shape.q_cols() + shape.kv_cols());
  t.attended = rows_of(d.attended, count, shape.q_cols());
  t.gate_up = rows_of(d.gate_up, count, 2 * config.ffn_width);
  t.activated = rows_of(d.activated, count, config.ffn_width);
  t.low_rank = low_rank_rows(d.low_rank, count);
  return {t, rows_of(d.wanted, wanted, config.width),
          rows_of(d.wanted_normed, wanted, config.width),
          d.logits.rows(operators, wanted, config.vocabulary, DType::kFloat32)};
}

/// Computes all layers and the head for the rows [first, end), which are complete sequences.
void Transformer::State::decode_rows(Operators& ops, const DecodeTensors& all, const KvCache& cache,
                                     std::int64_t first, std::int64_t end) const {
  const BlockTensors t = rows_of_block(all.block, first, end - first);
  const OuterWeights& outer = source->outer();
  outer.embed(ops, placement.device_tokens().from(first, end - first), t.x);
  for (std::int64_t l = 0; l < config.layers; ++l) {
    const TraceRange range("layer", l);
    const KvLayout::Place& place = cache.layout().places[static_cast<std::size_t>(l)];
    const PagedRows rows{
        placement.batch(place.group, first, end - first), {cache.pool(), place.layer}, rope.view()};
    source->acquire(l).forward(ops, t, rows);
    source->release(l);
  }
  const std::int64_t wanted = first_at_least(placement.wanted(), first);
  const std::int64_t count = first_at_least(placement.wanted(), end) - wanted;
  if (count == 0) return;
  const Tensor last = all.wanted.rows_at(wanted, count);
  const Tensor normed = all.wanted_normed.rows_at(wanted, count);
  ops.gather_rows(all.block.out, placement.device_wanted().from(wanted, count), last);
  ops.rms_norm(last, outer.final_norm, eps, normed, {});
  ops.linear(normed, *outer.head, all.logits.rows_at(wanted, count));
}

/// Runs a padded step as a CUDA graph. A graph is valid only as long as its memory does not move,
/// so all graphs are discarded when an address has changed.
void Transformer::State::run_step(const DecodeTensors& all, const KvCache& cache) {
  const BlockTensors& t = all.block;
  std::vector<const void*> memory = {cache.pool().data, rope.view().data};
  for (const Tensor& x : {t.x, t.normed, t.qkv, t.rotated, t.attended, t.gate_up, t.activated,
                          t.low_rank, all.wanted, all.wanted_normed, all.logits}) {
    memory.push_back(x.data);
  }
  memory.push_back(placement.lists());
  if (memory != graphs.memory) {
    graphs.cuda_graphs->clear();
    graphs.memory = std::move(memory);
  }
  const std::int64_t rows = t.x.rows;
  const auto step = [&] { decode_rows(operators, all, cache, 0, rows); };
  if (!graphs.is_enabled) return step();
  graphs.cuda_graphs->run({rows, placement.table_width(),
                           reinterpret_cast<std::intptr_t>(placement.device_tokens().data)},
                          step);
}

/// Distributes the sequences over the workers.
void Transformer::State::run_on_workers(const DecodeTensors& all, const KvCache& cache) {
  const std::vector<Operators*> workers = operators.workers(elements);
  const std::vector<std::int32_t>& starts = placement.starts();
  const auto first_row = [&](std::int64_t worker) {
    return *std::ranges::lower_bound(starts, starts.back() * worker / std::ssize(workers));
  };
  operators.run_workers(std::ssize(workers), [&](std::int64_t i) {
    const std::int32_t first = first_row(i), end = first_row(i + 1);
    if (first < end) {
      decode_rows(*workers[static_cast<std::size_t>(i)], all, cache, first, end);
    }
  });
}

Tensor Transformer::decode(std::span<const DecodeRow> rows, KvCache& cache, Tensor drawn) {
  if (rows.empty()) return {};
  State& s = *state_;
  if (!s.graphs.cuda_graphs) s.graphs.cuda_graphs = s.operators.cuda_graphs();
  s.operators.begin_pass();
  s.placement.append(rows, cache, s.config.vocabulary, drawn.elements(),
                     /*pads=*/s.graphs.cuda_graphs != nullptr);
  s.rope.grow(s.config, s.operators, s.placement.longest());
  s.placement.upload(drawn);
  const DecodeTensors all = s.decode_tensors();
  if (!s.placement.is_padded()) {
    s.run_on_workers(all, cache);
    return all.logits;
  }
  s.run_step(all, cache);
  return all.logits.rows_at(0, std::ssize(rows));
}

}  // namespace lie

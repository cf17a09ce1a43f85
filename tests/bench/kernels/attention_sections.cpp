// Measures attention over pages, for decoding, and over packed sequences, for training.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "tests/bench/kernels/library_kernels.h"
#include "tests/bench/kernels/sections.h"

namespace lie::bench {
namespace {

using Work = KernelBench::Work;

Cost decode_cost(const AttentionShape& shape, std::int64_t batch, std::int64_t context) {
  const double keys_and_values = 4 * number(shape.kv_cols()) * number(batch * context);
  return {.bytes = keys_and_values + 4 * number(batch * shape.q_cols()),
          .flops = 4 * number(shape.q_cols()) * number(batch * context),
          .launches = 4};
}

/// Returns the number of layers whose keys and values are allocated. Layers are read in turn, so
/// that none is found in the device's cache, as in a model.
std::int64_t layers_for(const ModelConfig& model, double bytes_per_layer) {
  constexpr double kPoolBytes = 8e9;
  return static_cast<std::int64_t>(
      std::clamp(kPoolBytes / bytes_per_layer, 1.0, number(model.layers)));
}

/// Attention of one row per sequence to `context` positions, in pages in random order.
Work attend_pages(const ModelConfig& model, std::int64_t batch, std::int64_t context, Inputs in) {
  const AttentionShape shape = heads_of(model);
  const std::int64_t width = context / Operators::kPageTokens, pages = batch * width;
  const std::int64_t layer_cols = 2 * Operators::kPageTokens * shape.kv_cols();
  const std::int64_t layers = layers_for(model, 2 * number(pages) * number(layer_cols));
  const Tensor pool = in.memory.activations(pages, layers * layer_cols);
  const Tensor rotated = in.memory.activations(batch, shape.q_cols() + shape.kv_cols()),
               y = in.memory.activations(batch, shape.q_cols());
  std::vector<std::int32_t> sequences;
  for (std::int32_t b = 0; b < batch; ++b) sequences.push_back(b);
  DecodeBatch rows;
  rows.positions = in.memory.indices(std::vector<std::int32_t>(
      static_cast<std::size_t>(batch), static_cast<std::int32_t>(context - 1)));
  rows.sequences = in.memory.indices(sequences);
  rows.table = in.memory.permutation(pages);
  rows.table_width = width;
  rows.longest = context;
  return [=, &ops = in.operators, layer = std::int64_t{0}]() mutable {
    ops.attention_decode(rotated, shape, rows, {pool, layer++ % layers}, y);
  };
}

/// `count` sequences of `length` tokens.
struct PackedInputs {
  AttentionShape shape;
  std::vector<std::int32_t> starts;
  Indices device_starts;
  std::int64_t longest;
  Tensor rotated, qkv, y, log_sum;

  PackedInputs(const ModelConfig& model, std::int64_t count, std::int64_t length,
               DeviceMemory& memory)
      : shape(heads_of(model)), longest(length) {
    for (std::int64_t s = 0; s <= count; ++s) {
      starts.push_back(static_cast<std::int32_t>(s * length));
    }
    device_starts = memory.indices(starts);
    const std::int64_t rows = count * length;
    rotated = memory.activations(rows, shape.q_cols() + shape.kv_cols());
    qkv = memory.activations(rows, shape.qkv_cols());
    y = memory.activations(rows, shape.q_cols());
    log_sum = memory.floats(rows, shape.heads);
  }
  PackedSequences sequences() const { return {starts, device_starts, longest}; }
  void forward(Operators& ops) const {
    ops.attention(rotated, qkv, shape, sequences(), y, log_sum);
  }
};

Cost packed_cost(const AttentionShape& shape, std::int64_t count, std::int64_t length) {
  const double rows = number(count * length);
  return {.bytes = 2 * rows * number(2 * shape.q_cols() + 2 * shape.kv_cols()),
          .flops = 2 * rows * number(shape.q_cols()) * number(length)};  // half of all pairs
}

void measure_packed(KernelBench& bench, std::int64_t count, std::int64_t length) {
  const ModelConfig& model = bench.sizes().model;
  const Cost forward = packed_cost(heads_of(model), count, length);
  bench.measure(fmt::format("training attention, {} x {} tokens", count, length), forward,
                [&](Inputs in) -> Work {
                  const PackedInputs x(model, count, length, in.memory);
                  return [=, &ops = in.operators] { x.forward(ops); };
                });
  Cost backward = forward;  // five matmuls instead of two
  backward.flops *= 2.5;
  backward.bytes *= 2;
  backward.launches = 3;
  bench.measure(fmt::format("training attention backward, {} x {} tokens", count, length), backward,
                [&](Inputs in) -> Work {
                  const PackedInputs x(model, count, length, in.memory),
                      d(model, count, length, in.memory);
                  x.forward(in.operators);
                  return [=, &ops = in.operators] {
                    ops.attention_backward(d.y, x.rotated, x.qkv, x.y, x.log_sum, x.shape,
                                           x.sequences(), d.rotated, d.qkv);
                  };
                });
}

}  // namespace

void measure_decode_attention(KernelBench& bench) {
  const ModelConfig& model = bench.sizes().model;
  for (const std::int64_t context : bench.sizes().contexts) {
    for (const std::int64_t batch : bench.sizes().batches) {
      const std::string name =
          fmt::format("attention over pages, batch {}, context {}", batch, context);
      const Cost cost = decode_cost(heads_of(model), batch, context);
      bench.measure_both(name, cost,
                         [&](Inputs in) { return attend_pages(model, batch, context, in); });
      if (bench.is_emulated()) continue;
      bench.measure_library(name + ", flash attention", cost, [&](Inputs in) {
        return flash_decode(in.operators, heads_of(model), batch, context);
      });
    }
  }
}

void measure_training_attention(KernelBench& bench) {
  const std::int64_t tokens = bench.sizes().train_tokens;
  for (const std::int64_t context : bench.sizes().contexts) {
    if (context < tokens) measure_packed(bench, tokens / context, context);
  }
  measure_packed(bench, 1, tokens);
}

}  // namespace lie::bench

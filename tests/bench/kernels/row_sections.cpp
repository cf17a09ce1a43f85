// Rows, matmuls, head and optimizer. The bytes of a cost are those of the formulas: 2 for an
// activation or a packed weight, 4 for a logit, a master weight, a moment or a gradient.
#include <fmt/format.h>

#include "tests/bench/kernels/library_kernels.h"
#include "tests/bench/kernels/sections.h"

namespace lie::bench {
namespace {

using Work = KernelBench::Work;

Work norm(const ModelConfig& model, std::int64_t rows, Inputs in) {
  const Tensor x = in.memory.activations(rows, model.width),
               y = in.memory.activations(rows, model.width),
               weight = in.memory.floats(1, model.width);
  return [=, &ops = in.operators] { ops.rms_norm(x, weight, 1e-6f, y, {}); };
}

Work swiglu(const ModelConfig& model, std::int64_t rows, Inputs in) {
  const Tensor gate_up = in.memory.activations(rows, 2 * model.ffn_width),
               y = in.memory.activations(rows, model.ffn_width);
  return [=, &ops = in.operators] { ops.swiglu(gate_up, y); };
}

Work embed(const ModelConfig& model, std::int64_t rows, Inputs in) {
  const PackedWeight& table = in.memory.weight(model.vocabulary, model.width);
  const Indices tokens = in.memory.indices_below(rows, model.vocabulary);
  const Tensor y = in.memory.activations(rows, model.width);
  return [=, &table, &ops = in.operators] { ops.embed(table, tokens, y); };
}

/// The arguments of the norm and rotation of heads at random positions.
QkNormRope rotation(const ModelConfig& model, std::int64_t rows, DeviceMemory& memory) {
  constexpr std::int64_t kPositions = 512;
  return {heads_of(model),
          memory.floats(1, model.head_width),
          memory.floats(1, model.head_width),
          1e-6f,
          memory.floats(kPositions, model.head_width),
          memory.indices_below(rows, kPositions)};
}

Work rotate(const ModelConfig& model, std::int64_t rows, Inputs in) {
  const QkNormRope how = rotation(model, rows, in.memory);
  const Tensor qkv = in.memory.activations(rows, how.shape.qkv_cols()),
               rotated = in.memory.activations(rows, how.shape.q_cols() + how.shape.kv_cols());
  return [=, &ops = in.operators] { ops.qk_norm_rope(qkv, how, rotated); };
}

Work rotate_and_store(const ModelConfig& model, std::int64_t rows, Inputs in) {
  const QkNormRope how = rotation(model, rows, in.memory);
  const Tensor qkv = in.memory.activations(rows, how.shape.qkv_cols()),
               rotated = in.memory.activations(rows, how.shape.q_cols() + how.shape.kv_cols());
  const KvPages pages{in.memory.activations(rows, 2 * Operators::kPageTokens * how.shape.kv_cols()),
                      0};
  DecodeBatch batch;
  batch.slots = in.memory.permutation(rows * Operators::kPageTokens).from(0, rows);
  return [=, &ops = in.operators] { ops.rotate_and_store(qkv, how, rotated, batch, pages); };
}

Work norm_backward(const ModelConfig& model, std::int64_t rows, Inputs in) {
  const Tensor dy = in.memory.activations(rows, model.width),
               x = in.memory.activations(rows, model.width),
               dx = in.memory.activations(rows, model.width),
               weight = in.memory.floats(1, model.width),
               dweight = in.memory.floats(1, model.width), rms = in.memory.floats(1, rows);
  return [=, &ops = in.operators] { ops.rms_norm_backward(dy, x, weight, rms, dx, dweight); };
}

Work swiglu_backward(const ModelConfig& model, std::int64_t rows, Inputs in) {
  const Tensor dy = in.memory.activations(rows, model.ffn_width),
               y = in.memory.activations(rows, model.ffn_width),
               gate_up = in.memory.activations(rows, 2 * model.ffn_width),
               d_gate_up = in.memory.activations(rows, 2 * model.ffn_width);
  return [=, &ops = in.operators] { ops.swiglu_backward(dy, gate_up, d_gate_up, y); };
}

Work rotate_backward(const ModelConfig& model, std::int64_t rows, Inputs in) {
  const QkNormRope how = rotation(model, rows, in.memory);
  const Tensor qkv = in.memory.activations(rows, how.shape.qkv_cols()),
               d_qkv = in.memory.activations(rows, how.shape.qkv_cols()),
               d_rotated = in.memory.activations(rows, how.shape.q_cols() + how.shape.kv_cols()),
               dq_norm = in.memory.floats(1, model.head_width),
               dk_norm = in.memory.floats(1, model.head_width);
  return [=, &ops = in.operators] {
    ops.qk_norm_rope_backward(d_rotated, qkv, how, d_qkv, dq_norm, dk_norm);
  };
}

Work embed_backward(const ModelConfig& model, std::int64_t rows, Inputs in) {
  const Tensor dy = in.memory.activations(rows, model.width),
               dtable = in.memory.floats(model.vocabulary, model.width);
  const Indices tokens = in.memory.indices_below(rows, model.vocabulary);
  return [=, &ops = in.operators] { ops.embed_backward(dy, tokens, dtable); };
}

/// A matrix [out, in] of a layer.
struct Matrix {
  const char* name;
  std::int64_t out, in;

  Cost cost(std::int64_t rows) const {
    return {.bytes = 2 * number(out * in + rows * (in + out)),
            .flops = 2 * number(rows) * number(out * in)};
  }
};

std::vector<Matrix> matrices_of(const ModelConfig& model) {
  const AttentionShape shape = heads_of(model);
  return {{"qkv", shape.qkv_cols(), model.width},
          {"attention output", model.width, shape.q_cols()},
          {"gate and up", 2 * model.ffn_width, model.width},
          {"down", model.width, model.ffn_width}};
}

Work matmul(const Matrix& matrix, std::int64_t rows, DType result, Inputs in) {
  const Tensor x = in.memory.activations(rows, matrix.in),
               y = in.memory.output(rows, matrix.out, result);
  const PackedWeight& w = in.memory.weight(matrix.out, matrix.in);
  return [=, &w, &ops = in.operators] { ops.linear(x, w, y); };
}

void measure_gradients(KernelBench& bench, const Matrix& matrix, std::int64_t rows) {
  bench.measure(fmt::format("{} input gradient, {} rows", matrix.name, rows), matrix.cost(rows),
                [&](Inputs in) -> Work {
                  const Tensor dy = in.memory.activations(rows, matrix.out),
                               dx = in.memory.activations(rows, matrix.in);
                  PackedWeight& w = in.memory.weight(matrix.out, matrix.in);
                  return [=, &w, &ops = in.operators] { ops.linear_backward_input(dy, w, dx); };
                });
  Cost adding = matrix.cost(rows);  // reads and writes a gradient of fp32 in place of the weight
  adding.bytes += 6 * number(matrix.out * matrix.in);
  bench.measure(fmt::format("{} weight gradient, {} rows", matrix.name, rows), adding,
                [&](Inputs in) -> Work {
                  const Tensor dy = in.memory.activations(rows, matrix.out),
                               x = in.memory.activations(rows, matrix.in),
                               dw = in.memory.floats(matrix.out, matrix.in);
                  return [=, &ops = in.operators] { ops.linear_backward_weight(dy, x, {}, dw); };
                });
}

struct HeadInputs {
  Tensor logits, log_probs, entropies, log_sum;
  Indices targets;

  HeadInputs(const ModelConfig& model, std::int64_t rows, DeviceMemory& memory)
      : logits(memory.floats(rows, model.vocabulary)),
        log_probs(memory.floats(1, rows)),
        entropies(memory.floats(1, rows)),
        log_sum(memory.floats(1, rows)),
        targets(memory.indices_below(rows, model.vocabulary)) {}
};

Work log_probs(const ModelConfig& model, std::int64_t rows, Inputs in) {
  const HeadInputs x(model, rows, in.memory);
  return [=, &ops = in.operators] {
    ops.log_probs(x.logits, x.targets, 1, x.log_probs, x.entropies, x.log_sum);
  };
}

Work log_probs_backward(const ModelConfig& model, std::int64_t rows, Inputs in) {
  const HeadInputs x(model, rows, in.memory);
  const Tensor d = in.memory.floats(1, rows);
  return [=, &ops = in.operators] {
    ops.log_probs_backward(x.logits, x.targets, 1, x.entropies, x.log_sum, d, d);
  };
}

/// Draws a token from each row. The probabilities fall with this power of their rank. With power 2,
/// about a dozen tokens hold 0.95 of the probability. With power 1, it takes most of the
/// vocabulary.
Work draw(const ModelConfig& model, std::int64_t rows, double power, const Draw& how, Inputs in) {
  const Tensor logits = in.memory.ranked_logits(rows, model.vocabulary, power);
  const DrawnTokens drawn{in.memory.output(1, rows, DType::kInt32), in.memory.floats(1, rows)};
  std::vector<Draw> draws(static_cast<std::size_t>(rows), how);
  for (std::size_t i = 0; i < draws.size(); ++i) {
    draws[i].row = static_cast<std::int64_t>(i);
    draws[i].key.index = static_cast<std::uint32_t>(i);
  }
  return [=, &ops = in.operators] { ops.sample(logits, draws, drawn); };
}

void measure_draws(KernelBench& bench, std::int64_t rows) {
  const ModelConfig& model = bench.sizes().model;
  const Cost cost{.bytes = 4 * number(rows * model.vocabulary)};
  for (const double power : {2.0, 1.0}) {
    for (const Draw& how : {Draw{}, Draw{.top_k = 50}, Draw{.top_p = 0.95}}) {
      bench.measure(
          fmt::format("{} draws, power {}, top_p {}, top_k {}", rows, power, how.top_p, how.top_k),
          cost, [&](Inputs in) { return draw(model, rows, power, how, in); });
    }
  }
  bench.measure_library(fmt::format("{} draws, ATen's multinomial", rows), cost, [&](Inputs in) {
    return multinomial(in.operators, in.memory.ranked_logits(rows, model.vocabulary, 1));
  });
}

}  // namespace

void measure_rows(KernelBench& bench) {
  const ModelConfig& model = bench.sizes().model;
  const AttentionShape shape = heads_of(model);
  const double width = number(model.width), ffn = number(model.ffn_width);
  const double q_k = number(shape.q_cols() + shape.kv_cols()), qkv = number(shape.qkv_cols());
  struct Row {
    const char* name;
    double bytes;  // of a row
    double launches;
    Work (*make)(const ModelConfig&, std::int64_t, Inputs);
  };
  const auto measure = [&](const Row& row, std::int64_t rows) {
    bench.measure_both(fmt::format("{}, {} rows", row.name, rows),
                       {.bytes = row.bytes * number(rows), .launches = row.launches},
                       [&](Inputs in) { return row.make(model, rows, in); });
  };
  std::vector<std::int64_t> counts = bench.sizes().batches;
  counts.push_back(bench.sizes().train_tokens);
  for (const std::int64_t rows : counts) {
    for (const Row& row : {Row{"embed", 4 * width, 1, embed}, Row{"norm", 4 * width, 1, norm},
                           Row{"QK norm and rotation", 4 * q_k, 1, rotate},
                           Row{"rotation into pages", 4 * qkv, 1, rotate_and_store},
                           Row{"SwiGLU", 6 * ffn, 1, swiglu}}) {
      measure(row, rows);
    }
  }
  for (const std::int64_t rows : counts) {
    bench.measure_library(fmt::format("norm, {} rows, ATen's fused", rows),
                          {.bytes = 4 * width * number(rows)}, [&](Inputs in) -> Work {
                            return fused_norm(in.operators,
                                              in.memory.activations(rows, model.width),
                                              in.memory.activations(1, model.width));
                          });
  }
  for (const Row& row : {Row{"norm backward", 8 * width, 3, norm_backward},
                         Row{"QK norm and rotation backward", 6 * q_k, 5, rotate_backward},
                         Row{"SwiGLU backward", 12 * ffn, 1, swiglu_backward},
                         Row{"embed backward", 10 * width, 1, embed_backward}}) {
    measure(row, bench.sizes().train_tokens);
  }
}

void measure_matmuls(KernelBench& bench) {
  std::vector<std::int64_t> counts = bench.sizes().batches;
  counts.push_back(bench.sizes().train_tokens);
  for (const Matrix& matrix : matrices_of(bench.sizes().model)) {
    for (const std::int64_t rows : counts) {
      bench.measure(
          fmt::format("{}, {} rows", matrix.name, rows), matrix.cost(rows),
          [&](Inputs in) { return matmul(matrix, rows, in.operators.activation_dtype(), in); });
    }
    measure_gradients(bench, matrix, bench.sizes().train_tokens);
  }
}

void measure_head(KernelBench& bench) {
  const ModelConfig& model = bench.sizes().model;
  const Matrix head{"head", model.vocabulary, model.width};
  std::vector<std::int64_t> counts = bench.sizes().batches;
  counts.push_back(bench.sizes().head_rows);
  for (const std::int64_t rows : counts) {
    const double logits = number(rows * model.vocabulary);
    Cost cost = head.cost(rows);
    cost.bytes += 2 * logits;  // logits are fp32
    bench.measure(fmt::format("head, {} rows", rows), cost,
                  [&](Inputs in) { return matmul(head, rows, DType::kFloat32, in); });
    bench.measure_both(fmt::format("log-probs, {} rows", rows), {.bytes = 4 * logits},
                       [&](Inputs in) { return log_probs(model, rows, in); });
  }
  const std::int64_t rows = bench.sizes().head_rows;
  bench.measure_both(fmt::format("log-probs backward, {} rows", rows),
                     {.bytes = 8 * number(rows * model.vocabulary)},
                     [&](Inputs in) { return log_probs_backward(model, rows, in); });
  measure_draws(bench, bench.sizes().batches.back());
}

void measure_optimizer(KernelBench& bench) {
  const std::int64_t count = bench.sizes().optimizer_elements;
  const auto bytes = [&](double each) { return Cost{.bytes = each * number(count)}; };
  const auto adamw = [&](bool is_fused) -> KernelBench::Make {
    return [=](Inputs in) -> Work {
      const AdamWTensors x{in.memory.floats(1, count), in.memory.floats(1, count),
                           in.memory.floats(1, count), in.memory.output(1, count, DType::kFloat32)};
      in.operators.zero(x.second);
      if (is_fused) return fused_adamw(in.operators, x);
      const AdamWStep how{1, 0.99f, 0.9f, 0.1f, 0.95f, 0.05f, 1e-6f, 1, 1e-8f};
      return [=, &ops = in.operators] { ops.adamw(how, x); };
    };
  };
  bench.measure("AdamW", bytes(28), adamw(false));
  bench.measure_library("AdamW, ATen's fused", bytes(28), adamw(true));
  bench.measure_both("sums of squares", bytes(4), [&](Inputs in) -> Work {
    constexpr std::int64_t kBlock = 1 << 16;
    const Tensor x = in.memory.floats(1, count);
    std::vector<double> sums(static_cast<std::size_t>((count + kBlock - 1) / kBlock));
    return [=, &ops = in.operators]() mutable { ops.sums_of_squares(x, kBlock, sums); };
  });
  bench.measure("packing weights", bytes(6), [&](Inputs in) -> Work {
    constexpr std::int64_t kColumns = 1 << 10;
    const Tensor x = in.memory.floats(count / kColumns, kColumns);
    PackedWeight& w = in.memory.weight(count / kColumns, kColumns);
    return [=, &w, &ops = in.operators] { ops.pack(w, 0, x); };
  });
}

}  // namespace lie::bench

// Checks and measures the operators on a device. Prints one line per check: name, PASS, FAIL or
// MEASURED, figure, unit, and the share of the measured hardware limit, separated by "|".
// scripts/check_gpu.sh makes a table of it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "common/comm/collective/nccl_collective.h"
#include "model/cuda/operators.h"
#include "model/transformer/transformer.h"
#include "tests/bench/arguments.h"
#include "tests/bench/bench_model.h"
#include "tests/bench/device_checks.h"
#include "tests/bench/machine_limits.h"

namespace lie::bench {
namespace {

/// The shape of a large model, or one that an emulated device computes in seconds.
struct Sizes {
  ModelConfig model = bench_config();
  std::int64_t copied = 1 << 20, matmul = 256;
  std::vector<std::int64_t> matmul_rows = {1, 2, 16, 17, 64};
  std::vector<int> batches = {1, 4};
  int context = 32, train_tokens = 256;
};

Sizes full_sizes() {
  Sizes sizes{.copied = 1 << 28,
              .matmul = 8192,
              .matmul_rows = {1, 2, 8, 16, 17, 64, 256, 1024, 4096},
              .batches = {16, 64, 256},
              .context = 512,
              .train_tokens = 16384};
  ModelConfig& model = sizes.model;  // Qwen3-0.6B
  model.vocabulary = 151936;
  model.width = 1024;
  model.ffn_width = 3072;
  model.layers = 28;
  model.heads = 16;
  model.kv_heads = 8;
  model.head_width = 128;
  model.max_positions = 40960;
  return sizes;
}

class DeviceBench {
 public:
  DeviceBench(Operators& operators, const Sizes& sizes) : ops_(operators), sizes_(sizes) {}

  void run() {
    copy_ceiling();
    matmul_limit();
    matmul_bits();
    const Weights weights = initial_weights(sizes_.model, 1, ops_);
    Transformer transformer(weights);
    for (const int batch : sizes_.batches) decode(transformer, batch);
    draw(2);
    draw(1);
    train(transformer, weights.flat().elements());
    const double mean = std::abs(log_prob_differences(transformer).mean);
    say("log-prob difference, sequence mean", mean < 3e-4 ? "PASS" : "FAIL", mean, "nats");
    nccl_alone();
  }

  /// Measures the exact mode, in shares of the fast mode's limits.
  void run_exact(const DeviceBench& fast) {
    prefix_ = "exact: ";
    bandwidth_ = fast.bandwidth_;
    flops_ = fast.flops_;
    const Weights weights = initial_weights(sizes_.model, 1, ops_);
    Transformer transformer(weights);
    for (const int batch : sizes_.batches) decode(transformer, batch);
    train(transformer, weights.flat().elements());
    const int differing = log_prob_differences(transformer).tokens;
    say("tokens whose log-probs differ", differing == 0 ? "PASS" : "FAIL", differing, "tokens");
  }

 private:
  void say(const std::string& name, const char* result, double figure, const char* unit,
           double share = 0) const {
    fmt::print("{}{}|{}|{:.4g}|{}|{}\n", prefix_, name, result, figure, unit,
               share > 0 ? fmt::format("{:.3f}", share) : "-");
  }
  /// Returns the best seconds of `work`, including the device's work.
  template <typename Work>
  double seconds(int runs, const Work& work) {
    const Buffer one = ops_.allocate(1, 1, DType::kFloat32);
    return best_seconds(runs, [&] {
      work();
      wait(one.view());
    });
  }
  void wait(Tensor x) {
    float number = 0;
    ops_.copy_to_host(x.rows_at(0, 1).cols_at(0, 1), std::span(&number, 1));
  }
  Buffer random(std::int64_t rows, std::int64_t cols) {
    std::vector<float> host(static_cast<std::size_t>(rows * cols));
    std::uint32_t state = 1;
    for (float& x : host) {
      state = state * 1664525u + 1013904223u;
      x = static_cast<float>(state >> 8) * 0x1p-24f - 0.5f;
    }
    Buffer made = ops_.allocate(rows, cols, ops_.activation_dtype());
    const Buffer wide = ops_.allocate(rows, cols, DType::kFloat32);
    ops_.copy_from_host(host, wide.view());
    const auto packed = ops_.make_weight(rows, cols);
    ops_.pack(*packed, 0, wide.view());
    std::vector<std::int32_t> all(static_cast<std::size_t>(rows));
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int32_t>(i);
    ops_.begin_pass();
    ops_.embed(*packed, ops_.upload(all), made.view());
    wait(wide.view());
    return made;
  }

  void copy_ceiling() {
    const Buffer from = ops_.allocate(1, sizes_.copied, DType::kFloat32);
    const Buffer to = ops_.allocate(1, sizes_.copied, DType::kFloat32);
    ops_.zero(from.view());
    const double time = seconds(5, [&] { ops_.copy(from.view(), to.view()); });
    bandwidth_ = 8.0 * static_cast<double>(sizes_.copied) / time;
    say("copy", "MEASURED", bandwidth_ / 1e9, "GB/s");
  }

  void matmul_limit() {
    const std::int64_t n = sizes_.matmul;
    const Buffer x = random(n, n), y = random(n, n);
    const auto w = ops_.make_weight(n, n);
    const Buffer part = ops_.allocate(n, n, DType::kFloat32);
    ops_.zero(part.view());
    ops_.pack(*w, 0, part.view());
    const double time = seconds(5, [&] { ops_.linear(x.view(), *w, y.view()); });
    flops_ = 2.0 * std::pow(static_cast<double>(n), 3) / time;
    say("matmul", "MEASURED", flops_ / 1e12, "TFLOP/s");
  }

  /// Measures whether a row's bits depend on the number of rows of a matmul. LibTorch gives no
  /// guarantee.
  void matmul_bits() {
    const std::int64_t in = sizes_.model.width, out = 3 * sizes_.model.width;
    const std::int64_t most = *std::ranges::max_element(sizes_.matmul_rows);
    const Buffer x = random(most, in), y = ops_.allocate(most, out, DType::kFloat32);
    const Buffer matrix = ops_.allocate(out, in, DType::kFloat32);
    std::vector<float> host(static_cast<std::size_t>(out * in));
    for (std::size_t i = 0; i < host.size(); ++i) host[i] = std::sin(static_cast<float>(i));
    ops_.copy_from_host(host, matrix.view());
    const auto w = ops_.make_weight(out, in);
    ops_.pack(*w, 0, matrix.view());
    std::vector<float> first(static_cast<std::size_t>(out)), again(first.size());
    std::int64_t differing = 0;
    for (const std::int64_t rows : sizes_.matmul_rows) {
      ops_.linear(x.view().rows_at(0, rows), *w, y.view().rows_at(0, rows));
      ops_.copy_to_host(y.view().rows_at(0, 1), rows == sizes_.matmul_rows[0] ? first : again);
      differing += rows != sizes_.matmul_rows[0] && again != first ? 1 : 0;
    }
    say("matmul bits by rows", "MEASURED", static_cast<double>(differing),
        "row counts that differ from 1");
  }

  /// Measures a step with direct calls and as a CUDA graph.
  void decode(Transformer& transformer, int batch) {
    constexpr int kSteps = 8;
    KvCache cache(sizes_.model, ops_, batch * KvCache::pages_for(sizes_.context + 12 * kSteps));
    std::vector<DecodeRow> rows;
    for (int b = 0; b < batch; ++b) {  // one prompt per call
      std::vector<DecodeRow> prompt(static_cast<std::size_t>(sizes_.context),
                                    {b % 500, cache.open(), false});
      transformer.decode(prompt, cache);
      rows.push_back({b % 500, prompt[0].sequence, true});
    }
    for (const bool use_graphs : {false, true}) {
      transformer.use_cuda_graphs(use_graphs);
      const auto steps = [&] {
        for (int i = 0; i < kSteps; ++i) wait(transformer.decode(rows, cache));
      };
      if (use_graphs) steps();
      const std::int64_t before = transformer.cuda_graph_usage().replayed;
      const double time = seconds(4, steps) / kSteps;
      const bool repeated = transformer.cuda_graph_usage().replayed > before;
      if (use_graphs && !repeated) return say_no_graph(transformer, batch);
      const double least = static_cast<double>(transformer.packed_size().bytes) +
                           cache_bytes(batch * (sizes_.context + 2 * kSteps));
      say(fmt::format("decode step, batch {}{}", batch, use_graphs ? ", CUDA graph" : ""),
          "MEASURED", 1e6 * time, "us", least / bandwidth_ / time);
    }
    const auto logits = [&](bool use_graphs) {
      transformer.use_cuda_graphs(use_graphs);
      return logits_again(transformer, rows, cache);
    };
    const bool same = logits(false) == logits(true);
    say(fmt::format("its logits, batch {}, with and without CUDA graph", batch),
        same ? "PASS" : "FAIL", same ? 0 : 1, "differ");
    transformer.use_cuda_graphs(true);
  }
  void say_no_graph(const Transformer& transformer, int batch) const {
    const std::string& refusal = transformer.cuda_graph_usage().refusal;
    if (!refusal.empty()) fmt::print(stderr, "no CUDA graph is captured: {}\n", refusal);
    fmt::print("{}decode step, batch {}, CUDA graph|{}|-|{}|-\n", prefix_, batch,
               ops_.place().is_host() ? "SKIP" : "FAIL",
               ops_.place().is_host() ? "nothing to record on a CPU" : "CUDA refuses");
  }
  double cache_bytes(std::int64_t positions) const {
    const ModelConfig& model = sizes_.model;
    return static_cast<double>(2 * model.layers * model.kv_heads * model.head_width * positions *
                               dtype_bytes(ops_.activation_dtype()));
  }
  /// Of the last position of each sequence, computed once more.
  std::vector<float> logits_again(Transformer& transformer, const std::vector<DecodeRow>& rows,
                                  KvCache& cache) {
    for (const DecodeRow& row : rows) cache.truncate(row.sequence, cache.length(row.sequence) - 1);
    const Tensor logits = transformer.decode(rows, cache);
    std::vector<float> host(static_cast<std::size_t>(logits.elements()));
    ops_.copy_to_host(logits, host);
    return host;
  }

  void train(Transformer& transformer, std::int64_t elements) {
    const PackedBatch batch = one_sequence(sizes_.train_tokens);
    const std::vector<float> d(batch.rows.size(), 0.001f);
    const Buffer gradient = ops_.allocate(1, elements, DType::kFloat32);
    ops_.zero(gradient.view());
    const double time = seconds(2, [&] {
      transformer.forward(batch, 1.0f, true);
      transformer.backward(batch, d, d, gradient.view());
    });
    const double tokens = sizes_.train_tokens;
    const double flops =
        6 * tokens *
        (products_per_token(sizes_.model, true) + attention_products(sizes_.model, tokens / 2));
    say(fmt::format("forward and backward, {} tokens", sizes_.train_tokens), "MEASURED",
        tokens / time, "tokens/s", flops / time / flops_);
  }

  /// Draws a token for each row of the largest batch. The probabilities fall with this power of
  /// their rank: with power 2 about a dozen tokens hold 0.95, with power 1 most of the vocabulary.
  void draw(double power) {
    const std::int64_t rows = sizes_.batches.back(), columns = sizes_.model.vocabulary;
    std::vector<float> host(static_cast<std::size_t>(rows * columns));
    std::uint32_t state = 1;
    for (float& x : host) {
      state = state * 1664525u + 1013904223u;
      x = static_cast<float>(-power * std::log((static_cast<double>(state) + 1) * 0x1p-32));
    }
    const Buffer logits = ops_.allocate(rows, columns, DType::kFloat32);
    ops_.copy_from_host(host, logits.view());
    const Buffer ids = ops_.allocate(1, rows, DType::kInt32);
    const Buffer log_probs = ops_.allocate(1, rows, DType::kFloat32);
    for (const Draw& how : {Draw{}, Draw{.top_k = 50}, Draw{.top_p = 0.95}}) {
      std::vector<Draw> draws(static_cast<std::size_t>(rows), how);
      for (std::size_t i = 0; i < draws.size(); ++i) {
        draws[i].row = static_cast<std::int64_t>(i);
        draws[i].key.index = static_cast<std::uint32_t>(i);
      }
      const double time = seconds(3, [&] {
        ops_.sample(logits.view(), draws, {ids.view(), log_probs.view()});
      });
      say(fmt::format("{} draws, power {}, top_p {}, top_k {}", rows, power, how.top_p, how.top_k),
          "MEASURED", 1e6 * time, "us", 4.0 * static_cast<double>(host.size()) / time / bandwidth_);
    }
  }

  struct Differences {
    double mean = 0;  // over the sequence, to be compared with GSPO's clip band of 3e-4
    int tokens = 0;   // number of tokens with a difference
  };
  /// Measures the differences of log-probs between sampling and training.
  Differences log_prob_differences(Transformer& transformer) {
    const PackedBatch batch = one_sequence(sizes_.context);
    const RowLogProbs trained = transformer.forward(batch, 1.0f, false);
    KvCache cache(sizes_.model, ops_, KvCache::pages_for(sizes_.context));
    const std::int32_t sequence = cache.open();
    Differences found;
    const Buffer three = ops_.allocate(1, 3, DType::kFloat32);
    for (std::size_t t = 0; t < batch.rows.size(); ++t) {
      const DecodeRow row{batch.tokens[t], sequence, true};
      const Tensor logits = transformer.decode(std::span(&row, 1), cache);
      const std::int32_t target = batch.targets[t];
      const Tensor all = three.view();
      ops_.log_probs(logits, ops_.upload(std::span(&target, 1)), 1.0f, all.cols_at(0, 1),
                     all.cols_at(1, 1), all.cols_at(2, 1));
      float sampled = 0;
      ops_.copy_to_host(all.cols_at(0, 1), std::span(&sampled, 1));
      const double difference =
          static_cast<double>(sampled) - static_cast<double>(trained.log_probs[t]);
      found.mean += difference / static_cast<double>(batch.rows.size());
      found.tokens += difference != 0 ? 1 : 0;
    }
    return found;
  }

  /// Checks NCCL on one GPU: it starts, runs after the operators' work, and leaves no error to the
  /// next kernel.
  void nccl_alone() {
    if (ops_.place().is_host()) return;
    mpi::Environment environment;
    Job job(environment);
    const std::int64_t n = sizes_.matmul;
    const Buffer x = random(n, n), y = random(n, n);
    const auto w = ops_.make_weight(n, n);
    const auto group = nccl_collective(job, solo_collective(), ops_.place().device);
    const double time = seconds(5, [&] {
      ops_.linear(x.view(), *w, y.view());
      group->broadcast(ops_.span(y.view()), 0);
      ops_.swiglu(y.view(), x.view().cols_at(0, n / 2));
    });
    say("NCCL alone, between a matmul and a kernel", "PASS", 1e6 * time, "us");
  }

  PackedBatch one_sequence(int tokens) const {
    PackedBatch batch;
    batch.starts = {0, tokens};
    for (int t = 0; t < tokens; ++t) {
      batch.tokens.push_back(static_cast<std::int32_t>((t * 7919) % sizes_.model.vocabulary));
    }
    for (int t = 0; t + 1 < tokens; ++t) {
      batch.rows.push_back(t);
      batch.targets.push_back(batch.tokens[static_cast<std::size_t>(t) + 1]);
    }
    return batch;
  }

  Operators& ops_;
  const Sizes sizes_;
  std::string prefix_;                // prefix of the names of checks
  double bandwidth_ = 0, flops_ = 0;  // measured limits per second
};

}  // namespace
}  // namespace lie::bench

int main(int argc, char** argv) {
  CLI::App app("Ceilings, bits and speed of a device, a line each");
  std::string device = "cuda";
  app.add_option(
      "--device", device,
      "cuda[:index]; or emulated, in a build without CUDA: small shapes, whose speed says nothing");
  return lie::bench::run_bench(app, argc, argv, [&] {
    const bool emulated = device == "emulated";
    const auto made = [&](lie::CudaBits bits) {
      return lie::make_cuda_operators(emulated ? "cpu" : device, lie::DType::kBFloat16, 0, bits);
    };
    for (const lie::bench::DeviceCheck& check :
         lie::bench::device_checks(made(lie::CudaBits::kFast))) {
      fmt::print("{}|{}|{:.2g}|of the largest|-\n", check.name,
                 check.error <= check.bound ? "PASS" : "FAIL", check.error);
    }
    const auto fast = made(lie::CudaBits::kFast), exact = made(lie::CudaBits::kExact);
    const auto sizes = emulated ? lie::bench::Sizes() : lie::bench::full_sizes();
    lie::bench::DeviceBench bench(*fast, sizes);
    bench.run();
    lie::bench::DeviceBench(*exact, sizes).run_exact(bench);
  });
}

// Checks the results of a device: the operators against float64, bits by number of rows and with a
// CUDA graph, the log-probs of sampling and training, and NCCL. Prints one line per check: name,
// PASS, FAIL, SKIP or MEASURED, figure, unit, and "-", separated by "|". kernel_bench measures
// speed.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "common/comm/collective/nccl_collective.h"
#include "model/cuda/operators.h"
#include "model/transformer/transformer.h"
#include "tests/bench/arguments.h"
#include "tests/bench/bench_model.h"
#include "tests/bench/device_checks.h"
#include "tests/bench/kernels/device_memory.h"

namespace lie::bench {
namespace {

/// The shape of a large model, or one that an emulated device computes in seconds.
struct Sizes {
  ModelConfig model = bench_config();
  std::int64_t matmul = 256;
  std::vector<std::int64_t> matmul_rows = {1, 2, 16, 17, 64};
  std::vector<int> batches = {1, 4};
  int tokens = 32;  // of the sequence whose log-probs are compared
};

Sizes full_sizes() {
  return {.model = qwen3_config("1.7b"),
          .matmul = 8192,
          .matmul_rows = {1, 2, 8, 16, 17, 64, 256, 1024, 4096},
          .batches = {16, 64, 256},
          .tokens = 512};
}

void say(const std::string& name, const char* result, double figure, const std::string& unit) {
  fmt::print("{}|{}|{:.4g}|{}|-\n", name, result, figure, unit);
  std::fflush(stdout);
}

/// Differences of log-probs between sampling and training.
struct Differences {
  double mean = 0;  // over the sequence, to be compared with GSPO's clip band of 3e-4
  int tokens = 0;   // number of tokens with a difference
};

class DeviceBench {
 public:
  DeviceBench(Operators& operators, const Sizes& sizes)
      : ops_(operators),
        sizes_(sizes),
        weights_(random_weights(sizes.model, operators)),
        transformer_(weights_) {}

  /// Checks the fast mode.
  void run() {
    matmul_bits();
    for (const int batch : sizes_.batches) graph_bits(batch);
    const double mean = std::abs(log_prob_differences().mean);
    say("log-prob difference, sequence mean", "MEASURED", mean, "nats; GSPO clips at 3e-4");
    nccl_alone();
  }
  /// Checks the exact mode.
  void run_exact() {
    const int differing = log_prob_differences().tokens;
    say("exact: tokens whose log-probs differ", differing == 0 ? "PASS" : "FAIL", differing,
        "tokens");
  }

 private:
  std::vector<float> host(Tensor x) {
    std::vector<float> values(static_cast<std::size_t>(x.elements()));
    ops_.copy_to_host(x, values);
    return values;
  }

  /// Counts the row counts at which a row's bits differ from those of a matmul of one row. LibTorch
  /// gives no guarantee.
  void matmul_bits() {
    const std::int64_t in = sizes_.model.width, out = 3 * sizes_.model.width;
    DeviceMemory memory(ops_);
    const std::int64_t most = *std::ranges::max_element(sizes_.matmul_rows);
    const Tensor x = memory.activations(most, in), y = memory.floats(most, out);
    const PackedWeight& w = memory.weight(out, in);
    const auto first_row = [&](std::int64_t rows) {
      ops_.linear(x.rows_at(0, rows), w, y.rows_at(0, rows));
      return host(y.rows_at(0, 1));
    };
    const std::vector<float> of_one = first_row(1);
    const auto differing = std::ranges::count_if(
        sizes_.matmul_rows, [&](std::int64_t rows) { return first_row(rows) != of_one; });
    say("matmul bits by rows", "MEASURED", static_cast<double>(differing),
        "row counts that differ from 1");
  }

  /// Compares the logits of a decode step with those of the step as a CUDA graph.
  void graph_bits(int batch) {
    constexpr int kSteps = 5, kPromptTokens = 32;  // the third step is captured
    const std::string name = fmt::format("logits with and without CUDA graph, batch {}", batch);
    KvCache cache(sizes_.model, ops_, batch * KvCache::pages_for(kPromptTokens + 1));
    std::vector<DecodeRow> rows;
    for (int b = 0; b < batch; ++b) {  // one prompt per call
      std::vector<DecodeRow> prompt(kPromptTokens, {b % 500, cache.open(), false});
      transformer_.decode(prompt, cache);
      rows.push_back({b % 500, prompt[0].sequence, true});
    }
    transformer_.use_cuda_graphs(false);
    const std::vector<float> called = logits_again(rows, cache);
    const std::int64_t before = transformer_.cuda_graph_usage().replayed;
    transformer_.use_cuda_graphs(true);
    bool same = true;
    for (int i = 0; i < kSteps; ++i) same = logits_again(rows, cache) == called && same;
    if (transformer_.cuda_graph_usage().replayed == before) return say_no_graph(name);
    say(name, same ? "PASS" : "FAIL", same ? 0 : 1, "differ");
  }
  void say_no_graph(const std::string& name) const {
    const std::string& refusal = transformer_.cuda_graph_usage().refusal;
    const bool is_host = ops_.place().is_host();
    fmt::print("{}|{}|-|{}|-\n", name, is_host ? "SKIP" : "FAIL",
               is_host ? "nothing to capture on a CPU" : "CUDA refuses: " + refusal);
    std::fflush(stdout);
  }
  /// Returns the logits of the next position of each sequence, which stays as long as it was.
  std::vector<float> logits_again(const std::vector<DecodeRow>& rows, KvCache& cache) {
    std::vector<float> logits = host(transformer_.decode(rows, cache));
    for (const DecodeRow& row : rows) cache.truncate(row.sequence, cache.length(row.sequence) - 1);
    return logits;
  }

  Differences log_prob_differences() {
    const PackedBatch batch = one_sequence(sizes_.model, sizes_.tokens);
    const RowLogProbs trained = transformer_.forward(batch, 1.0f, false);
    KvCache cache(sizes_.model, ops_, KvCache::pages_for(sizes_.tokens));
    const std::int32_t sequence = cache.open();
    Differences found;
    for (std::size_t t = 0; t < batch.rows.size(); ++t) {
      const DecodeRow row{batch.tokens[t], sequence, true};
      const Tensor logits = transformer_.decode(std::span(&row, 1), cache);
      const double difference =
          log_prob(logits, batch.targets[t]) - static_cast<double>(trained.log_probs[t]);
      found.mean += difference / static_cast<double>(batch.rows.size());
      found.tokens += difference != 0 ? 1 : 0;
    }
    return found;
  }
  double log_prob(Tensor logits, std::int32_t target) {
    const Buffer all = ops_.allocate(1, 3, DType::kFloat32);
    const auto column = [&](std::int64_t i) { return all.view().cols_at(i, 1); };
    ops_.log_probs(logits, ops_.upload(std::span(&target, 1)), 1.0f, column(0), column(1),
                   column(2));
    return static_cast<double>(host(column(0))[0]);
  }

  /// Checks NCCL on one GPU: it starts, runs after the operators' work, and leaves no error to the
  /// next kernel.
  void nccl_alone() {
    if (ops_.place().is_host()) return;
    mpi::Environment environment;
    Job job(environment);
    const std::int64_t n = sizes_.matmul;
    DeviceMemory memory(ops_);
    const Tensor x = memory.activations(n, n), y = memory.activations(n, n);
    const PackedWeight& w = memory.weight(n, n);
    const auto group = nccl_collective(job, solo_collective(), ops_.place().device);
    for (int i = 0; i < 5; ++i) {
      ops_.linear(x, w, y);
      group->broadcast(ops_.span(y), 0);
      ops_.swiglu(y, x.cols_at(0, n / 2));
    }
    host(x.rows_at(0, 1));
    say("NCCL alone, between a matmul and a kernel", "PASS", 5, "rounds");
  }

  Operators& ops_;
  const Sizes sizes_;
  const Weights weights_;
  Transformer transformer_;
};

}  // namespace
}  // namespace lie::bench

int main(int argc, char** argv) {
  CLI::App app("Checks of a device's results, a line each");
  std::string device = "cuda";
  app.add_option("--device", device,
                 "cuda[:index]; or emulated, in a build without CUDA, with small shapes");
  return lie::bench::run_bench(app, argc, argv, [&] {
    const bool emulated = device == "emulated";
    const auto made = [&](lie::CudaBits bits) {
      return lie::make_cuda_operators(emulated ? "cpu" : device, lie::DType::kBFloat16, 0, bits);
    };
    const auto fast = made(lie::CudaBits::kFast), exact = made(lie::CudaBits::kExact);
    for (const lie::bench::DeviceCheck& check :
         lie::bench::device_checks(made(lie::CudaBits::kFast))) {
      lie::bench::say(check.name, check.error <= check.bound ? "PASS" : "FAIL", check.error,
                      "of the largest");
    }
    const auto sizes = emulated ? lie::bench::Sizes() : lie::bench::full_sizes();
    lie::bench::DeviceBench(*fast, sizes).run();
    lie::bench::DeviceBench(*exact, sizes).run_exact();
  });
}

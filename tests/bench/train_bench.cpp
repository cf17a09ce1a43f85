// Measures training: forward alone, forward that keeps activations, and backward, in tokens/s and
// share of the measured peak.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "model/transformer/transformer.h"
#include "tests/bench/arguments.h"
#include "tests/bench/bench_model.h"
#include "tests/bench/machine_limits.h"

namespace lie::bench {
namespace {

PackedBatch batch_of(int tokens, int length, std::int64_t vocabulary) {
  PackedBatch batch;
  batch.starts.push_back(0);
  for (int t = 0; t < tokens; ++t) {
    batch.tokens.push_back(static_cast<std::int32_t>((t * 7919) % vocabulary));
    const bool last = (t + 1) % length == 0 || t + 1 == tokens;
    if (last) batch.starts.push_back(t + 1);
    if (!last) batch.rows.push_back(t);
  }
  for (const std::int32_t row : batch.rows) {
    batch.targets.push_back(batch.tokens[static_cast<std::size_t>(row) + 1]);
  }
  return batch;
}

void report(const char* what, double tokens, double seconds, double flops, double peak) {
  fmt::print("{:16}: {:8.0f} tokens/s, {:6.2f} ms, {:6.1f} GFLOP/s, {:4.1f} % of peak\n", what,
             tokens / seconds, 1e3 * seconds, flops / seconds / 1e9, 100 * flops / seconds / peak);
}

void run(int threads, int tokens, int length, const std::string& directory, DType products) {
  const ModelConfig config = config_of(directory);
  const auto operators = make_cpu_operators(threads, {}, products);
  const Weights weights = initial_weights(config, 1, *operators);
  Transformer transformer(weights);
  const PackedBatch batch = batch_of(tokens, length, config.vocabulary);
  const std::vector<float> d_log_probs(batch.rows.size(), 0.001f),
      d_entropies(batch.rows.size(), 0.0001f);
  const Buffer gradient = operators->allocate(1, weights.flat().elements(), DType::kFloat32);
  operators->zero(gradient.view());
  FlatGradient sink(weights.parameters(), gradient.view());
  const double peak = peak_flops(threads);
  const int runs = config.width > 512 ? 2 : 10;
  fmt::print("threads {}, peak {:.0f} GFLOP/s, {} tokens in sequences of {}\n", threads, peak / 1e9,
             tokens, length);
  const double forward_flops =
      2 * tokens * (products_per_token(config, true) + attention_products(config, length / 2.0));
  const double forward = best_seconds(runs, [&] { transformer.forward(batch, 1.0f, false); });
  const double kept = best_seconds(runs, [&] { transformer.forward(batch, 1.0f, true); });
  const double both = best_seconds(runs, [&] {
    transformer.forward(batch, 1.0f, true);
    transformer.backward(batch, d_log_probs, d_entropies, sink);
  });
  report("forward", tokens, forward, forward_flops, peak);
  report("forward, kept", tokens, kept, forward_flops, peak);
  report("backward", tokens, both - kept, 2 * forward_flops, peak);
  report("both", tokens, both, 3 * forward_flops, peak);
}

}  // namespace
}  // namespace lie::bench

int main(int argc, char** argv) {
  CLI::App app("Training speed: forward alone, forward kept for backward, and backward");
  int threads = 2, micro_batch_tokens = 4096, sequence_tokens = 210;
  std::string directory;
  lie::DType products = lie::DType::kFloat32;
  lie::bench::add_threads(app, threads);
  lie::bench::add_count(app, "micro_batch_tokens", micro_batch_tokens);
  lie::bench::add_count(app, "sequence_tokens", sequence_tokens);
  app.add_option("MODEL_DIR", directory, "a shape to measure; none: the built-in one");
  lie::bench::add_products(app, products);
  return lie::bench::run_bench(app, argc, argv, [&] {
    lie::bench::run(threads, micro_batch_tokens, sequence_tokens, directory, products);
  });
}

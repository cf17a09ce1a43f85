// Measures decoding by batch size: tokens/s, GFLOP/s and their share of the measured peak. At batch
// 1 also prints the share of the measured bandwidth if the weights are read once per token. Then
// measures the time to draw a token from each row of logits.
#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "model/transformer/transformer.h"
#include "tests/bench/arguments.h"
#include "tests/bench/bench_model.h"
#include "tests/bench/instructions.h"
#include "tests/bench/machine_limits.h"

namespace lie::bench {
namespace {

/// Returns the seconds for `batch` sequences of `tokens` tokens, one token of each sequence per
/// call.
double decode_seconds(Transformer& transformer, Operators& operators, const ModelConfig& config,
                      int batch, int tokens) {
  KvCache cache(config, operators, batch * KvCache::pages_for(tokens));
  std::vector<DecodeRow> rows;
  float first_logit = 0;
  return best_seconds(config.width > 512 ? 2 : 5, [&] {
    rows.clear();
    for (int b = 0; b < batch; ++b) rows.push_back({b % 500, cache.open(), true});
    for (int t = 0; t < tokens; ++t) {
      const Tensor logits = transformer.decode(rows, cache);
      operators.copy_to_host(logits.rows_at(0, 1).cols_at(0, 1), std::span(&first_logit, 1));
      for (DecodeRow& row : rows) row.token = (row.token + (first_logit > 0 ? 1 : 2)) % 512;
    }
    for (const DecodeRow& row : rows) cache.close(row.sequence);
  });
}

/// Returns the seconds to draw a token from each of `batch` rows of logits.
double sample_seconds(Operators& operators, std::int64_t vocabulary, std::int64_t batch) {
  const Buffer logits = operators.allocate(batch, vocabulary, DType::kFloat32);
  const Buffer ids = operators.allocate(1, batch, DType::kInt32);
  const Buffer log_probs = operators.allocate(1, batch, DType::kFloat32);
  std::vector<float> host;
  for (std::uint32_t v = 0; v < batch * vocabulary; ++v) {
    host.push_back(random_normal({.index = v}));
  }
  operators.copy_from_host(host, logits.view());
  std::vector<Draw> draws;
  for (std::int64_t row = 0; row < batch; ++row) {
    draws.push_back({.row = row, .key = {.index = static_cast<std::uint32_t>(row)}});
  }
  return best_seconds(20, [&] {
    operators.sample(logits.view(), draws, {ids.view(), log_probs.view()});
  });
}

void run(int threads, int tokens, const std::string& directory, int largest, DType products) {
  const ModelConfig config = config_of(directory);
  const auto operators = make_cpu_operators(threads, {}, products);
  std::optional<Weights> random;
  if (is_built_in(directory)) random = initial_weights(config, 1, *operators);
  Transformer transformer =
      random ? Transformer(*random) : Transformer::fixed(directory, *operators);
  const double peak = peak_flops(threads);
  const auto weight_bytes = static_cast<double>(transformer.packed_size().bytes);
  const double bandwidth = read_bandwidth(threads, static_cast<std::int64_t>(weight_bytes));
  fmt::print(
      "threads {}, peak {:.0f} GFLOP/s, reading {:.1f} MB: {:.0f} GB/s; sequences of {} tokens\n",
      threads, peak / 1e9, weight_bytes / 1e6, bandwidth / 1e9, tokens);
  const double per_token =
      2 * (products_per_token(config, true) + attention_products(config, tokens / 2.0));
  for (const int batch : {1, 2, 4, 8, 16, 64, 128}) {
    if (batch > largest) break;
    const double seconds = decode_seconds(transformer, *operators, config, batch, tokens);
    const double rate = batch * tokens / seconds;
    fmt::print("batch {:4}: {:8.0f} tokens/s, {:6.1f} us/step, {:6.1f} GFLOP/s, {:4.1f} % of peak",
               batch, rate, 1e6 * seconds / tokens, rate * per_token / 1e9,
               100 * rate * per_token / peak);
    if (batch == 1) fmt::print(", {:.1f} % of bandwidth", 100 * rate * weight_bytes / bandwidth);
    fmt::print(", sampling {:.1f} us\n",
               1e6 * sample_seconds(*operators, config.vocabulary, batch));
  }
}

}  // namespace
}  // namespace lie::bench

int main(int argc, char** argv) {
  CLI::App app("Decode speed by batch size");
  int threads = 2, tokens = 200, largest = 128;
  std::string directory;
  lie::DType products = lie::DType::kFloat32;
  lie::bench::add_threads(app, threads);
  lie::bench::add_count(app, "tokens", tokens);
  app.add_option("MODEL_DIR", directory,
                 "weights to measure, as they are; - or none: random ones of the built-in shape");
  lie::bench::add_count(app, "largest_batch", largest);
  lie::bench::add_products(app, products);
  lie::bench::add_instructions(app);
  return lie::bench::run_bench(
      app, argc, argv, [&] { lie::bench::run(threads, tokens, directory, largest, products); });
}

// Measures whole passes of the transformer: a prefill, a decode step and a micro-batch.
#include <fmt/format.h>

#include <memory>
#include <vector>

#include "model/transformer/kv_cache.h"
#include "model/transformer/transformer.h"
#include "tests/bench/bench_model.h"
#include "tests/bench/kernels/sections.h"

namespace lie::bench {
namespace {

using Work = KernelBench::Work;

constexpr double kLaunchesPerLayer = 12;  // of a decode step

struct Policy {
  Weights weights;
  Transformer transformer;
  Policy(const ModelConfig& model, Operators& operators)
      : weights(random_weights(model, operators)), transformer(weights) {}
};

/// Measures passes of one policy, which the first measurement makes.
class Steps {
 public:
  Steps(KernelBench& bench, Operators* operators, std::string prefix)
      : bench_(bench),
        operators_(operators),
        prefix_(std::move(prefix)),
        model_(bench.sizes().model) {}

  void prefill(const std::string& name, std::int64_t tokens) {
    measure(fmt::format("{}, {} tokens", name, tokens), pass_cost(tokens, false),
            [&](Inputs in) -> Work {
              const auto cache =
                  std::make_shared<KvCache>(model_, in.operators, KvCache::pages_for(tokens));
              return [this, tokens, cache] {
                const std::int32_t sequence = cache->open();
                const std::vector<DecodeRow> rows(static_cast<std::size_t>(tokens),
                                                  {1, sequence, false});
                transformer().decode(rows, *cache);
                cache->close(sequence);
              };
            });
  }

  void log_probs(std::int64_t tokens) {
    measure(fmt::format("log-probs, {} tokens", tokens), pass_cost(tokens, true),
            [&](Inputs) -> Work {
              const PackedBatch batch = one_sequence(model_, tokens);
              return [this, batch] { transformer().forward(batch, 1.0f, false); };
            });
  }

  void decode(std::int64_t batch, std::int64_t context, bool use_graphs) {
    const std::string name = fmt::format("decode step, batch {}, context {}{}", batch, context,
                                         use_graphs ? ", CUDA graph" : "");
    if (use_graphs && bench_.is_emulated()) {
      return bench_.say(prefix_ + name, "SKIP", "nothing to capture on a CPU");
    }
    const bool is_measured = measure(name, decode_cost(batch, context), [&](Inputs in) -> Work {
      const auto cache = filled_cache(in.operators, batch, context);
      const std::vector<DecodeRow> rows = rows_of(batch);
      return [this, rows, cache, use_graphs] {
        transformer().use_cuda_graphs(use_graphs);
        transformer().decode(rows, *cache);
        for (const DecodeRow& row : rows) {
          cache->truncate(row.sequence, cache->length(row.sequence) - 1);
        }
      };
    });
    const std::string refusal = is_measured ? transformer().cuda_graph_usage().refusal : "";
    if (use_graphs && !refusal.empty()) bench_.say(prefix_ + name, "FAIL", refusal);
  }

  void train(std::int64_t tokens) {
    Cost cost = pass_cost(tokens, true);
    cost.flops = 3 * cost.flops + attention_flops(tokens) / 2;  // attention's backward: 2.5 times
    measure(fmt::format("forward and backward, {} tokens", tokens), cost, [&](Inputs in) -> Work {
      const PackedBatch batch = one_sequence(model_, tokens);
      const std::vector<float> d(batch.rows.size(), 0.001f);
      const Tensor gradient = in.memory.floats(1, transformer_elements());
      return [this, batch, d, gradient] {
        transformer().forward(batch, 1.0f, true);
        FlatGradient sink(parameter_layout(model_), gradient);
        transformer().backward(batch, d, d, sink);
      };
    });
  }

 private:
  bool measure(const std::string& name, const Cost& cost, const KernelBench::Make& make) {
    return bench_.measure_on(operators_, prefix_ + name, cost, make);
  }
  Policy& policy() {
    if (!policy_) policy_ = std::make_unique<Policy>(model_, *operators_);
    return *policy_;
  }
  Transformer& transformer() { return policy().transformer; }
  std::int64_t transformer_elements() { return policy().weights.flat().elements(); }

  double weight_bytes() const { return 2 * products_per_token(model_, true); }
  double attention_flops(std::int64_t tokens) const {
    return 2 * number(tokens) * attention_products(model_, number(tokens) / 2);
  }
  Cost pass_cost(std::int64_t tokens, bool head) const {
    return {
        .bytes = weight_bytes(),
        .flops = 2 * number(tokens) * products_per_token(model_, head) + attention_flops(tokens),
        .launches = kLaunchesPerLayer * number(model_.layers)};
  }
  Cost decode_cost(std::int64_t batch, std::int64_t context) const {
    const double cache_bytes =
        4 * number(model_.layers * model_.kv_heads * model_.head_width) * number(batch * context);
    const double products =
        products_per_token(model_, true) + attention_products(model_, number(context));
    return {.bytes = weight_bytes() + cache_bytes,
            .flops = 2 * number(batch) * products,
            .launches = kLaunchesPerLayer * number(model_.layers)};
  }

  /// Returns sequences with random keys and values, without computing them.
  std::shared_ptr<KvCache> filled_cache(Operators& operators, std::int64_t batch,
                                        std::int64_t context) const {
    const auto cache =
        std::make_shared<KvCache>(model_, operators, batch * KvCache::pages_for(context + 1));
    fill_normal(operators, cache->pool(), 1);
    for (std::int64_t b = 0; b < batch; ++b) {
      KvCache::Sequence& sequence = cache->at(cache->open());
      for (std::int64_t t = 0; t < context; ++t) cache->append(sequence);
    }
    return cache;
  }
  static std::vector<DecodeRow> rows_of(std::int64_t batch) {
    std::vector<DecodeRow> rows;
    for (std::int32_t b = 0; b < batch; ++b) rows.push_back({b % 500, b, true});
    return rows;
  }

  KernelBench& bench_;
  Operators* operators_;
  std::string prefix_;
  const ModelConfig& model_;
  std::unique_ptr<Policy> policy_;
};

}  // namespace

void measure_prefill(KernelBench& bench) {
  Steps steps(bench, bench.device().own.get(), "");
  steps.prefill("prefill", bench.sizes().prompt);
  steps.prefill("re-reading a response", bench.sizes().response);
  steps.log_probs(bench.sizes().response);
}

void measure_decode_steps(KernelBench& bench) {
  Steps steps(bench, bench.device().own.get(), "");
  for (const std::int64_t context : bench.sizes().contexts) {
    for (const std::int64_t batch : bench.sizes().batches) {
      for (const bool use_graphs : {false, true}) steps.decode(batch, context, use_graphs);
    }
  }
}

void measure_training(KernelBench& bench) {
  Steps(bench, bench.device().own.get(), "").train(bench.sizes().train_tokens);
}

void measure_exact(KernelBench& bench) {
  Steps steps(bench, bench.device().exact.get(), "exact: ");
  for (const std::int64_t batch : bench.sizes().batches) {
    steps.decode(batch, bench.sizes().contexts.front(), true);
  }
  // Few rows of its attention share a read of keys, so the time grows with the square of the
  // length.
  steps.train(bench.sizes().response);
}

}  // namespace lie::bench

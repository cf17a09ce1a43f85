// Decode steps that are captured as CUDA graphs and replayed compute what uncaptured steps compute,
// for any rows, lengths and cache.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "model/operators/cuda_graphs.h"
#include "tests/actors/generated.h"
#include "tests/guarded_operators.h"

namespace lie {
namespace {

using test::expect_same, test::generate, test::LetterPolicy, test::some_tickets, test::tiny_rollout;

TEST(CudaGraphs, HaveFewShapesAndPadByLessThanHalf) {
  std::vector<std::int64_t> shapes;
  for (std::int64_t count = 1; count <= 256; ++count) {
    const std::int64_t bucket = cuda_graph_bucket(count);
    EXPECT_GE(bucket, count);
    EXPECT_LT(2 * (bucket - count), count);
    EXPECT_EQ(cuda_graph_bucket(bucket), bucket);
    if (shapes.empty() || shapes.back() != bucket) shapes.push_back(bucket);
  }
  EXPECT_EQ(shapes, std::vector<std::int64_t>(
                        {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256}));
}

/// A model whose responses outgrow the smallest bucket of pages: one of 400 tokens ends them.
constexpr test::TinyShape kLong{.vocabulary = 400, .positions = 512};
RolloutOptions long_rollout() {
  RolloutOptions options = tiny_rollout();
  options.sampling.max_response_tokens = options.evaluation.max_response_tokens = 300;
  return options;
}

TEST(CudaGraphs, DrawTheSameTokensAsStepsWithoutGraphs) {
  LetterPolicy plain(kLong), device(kLong, std::make_unique<test::GuardedOperators>());
  for (const std::int64_t slots : {5, 40}) {
    RolloutOptions options = long_rollout();
    options.slots = slots;
    const auto before = device.transformer.cuda_graph_usage();
    expect_same(generate(plain, options, some_tickets()),
                generate(device, options, some_tickets()));
    const auto use = device.transformer.cuda_graph_usage();
    EXPECT_GT(use.replayed - before.replayed, 2 * (use.captured - before.captured)) << slots;
  }
  device.transformer.use_cuda_graphs(false);
  const auto before = device.transformer.cuda_graph_usage();
  expect_same(generate(plain, long_rollout(), some_tickets()),
              generate(device, long_rollout(), some_tickets()));
  EXPECT_EQ(device.transformer.cuda_graph_usage().replayed, before.replayed);
  EXPECT_EQ(plain.transformer.cuda_graph_usage().captured, 0);
}

/// Returns the logits of passes that append a token to every sequence, alternating between two
/// caches.
std::vector<float> logits_of_two_caches(LetterPolicy& policy, int passes) {
  const ModelConfig& config = policy.weights.config();
  KvCache caches[] = {{config, *policy.operators, 40}, {config, *policy.operators, 30}};
  std::vector<DecodeRow> rows[2];
  for (int c : {0, 1}) {
    for (int s = 0; s < 3 + c; ++s) rows[c].push_back({4, caches[c].open(), true});
  }
  std::vector<float> all;
  for (int pass = 0; pass < passes; ++pass) {
    const int c = pass / 3 % 2;
    for (std::size_t s = 0; s < rows[c].size(); ++s) {
      rows[c][s].token = static_cast<std::int32_t>((5 + pass * 7 + static_cast<int>(s)) % 30);
    }
    const Tensor logits = policy.transformer.decode(rows[c], caches[c]);
    std::vector<float> host(static_cast<std::size_t>(logits.elements()));
    policy.operators->copy_to_host(logits, host);
    all.insert(all.end(), host.begin(), host.end());
  }
  return all;
}

TEST(CudaGraphs, AreCapturedAgainForAnotherCache) {
  LetterPolicy plain, device({}, std::make_unique<test::GuardedOperators>());
  EXPECT_EQ(logits_of_two_caches(plain, 40), logits_of_two_caches(device, 40));
  const auto use = device.transformer.cuda_graph_usage();
  EXPECT_GT(use.replayed, 0);
  EXPECT_GT(use.captured, 10);  // again at each change of the cache
}

TEST(CudaGraphs, ReadChangedWeights) {
  LetterPolicy plain, device({}, std::make_unique<test::GuardedOperators>());
  for (const float factor : {1.0F, 0.5F}) {
    for (LetterPolicy* policy : {&plain, &device}) {
      std::vector<float> values(static_cast<std::size_t>(policy->weights.flat().elements()));
      policy->operators->copy_to_host(policy->weights.flat(), values);
      for (float& value : values) value *= factor;
      policy->operators->copy_from_host(values, policy->weights.flat());
      policy->transformer.weights_changed();
    }
    expect_same(generate(plain, tiny_rollout(), some_tickets()),
                generate(device, tiny_rollout(), some_tickets()));
  }
}

}  // namespace
}  // namespace lie

// Training passes in the memory of the KV cache.
#include <gtest/gtest.h>

#include <vector>

#include "common/base/error.h"
#include "model/transformer/training_memory.h"
#include "model/transformer/transformer.h"
#include "tests/guarded_operators.h"
#include "tests/tiny_model.h"

namespace lie {
namespace {

constexpr std::int64_t kPages = 400;

/// The results of a training pass, and the bytes that it allocated.
struct PassResult {
  std::vector<float> log_probs, gradient;
  std::int64_t allocated = 0;
};

class CacheMemory : public testing::Test {
 protected:
  PassResult pass(Transformer& policy) {
    test::Gradient gradient = test::gradient_for(weights_);
    const std::vector<float> ones(batch_.rows.size(), 1.0f);
    const auto before = operators_.traffic();
    RowLogProbs rows = policy.forward(batch_, 1, /*keep_for_backward=*/true);
    policy.backward(batch_, ones, ones, gradient.sink);
    const std::int64_t allocated = operators_.traffic().since(before).allocated_bytes;
    return {std::move(rows.log_probs), test::to_host(operators_, gradient.view()), allocated};
  }
  std::vector<float> decode(Transformer& policy, KvCache& cache) {
    const std::int32_t sequence = cache.open();
    std::vector<DecodeRow> rows;
    for (const std::int32_t token : {5, 7, 11}) {
      rows.push_back({.token = token, .sequence = sequence, .wants_logits = token == 11});
    }
    std::vector<float> logits = test::to_host(operators_, policy.decode(rows, cache));
    cache.close(sequence);
    return logits;
  }
  void expect_same(const PassResult& a, const PassResult& b) {
    EXPECT_EQ(a.log_probs, b.log_probs);
    EXPECT_EQ(a.gradient, b.gradient);
  }

  const ModelConfig config_ = test::tiny_config();
  const PackedBatch batch_ = test::tiny_batch("pass", {60, 40, 70}, config_.vocabulary);
  test::GuardedOperators operators_;
  Weights weights_ = test::tiny_weights(config_, operators_);
};

TEST_F(CacheMemory, APassThatFitsAllocatesNoMemoryForActivations) {
  Transformer alone(weights_), learner(weights_);
  const PassResult expected = pass(alone);
  learner.share_cache_memory(KvCache::pool_bytes(config_, operators_, kPages));
  Transformer actor = learner.for_generation(operators_);
  const auto before = operators_.traffic();
  KvCache cache(config_, operators_, kPages, actor.cache_memory());
  EXPECT_EQ(operators_.traffic().since(before).allocated_bytes, 0);
  const std::vector<float> logits = decode(actor, cache);
  for (int step = 0; step < 2; ++step) {
    const PassResult shared = pass(learner);
    expect_same(shared, expected);
    const PassLayout layout(config_, DType::kFloat32,
                            {std::ssize(batch_.tokens), std::ssize(batch_.rows)}, kTrainingBytes);
    EXPECT_EQ(shared.allocated, step == 0 ? expected.allocated - layout.bytes() : 0);
    EXPECT_EQ(decode(actor, cache), logits) << "the pass before must change no later token";
  }
  EXPECT_EQ(cache.pool().data, learner.cache_memory().data);
}

TEST_F(CacheMemory, APassThatDoesNotFitHasMemoryOfItsOwn) {
  Transformer alone(weights_), learner(weights_);
  const PassResult expected = pass(alone);
  learner.share_cache_memory(KvCache::pool_bytes(config_, operators_, 1));
  const PassResult own = pass(learner);
  expect_same(own, expected);
  EXPECT_EQ(own.allocated, expected.allocated);
  EXPECT_THROW(KvCache(config_, operators_, 2, learner.cache_memory()), Error);
}

}  // namespace
}  // namespace lie

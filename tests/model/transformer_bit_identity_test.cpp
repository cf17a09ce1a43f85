// Tests that actor and learner compute the same policy (invariant E5). Results must be
// bit-identical for all batches, pages, forks, threads and instruction sets (invariants E1, E3,
// E4).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "common/base/dtype.h"
#include "common/base/error.h"
#include "hwy/targets.h"
#include "model/cpu/bf16_operators.h"
#include "model/transformer/training_memory.h"
#include "model/transformer/transformer.h"
#include "tests/host_memory.h"
#include "tests/temporary_directory.h"
#include "tests/tiny_model.h"

namespace lie {
namespace {

constexpr float kTemperature = 0.9f;

bool same_bits(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

/// Returns a model whose widths are not multiples of a register.
ModelConfig config_with(bool tied) {
  ModelConfig config = test::tiny_config({.vocabulary = 45, .width = 24, .ffn_width = 40});
  config.tied_embeddings = tied;
  // The untied model has biases and scaled rotations, so that both kinds of layers are tested.
  config.qkv_bias = config.output_bias = !tied;
  if (!tied) config.llama3_rope = Llama3Rope{.original_positions = 48};
  return config;
}

// Tokens of each sequence. Some sequences need several pages and tiles.
const std::vector<int> kLengths = {5, 70, 16, 17, 1, 33, 48, 64, 2};

/// A test that runs with each type of the CPU operators: fp32 and bf16.
class TransformerBitIdentity : public testing::TestWithParam<DType> {};
INSTANTIATE_TEST_SUITE_P(MatmulTypes, TransformerBitIdentity,
                         testing::Values(DType::kFloat32, DType::kBFloat16), [](const auto& test) {
                           return test.param == DType::kFloat32 ? "fp32" : "bf16";
                         });

/// A transformer with its operators and weights.
struct Policy {
  explicit Policy(const ModelConfig& config, DType matmul_type = DType::kFloat32)
      : Policy(config, make_cpu_operators(1, {}, matmul_type)) {}
  Policy(const ModelConfig& config, std::unique_ptr<Operators> own)
      : operators(std::move(own)),
        weights(test::tiny_weights(config, *operators)),
        transformer(weights) {}
  std::unique_ptr<Operators> operators;
  Weights weights;
  Transformer transformer;
};

/// Returns the log-prob of `target` in one row of logits.
float score(Policy& policy, Tensor logits, std::int32_t target) {
  float log_prob = 0, entropy = 0, log_sum = 0;
  const auto one = [](float& x) { return Tensor{&x, 1, 1, 1, DType::kFloat32}; };
  policy.operators->log_probs(logits, {&target, 1}, kTemperature, one(log_prob), one(entropy),
                              one(log_sum));
  return log_prob;
}

/// Returns the log-probs of all scored rows from decoding, with `step` rows of each sequence per
/// call. `transformer` must use the policy's operators.
std::vector<float> decoded_log_probs(Policy& policy, Transformer& transformer,
                                     const PackedBatch& batch, int step) {
  KvCache cache(policy.weights.config(), *policy.operators, 64);
  const std::size_t count = batch.starts.size() - 1;
  std::vector<std::int32_t> handles, next(batch.starts.begin(), batch.starts.end() - 1);
  for (std::size_t s = 0; s < count; ++s) handles.push_back(cache.open());
  std::vector<float> by_row(batch.tokens.size());
  for (bool more = true; more;) {
    more = false;
    std::vector<DecodeRow> rows;
    std::vector<std::size_t> at;
    for (std::size_t s = 0; s < count; ++s) {
      for (int i = 0; i < step && next[s] < batch.starts[s + 1]; ++i, ++next[s]) {
        const auto t = static_cast<std::size_t>(next[s]);
        const bool wants = next[s] + 1 < batch.starts[s + 1];
        rows.push_back({batch.tokens[t], handles[s], wants});
        if (wants) at.push_back(t);
        more = true;
      }
    }
    const Tensor logits = transformer.decode(rows, cache);
    for (std::size_t i = 0; i < at.size(); ++i) {
      const Tensor row = logits.rows_at(static_cast<std::int64_t>(i), 1);
      by_row[at[i]] = score(policy, row, batch.tokens[at[i] + 1]);
    }
  }
  std::vector<float> result;
  for (const std::int32_t row : batch.rows) result.push_back(by_row[static_cast<std::size_t>(row)]);
  return result;
}
std::vector<float> decoded_log_probs(Policy& policy, const PackedBatch& batch, int step) {
  return decoded_log_probs(policy, policy.transformer, batch, step);
}

/// Returns the gradient accumulated over `parts`. `transformer` must use the policy's operators.
std::vector<float> gradient_of(Policy& policy, Transformer& transformer,
                               const std::vector<PackedBatch>& parts) {
  test::Gradient gradient = test::gradient_for(policy.weights);
  std::size_t done = 0, total = 0;
  for (const PackedBatch& part : parts) total += part.rows.size();
  const std::vector<float> d_log_probs = test::float_values("a", total),
                           d_entropies = test::float_values("b", total);
  for (const PackedBatch& part : parts) {
    transformer.forward(part, kTemperature, true);
    transformer.backward(part, std::span(d_log_probs).subspan(done, part.rows.size()),
                         std::span(d_entropies).subspan(done, part.rows.size()), gradient.sink);
    done += part.rows.size();
  }
  return test::to_host(*policy.operators, gradient.view());
}

std::vector<float> gradient_of(Policy& policy, const std::vector<PackedBatch>& parts) {
  return gradient_of(policy, policy.transformer, parts);
}

TEST_P(TransformerBitIdentity, DecodeEqualsPackedForwardForEveryChunkSize) {
  for (const bool tied : {true, false}) {
    Policy policy(config_with(tied), GetParam());
    const PackedBatch batch =
        test::tiny_batch("tokens", kLengths, policy.weights.config().vocabulary);
    const RowLogProbs packed = policy.transformer.forward(batch, kTemperature, false);
    for (const int step : {1, 3, 16, 100}) {
      EXPECT_TRUE(same_bits(decoded_log_probs(policy, batch, step), packed.log_probs)) << step;
    }
  }
}

TEST_P(TransformerBitIdentity, ForwardDoesNotDependOnOtherSequences) {
  Policy policy(config_with(true), GetParam());
  const PackedBatch batch =
      test::tiny_batch("tokens", kLengths, policy.weights.config().vocabulary);
  const RowLogProbs full = policy.transformer.forward(batch, kTemperature, false);
  std::vector<float> log_probs, entropies;
  for (std::size_t s = 0; s < kLengths.size(); ++s) {
    const RowLogProbs alone =
        policy.transformer.forward(test::part_of(batch, s, s + 1), kTemperature, false);
    log_probs.insert(log_probs.end(), alone.log_probs.begin(), alone.log_probs.end());
    entropies.insert(entropies.end(), alone.entropies.begin(), alone.entropies.end());
  }
  EXPECT_TRUE(same_bits(log_probs, full.log_probs));
  EXPECT_TRUE(same_bits(entropies, full.entropies));
}

TEST_P(TransformerBitIdentity, ForkedSequencesDecodeLikeSeparateOnes) {
  Policy policy(config_with(true), GetParam());
  for (const int prompt : {1, 15, 16, 17, 40}) {
    const PackedBatch batch =
        test::tiny_batch("fork", {prompt + 20}, policy.weights.config().vocabulary);
    const RowLogProbs packed = policy.transformer.forward(batch, kTemperature, false);
    KvCache cache(policy.weights.config(), *policy.operators, 16);
    const std::int64_t pages = cache.free_pages();
    const std::int32_t parent = cache.open();
    std::vector<DecodeRow> rows;
    for (int t = 0; t < prompt; ++t)
      rows.push_back({batch.tokens[static_cast<std::size_t>(t)], parent, false});
    EXPECT_EQ(policy.transformer.decode(rows, cache).rows, 0);
    const std::int32_t child = cache.fork(parent), other = cache.fork(parent);
    cache.close(parent);
    for (int t = prompt; t + 1 < prompt + 20; ++t) {
      const auto at = static_cast<std::size_t>(t);
      // The sibling decodes another token in the same call.
      const std::vector<DecodeRow> step = {{(batch.tokens[at] + 1) % 45, other, true},
                                           {batch.tokens[at], child, true}};
      const Tensor logits = policy.transformer.decode(step, cache).rows_at(1, 1);
      EXPECT_EQ(score(policy, logits, batch.tokens[at + 1]), packed.log_probs[at])
          << prompt << " " << t;
    }
    cache.close(child);
    cache.close(other);
    EXPECT_EQ(cache.free_pages(), pages);
  }
}

TEST_P(TransformerBitIdentity, GradientsOfMicroBatchesAddUpToThatOfTheBatch) {
  for (const bool tied : {true, false}) {
    Policy policy(config_with(tied), GetParam());
    const PackedBatch batch =
        test::tiny_batch("tokens", kLengths, policy.weights.config().vocabulary);
    const std::vector<float> full = gradient_of(policy, {batch});
    const std::vector<float> micro_batched = gradient_of(
        policy,
        {test::part_of(batch, 0, 2), test::part_of(batch, 2, 3), test::part_of(batch, 3, 9)});
    EXPECT_TRUE(same_bits(full, micro_batched));
    EXPECT_TRUE(std::ranges::all_of(full, [](float g) { return std::isfinite(g); }));
  }
}

/// Returns the number of chunks whose logits backward() recomputes.
std::int64_t recomputed_chunks(const PassLayout& layout) {
  std::int64_t count = 0;
  for (std::int64_t chunk = 0; chunk < layout.chunks(); ++chunk) {
    count += layout.recomputes_logits(chunk) ? 1 : 0;
  }
  return count;
}

TEST_P(TransformerBitIdentity, RecomputationDoesNotChangeTheGradient) {
  for (const bool tied : {true, false}) {
    ModelConfig config = config_with(tied);
    config.vocabulary = 1000;
    config.layers = 4;
    const PackedBatch batch = test::tiny_batch("tokens", kLengths, config.vocabulary);
    const std::vector<PackedBatch> parts = {test::part_of(batch, 0, 2), test::part_of(batch, 2, 9)};
    Policy keeps_all(config, GetParam());
    const std::vector<float> expected = gradient_of(keeps_all, {batch});
    std::set<std::int64_t> layers, chunks;
    for (const std::int64_t kibibytes : {1, 1500, 1800, 2200, 2600, 2900, 4000}) {
      const PassSize size{std::ssize(batch.tokens), std::ssize(batch.rows)};
      const PassLayout layout = layout_within(config, DType::kFloat32, size, kibibytes << 10);
      layers.insert(layout.recomputed_layers());
      chunks.insert(recomputed_chunks(layout));
      Policy policy(config, GetParam());
      policy.transformer.limit_training_bytes(kibibytes << 10);
      EXPECT_TRUE(same_bits(gradient_of(policy, {batch}), expected)) << kibibytes;
      EXPECT_TRUE(same_bits(gradient_of(policy, parts), expected)) << kibibytes;
    }
    EXPECT_EQ(layers, (std::set<std::int64_t>{0, 1, 2, 3}));
    EXPECT_TRUE(chunks.contains(0) && chunks.size() > 3) << "none, some and all";
  }
}

std::unique_ptr<Operators> sharing_operators(DType matmul_type, int threads,
                                             const cpu::SharingLimits& limits) {
  if (matmul_type == DType::kBFloat16) return std::make_unique<cpu::Bf16Operators>(threads, limits);
  return std::make_unique<cpu::CpuOperators>(threads, limits);
}

TEST_P(TransformerBitIdentity, ResultsDoNotDependOnThreads) {
  const ModelConfig config = config_with(true);
  const PackedBatch batch = test::tiny_batch("tokens", kLengths, config.vocabulary);
  Policy one(config, GetParam());
  const std::vector<float> log_probs =
      one.transformer.forward(batch, kTemperature, false).log_probs;
  const std::vector<float> gradient = gradient_of(one, {batch});
  // Even the smallest operator is distributed over threads, with and without division of the batch.
  for (const std::int64_t cached_bytes : {0, 1 << 30}) {
    for (const int threads : {2, 3, 5}) {
      Policy policy(config, sharing_operators(GetParam(), threads, {0, cached_bytes}));
      EXPECT_TRUE(
          same_bits(policy.transformer.forward(batch, kTemperature, false).log_probs, log_probs))
          << threads;
      EXPECT_TRUE(same_bits(decoded_log_probs(policy, batch, 1), log_probs)) << threads;
      EXPECT_TRUE(same_bits(decoded_log_probs(policy, batch, 7), log_probs)) << threads;
      EXPECT_TRUE(same_bits(gradient_of(policy, {batch}), gradient)) << threads;
    }
  }
}

TEST_P(TransformerBitIdentity, ResultsDoNotDependOnInstructionSets) {
  const ModelConfig config = config_with(true);
  const PackedBatch batch = test::tiny_batch("tokens", kLengths, config.vocabulary);
  std::vector<float> log_probs, gradient;
  for (const std::int64_t target : {HWY_AVX2, HWY_AVX3}) {
    hwy::SetSupportedTargetsForTest(0);
    if ((hwy::SupportedTargets() & target) == 0) continue;
    hwy::SetSupportedTargetsForTest(target);
    Policy policy(config, GetParam());
    const std::vector<float> l = policy.transformer.forward(batch, kTemperature, false).log_probs;
    const std::vector<float> g = gradient_of(policy, {batch});
    EXPECT_TRUE(same_bits(decoded_log_probs(policy, batch, 5), l)) << hwy::TargetName(target);
    EXPECT_TRUE(log_probs.empty() || same_bits(l, log_probs)) << hwy::TargetName(target);
    EXPECT_TRUE(gradient.empty() || same_bits(g, gradient)) << hwy::TargetName(target);
    log_probs = l;
    gradient = g;
  }
  hwy::SetSupportedTargetsForTest(0);
}

/// Rounds all weights to bf16, the dtype of published checkpoints.
void round_weights(Policy& policy) {
  for (float& w : test::host(policy.weights)) w = from_bfloat16(to_bfloat16(w));
  policy.transformer.weights_changed();
}

TEST_P(TransformerBitIdentity, FixedPolicyFromFilesEqualsPolicyInMemory) {
  for (const bool tied : {true, false}) {
    Policy policy(config_with(tied), GetParam());
    const TemporaryDirectory directory;
    save_weights(policy.weights, directory.path());
    Transformer fixed = Transformer::fixed(directory.path(), *policy.operators);
    const PackedBatch batch =
        test::tiny_batch("tokens", kLengths, policy.weights.config().vocabulary);
    EXPECT_TRUE(same_bits(decoded_log_probs(policy, fixed, batch, 3),
                          policy.transformer.forward(batch, kTemperature, false).log_probs));
  }
}

TEST(FixedTransformer, HalvesItsMemoryIfBf16RepresentsTheWeightsExactly) {
  for (const bool tied : {true, false}) {
    std::int64_t bytes[2] = {};
    for (const bool exact : {false, true}) {
      Policy policy(config_with(tied));
      if (exact) round_weights(policy);
      const TemporaryDirectory directory;
      save_weights(policy.weights, directory.path());
      Transformer fixed = Transformer::fixed(directory.path(), *policy.operators);
      const PackedBatch batch =
          test::tiny_batch("tokens", kLengths, policy.weights.config().vocabulary);
      const RowLogProbs expected = policy.transformer.forward(batch, kTemperature, true);
      EXPECT_TRUE(
          same_bits(fixed.forward(batch, kTemperature, false).log_probs, expected.log_probs));
      EXPECT_TRUE(same_bits(decoded_log_probs(policy, fixed, batch, 3),
                            decoded_log_probs(policy, batch, 3)));
      bytes[exact] = fixed.packed_size().bytes;
      EXPECT_TRUE(exact || !tied || bytes[exact] == policy.transformer.packed_size().bytes);
    }
    EXPECT_EQ(2 * bytes[true], bytes[false]);
  }
}

TEST(Transformer, FixedPolicyRejectsNewWeightsAndGradients) {
  Policy policy(config_with(true));
  const TemporaryDirectory directory;
  save_weights(policy.weights, directory.path());
  Transformer fixed = Transformer::fixed(directory.path(), *policy.operators);
  EXPECT_THROW(fixed.weights_changed(), Error);
  const PackedBatch batch = test::tiny_batch("tokens", {3}, policy.weights.config().vocabulary);
  fixed.forward(batch, kTemperature, true);
  test::Gradient gradient = test::gradient_for(policy.weights);
  EXPECT_THROW(fixed.backward(batch, std::vector<float>(2), std::vector<float>(2), gradient.sink),
               Error);
}

/// Sets the weights of a received policy from parts of `part` elements.
void receive(Transformer& policy, Tensor flat, std::int64_t part) {
  for (std::int64_t first = 0, held = 0; first < flat.cols;) {
    held = std::min(held + part, flat.cols - first);
    const std::int64_t packed = policy.set_weights_from(first, flat.elements_at(first, held));
    first += packed;
    held -= packed;
  }
}

TEST_P(TransformerBitIdentity, ReceivedPolicyEqualsThatOfAllWeights) {
  for (const bool tied : {true, false}) {
    Policy all(config_with(tied), GetParam());
    const ModelConfig& config = all.weights.config();
    const PackedBatch batch = test::tiny_batch("tokens", kLengths, config.vocabulary);
    const auto expected = all.transformer.forward(batch, kTemperature, false).log_probs;
    for (const std::int64_t part : {std::int64_t{7}, std::int64_t{1000}, all.weights.flat().cols}) {
      Transformer received = Transformer::received(config, *all.operators);
      receive(received, all.weights.flat(), part);
      EXPECT_TRUE(same_bits(received.forward(batch, kTemperature, false).log_probs, expected));
      EXPECT_TRUE(
          same_bits(decoded_log_probs(all, received, batch, 3), decoded_log_probs(all, batch, 3)))
          << part;
    }
  }
}

TEST_P(TransformerBitIdentity, ReaderOfSharedMemoryEqualsItsWriter) {
  for (const bool tied : {true, false}) {
    const ModelConfig config = config_with(tied);
    std::vector<float> memory(static_cast<std::size_t>(shared_weight_elements(config)));
    Policy alone(config, GetParam());
    const auto writes = make_cpu_operators(1, {memory, true}, GetParam());
    const auto reads = make_cpu_operators(2, {memory, false}, GetParam());
    Transformer writer = Transformer::received(config, *writes);
    receive(writer, alone.weights.flat(), 1000);
    const std::vector<float> packed = memory;
    Transformer reader = Transformer::received(config, *reads);
    EXPECT_TRUE(same_bits(memory, packed)) << "the reader must not write";
    const PackedBatch batch = test::tiny_batch("tokens", kLengths, config.vocabulary);
    for (const float factor : {1.0f, 1.25f}) {
      for (float& w : test::host(alone.weights)) w *= factor;
      alone.transformer.weights_changed();
      receive(writer, alone.weights.flat(), 1000);
      EXPECT_TRUE(same_bits(reader.forward(batch, kTemperature, false).log_probs,
                            alone.transformer.forward(batch, kTemperature, false).log_probs));
    }
  }
}

TEST(Transformer, RejectsSharedMemoryThatIsTooSmall) {
  const ModelConfig config = config_with(true);
  std::vector<float> memory(static_cast<std::size_t>(flat_elements(parameter_layout(config)) / 2));
  const auto operators = make_cpu_operators(1, {memory, true});
  EXPECT_THROW(Transformer::received(config, *operators), Error);
}

TEST(Transformer, OnlyReceivedWeightsAreSetInParts) {
  Policy policy(config_with(true));
  const Tensor flat = policy.weights.flat();
  EXPECT_THROW(policy.transformer.set_weights_from(0, flat), Error);
  Transformer received = Transformer::received(policy.weights.config(), *policy.operators);
  EXPECT_THROW(received.weights_changed(), Error);
  EXPECT_EQ(received.set_weights_from(0, flat), flat.cols);
}

TEST(Transformer, NewWeightsTakeEffectAfterWeightsChanged) {
  const ModelConfig config = config_with(false);
  Policy policy(config), fresh(config);
  const PackedBatch batch = test::tiny_batch("tokens", {20, 9}, config.vocabulary);
  gradient_of(policy, {batch});
  for (float& w : test::host(policy.weights)) w *= 1.25f;
  for (float& w : test::host(fresh.weights)) w *= 1.25f;
  policy.transformer.weights_changed();
  Transformer other(fresh.weights);
  const auto expected = other.forward(batch, kTemperature, false).log_probs;
  EXPECT_TRUE(
      same_bits(policy.transformer.forward(batch, kTemperature, false).log_probs, expected));
  fresh.transformer.weights_changed();
  EXPECT_TRUE(same_bits(gradient_of(policy, {batch}), gradient_of(fresh, {batch})));
}

TEST_P(TransformerBitIdentity, PolicyOfAShardKeepsNoReferenceToTheFullWeights) {
  for (const bool tied : {true, false}) {
    const ModelConfig config = config_with(tied);
    const PackedBatch batch = test::tiny_batch("tokens", kLengths, config.vocabulary);
    Policy full(config, GetParam());
    const Weights shard(config, *full.operators, FlatRange{64, 16});
    Transformer transformer(shard);
    const Weights temporary(config, *full.operators);
    for (const float factor : {1.0f, 1.25f}) {
      for (float& w : test::host(full.weights)) w *= factor;
      full.transformer.weights_changed();
      full.operators->copy(full.weights.flat(), temporary.flat());
      transformer.set_weights(temporary.flat());
      full.operators->zero(temporary.flat());
      EXPECT_TRUE(same_bits(decoded_log_probs(full, transformer, batch, 3),
                            decoded_log_probs(full, batch, 3)));
      const std::vector<float> expected = gradient_of(full, {batch});
      EXPECT_TRUE(same_bits(gradient_of(full, transformer, {batch}), expected));
    }
    EXPECT_THROW(transformer.weights_changed(), Error) << "a shard does not contain all weights";
  }
}

TEST_P(TransformerBitIdentity, PolicyWithSharedWeightsFollowsTheirChanges) {
  for (const bool tied : {true, false}) {
    Policy policy(config_with(tied), GetParam());
    const PackedBatch batch =
        test::tiny_batch("tokens", {20, 9}, policy.weights.config().vocabulary);
    const auto own = make_cpu_operators(1, {}, GetParam());
    Transformer sharing = policy.transformer.with_shared_weights(*own);
    const auto expect_same = [&] {
      const std::vector<float> expected = decoded_log_probs(policy, batch, 3);
      EXPECT_TRUE(same_bits(decoded_log_probs(policy, sharing, batch, 3), expected));
      EXPECT_TRUE(same_bits(sharing.forward(batch, kTemperature, false).log_probs, expected));
      return expected;
    };
    const std::vector<float> before = expect_same();
    for (float& w : test::host(policy.weights)) w *= 1.25f;
    policy.transformer.weights_changed();
    sharing.weights_changed();
    EXPECT_FALSE(same_bits(expect_same(), before));
  }
}

TEST(Transformer, RejectsInvalidCalls) {
  Policy policy(config_with(true));
  PackedBatch batch = test::tiny_batch("tokens", {4}, 45);
  const std::vector<float> d(3);
  test::Gradient gradient = test::gradient_for(policy.weights);
  EXPECT_THROW(policy.transformer.backward(batch, d, d, gradient.sink), std::runtime_error);
  policy.transformer.forward(batch, 1.0f, true);
  EXPECT_THROW(FlatGradient(policy.weights.parameters(), gradient.view().cols_at(0, 16)),
               std::runtime_error);
  batch.tokens[0] = 45;
  EXPECT_THROW(policy.transformer.forward(batch, 1.0f, false), std::runtime_error);
  KvCache cache(policy.weights.config(), *policy.operators, 1);
  EXPECT_THROW(policy.transformer.decode(std::vector<DecodeRow>{{1, 0, true}}, cache),
               std::runtime_error);
  const std::int32_t s = cache.open();
  EXPECT_THROW(policy.transformer.decode(std::vector<DecodeRow>{{-1, s, true}}, cache),
               std::runtime_error);
  std::vector<DecodeRow> many(17, DecodeRow{1, s, false});
  EXPECT_THROW(policy.transformer.decode(many, cache),
               std::runtime_error);  // the cache has one page
}

TEST(KvCache, TruncatesOnlyWithinUnsharedPages) {
  Policy policy(config_with(true));
  KvCache cache(policy.weights.config(), *policy.operators, 8);
  const std::int32_t parent = cache.open();
  policy.transformer.decode(std::vector<DecodeRow>(20, {1, parent, false}), cache);
  const std::int32_t child = cache.fork(parent);
  policy.transformer.decode(std::vector<DecodeRow>(30, {1, child, false}), cache);
  EXPECT_EQ(cache.free_pages(), 8 - 2 - 3);  // the first page is shared
  cache.truncate(child, 20);
  EXPECT_EQ(cache.length(child), 20);
  EXPECT_EQ(cache.free_pages(), 8 - 2 - 1);
  EXPECT_THROW(cache.truncate(child, 21), std::runtime_error);
  EXPECT_THROW(cache.truncate(child, 15), std::runtime_error) << "the parent uses the page";
  cache.close(parent);
  cache.truncate(child, 0);
  EXPECT_EQ(cache.free_pages(), 8);
}

}  // namespace
}  // namespace lie

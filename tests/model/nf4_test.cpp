// A base in NF4: its numbers against bitsandbytes, and bit-identical in decoding and training.
#include "model/operators/nf4.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "model/transformer/transformer.h"
#include "model/weights/adapter_file.h"
#include "tests/directories.h"
#include "tests/model/transformer_golden.h"
#include "tests/temporary_directory.h"
#include "tests/tiny_model.h"

namespace lie {
namespace {

namespace fs = std::filesystem;
using testing::AllOf, testing::HasSubstr;

constexpr float kTemperature = 0.9f;

bool same_bits(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

std::vector<float> floats_of(const std::string& hex) {
  std::vector<float> values;
  for (std::size_t i = 0; i < hex.size(); i += 8) {
    const auto bits = std::stoul(hex.substr(i, 8), nullptr, 16);
    values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  }
  return values;
}

/// A line of nf4.golden, which golden/make_nf4_golden.py describes.
struct GoldenBlock {
  std::vector<float> weights, scale, dequantized;
  std::string codes;
};

std::vector<GoldenBlock> golden_blocks() {
  std::ifstream in(std::string(source_directory()) + "/tests/model/golden/nf4.golden");
  std::vector<GoldenBlock> blocks;
  for (std::string weights, scale, dequantized, codes;
       in >> weights >> scale >> dequantized >> codes;) {
    blocks.push_back({floats_of(weights), floats_of(scale), floats_of(dequantized), codes});
  }
  return blocks;
}

TEST(Nf4, CodesScalesAndWeightsAreThoseOfBitsandbytes) {
  const std::vector<GoldenBlock> blocks = golden_blocks();
  ASSERT_EQ(blocks.size(), 13U);
  for (const GoldenBlock& block : blocks) {
    ASSERT_EQ(block.weights.size(), static_cast<std::size_t>(nf4::kBlock));
    std::array<std::uint8_t, nf4::kBlockBytes> codes{};
    const float scale = nf4::quantize(block.weights.data(), nf4::kValues.data(), codes.data());
    EXPECT_TRUE(same_bits({&scale, 1}, block.scale));
    std::string hex;
    for (const std::uint8_t code : codes) hex += fmt::format("{:02x}", code);
    EXPECT_EQ(hex, block.codes);
    std::vector<float> dequantized;
    for (std::int64_t i = 0; i < nf4::kBlock; ++i) {
      dequantized.push_back(nf4::weight_at(codes.data(), scale, i, nf4::kValues.data()));
    }
    EXPECT_TRUE(same_bits(dequantized, block.dequantized)) << block.codes;
  }
}

/// An adapter on a base of matrices with 24, 40 or 64 columns, so that blocks span rows.
struct Nf4Policy {
  explicit Nf4Policy(std::unique_ptr<Operators> own = make_cpu_operators(1), bool nf4 = true,
                     const fs::path& base = {})
      : operators(std::move(own)),
        config(config_on(base, nf4)),
        weights(test::tiny_weights(config, *operators)),
        transformer(weights) {}

  /// Without a `base`, writes one to `directory`.
  ModelConfig config_on(const fs::path& base, bool nf4) const {
    ModelConfig made =
        test::tiny_config({.vocabulary = 45, .width = 24, .ffn_width = 40, .layers = 2});
    made.tied_embeddings = false;
    if (base.empty()) {
      save_weights(test::tiny_weights(made, *make_cpu_operators(1)), directory.path());
    }
    made.lora = LoraConfig{.rank = 4,
                           .alpha = 8,
                           .targets = {"q_proj", "down_proj"},
                           .base = base.empty() ? directory.path() : base,
                           .nf4 = nf4};
    return made;
  }
  std::vector<float> log_probs(const PackedBatch& batch) {
    return transformer.forward(batch, kTemperature, false).log_probs;
  }
  std::vector<float> gradient_of(const PackedBatch& batch) {
    test::Gradient gradient = test::gradient_for(weights);
    const std::vector<float> d = test::float_values("d", batch.rows.size());
    transformer.forward(batch, kTemperature, true);
    transformer.backward(batch, d, d, gradient.sink);
    return test::to_host(*operators, gradient.view());
  }

  TemporaryDirectory directory;
  std::unique_ptr<Operators> operators;
  ModelConfig config;
  Weights weights;
  Transformer transformer;
};

/// More than the rows from which threads divide rows instead of panels.
PackedBatch some_batch() { return test::tiny_batch("tokens", {9, 35, 2, 70, 200, 250}, 45); }

/// Returns the elements of the linear layers.
std::int64_t linear_elements(const ModelConfig& config) {
  std::int64_t elements = 0;
  for (const Parameter& p : parameter_layout(config)) {
    if (may_have_pair(p.role)) elements += p.rows * p.cols;
  }
  return elements;
}

/// Writes the base of a policy with its linear layers rounded to NF4.
void write_rounded(const Nf4Policy& policy, const fs::path& directory) {
  const auto operators = make_cpu_operators(1);
  const Weights base = load_weights(policy.directory.path(), *operators);
  for (const Parameter& p : base.parameters()) {
    if (!may_have_pair(p.role)) continue;
    std::vector<float> all = test::to_host(*operators, base.tensor(p.name));
    for (auto block = all.begin(); block != all.end(); block += nf4::kBlock) {
      std::array<std::uint8_t, nf4::kBlockBytes> codes{};
      const float scale = nf4::quantize(&*block, nf4::kValues.data(), codes.data());
      for (std::int64_t i = 0; i < nf4::kBlock; ++i) {
        block[i] = nf4::weight_at(codes.data(), scale, i, nf4::kValues.data());
      }
    }
    operators->copy_from_host(all, base.tensor(p.name));
  }
  save_weights(base, directory);
}

class Nf4Base : public testing::TestWithParam<DType> {
 protected:
  std::unique_ptr<Operators> operators(int threads = 1) const {
    return make_cpu_operators(threads, {}, GetParam());
  }
};
INSTANTIATE_TEST_SUITE_P(MatmulTypes, Nf4Base, testing::Values(DType::kFloat32, DType::kBFloat16),
                         [](const auto& test) {
                           return test.param == DType::kFloat32 ? "fp32" : "bf16";
                         });

TEST_P(Nf4Base, PassesHaveTheBitsOfABaseThatIsRoundedInItsFile) {
  const PackedBatch batch = some_batch();
  const TemporaryDirectory rounded;
  Nf4Policy policy(operators());
  write_rounded(policy, rounded.path());
  Nf4Policy wide(operators(), false, rounded.path());
  EXPECT_TRUE(same_bits(policy.log_probs(batch), wide.log_probs(batch)));
  EXPECT_TRUE(same_bits(policy.gradient_of(batch), wide.gradient_of(batch)));
  Nf4Policy stored(operators(), false);
  EXPECT_FALSE(same_bits(policy.log_probs(batch), stored.log_probs(batch)));
}

TEST_P(Nf4Base, SamplerAndLearnerComputeTheSameLogProbsOnAnyNumberOfThreads) {
  const PackedBatch batch = some_batch();
  Nf4Policy policy(operators());
  const auto trained = policy.transformer.forward(batch, kTemperature, true).log_probs;
  const std::vector<float> gradient = policy.gradient_of(batch);
  for (const int threads : {1, 3}) {
    Nf4Policy other(operators(threads), true, policy.directory.path());
    EXPECT_TRUE(same_bits(other.gradient_of(batch), gradient)) << threads;
    Transformer sampler = Transformer::received(other.config, *other.operators);
    sampler.set_weights_from(0, other.weights.flat());
    KvCache cache(other.config, *other.operators, 64);
    const std::int32_t sequence = cache.open();
    std::size_t row = 0;
    for (std::int32_t t = 0; t + 1 < batch.starts[1]; ++t, ++row) {
      const DecodeRow one{batch.tokens[static_cast<std::size_t>(t)], sequence, true};
      const Tensor logits = sampler.decode(std::span(&one, 1), cache);
      float log_prob = 0, entropy = 0, log_sum = 0;
      const auto number = [](float& x) { return Tensor{&x, 1, 1, 1, DType::kFloat32}; };
      other.operators->log_probs(logits, {&batch.targets[row], 1}, kTemperature, number(log_prob),
                                 number(entropy), number(log_sum));
      EXPECT_EQ(log_prob, trained[row]) << t;
    }
  }
}

TEST_P(Nf4Base, TheReferenceIsTheBaseInNf4) {
  const PackedBatch batch = some_batch();
  Nf4Policy policy(operators());
  const TemporaryDirectory rounded;
  write_rounded(policy, rounded.path());
  Transformer base = policy.transformer.without_adapter();
  Transformer alone = Transformer::fixed(rounded.path(), *policy.operators);
  EXPECT_TRUE(same_bits(base.forward(batch, kTemperature, false).log_probs,
                        alone.forward(batch, kTemperature, false).log_probs));
}

TEST_P(Nf4Base, ProcessesShareOneCopy) {
  const PackedBatch batch = some_batch();
  Nf4Policy policy(operators());
  const std::int64_t own = flat_elements(adapter_layout(policy.config)) + 16;
  std::vector<float> memory(static_cast<std::size_t>(shared_weight_elements(policy.config) + own));
  Nf4Policy writer(make_cpu_operators(1, {memory, true}, GetParam()), true,
                   policy.directory.path());
  Nf4Policy reader(make_cpu_operators(1, {memory, false}, GetParam()), true,
                   policy.directory.path());
  EXPECT_TRUE(same_bits(reader.log_probs(batch), policy.log_probs(batch)));
}

TEST_P(Nf4Base, RefusesAMatrixThatIsNotMadeOfWholeBlocks) {
  const std::string error = error_of([&] { operators()->make_weight(8, 12, WeightUse::kNf4); });
  EXPECT_THAT(error, AllOf(HasSubstr("blocks of 64"), HasSubstr("has 96")));
}

TEST(Nf4, TakesFourAndAHalfBitsAWeight) {
  const Nf4Policy policy;
  EXPECT_EQ(policy.transformer.packed_size().nf4_elements, linear_elements(policy.config));
  EXPECT_EQ(policy.operators->make_weight(48, 24, WeightUse::kNf4)->bytes() * 8, 48 * 24 * 9 / 2);
}

/// Saves the policy's adapter in a directory of its own.
void save_adapter(const Nf4Policy& policy, const fs::path& directory) {
  save_lora_config(*policy.config.lora, directory);
  save_parameters(policy.weights, {policy.weights.shard(), kAdapterFile}, directory);
}

TEST(Nf4Adapter, ItsFileSaysThatTheBaseIsInNf4) {
  const PackedBatch batch = some_batch();
  Nf4Policy policy;
  const TemporaryDirectory adapter;
  save_adapter(policy, adapter.path());
  EXPECT_TRUE(load_policy_config(adapter.path()).lora->nf4);
  Transformer read = Transformer::fixed(adapter.path(), *policy.operators);
  EXPECT_TRUE(
      same_bits(read.forward(batch, kTemperature, false).log_probs, policy.log_probs(batch)));

  Nf4Policy plain(make_cpu_operators(1), false, policy.directory.path());
  save_adapter(plain, adapter.path());
  EXPECT_FALSE(load_policy_config(adapter.path()).lora->nf4);
}

TEST(Nf4Adapter, IsMergedIntoTheDequantizedBase) {
  const PackedBatch batch = some_batch();
  Nf4Policy policy;
  const TemporaryDirectory adapter, merged, rounded;
  save_adapter(policy, adapter.path());
  save_merged({policy.directory.path(), adapter.path()}, {}, merged.path());
  Transformer read = Transformer::fixed(merged.path(), *policy.operators);
  EXPECT_LT(test::relative_error(read.forward(batch, kTemperature, false).log_probs,
                                 policy.log_probs(batch)),
            1e-5);
  write_rounded(policy, rounded.path());
  const Weights after = load_weights(merged.path(), *policy.operators);
  const Weights base = load_weights(rounded.path(), *policy.operators);
  for (const char* name : {"model.layers.1.self_attn.k_proj.weight", "lm_head.weight"}) {
    EXPECT_TRUE(same_bits(test::to_host(*policy.operators, after.tensor(name)),
                          test::to_host(*policy.operators, base.tensor(name))))
        << name << " has no pair";
  }
}

TEST(Nf4Adapter, AMatrixThatIsNotMadeOfWholeBlocksIsNamed) {
  const ModelConfig config = test::tiny_config({.vocabulary = 45, .width = 24, .ffn_width = 41});
  EXPECT_THAT(error_of([&] { check_nf4_blocks(parameter_layout(config)); }),
              HasSubstr("gate_proj.weight has 984 weights"));
}

}  // namespace
}  // namespace lie

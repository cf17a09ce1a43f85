// Compares the transformer on LibTorch's operators and on those of model/cuda with PyTorch in
// float64, with the program's CPU operators, and bf16 with fp32.
#include <gtest/gtest.h>

#include <cstdio>

#include "model/transformer/training_memory.h"
#include "model/transformer/transformer.h"
#include "tests/model/device_sides.h"
#include "tests/model/transformer_golden.h"
#include "tests/temporary_directory.h"
#include "tests/tiny_model.h"

namespace lie {
namespace {

using test::relative_error;

struct Trained {
  RowLogProbs scored;
  std::vector<float> gradient;
};

/// Runs forward and backward on the golden batch.
Trained train(const test::Golden& golden, Operators& operators) {
  const Weights weights = test::tiny_weights(golden.config, operators);
  Transformer transformer(weights);
  Trained result;
  result.scored = transformer.forward(golden.batch, golden.temperature, true);
  test::Gradient gradient = test::gradient_for(weights);
  transformer.backward(golden.batch, golden.tensors.at("d_log_probs"),
                       golden.tensors.at("d_entropies"), gradient.sink);
  result.gradient = test::to_host(operators, gradient.view());
  return result;
}

std::span<const float> part_of(const std::vector<float>& gradient, const Parameter& p) {
  return {gradient.data() + p.offset, static_cast<std::size_t>(p.rows * p.cols)};
}

class AtenTransformer : public testing::TestWithParam<std::tuple<std::string, std::string>> {
 protected:
  std::string device() const { return std::get<0>(GetParam()); }
  test::Golden golden() const { return test::read_golden(std::get<1>(GetParam())); }
};

INSTANTIATE_TEST_SUITE_P(
    DevicesAndModels, AtenTransformer,
    testing::Combine(testing::ValuesIn(test::device_sides()),
                     testing::Values("qwen3_tied", "qwen3_untied", "llama_untied",
                                     "llama3_rope_bias", "qwen3_bias")),
    [](const auto& test) { return std::get<0>(test.param) + "_" + std::get<1>(test.param); });

TEST_P(AtenTransformer, MatchesPyTorchAndTheCpuOperators) {
  const test::Golden g = golden();
  const auto aten = test::make_side(device());
  const auto own = make_cpu_operators(2);
  const Trained got = train(g, *aten), ours = train(g, *own);
  EXPECT_LT(relative_error(got.scored.log_probs, g.tensors.at("log_probs")), 1e-5);
  EXPECT_LT(relative_error(got.scored.entropies, g.tensors.at("entropies")), 1e-5);
  EXPECT_LT(relative_error(got.scored.log_probs, ours.scored.log_probs), 1e-5);
  for (const Parameter& p : parameter_layout(g.config)) {
    const auto gradient = part_of(got.gradient, p);
    EXPECT_LT(relative_error(gradient, g.tensors.at("d:" + p.name)), 1e-4) << p.name;
    EXPECT_LT(relative_error(gradient, part_of(ours.gradient, p)), 1e-4) << p.name;
  }
}

TEST(AtenAdapter, MatchesPeft) {
  for (const std::string& device : test::device_sides()) {
    for (const char* name : {"qwen3_all", "llama_bias_qv", "qwen3_nf4"}) {
      test::Golden g = test::read_golden(name, "lora");
      if (g.config.lora->nf4 && device == "cpu") continue;  // plain ATen has no NF4
      const TemporaryDirectory base;
      ModelConfig config = g.config;
      config.lora.reset();
      save_weights(test::tiny_weights(config, *make_cpu_operators(1)), base.path());
      g.config.lora->base = base.path();
      const Trained got = train(g, *test::make_side(device));
      EXPECT_LT(relative_error(got.scored.log_probs, g.tensors.at("log_probs")), 1e-5) << device;
      for (const Parameter& p : adapter_layout(g.config)) {
        EXPECT_LT(relative_error(part_of(got.gradient, p), g.tensors.at("d:" + p.name)), 1e-4)
            << device << " " << p.name;
      }
    }
  }
}

TEST_P(AtenTransformer, GradientsAccumulateOverMicroBatches) {
  const ModelConfig config = golden().config;
  const auto aten = test::make_side(device());
  const Weights weights = test::tiny_weights(config, *aten);
  Transformer transformer(weights);
  const PackedBatch full = test::tiny_batch("tokens", {9, 17, 2, 30}, config.vocabulary);
  const auto gradient_of = [&](const std::vector<std::size_t>& cuts) {
    test::Gradient gradient = test::gradient_for(weights, 0.25f);
    for (std::size_t c = 0; c + 1 < cuts.size(); ++c) {
      const PackedBatch part = test::part_of(full, cuts[c], cuts[c + 1]);
      transformer.forward(part, 1, true);
      const std::vector<float> ones(part.rows.size(), 1);
      transformer.backward(part, ones, ones, gradient.sink);
    }
    return test::to_host(*aten, gradient.view());
  };
  EXPECT_LT(relative_error(gradient_of({0, 1, 3, 4}), gradient_of({0, 4})), 1e-5);
}

TEST_P(AtenTransformer, RecomputationDoesNotChangeTheGradient) {
  ModelConfig config = golden().config;
  config.layers = 3;
  const PackedBatch batch = test::tiny_batch("tokens", {9, 17, 2, 30}, config.vocabulary);
  const PassSize size{std::ssize(batch.tokens), std::ssize(batch.rows)};
  for (const DType dtype : {DType::kFloat32, DType::kBFloat16}) {
    const auto aten = test::make_side(device(), dtype);
    const auto gradient_within = [&](std::int64_t bytes) {
      const Weights weights = test::tiny_weights(config, *aten);
      Transformer transformer(weights);
      transformer.limit_training_bytes(bytes);
      test::Gradient gradient = test::gradient_for(weights);
      transformer.forward(batch, 1, true);
      const std::vector<float> ones(batch.rows.size(), 1);
      transformer.backward(batch, ones, ones, gradient.sink);
      return test::to_host(*aten, gradient.view());
    };
    const std::int64_t bytes = training_pass_bytes(config, size.tokens, dtype) / 5 * 4;
    const PassLayout layout = layout_within(config, dtype, size, bytes);
    EXPECT_GT(layout.recomputed_layers(), 0);
    EXPECT_GE(layout.chunk_rows(), size.rows) << "several chunks would be summed in another order";
    EXPECT_EQ(gradient_within(bytes), gradient_within(0));
  }
}

/// Decodes a prompt in one call, forks it, and continues both sequences differently over two pages.
/// Returns all logits.
std::vector<float> decode_a_fork(const ModelConfig& config, Operators& operators) {
  const Weights weights = test::tiny_weights(config, operators);
  Transformer transformer(weights);
  KvCache cache(weights.config(), operators, 12);
  std::vector<float> all;
  const auto decode = [&](const std::vector<DecodeRow>& rows) {
    const Tensor logits = transformer.decode(rows, cache);
    const std::size_t before = all.size();
    all.resize(before + static_cast<std::size_t>(logits.elements()));
    operators.copy_to_host(logits, std::span(all).subspan(before));
  };
  const std::int32_t prompt = cache.open(), single = cache.open();
  std::vector<DecodeRow> rows;
  for (std::int32_t t = 0; t < 13; ++t) rows.push_back({(t * 7) % 45, prompt, t == 12});
  rows.push_back({5, single, true});
  decode(rows);
  const std::int32_t fork = cache.fork(prompt);
  for (std::int32_t t = 0; t < 22; ++t) {
    decode({{t, prompt, true}, {44 - t, fork, true}, {(3 * t) % 45, single, t % 2 == 0}});
  }
  return all;
}

TEST_P(AtenTransformer, DecodesLikeTheCpuOperators) {
  const ModelConfig config = golden().config;
  const auto aten = test::make_side(device());
  const auto own = make_cpu_operators(2);
  EXPECT_LT(relative_error(decode_a_fork(config, *aten), decode_a_fork(config, *own)), 1e-5);
}

// Two layers round about 20 results in sequence, each by up to 2^-9 of its size. These wide weights
// give logits of about 10, so the error is 10 * sqrt(20) * 2^-9 = 0.09. The temperature and the
// maximum over 43 rows double it.
constexpr double kBf16LogProbs = 0.2;

double largest_difference(std::span<const float> a, std::span<const float> b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  }
  return largest;
}

double cosine(const std::vector<float>& a, const std::vector<float>& b) {
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto x = static_cast<double>(a[i]), y = static_cast<double>(b[i]);
    ab += x * y, aa += x * x, bb += y * y;
  }
  return ab / std::sqrt(aa * bb);
}

TEST_P(AtenTransformer, Bf16DiffersOnlyByRounding) {
  const test::Golden g = golden();
  const auto wide = test::make_side(device());
  const auto narrow = test::make_side(device(), DType::kBFloat16);
  const Trained expected = train(g, *wide), got = train(g, *narrow);
  const double difference = largest_difference(got.scored.log_probs, expected.scored.log_probs);
  const double similarity = cosine(got.gradient, expected.gradient);
  const std::vector<float> logits = decode_a_fork(g.config, *wide);
  const double decoded = relative_error(decode_a_fork(g.config, *narrow), logits);
  std::printf(
      "bf16 on %s, %s: log-probs differ by %.4f at most, gradients' cosine %.6f, "
      "decoded logits by %.4f of the largest\n",
      device().c_str(), std::get<1>(GetParam()).c_str(), difference, similarity, decoded);
  EXPECT_GT(difference, 1e-4);  // otherwise the computation was not in bf16
  EXPECT_LT(difference, kBf16LogProbs);
  EXPECT_GT(similarity, 0.999);
  EXPECT_LT(decoded, 0.03);
}

}  // namespace
}  // namespace lie

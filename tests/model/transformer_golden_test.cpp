// Forward and backward against transformers' models under PyTorch autograd in float64.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "model/transformer.h"
#include "tests/model/tiny_model.h"

namespace lie {
namespace {

struct Golden {
  ModelConfig config;
  float temperature = 1;
  PackedBatch batch;
  std::map<std::string, std::vector<float>> tensors;
};

std::vector<std::int32_t> rest_of(std::istringstream& line) {
  std::vector<std::int32_t> ints;
  for (std::int32_t i; line >> i;) ints.push_back(i);
  return ints;
}

void set_config(Golden& golden, const std::string& key, double value) {
  const auto whole = static_cast<std::int64_t>(value);
  ModelConfig& c = golden.config;
  if (key == "vocab_size") c.vocabulary = whole;
  if (key == "hidden_size") c.width = whole;
  if (key == "intermediate_size") c.ffn_width = whole;
  if (key == "num_hidden_layers") c.layers = whole;
  if (key == "num_attention_heads") c.heads = whole;
  if (key == "num_key_value_heads") c.kv_heads = whole;
  if (key == "head_dim") c.head_width = whole;
  if (key == "max_position_embeddings") c.max_positions = whole;
  if (key == "rope_theta") c.rope_theta = value;
  if (key == "rms_norm_eps") c.rms_norm_eps = value;
  if (key == "tied") c.tied_embeddings = whole != 0;
  if (key == "qk_norm") c.qk_norm = whole != 0;
  if (key == "temperature") golden.temperature = static_cast<float>(value);
}

Golden read_golden(const std::string& name) {
  std::ifstream file(
      std::string(LIE_SOURCE_DIR) + "/tests/model/golden/transformer_" + name + ".golden",
      std::ios::binary);
  Golden golden;
  std::vector<std::pair<std::string, std::size_t>> order;
  for (std::string text; std::getline(file, text) && !text.empty();) {
    std::istringstream line(text);
    std::string kind, key;
    line >> kind;
    if (kind == "tokens") golden.batch.tokens = rest_of(line);
    if (kind == "starts") golden.batch.starts = rest_of(line);
    if (kind == "rows") golden.batch.rows = rest_of(line);
    if (kind == "targets") golden.batch.targets = rest_of(line);
    if (kind != "config" && kind != "tensor") continue;
    double value = 0;
    line >> key >> value;
    if (kind == "config") set_config(golden, key, value);
    if (kind == "tensor") order.emplace_back(key, static_cast<std::size_t>(value));
  }
  for (const auto& [tensor, count] : order) {
    std::vector<float>& x = golden.tensors[tensor];
    x.resize(count);
    file.read(reinterpret_cast<char*>(x.data()),
              static_cast<std::streamsize>(count * sizeof(float)));
  }
  EXPECT_TRUE(file.good()) << name;
  return golden;
}

/// Largest difference over the largest value expected.
double relative_error(std::span<const float> got, std::span<const float> expected) {
  if (got.size() != expected.size()) return INFINITY;
  double worst = 0, largest = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    worst =
        std::max(worst, std::abs(static_cast<double>(got[i]) - static_cast<double>(expected[i])));
    largest = std::max(largest, std::abs(static_cast<double>(expected[i])));
  }
  return worst / largest;
}

class TransformerGolden : public testing::TestWithParam<const char*> {};

TEST_P(TransformerGolden, LogProbsEntropiesAndGradientsAgreeWithPyTorch) {
  Golden golden = read_golden(GetParam());
  const Weights weights = test::tiny_weights(golden.config);
  const auto operators = make_cpu_operators(2);
  Transformer transformer(weights, *operators);
  const RowLogProbs scored = transformer.forward(golden.batch, golden.temperature, true);
  EXPECT_LT(relative_error(scored.log_probs, golden.tensors.at("log_probs")), 1e-5);
  EXPECT_LT(relative_error(scored.entropies, golden.tensors.at("entropies")), 1e-5);

  std::vector<float> gradient(weights.flat().size());
  transformer.backward(golden.batch, golden.tensors.at("d_log_probs"),
                       golden.tensors.at("d_entropies"), gradient);
  for (const Parameter& p : weights.parameters()) {
    const std::span<const float> got(gradient.data() + p.offset,
                                     static_cast<std::size_t>(p.rows * p.cols));
    ASSERT_TRUE(golden.tensors.contains("d:" + p.name)) << p.name;
    EXPECT_LT(relative_error(got, golden.tensors.at("d:" + p.name)), 1e-4) << p.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, TransformerGolden,
                         testing::Values("qwen3_tied", "qwen3_untied", "llama_untied"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace lie

// Compares forward and backward with transformers' models under PyTorch autograd in float64.
#include <gtest/gtest.h>

#include "model/transformer/transformer.h"
#include "tests/model/transformer_golden.h"
#include "tests/tiny_model.h"

namespace lie {
namespace {

using test::Golden, test::read_golden, test::relative_error;

class TransformerGolden : public testing::TestWithParam<const char*> {};

TEST_P(TransformerGolden, LogProbsEntropiesAndGradientsMatchPyTorch) {
  Golden golden = read_golden(GetParam());
  const auto operators = make_cpu_operators(2);
  const Weights weights = test::tiny_weights(golden.config, *operators);
  Transformer transformer(weights);
  const RowLogProbs scored = transformer.forward(golden.batch, golden.temperature, true);
  EXPECT_LT(relative_error(scored.log_probs, golden.tensors.at("log_probs")), 1e-5);
  EXPECT_LT(relative_error(scored.entropies, golden.tensors.at("entropies")), 1e-5);

  test::Gradient gradient = test::gradient_for(weights);
  transformer.backward(golden.batch, golden.tensors.at("d_log_probs"),
                       golden.tensors.at("d_entropies"), gradient.sink);
  for (const Parameter& p : weights.parameters()) {
    const auto got =
        test::to_host(*operators, gradient.view().elements_at(p.offset, p.rows * p.cols));
    ASSERT_TRUE(golden.tensors.contains("d:" + p.name)) << p.name;
    EXPECT_LT(relative_error(got, golden.tensors.at("d:" + p.name)), 1e-4) << p.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, TransformerGolden,
                         testing::Values("qwen3_tied", "qwen3_untied", "llama_untied",
                                         "llama3_rope_bias", "qwen3_bias", "qwen2"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace lie

#include "model/weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "common/json.h"
#include "model/safetensors.h"
#include "tests/directories.h"
#include "tests/temporary_directory.h"

namespace lie {
namespace {

using testing::HasSubstr;

const std::filesystem::path kGolden =
    std::filesystem::path(source_directory()) / "tests/model/golden/hf_tiny";

ModelConfig small_config() {
  return {.vocabulary = 10,
          .width = 6,
          .ffn_width = 5,
          .layers = 2,
          .heads = 2,
          .kv_heads = 1,
          .head_width = 16,
          .max_positions = 32,
          .end_of_sequence_ids = {1}};
}

std::vector<FloatTensor> tensors_of(const Weights& weights) {
  std::vector<FloatTensor> tensors;
  for (const Parameter& p : weights.parameters()) {
    std::vector<std::int64_t> shape = {p.rows, p.cols};
    if (!p.decay) shape = {p.cols};
    tensors.push_back({p.name, shape, weights.tensor(p.name)});
  }
  return tensors;
}

/// The error of loading small_config's weights from a file with these tensors.
std::string error_with(const std::vector<FloatTensor>& tensors, const ModelConfig& config) {
  const TemporaryDirectory directory;
  save_model_config(config, directory.path());
  write_safetensors(tensors, directory.path() / "model.safetensors");
  return error_of([&] { load_weights(directory.path()); });
}

void expect_golden(const std::string& name) {
  const Weights weights = load_weights(kGolden / name);
  const Json expected = read_json(kGolden / name / "expected.json");
  ASSERT_EQ(expected.size(), weights.parameters().size());
  for (const auto& [tensor, values] : expected.items()) {
    const std::span<const float> ours = weights.tensor(tensor);
    EXPECT_EQ(ours.front(), values[0].get<double>()) << tensor;
    EXPECT_EQ(ours.back(), values[1].get<double>()) << tensor;
    EXPECT_NEAR(std::accumulate(ours.begin(), ours.end(), 0.0), values[2].get<double>(), 1e-12)
        << tensor;
  }
}

TEST(Weights, LayoutFollowsTheForwardPass) {
  const std::vector<Parameter> layout = parameter_layout(small_config());
  ASSERT_EQ(layout.size(), 2u + 2 * 11);
  EXPECT_EQ(layout[0].name, "model.embed_tokens.weight");
  EXPECT_EQ(layout[1].name, "model.layers.0.input_layernorm.weight");
  EXPECT_EQ(layout[2].name, "model.layers.0.self_attn.q_proj.weight");
  EXPECT_EQ(layout[2].rows, 32);
  EXPECT_EQ(layout[2].cols, 6);
  EXPECT_EQ(layout[6].name, "model.layers.0.self_attn.q_norm.weight");
  EXPECT_EQ(layout[11].name, "model.layers.0.mlp.down_proj.weight");
  EXPECT_EQ(layout[11].cols, 5);
  EXPECT_EQ(layout.back().name, "model.norm.weight");
}

TEST(Weights, ParametersAreAlignedAndDoNotOverlap) {
  std::int64_t end = 0;
  for (const Parameter& parameter : parameter_layout(small_config())) {
    EXPECT_EQ(parameter.offset % 16, 0) << parameter.name;
    EXPECT_GE(parameter.offset, end) << parameter.name;
    EXPECT_EQ(parameter.decay, !parameter.name.ends_with("norm.weight")) << parameter.name;
    end = parameter.offset + parameter.rows * parameter.cols;
  }
  EXPECT_GE(static_cast<std::int64_t>(Weights(small_config()).flat().size()), end);
}

TEST(Weights, AttentionBiasesFollowTheirMatricesAndBeginAtZero) {
  ModelConfig config = small_config();
  config.qkv_bias = config.output_bias = true;
  const Weights weights = initial_weights(config, 7);
  ASSERT_EQ(weights.parameters().size(), 2u + 2 * 15);
  EXPECT_EQ(weights.parameters()[3].name, "model.layers.0.self_attn.q_proj.bias");
  EXPECT_EQ(weights.tensor("model.layers.1.self_attn.q_proj.bias").size(), 32u);
  EXPECT_EQ(weights.tensor("model.layers.1.self_attn.o_proj.bias").size(), 6u);
  for (const float v : weights.tensor("model.layers.0.self_attn.v_proj.bias")) EXPECT_EQ(v, 0.0f);
  EXPECT_FALSE(weights.parameters()[3].decay);
  const TemporaryDirectory directory;
  save_weights(weights, directory.path());
  const Weights back = load_weights(directory.path());
  EXPECT_TRUE(back.config().output_bias);
  EXPECT_TRUE(std::ranges::equal(weights.flat(), back.flat()));
}

TEST(Weights, UntiedModelsHaveAHead) {
  ModelConfig config = small_config();
  config.tied_embeddings = false;
  EXPECT_EQ(parameter_layout(config).back().name, "lm_head.weight");
}

TEST(Weights, ReadsWhatTransformersWrote) { expect_golden("qwen3"); }

TEST(Weights, ReadsShardsInBf16) { expect_golden("llama_bf16_shards"); }

TEST(Weights, ComeBackAsTheyWereSaved) {
  const Weights weights = initial_weights(small_config(), 7);
  const TemporaryDirectory directory;
  save_weights(weights, directory.path());
  const Weights back = load_weights(directory.path());
  EXPECT_TRUE(std::equal(weights.flat().begin(), weights.flat().end(), back.flat().begin()));
  EXPECT_EQ(back.config().end_of_sequence_ids, weights.config().end_of_sequence_ids);
}

TEST(Weights, InitialValuesAreNormalAndNormsAreOne) {
  ModelConfig config = small_config();
  config.vocabulary = 5000;
  const Weights weights = initial_weights(config, 1);
  const auto values = weights.tensor("model.embed_tokens.weight");
  double sum = 0;
  double squares = 0;
  for (const float v : values) {
    sum += v;
    squares += static_cast<double>(v) * v;
  }
  const double count = static_cast<double>(values.size());
  EXPECT_NEAR(sum / count, 0, 5 * 0.02 / std::sqrt(count));
  EXPECT_NEAR(std::sqrt(squares / count), 0.02, 5 * 0.02 / std::sqrt(2 * count));
  for (const float v : weights.tensor("model.norm.weight")) EXPECT_EQ(v, 1.0f);
  EXPECT_NE(initial_weights(config, 2).flat()[0], weights.flat()[0]);
}

TEST(Weights, WhatIsReleasedReadsAsZeros) {
  ModelConfig config = small_config();
  config.ffn_width = 20'000;
  Weights weights = initial_weights(config, 1);
  const std::string name = "model.layers.0.mlp.up_proj.weight";
  const std::span<const float> values = std::as_const(weights).tensor(name);
  const auto is_zero = [](float x) { return x == 0.0f; };
  const auto before = std::ranges::count_if(values, is_zero);
  weights.release(values);
  EXPECT_LT(before, 10);
  EXPECT_GT(std::ranges::count_if(values, is_zero), std::ssize(values) - 3000);  // two pages' ends
  EXPECT_LT(std::ranges::count_if(weights.tensor("model.layers.0.mlp.gate_proj.weight"), is_zero),
            10);
}

TEST(Weights, NamesAMissingTensor) {
  const Weights weights = initial_weights(small_config(), 7);
  auto tensors = tensors_of(weights);
  tensors.erase(tensors.begin() + 3);
  EXPECT_THAT(error_with(tensors, small_config()),
              HasSubstr("\"model.layers.0.self_attn.k_proj.weight\" is missing"));
}

TEST(Weights, NamesASurplusTensor) {
  const Weights weights = initial_weights(small_config(), 7);
  auto tensors = tensors_of(weights);
  const std::vector<float> bias(32);
  tensors.push_back({"model.layers.0.self_attn.q_proj.bias", {32}, bias});
  EXPECT_THAT(error_with(tensors, small_config()),
              HasSubstr("\"model.layers.0.self_attn.q_proj.bias\" has no place"));
  tensors.back().name = "model.layers.0.self_attn.rotary_emb.inv_freq";
  EXPECT_EQ(error_with(tensors, small_config()), "no error");
}

TEST(Weights, NamesAWrongShape) {
  const Weights weights = initial_weights(small_config(), 7);
  auto tensors = tensors_of(weights);
  tensors[2].shape = {6, 32};
  EXPECT_THAT(error_with(tensors, small_config()),
              HasSubstr("\"model.layers.0.self_attn.q_proj.weight\" has shape [6, 32], config.json "
                        "asks for [32, 6]"));
}

TEST(Weights, NamesAWrongDtype) {
  const TemporaryDirectory directory;
  save_weights(initial_weights(small_config(), 7), directory.path());
  const auto path = directory.path() / "model.safetensors";
  std::ifstream file(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), {});
  bytes.replace(bytes.find("F32"), 3, "I32");
  directory.write("model.safetensors", bytes);
  EXPECT_THAT(error_of([&] { load_weights(directory.path()); }),
              HasSubstr("\"model.embed_tokens.weight\" has dtype I32"));
}

TEST(Weights, ATiedModelMayHoldACopyOfTheEmbeddingAsHead) {
  const Weights weights = initial_weights(small_config(), 7);
  auto tensors = tensors_of(weights);
  tensors.push_back({"lm_head.weight", {10, 6}, weights.tensor("model.embed_tokens.weight")});
  EXPECT_EQ(error_with(tensors, small_config()), "no error");
  const std::vector<float> other(60, 0.5f);
  tensors.back().values = other;
  EXPECT_THAT(error_with(tensors, small_config()), HasSubstr("differs"));
}

TEST(Weights, ChecksTheIndexOfShards) {
  const TemporaryDirectory directory;
  const Weights weights = initial_weights(small_config(), 7);
  save_weights(weights, directory.path());
  std::filesystem::rename(directory.path() / "model.safetensors",
                          directory.path() / "one.safetensors");
  EXPECT_THAT(error_of([&] { load_weights(directory.path()); }), HasSubstr("neither"));
  const auto error_with_index = [&](const std::string& index) {
    directory.write("model.safetensors.index.json", index);
    return error_of([&] { load_weights(directory.path()); });
  };
  EXPECT_EQ(error_with_index(R"({"weight_map":{"model.norm.weight":"one.safetensors"}})"),
            "no error");
  EXPECT_THAT(error_with_index(R"({"weight_map":{"a":"one.safetensors"}})"),
              HasSubstr("\"a\" is not in"));
  EXPECT_THAT(error_with_index(R"({"weight_map":{"a":"../one.safetensors"}})"),
              HasSubstr("beside the index"));
  EXPECT_THAT(error_with_index(R"({"weight_map":{"a":"two.safetensors"}})"),
              HasSubstr("two.safetensors"));
  EXPECT_THAT(error_with_index(R"({"weight_map":{}})"), HasSubstr("empty"));
  EXPECT_THAT(error_with_index("[1]"), HasSubstr("weight_map"));
}

TEST(Weights, NoSuchParameterIsAnError) {
  EXPECT_THAT(error_of([] { Weights(small_config()).tensor("model.nothing"); }),
              HasSubstr("model.nothing"));
}

}  // namespace
}  // namespace lie

#include "model/weights/weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "common/io/json.h"
#include "tests/directories.h"
#include "tests/host_memory.h"
#include "tests/temporary_directory.h"
#include "tests/tiny_model.h"
#include "tests/write_safetensors.h"

namespace lie {
namespace {

using testing::HasSubstr;

const std::filesystem::path kGolden =
    std::filesystem::path(source_directory()) / "tests/model/golden/hf_tiny";

ModelConfig small_config() {
  return test::tiny_config(
      {.vocabulary = 10, .width = 6, .ffn_width = 5, .heads = 2, .kv_heads = 1});
}

/// The operators whose memory holds all weights of these tests.
Operators& cpu() {
  static const std::unique_ptr<Operators> operators = make_cpu_operators(1);
  return *operators;
}

std::span<const float> host(const Weights& weights, std::string_view name) {
  return test::host(weights.tensor(name));
}

std::vector<FloatTensor> tensors_of(const Weights& weights) {
  std::vector<FloatTensor> tensors;
  for (const Parameter& p : weights.parameters()) {
    std::vector<std::int64_t> shape = {p.rows, p.cols};
    if (!p.decay) shape = {p.cols};
    tensors.push_back({p.name, shape, host(weights, p.name)});
  }
  return tensors;
}

/// Returns the error of loading small_config's weights from a file with these tensors. Their plan
/// gives the same.
std::string error_with(const std::vector<FloatTensor>& tensors, const ModelConfig& config) {
  const TemporaryDirectory directory;
  save_model_config(config, directory.path());
  write_safetensors(tensors, directory.path() / "model.safetensors");
  std::string error = error_of([&] { load_weights(directory.path(), cpu()); });
  EXPECT_EQ(error_of([&] { plan_weights(directory.path()); }), error);
  return error;
}

void expect_golden(const std::string& name) {
  const Weights weights = load_weights(kGolden / name, cpu());
  const Json expected = read_json(kGolden / name / "expected.json");
  ASSERT_EQ(expected.size(), weights.parameters().size());
  for (const auto& [tensor, values] : expected.items()) {
    const std::span<const float> ours = host(weights, tensor);
    EXPECT_EQ(ours.front(), values[0].get<double>()) << tensor;
    EXPECT_EQ(ours.back(), values[1].get<double>()) << tensor;
    EXPECT_NEAR(std::accumulate(ours.begin(), ours.end(), 0.0), values[2].get<double>(), 1e-12)
        << tensor;
  }
}

TEST(StoredWeightsHash, EqualsTheHashOfTheLoadedWeightsWithTheirGaps) {
  const TemporaryDirectory directory;
  const Weights weights = initial_weights(small_config(), 5, cpu());
  ASSERT_LT(parameter_count(weights.parameters()), flat_elements(weights.parameters()));
  save_weights(weights, directory.path());
  EXPECT_EQ(stored_weights_sha256(directory.path()), weights_sha256(weights));
  save_weights(initial_weights(small_config(), 6, cpu()), directory.path());
  EXPECT_NE(stored_weights_sha256(directory.path()), weights_sha256(weights));
  for (const char* golden : {"qwen3", "llama3"}) {
    if (!std::filesystem::exists(kGolden / golden)) continue;
    EXPECT_EQ(stored_weights_sha256(kGolden / golden),
              weights_sha256(load_weights(kGolden / golden, cpu())));
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
  EXPECT_GE(Weights(small_config(), cpu()).flat().elements(), end);
}

TEST(Weights, AttentionBiasesFollowTheirMatricesAndStartAtZero) {
  ModelConfig config = small_config();
  config.qkv_bias = config.output_bias = true;
  const Weights weights = initial_weights(config, 7, cpu());
  ASSERT_EQ(weights.parameters().size(), 2u + 2 * 15);
  EXPECT_EQ(weights.parameters()[3].name, "model.layers.0.self_attn.q_proj.bias");
  EXPECT_EQ(host(weights, "model.layers.1.self_attn.q_proj.bias").size(), 32u);
  EXPECT_EQ(host(weights, "model.layers.1.self_attn.o_proj.bias").size(), 6u);
  for (const float v : host(weights, "model.layers.0.self_attn.v_proj.bias")) EXPECT_EQ(v, 0.0f);
  EXPECT_FALSE(weights.parameters()[3].decay);
  const TemporaryDirectory directory;
  save_weights(weights, directory.path());
  const Weights back = load_weights(directory.path(), cpu());
  EXPECT_TRUE(back.config().output_bias);
  EXPECT_TRUE(std::ranges::equal(test::host(weights), test::host(back)));
}

TEST(Weights, UntiedModelsHaveAHead) {
  ModelConfig config = small_config();
  config.tied_embeddings = false;
  EXPECT_EQ(parameter_layout(config).back().name, "lm_head.weight");
}

TEST(Weights, ReadsModelsSavedByTransformers) { expect_golden("qwen3"); }

TEST(Weights, ReadsShardsInBf16) { expect_golden("llama_bf16_shards"); }

TEST(Weights, SavedWeightsLoadUnchanged) {
  const Weights weights = initial_weights(small_config(), 7, cpu());
  const TemporaryDirectory directory;
  save_weights(weights, directory.path());
  const Weights back = load_weights(directory.path(), cpu());
  EXPECT_TRUE(
      std::equal(test::host(weights).begin(), test::host(weights).end(), test::host(back).begin()));
  EXPECT_EQ(back.config().end_of_sequence_ids, weights.config().end_of_sequence_ids);
}

TEST(Weights, InitialValuesAreNormalAndNormsAreOne) {
  ModelConfig config = small_config();
  config.vocabulary = 5000;
  config.initializer_range = 0.02;
  const Weights weights = initial_weights(config, 1, cpu());
  const auto values = host(weights, "model.embed_tokens.weight");
  double sum = 0, squares = 0;
  for (const float v : values) {
    sum += v;
    squares += static_cast<double>(v) * v;
  }
  const double count = static_cast<double>(values.size());
  EXPECT_NEAR(sum / count, 0, 5 * 0.02 / std::sqrt(count));
  EXPECT_NEAR(std::sqrt(squares / count), 0.02, 5 * 0.02 / std::sqrt(2 * count));
  for (const float v : host(weights, "model.norm.weight")) EXPECT_EQ(v, 1.0f);
  EXPECT_NE(test::host(initial_weights(config, 2, cpu()))[0], test::host(weights)[0]);
}

TEST(Weights, ShardsReadTheirRangeOfTheWeights) {
  const Weights complete = initial_weights(small_config(), 7, cpu());
  const TemporaryDirectory directory;
  save_weights(complete, directory.path());
  const std::int64_t elements = complete.flat().elements();
  for (const FlatRange shard : {FlatRange{0, 100}, FlatRange{37, 555}, {elements - 50, 50}}) {
    Weights part(small_config(), cpu(), shard);
    read_weights(directory.path(), part);
    EXPECT_TRUE(std::ranges::equal(
        test::host(part), test::host(complete.flat().elements_at(shard.first, shard.count))));
  }
  const Weights head(small_config(), cpu(), FlatRange{0, 64});
  EXPECT_EQ(head.tensor("model.embed_tokens.weight").rows, 10);
  EXPECT_THAT(error_of([&] { head.tensor("model.norm.weight"); }),
              HasSubstr("does not contain all"));
}

TEST(Weights, PiecesCoverARangeExceptGaps) {
  const std::vector<Parameter> layout = parameter_layout(small_config());
  const std::int64_t elements = flat_elements(layout);
  for (const std::int64_t count : {1, 16, 100, 333}) {
    std::int64_t sum = 0;
    for (std::int64_t first = 0; first < elements; first += count) {
      for (const ParameterPiece& piece : pieces_of(layout, {first, count})) {
        EXPECT_EQ(first + piece.at, piece.parameter->offset + piece.first);
        sum += piece.count;
      }
    }
    EXPECT_EQ(sum, parameter_count(layout));
  }
}

TEST(Weights, RejectsWeightsOfAnotherModel) {
  const TemporaryDirectory directory;
  save_weights(initial_weights(small_config(), 7, cpu()), directory.path());
  ModelConfig config = small_config();
  config.layers = 1;
  Weights other(config, cpu());
  EXPECT_THAT(error_of([&] { read_weights(directory.path(), other); }), HasSubstr("config.json"));
}

TEST(Weights, ErrorsNameAMissingTensor) {
  const Weights weights = initial_weights(small_config(), 7, cpu());
  auto tensors = tensors_of(weights);
  tensors.erase(tensors.begin() + 3);
  EXPECT_THAT(error_with(tensors, small_config()),
              HasSubstr("\"model.layers.0.self_attn.k_proj.weight\" is missing"));
}

TEST(Weights, ErrorsNameASurplusTensor) {
  const Weights weights = initial_weights(small_config(), 7, cpu());
  auto tensors = tensors_of(weights);
  const std::vector<float> bias(32);
  tensors.push_back({"model.layers.0.self_attn.q_proj.bias", {32}, bias});
  EXPECT_THAT(error_with(tensors, small_config()),
              HasSubstr("\"model.layers.0.self_attn.q_proj.bias\" has no place"));
  tensors.back().name = "model.layers.0.self_attn.rotary_emb.inv_freq";
  EXPECT_EQ(error_with(tensors, small_config()), "no error");
}

TEST(Weights, ErrorsNameATensorOfIncorrectShape) {
  const Weights weights = initial_weights(small_config(), 7, cpu());
  auto tensors = tensors_of(weights);
  tensors[2].shape = {6, 32};
  EXPECT_THAT(error_with(tensors, small_config()),
              HasSubstr("\"model.layers.0.self_attn.q_proj.weight\" has shape [6, 32], config.json "
                        "requires [32, 6]"));
}

TEST(Weights, ErrorsNameATensorOfUnsupportedDtype) {
  const TemporaryDirectory directory;
  save_weights(initial_weights(small_config(), 7, cpu()), directory.path());
  const auto path = directory.path() / "model.safetensors";
  std::ifstream file(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), {});
  bytes.replace(bytes.find("F32"), 3, "I32");
  directory.write("model.safetensors", bytes);
  EXPECT_THAT(error_of([&] { load_weights(directory.path(), cpu()); }),
              HasSubstr("\"model.embed_tokens.weight\" has dtype I32"));
}

TEST(Weights, TiedModelsMayContainACopyOfTheEmbeddingAsHead) {
  const Weights weights = initial_weights(small_config(), 7, cpu());
  auto tensors = tensors_of(weights);
  tensors.push_back({"lm_head.weight", {10, 6}, host(weights, "model.embed_tokens.weight")});
  EXPECT_EQ(error_with(tensors, small_config()), "no error");
  const std::vector<float> other(60, 0.5f);
  tensors.back().values = other;
  EXPECT_THAT(error_with(tensors, small_config()), HasSubstr("differs"));
}

TEST(Weights, AnIndexThatListsOnlyTheSingleFileCausesNoRemark) {
  const TemporaryDirectory directory;
  save_weights(initial_weights(small_config(), 7, cpu()), directory.path());
  directory.write("model.safetensors.index.json",
                  R"({"weight_map":{"model.norm.weight":"model.safetensors"}})");
  EXPECT_EQ(model_remarks(directory.path()), std::vector<std::string>{});
  EXPECT_EQ(error_of([&] { load_weights(directory.path(), cpu()); }), "no error");
}

TEST(Weights, ChecksTheIndexOfShards) {
  const TemporaryDirectory directory;
  const Weights weights = initial_weights(small_config(), 7, cpu());
  save_weights(weights, directory.path());
  std::filesystem::rename(directory.path() / "model.safetensors",
                          directory.path() / "one.safetensors");
  EXPECT_THAT(error_of([&] { load_weights(directory.path(), cpu()); }), HasSubstr("neither"));
  const auto error_with_index = [&](const std::string& index) {
    directory.write("model.safetensors.index.json", index);
    return error_of([&] { load_weights(directory.path(), cpu()); });
  };
  EXPECT_EQ(error_with_index(R"({"weight_map":{"model.norm.weight":"one.safetensors"}})"),
            "no error");
  EXPECT_THAT(error_with_index(R"({"weight_map":{"a":"one.safetensors"}})"),
              HasSubstr("\"a\" is not in"));
  EXPECT_THAT(error_with_index(R"({"weight_map":{"a":"../one.safetensors"}})"),
              HasSubstr("expected a file name"));
  EXPECT_THAT(error_with_index(R"({"weight_map":{"a":"two.safetensors"}})"),
              HasSubstr("two.safetensors"));
  EXPECT_THAT(error_with_index(R"({"weight_map":{}})"), HasSubstr("empty"));
  EXPECT_THAT(error_with_index("[1]"), HasSubstr("weight_map"));
}

TEST(Weights, RejectsUnknownParameterNames) {
  EXPECT_THAT(error_of([] { Weights(small_config(), cpu()).tensor("model.nothing"); }),
              HasSubstr("model.nothing"));
}

}  // namespace
}  // namespace lie

#include "model/config/model_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/io/file.h"
#include "common/io/json.h"
#include "tests/directories.h"
#include "tests/temporary_directory.h"

namespace lie {
namespace {

using testing::ElementsAre, testing::HasSubstr;

const fs::path kGolden = fs::path(source_directory()) / "tests/model/golden/hf_tiny";

Json valid_config() { return read_json(kGolden / "qwen3/config.json"); }

/// The error of loading the golden config with one key set to another value.
std::string error_with(const std::string& key, const Json& value) {
  const TemporaryDirectory directory;
  Json config = valid_config();
  config[key] = value;
  directory.write("config.json", config.dump());
  return error_of([&] { load_model_config(directory.path()); });
}

ModelConfig loaded(const Json& config) {
  const TemporaryDirectory directory;
  directory.write("config.json", config.dump());
  return load_model_config(directory.path());
}

TEST(ModelConfig, ReadsQwen3AsTransformers5WritesIt) {
  const ModelConfig config = load_model_config(kGolden / "qwen3");
  EXPECT_EQ(config.architecture, "Qwen3ForCausalLM");
  EXPECT_EQ(config.vocabulary, 24);
  EXPECT_EQ(config.width, 12);
  EXPECT_EQ(config.ffn_width, 20);
  EXPECT_EQ(config.layers, 2);
  EXPECT_EQ(config.heads, 2);
  EXPECT_EQ(config.kv_heads, 1);
  EXPECT_EQ(config.head_width, 16);
  EXPECT_EQ(config.max_positions, 64);
  EXPECT_EQ(config.rope_theta, 1e6);
  EXPECT_EQ(config.rms_norm_eps, 1e-5);
  EXPECT_TRUE(config.qk_norm);
  EXPECT_TRUE(config.tied_embeddings);
  EXPECT_THAT(config.end_of_sequence_ids, ElementsAre(3));
}

TEST(ModelConfig, LlamaHasNoQueryAndKeyNorm) {
  const ModelConfig config = load_model_config(kGolden / "llama_bf16_shards");
  EXPECT_EQ(config.architecture, "LlamaForCausalLM");
  EXPECT_FALSE(config.qk_norm);
  EXPECT_FALSE(config.tied_embeddings);
}

TEST(ModelConfig, Qwen2HasQkvBiasesRegardlessOfTheConfig) {
  Json config = valid_config();
  config["architectures"] = {"Qwen2ForCausalLM"};
  config["model_type"] = "qwen2";
  config["attention_bias"] = false;
  EXPECT_TRUE(loaded(config).qkv_bias);
  EXPECT_FALSE(loaded(config).output_bias);
  EXPECT_FALSE(loaded(config).qk_norm);
}

TEST(ModelConfig, EndOfSequenceIdsOfGenerationConfigComeFirst) {
  EXPECT_THAT(load_model_config(kGolden / "llama_bf16_shards").end_of_sequence_ids,
              ElementsAre(3, 5));
  const TemporaryDirectory directory;
  Json config = valid_config();
  config["eos_token_id"] = {3, 7};
  directory.write("config.json", config.dump());
  directory.write("generation_config.json", R"({"eos_token_id": [5, 3]})");
  EXPECT_THAT(load_model_config(directory.path()).end_of_sequence_ids, ElementsAre(5, 3, 7));
}

TEST(ModelConfig, GenerationConfigIsCopiedUnlessEndOfSequenceIdsDiffer) {
  const fs::path start = kGolden / "llama_bf16_shards";
  ModelConfig config = load_model_config(start);
  const TemporaryDirectory directory;
  const fs::path saved = directory.path() / "generation_config.json";
  config.end_of_sequence_ids = {5, 3};
  save_generation_config(config, start, directory.path());
  EXPECT_EQ(read_file(saved), read_file(start / "generation_config.json"));
  config.end_of_sequence_ids = {5, 6};
  save_generation_config(config, start, directory.path());
  Json expected = read_json(start / "generation_config.json");
  expected["eos_token_id"] = {5, 6};
  EXPECT_EQ(read_json(saved), expected);
  const TemporaryDirectory none;
  save_generation_config(config, none.path(), none.path());
  EXPECT_FALSE(fs::exists(none.path() / "generation_config.json"));
}

TEST(ModelConfig, ReadsRopeThetaAtTopLevel) {
  Json config = valid_config();
  config.erase("rope_parameters");
  config["rope_theta"] = 12345.0;
  config["rope_scaling"] = nullptr;
  EXPECT_EQ(loaded(config).rope_theta, 12345.0);
}

TEST(ModelConfig, UsesTheDefaultsOfTheArchitecture) {
  Json config = valid_config();
  for (const char* key :
       {"head_dim", "num_key_value_heads", "tie_word_embeddings", "rope_parameters"}) {
    config.erase(key);
  }
  EXPECT_EQ(loaded(config).head_width, 128);
  config["architectures"] = {"LlamaForCausalLM"};
  config["model_type"] = "llama";
  config["head_dim"] = nullptr;
  config["hidden_size"] = 64;
  EXPECT_EQ(loaded(config).head_width, 32);
  EXPECT_EQ(loaded(config).kv_heads, 2);
  EXPECT_FALSE(loaded(config).tied_embeddings);
  EXPECT_EQ(loaded(config).rope_theta, 10000.0);
}

TEST(ModelConfig, SavedConfigLoadsUnchanged) {
  ModelConfig config = load_model_config(kGolden / "llama_bf16_shards");
  config.rope_theta = 500000.5;
  config.begin_of_sequence_id = 7;
  const TemporaryDirectory directory;
  save_model_config(config, directory.path());
  const ModelConfig back = load_model_config(directory.path());
  EXPECT_EQ(back.architecture, config.architecture);
  EXPECT_EQ(back.rope_theta, config.rope_theta);
  EXPECT_EQ(back.rms_norm_eps, config.rms_norm_eps);
  EXPECT_EQ(back.tied_embeddings, config.tied_embeddings);
  EXPECT_EQ(back.end_of_sequence_ids, config.end_of_sequence_ids);
  EXPECT_EQ(back.max_positions, config.max_positions);
  EXPECT_EQ(back.begin_of_sequence_id, config.begin_of_sequence_id);
  EXPECT_EQ(back.padding_id, config.padding_id);
}

TEST(ModelConfig, RejectsUnsupportedSettings) {
  EXPECT_THAT(error_with("architectures", {"MistralForCausalLM"}), HasSubstr("MistralForCausalLM"));
  EXPECT_THAT(error_with("rope_scaling", {{"rope_type", "yarn"}, {"factor", 4.0}}),
              HasSubstr("rope_scaling"));
  EXPECT_THAT(error_with("rope_scaling", {{"type", "linear"}, {"factor", 4.0}}),
              HasSubstr("linear"));
  EXPECT_THAT(error_with("rope_parameters", {{"rope_type", "dynamic"}}), HasSubstr("dynamic"));
  EXPECT_THAT(error_with("rope_scaling", {{"rope_type", "longrope"}}), HasSubstr("longrope"));
  EXPECT_THAT(error_with("rope_scaling", 8.0), HasSubstr("an object"));
  EXPECT_THAT(error_with("partial_rotary_factor", 0.5), HasSubstr("partial_rotary_factor"));
  EXPECT_THAT(error_with("rope_parameters", {{"partial_rotary_factor", 0.5}}),
              HasSubstr("partial_rotary_factor"));
  EXPECT_THAT(error_with("mlp_bias", true), HasSubstr("mlp_bias"));
  EXPECT_THAT(error_with("hidden_act", "gelu"), HasSubstr("gelu"));
  EXPECT_THAT(error_with("layer_types", {"full_attention", "sliding_attention"}),
              HasSubstr("sliding_attention"));
  EXPECT_THAT(error_with("quantization_config", {{"bits", 4}}), HasSubstr("quantization_config"));
  EXPECT_THAT(error_with("layer_types", {"full_attention"}), HasSubstr("num_hidden_layers"));
  EXPECT_THAT(error_with("model_type", "qwen2"), HasSubstr("model_type: found"));
}

const Json kLlama3Rope = {{"rope_type", "llama3"},
                          {"factor", 32.0},
                          {"low_freq_factor", 1.0},
                          {"high_freq_factor", 4.0},
                          {"original_max_position_embeddings", 8192}};

TEST(ModelConfig, ReadsLlama3RopeInBothForms) {
  Json config = valid_config();
  config.erase("rope_parameters");
  config["rope_theta"] = 500000.0;
  config["rope_scaling"] = kLlama3Rope;
  const ModelConfig old_form = loaded(config);
  ASSERT_TRUE(old_form.llama3_rope);
  EXPECT_EQ(*old_form.llama3_rope, (Llama3Rope{32, 1, 4, 8192}));
  EXPECT_EQ(old_form.rope_theta, 500000.0);

  config.erase("rope_theta");
  config.erase("rope_scaling");
  config["rope_parameters"] = kLlama3Rope;
  config["rope_parameters"]["rope_theta"] = 500000.0;
  EXPECT_EQ(loaded(config).llama3_rope, old_form.llama3_rope);
  EXPECT_EQ(loaded(config).rope_theta, 500000.0);

  config["rope_parameters"]["type"] = "llama3";  // both names may exist
  EXPECT_EQ(loaded(config).llama3_rope, old_form.llama3_rope);
  config["rope_parameters"]["type"] = "default";
  EXPECT_THAT(error_of([&] { loaded(config); }), HasSubstr("rope_parameters"));
}

TEST(ModelConfig, EmptyRopeScalingIsIgnored) {
  Json config = valid_config();
  config["rope_scaling"] = Json::object();
  EXPECT_EQ(loaded(config).rope_theta, 1e6);  // from rope_parameters
  EXPECT_FALSE(loaded(config).llama3_rope);
}

/// The golden config with rope_parameters replaced.
Json with_rope(const Json& rope) {
  Json config = valid_config();
  config["rope_parameters"] = rope;
  return config;
}

TEST(ModelConfig, ReadsRopeParametersThatAreNestedByLayerType) {
  const Json full = {{"rope_type", "default"}, {"rope_theta", 5e5}};
  EXPECT_EQ(loaded(with_rope({{"full_attention", full}})).rope_theta, 5e5);
  Json config = with_rope({{"full_attention", full}, {"sliding_attention", {{"rope_theta", 1e4}}}});
  EXPECT_EQ(loaded(config).rope_theta, 5e5) << "all layers have full attention";
  config.erase("layer_types");
  EXPECT_EQ(loaded(config).rope_theta, 5e5) << "Qwen's classes derive them";
  Json llama3 = kLlama3Rope;
  llama3["rope_theta"] = 5e5;
  EXPECT_TRUE(loaded(with_rope({{"full_attention", llama3}})).llama3_rope);

  config["architectures"] = {"LlamaForCausalLM"};
  config["model_type"] = "llama";
  EXPECT_THAT(error_of([&] { loaded(config); }),
              HasSubstr("rope_parameters.full_attention: found"));
  EXPECT_THAT(error_with("rope_parameters", {{"sliding_attention", full}}),
              HasSubstr("rope_parameters.sliding_attention: found"));
  EXPECT_THAT(error_with("rope_parameters", {{"full_attention", full}, {"rope_theta", 1e4}}),
              HasSubstr("rope_parameters.rope_theta: found 10000.0, expected an object"));
  EXPECT_THAT(error_with("rope_parameters", {{"full_attention", nullptr}}),
              HasSubstr("rope_parameters.full_attention: found null, expected an object"));
}

TEST(ModelConfig, RejectsTwoRopeThetasThatDiffer) {
  EXPECT_THAT(error_with("rope_theta", 5e5),
              HasSubstr("rope_theta: found 500000.0, expected 1000000, which has precedence"));
  EXPECT_THAT(error_with("rope_scaling", {{"rope_type", "default"}, {"rope_theta", 5e5}}),
              HasSubstr("rope_parameters.rope_theta: found 1000000.0, expected 500000"));
  Json config = valid_config();
  config["rope_theta"] = 1'000'000;  // an integer, as many published models have it
  EXPECT_EQ(loaded(config).rope_theta, 1e6);
}

TEST(ModelConfig, RejectsKeysThatADefaultRopeDoesNotHave) {
  EXPECT_THAT(error_with("rope_scaling", {{"factor", 8.0}}),
              HasSubstr("rope_scaling.factor: found 8.0, expected no such key"));
  EXPECT_THAT(error_with("rope_parameters", {{"rope_type", "default"}, {"beta_fast", 32}}),
              HasSubstr("rope_parameters.beta_fast: found 32"));
  const Json harmless = {{"rope_type", "default"},
                         {"type", "default"},
                         {"rope_theta", 1e6},
                         {"partial_rotary_factor", 1.0},
                         {"factor", 1.0},
                         {"attention_factor", nullptr},
                         {"mrope_section", {16, 24, 24}},
                         {"original_max_position_embeddings", 32768}};
  EXPECT_EQ(loaded(with_rope(harmless)).rope_theta, 1e6);
}

TEST(ModelConfig, ErrorsNameTheInvalidKeyOfLlama3Rope) {
  for (const char* key : {"factor", "low_freq_factor", "high_freq_factor"}) {
    Json rope = kLlama3Rope;
    rope.erase(key);
    const std::string name = std::string("rope_scaling.") + key;
    EXPECT_THAT(error_with("rope_scaling", rope), HasSubstr(name + ": found nothing, expected"));
    rope[key] = "much";
    EXPECT_THAT(error_with("rope_scaling", rope), HasSubstr(name + ": found \"much\", expected"));
  }
  Json rope = kLlama3Rope;
  rope["original_max_position_embeddings"] = 0;
  EXPECT_THAT(error_with("rope_scaling", rope), HasSubstr("original_max_position_embeddings"));
  rope = kLlama3Rope;
  rope["high_freq_factor"] = 1.0;
  EXPECT_THAT(error_with("rope_scaling", rope), HasSubstr("must be above"));
}

TEST(ModelConfig, SavedLlama3RopeAndAttentionBiasLoadUnchanged) {
  ModelConfig config = load_model_config(kGolden / "qwen3");
  config.llama3_rope = Llama3Rope{32, 1, 4, 48};
  config.qkv_bias = config.output_bias = true;
  const TemporaryDirectory directory;
  save_model_config(config, directory.path());
  const ModelConfig back = load_model_config(directory.path());
  EXPECT_EQ(back.llama3_rope, config.llama3_rope);
  EXPECT_TRUE(back.output_bias);
  EXPECT_EQ(back.rope_theta, config.rope_theta);
}

TEST(ModelConfig, RejectsASlidingWindowOnlyIfALayerUsesIt) {
  Json config = valid_config();
  config.erase("layer_types");
  config["use_sliding_window"] = true;
  config["sliding_window"] = 8;
  EXPECT_EQ(loaded(config).layers, 2);  // max_window_layers 28: no layer uses it
  config["max_window_layers"] = 1;
  EXPECT_THAT(error_of([&] { loaded(config); }), HasSubstr("use_sliding_window"));
}

TEST(ModelConfig, ErrorsNameTheInvalidKey) {
  EXPECT_THAT(error_with("hidden_size", nullptr), HasSubstr("hidden_size: found null, expected"));
  EXPECT_THAT(error_with("vocab_size", -1), HasSubstr("vocab_size: found -1, expected"));
  EXPECT_THAT(error_with("vocab_size", "many"), HasSubstr("vocab_size: "));
  EXPECT_THAT(error_with("num_hidden_layers", 1u << 30), HasSubstr("num_hidden_layers: "));
  EXPECT_THAT(error_with("num_key_value_heads", 3), HasSubstr("not a multiple"));
  EXPECT_THAT(error_with("head_dim", 24), HasSubstr("\"head_dim\" 24 is not a multiple of 16"));
  EXPECT_THAT(error_with("head_dim", 1 << 20), HasSubstr("\"head_dim\""));
  EXPECT_THAT(error_with("rms_norm_eps", 0), HasSubstr("rms_norm_eps: "));
  EXPECT_THAT(error_with("eos_token_id", 24),
              HasSubstr("eos_token_id: found 24, expected a token id below \"vocab_size\""));
  EXPECT_THAT(error_with("tie_word_embeddings", 1), HasSubstr("true or false"));
}

TEST(ModelConfig, ErrorsOfADerivedHeadWidthNameItsKeys) {
  Json config = valid_config();
  config["architectures"] = {"LlamaForCausalLM"};
  config["model_type"] = "llama";
  config.erase("head_dim");
  EXPECT_THAT(error_of([&] { loaded(config); }),
              HasSubstr("\"head_dim\" 6 (\"hidden_size\" / \"num_attention_heads\") is not"));
}

TEST(ModelConfig, ErrorsNameThePositionInInvalidJson) {
  const TemporaryDirectory directory;
  directory.write("config.json", "{\n  \"vocab_size\": 3,\n  oops\n}\n");
  EXPECT_THAT(error_of([&] { load_model_config(directory.path()); }),
              HasSubstr("line 3, column 3"));
  directory.write("config.json", R"({"vocab_size": 3, "vocab_size": 4})");
  EXPECT_THAT(error_of([&] { load_model_config(directory.path()); }), HasSubstr("twice"));
  directory.write("config.json", "");
  EXPECT_THAT(error_of([&] { load_model_config(directory.path()); }), HasSubstr("not valid JSON"));
  EXPECT_THAT(error_of([&] { load_model_config(directory.path() / "absent"); }),
              HasSubstr("absent: there is no such model directory"));
  EXPECT_THAT(error_of([&] { load_model_config(directory.path() / "config.json"); }),
              HasSubstr("config.json: is a file; give the directory"));
  std::filesystem::create_directory(directory.path() / "checkpoints");
  EXPECT_THAT(error_of([&] { load_model_config(directory.path()); }),
              HasSubstr("is a run directory; give one of its models"));
}

}  // namespace
}  // namespace lie

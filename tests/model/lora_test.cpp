// Low-rank adapters: compared with PEFT under PyTorch autograd in float64, and bit-identical in
// decoding and training (invariants E4, E5).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "common/base/error.h"
#include "common/io/file.h"
#include "common/io/json.h"
#include "model/transformer/transformer.h"
#include "model/weights/adapter_file.h"
#include "tests/guarded_operators.h"
#include "tests/model/transformer_golden.h"
#include "tests/temporary_directory.h"
#include "tests/tiny_model.h"

namespace lie {
namespace {

using test::Golden, test::read_golden, test::relative_error;
using testing::Contains, testing::ElementsAre, testing::HasSubstr, testing::IsEmpty;

constexpr float kTemperature = 0.9f;

bool same_bits(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

/// Writes the base of `config` as a model directory, and names it in the result.
ModelConfig with_base(ModelConfig config, const fs::path& directory) {
  std::optional<LoraConfig> lora = std::exchange(config.lora, std::nullopt);
  const auto operators = make_cpu_operators(1);
  save_weights(test::tiny_weights(config, *operators), directory);
  config.lora = std::move(lora);
  config.lora->base = directory;
  return config;
}

class LoraGolden : public testing::TestWithParam<const char*> {
 protected:
  LoraGolden() { golden.config = with_base(golden.config, directory.path()); }

  const TemporaryDirectory directory;
  Golden golden = read_golden(GetParam(), "lora");
  const std::unique_ptr<Operators> operators = make_cpu_operators(2);
};

TEST_P(LoraGolden, LogProbsEntropiesAndGradientsMatchPeft) {
  const Weights adapter = test::tiny_weights(golden.config, *operators);
  Transformer policy(adapter);
  const RowLogProbs scored = policy.forward(golden.batch, golden.temperature, true);
  EXPECT_LT(relative_error(scored.log_probs, golden.tensors.at("log_probs")), 1e-5);
  EXPECT_LT(relative_error(scored.entropies, golden.tensors.at("entropies")), 1e-5);

  test::Gradient gradient = test::gradient_for(adapter);
  policy.backward(golden.batch, golden.tensors.at("d_log_probs"), golden.tensors.at("d_entropies"),
                  gradient.sink);
  std::size_t compared = 0;
  for (const Parameter& p : adapter.parameters()) {
    const auto got =
        test::to_host(*operators, gradient.view().elements_at(p.offset, p.rows * p.cols));
    ASSERT_TRUE(golden.tensors.contains("d:" + p.name)) << p.name;
    EXPECT_LT(relative_error(got, golden.tensors.at("d:" + p.name)), 1e-4) << p.name;
    ++compared;
  }
  EXPECT_EQ(compared, 2 * golden.config.lora->targets.size() *
                          static_cast<std::size_t>(golden.config.layers));
}

TEST_P(LoraGolden, WithoutTheAdapterThePolicyIsItsBase) {
  const Weights adapter = test::tiny_weights(golden.config, *operators);
  Transformer policy(adapter);
  Transformer base = policy.without_adapter();
  const RowLogProbs scored = base.forward(golden.batch, golden.temperature, false);
  EXPECT_LT(relative_error(scored.log_probs, golden.tensors.at("base_log_probs")), 1e-5);
  Transformer alone = Transformer::fixed(directory.path(), *operators);
  const auto stored = alone.forward(golden.batch, golden.temperature, false).log_probs;
  EXPECT_EQ(same_bits(scored.log_probs, stored), !golden.config.lora->nf4)
      << "a base in NF4 is another policy than the stored one";
}

TEST_P(LoraGolden, MergedMatricesMatchPeft) {
  const TemporaryDirectory adapter_directory, merged;
  const Weights adapter = test::tiny_weights(golden.config, *operators);
  save_lora_config(*golden.config.lora, adapter_directory.path());
  save_parameters(adapter, {adapter.shard(), kAdapterFile}, adapter_directory.path());
  save_merged({directory.path(), adapter_directory.path()}, {}, merged.path());
  const Weights weights = load_weights(merged.path(), *operators);
  std::size_t compared = 0;
  for (const auto& [name, expected] : golden.tensors) {
    if (!name.starts_with("merged:")) continue;
    const Tensor tensor = weights.tensor(name.substr(std::string("merged:").size()));
    EXPECT_LT(relative_error(test::to_host(*operators, tensor), expected), 1e-6) << name;
    ++compared;
  }
  EXPECT_EQ(compared, golden.config.lora->targets.size());
}

INSTANTIATE_TEST_SUITE_P(Models, LoraGolden,
                         testing::Values("qwen3_all", "qwen3_untied_some", "llama_bias_qv",
                                         "qwen2_wide", "qwen3_nf4"),
                         [](const auto& test) { return std::string(test.param); });

/// A policy with an adapter on a base whose matrices bf16 does not represent, or with `exact` does.
struct AdapterPolicy {
  explicit AdapterPolicy(std::unique_ptr<Operators> own = make_cpu_operators(1), bool tied = true)
      : operators(std::move(own)),
        config(config_with(directory.path(), tied)),
        weights(test::tiny_weights(config, *operators)),
        transformer(weights) {}

  static ModelConfig config_with(const fs::path& directory, bool tied) {
    ModelConfig config = test::tiny_config({.vocabulary = 45, .width = 24, .ffn_width = 40});
    config.tied_embeddings = tied;
    config.qkv_bias = config.output_bias = !tied;
    config.lora = LoraConfig{.rank = 5, .alpha = 8, .targets = lora_targets(all(), "")};
    return with_base(config, directory);
  }
  static std::vector<std::string> all() { return {kAllLinear}; }

  std::vector<float> gradient_of(Transformer& policy, const std::vector<PackedBatch>& parts) {
    test::Gradient gradient = test::gradient_for(weights);
    std::size_t done = 0, total = 0;
    for (const PackedBatch& part : parts) total += part.rows.size();
    const std::vector<float> d = test::float_values("d", total);
    for (const PackedBatch& part : parts) {
      policy.forward(part, kTemperature, true);
      const auto own = std::span(d).subspan(done, part.rows.size());
      policy.backward(part, own, own, gradient.sink);
      done += part.rows.size();
    }
    return test::to_host(*operators, gradient.view());
  }

  TemporaryDirectory directory;
  std::unique_ptr<Operators> operators;
  ModelConfig config;
  Weights weights;
  Transformer transformer;
};

PackedBatch some_batch() { return test::tiny_batch("tokens", {9, 35, 2, 70, 17}, 45); }

class LoraBits : public testing::TestWithParam<DType> {
 protected:
  std::unique_ptr<Operators> operators(int threads = 1) const {
    return make_cpu_operators(threads, {}, GetParam());
  }
};
INSTANTIATE_TEST_SUITE_P(MatmulTypes, LoraBits, testing::Values(DType::kFloat32, DType::kBFloat16),
                         [](const auto& test) {
                           return test.param == DType::kFloat32 ? "fp32" : "bf16";
                         });

/// Returns the log-probs of all scored rows by decoding, `step` rows of a sequence at a time.
std::vector<float> decoded(AdapterPolicy& policy, const PackedBatch& batch, int step) {
  KvCache cache(policy.config, *policy.operators, 64);
  std::vector<float> result;
  for (std::size_t s = 0; s + 1 < batch.starts.size(); ++s) {
    const std::int32_t handle = cache.open();
    for (std::int32_t t = batch.starts[s]; t < batch.starts[s + 1]; t += step) {
      std::vector<DecodeRow> rows;
      for (std::int32_t i = t; i < std::min(t + step, batch.starts[s + 1]); ++i) {
        rows.push_back(
            {batch.tokens[static_cast<std::size_t>(i)], handle, i + 1 < batch.starts[s + 1]});
      }
      const Tensor logits = policy.transformer.decode(rows, cache);
      for (std::int64_t r = 0; r < logits.rows; ++r) {
        const std::int32_t target = batch.tokens[static_cast<std::size_t>(t + r + 1)];
        float log_prob = 0, entropy = 0, log_sum = 0;
        const auto one = [](float& x) { return Tensor{&x, 1, 1, 1, DType::kFloat32}; };
        policy.operators->log_probs(logits.rows_at(r, 1), {&target, 1}, kTemperature, one(log_prob),
                                    one(entropy), one(log_sum));
        result.push_back(log_prob);
      }
    }
  }
  return result;
}

TEST_P(LoraBits, DecodingPrefillAndTrainingGiveTheSameLogProbs) {
  for (const bool tied : {true, false}) {
    AdapterPolicy policy(operators(), tied);
    const PackedBatch batch = some_batch();
    const RowLogProbs trained = policy.transformer.forward(batch, kTemperature, true);
    for (const int step : {1, 3, 64}) {
      EXPECT_TRUE(same_bits(decoded(policy, batch, step), trained.log_probs)) << step;
    }
    Transformer base = policy.transformer.without_adapter();
    EXPECT_FALSE(same_bits(base.forward(batch, kTemperature, false).log_probs, trained.log_probs));
  }
}

TEST_P(LoraBits, GradientsDoNotDependOnMicroBatchesThreadsOrRecomputation) {
  const PackedBatch batch = some_batch();
  const std::vector<PackedBatch> parts = {test::part_of(batch, 0, 2), test::part_of(batch, 2, 3),
                                          test::part_of(batch, 3, 5)};
  AdapterPolicy one(operators());
  const std::vector<float> whole = one.gradient_of(one.transformer, {batch});
  EXPECT_TRUE(std::ranges::any_of(whole, [](float x) { return x != 0; }));
  EXPECT_TRUE(same_bits(one.gradient_of(one.transformer, parts), whole));
  one.transformer.limit_training_bytes(1);
  EXPECT_TRUE(same_bits(one.gradient_of(one.transformer, {batch}), whole)) << "recomputed";
  AdapterPolicy three(operators(3));
  EXPECT_TRUE(same_bits(three.gradient_of(three.transformer, parts), whole)) << "threads";
}

/// Rounds the base of a policy to bf16, so that the CPU operators hold it narrow.
void round_base(const fs::path& directory) {
  const auto operators = make_cpu_operators(1);
  Weights base = load_weights(directory, *operators);
  std::vector<float> values = test::to_host(*operators, base.flat());
  for (float& value : values) value = from_bfloat16(to_bfloat16(value));
  operators->copy_from_host(values, base.flat());
  save_weights(base, directory);
}

TEST(Lora, ABaseHeldInBf16GivesTheBitsOfOneInFp32) {
  const PackedBatch batch = some_batch();
  AdapterPolicy policy;
  round_base(policy.directory.path());
  Transformer narrow(policy.weights);
  EXPECT_LT(narrow.packed_size().bytes, policy.transformer.packed_size().bytes * 3 / 4);

  // Shared memory holds a base in fp32.
  const std::int64_t own = flat_elements(adapter_layout(policy.config)) + 16;
  std::vector<float> memory(static_cast<std::size_t>(shared_weight_elements(policy.config) + own));
  const auto shared = make_cpu_operators(1, {memory, true});
  const Weights adapter = test::tiny_weights(policy.config, *shared);
  Transformer wide(adapter);
  EXPECT_GT(wide.packed_size().bytes, narrow.packed_size().bytes);
  EXPECT_TRUE(same_bits(wide.forward(batch, kTemperature, false).log_probs,
                        narrow.forward(batch, kTemperature, false).log_probs));
  EXPECT_TRUE(same_bits(policy.gradient_of(wide, {batch}), policy.gradient_of(narrow, {batch})));
}

TEST(Lora, AReceivedAdapterGivesTheBitsOfItsWeights) {
  const PackedBatch batch = some_batch();
  AdapterPolicy policy;
  const Tensor flat = policy.weights.flat();
  const auto expected = policy.transformer.forward(batch, kTemperature, false).log_probs;
  for (const std::int64_t part : {std::int64_t{100}, flat.cols}) {
    Transformer received = Transformer::received(policy.config, *policy.operators);
    for (std::int64_t first = 0, held = 0; first < flat.cols;) {
      held = std::min(held + part, flat.cols - first);
      const std::int64_t packed = received.set_weights_from(first, flat.elements_at(first, held));
      first += packed;
      held -= packed;
    }
    EXPECT_TRUE(same_bits(received.forward(batch, kTemperature, false).log_probs, expected));
  }
}

TEST(Lora, ANewAdapterIsUniformInAAndZeroInBAndChangesNothing) {
  AdapterPolicy policy;
  const Weights fresh = initial_weights(policy.config, 7, *policy.operators);
  for (const Parameter& p : fresh.parameters()) {
    const auto values = test::to_host(*policy.operators, fresh.tensor(p.name));
    if (p.name.ends_with("lora_B.weight")) {
      EXPECT_EQ(std::ranges::count(values, 0.0f), std::ssize(values)) << p.name;
      continue;
    }
    const float bound = 1 / std::sqrt(static_cast<float>(p.cols));
    const auto [least, most] = std::ranges::minmax(values);
    EXPECT_GE(least, -bound) << p.name;
    EXPECT_LT(most, bound) << p.name;
    EXPECT_LT(least, -0.8f * bound) << p.name;
    EXPECT_GT(most, 0.8f * bound) << p.name;
  }
  EXPECT_NE(test::to_host(*policy.operators, fresh.flat()),
            test::to_host(*policy.operators,
                          initial_weights(policy.config, 8, *policy.operators).flat()));
  Transformer start(fresh);
  Transformer base = start.without_adapter();
  EXPECT_EQ(start.forward(some_batch(), kTemperature, false).log_probs,
            base.forward(some_batch(), kTemperature, false).log_probs);
}

TEST(Lora, OnlyTheAdapterIsRepacked) {
  AdapterPolicy policy;
  const PackedBatch batch = some_batch();
  const auto before = policy.transformer.forward(batch, kTemperature, false).log_probs;
  fs::remove(policy.directory.path() / "model.safetensors");  // the base is not read again
  policy.operators->zero(policy.weights.flat());
  policy.transformer.weights_changed();
  const auto after = policy.transformer.forward(batch, kTemperature, false).log_probs;
  EXPECT_NE(after, before);
  EXPECT_EQ(after,
            policy.transformer.without_adapter().forward(batch, kTemperature, false).log_probs);
}

TEST(Lora, RunsWithoutAccessOfTheHostToDeviceMemory) {
  const PackedBatch batch = some_batch();
  AdapterPolicy host;
  AdapterPolicy device(std::make_unique<test::GuardedOperators>());
  EXPECT_TRUE(same_bits(device.transformer.forward(batch, kTemperature, false).log_probs,
                        host.transformer.forward(batch, kTemperature, false).log_probs));
  EXPECT_TRUE(same_bits(device.gradient_of(device.transformer, {batch}),
                        host.gradient_of(host.transformer, {batch})));
  EXPECT_TRUE(same_bits(decoded(device, test::part_of(batch, 0, 1), 1),
                        decoded(host, test::part_of(batch, 0, 1), 1)));
}

/// Saves the policy's adapter in a directory of its own.
void save_adapter(const AdapterPolicy& policy, const fs::path& directory) {
  save_lora_config(*policy.config.lora, directory);
  save_parameters(policy.weights, {policy.weights.shard(), kAdapterFile}, directory);
}

TEST(AdapterFile, APolicyIsReadFromBaseAndAdapterWhereverTheyAre) {
  AdapterPolicy policy;
  const TemporaryDirectory adapter;
  save_adapter(policy, adapter.path());
  const auto expected = policy.transformer.forward(some_batch(), kTemperature, false).log_probs;
  const auto log_probs = [&](const fs::path& model, const fs::path& beside) {
    Transformer read = Transformer::fixed(model, *policy.operators, beside);
    return read.forward(some_batch(), kTemperature, false).log_probs;
  };
  EXPECT_EQ(log_probs(policy.directory.path(), adapter.path()), expected);
  EXPECT_EQ(log_probs(adapter.path(), {}), expected) << "the adapter names its base";
  EXPECT_EQ(load_policy_config(adapter.path()).lora->base, policy.directory.path());

  for (const char* name : {kAdapterConfigFile, kAdapterFile}) {
    fs::copy(adapter.path() / name, policy.directory.path() / name);
  }
  EXPECT_EQ(log_probs(policy.directory.path(), {}), expected) << "both in one directory";
  EXPECT_THAT(error_of([&] { find_policy(policy.directory.path(), adapter.path()); }),
              HasSubstr("merge it first"));
}

TEST(AdapterFile, NamesWhatIsMissingOrNotImplemented) {
  AdapterPolicy policy;
  const TemporaryDirectory adapter;
  save_adapter(policy, adapter.path());
  const auto error = [&] {
    return error_of([&] { plan_weights(policy.directory.path(), adapter.path()); });
  };
  EXPECT_EQ(error(), "no error");
  const Json valid = read_json(adapter.path() / kAdapterConfigFile);
  const auto error_with = [&](const char* key, const Json& value) {
    Json changed = valid;
    changed[key] = value;
    write_json(changed, adapter.path() / kAdapterConfigFile);
    return error();
  };
  EXPECT_THAT(error_with("peft_type", "LOHA"), HasSubstr("\"LORA\""));
  EXPECT_THAT(error_with("use_dora", true), HasSubstr("DoRA"));
  EXPECT_THAT(error_with("use_rslora", true), HasSubstr("sqrt(r)"));
  EXPECT_THAT(error_with("rank_pattern", {{"q_proj", 3}}), HasSubstr("one rank"));
  EXPECT_THAT(error_with("modules_to_save", {"lm_head"}), HasSubstr("modules_to_save"));
  EXPECT_THAT(error_with("bias", "all"), HasSubstr("\"none\""));
  EXPECT_THAT(error_with("init_lora_weights", "pissa_niter_4"), HasSubstr("convert"));
  EXPECT_THAT(error_with("alpha_pattern", {{"q_proj", 3}}), HasSubstr("one alpha"));
  EXPECT_THAT(error_with("fan_in_fan_out", true), HasSubstr("transposed"));
  EXPECT_THAT(error_with("lora_bias", true), HasSubstr("biases of pairs"));
  EXPECT_THAT(error_with("layers_to_transform", {0}), HasSubstr("all layers"));
  EXPECT_THAT(error_with("alora_invocation_tokens", {5}), HasSubstr("activated LoRA"));
  EXPECT_THAT(error_with("r", 0), HasSubstr("an integer from 1"));
  EXPECT_THAT(error_with("lora_alpha", "16"), HasSubstr("lora_alpha"));
  EXPECT_THAT(error_with("target_modules", ".*_proj"), HasSubstr("regular expressions"));
  EXPECT_THAT(error_with("target_modules", {"lm_head"}), HasSubstr("outside of the blocks"));
  EXPECT_THAT(error_with("target_modules", Json::array()), HasSubstr("no module"));
  EXPECT_THAT(error_with("target_modules", {"q_proj"}), HasSubstr("has no place"));
  EXPECT_THAT(error_with("r", 4), HasSubstr("shape [5, 24]"));
  EXPECT_EQ(error_with("target_modules", "all-linear"), "no error");
  EXPECT_THAT(error_of([&] {
                error_with("base_model_name_or_path", "Qwen/Qwen3-0.6B");
                find_policy(adapter.path());
              }),
              HasSubstr("model.adapter"));
  EXPECT_THAT(error_of([&] { find_policy(policy.directory.path(), policy.directory.path()); }),
              HasSubstr("adapter_config.json"));
  write_json(valid, adapter.path() / kAdapterConfigFile);
  fs::resize_file(adapter.path() / kAdapterFile, fs::file_size(adapter.path() / kAdapterFile) - 4);
  EXPECT_THAT(error(), HasSubstr(kAdapterFile));
  fs::remove(adapter.path() / kAdapterFile);
  EXPECT_THAT(error(), HasSubstr(kAdapterFile));
  adapter.write("adapter_model.bin", "");
  EXPECT_THAT(error(), HasSubstr("newer PEFT"));
  fs::remove(adapter.path() / kAdapterConfigFile);
  EXPECT_THAT(error(), HasSubstr("holds no adapter_config.json"));
}

TEST(AdapterFile, KeepsTheIdentityOfItsBase) {
  AdapterPolicy policy;
  const TemporaryDirectory adapter;
  save_adapter(policy, adapter.path());
  EXPECT_EQ(base_sha256_of_adapter(adapter.path()), "");
  policy.weights.set_base_sha256("abc");
  save_adapter(policy, adapter.path());
  EXPECT_EQ(base_sha256_of_adapter(adapter.path()), "abc");
  const PolicyFiles files{policy.directory.path(), adapter.path()};
  EXPECT_THAT(error_of([&] { check_base(files); }), HasSubstr("weights have SHA-256 abc"));
  policy.weights.set_base_sha256(stored_weights_sha256(policy.directory.path()));
  save_adapter(policy, adapter.path());
  EXPECT_EQ(error_of([&] { check_base(files); }), "no error");
}

TEST(AdapterFile, AnotherNameOfItsBaseIsRemarked) {
  AdapterPolicy policy;
  const TemporaryDirectory adapter, other;
  save_adapter(policy, adapter.path());
  EXPECT_THAT(adapter_remarks({policy.directory.path(), adapter.path()}), IsEmpty());
  EXPECT_THAT(adapter_remarks({other.path(), adapter.path()}),
              ElementsAre(HasSubstr("but the base here is " + other.path().string())));
  const auto named = [&](const std::string& base, const char* directory) {
    nlohmann::json config = read_json(adapter.path() / kAdapterConfigFile);
    config["base_model_name_or_path"] = base;
    adapter.write(kAdapterConfigFile, config.dump());
    return adapter_remarks({other.path() / directory, adapter.path()});
  };
  EXPECT_THAT(named("Qwen/Qwen3-8B", "models--Qwen--Qwen3-8B/snapshots/1a2b"), IsEmpty());
  EXPECT_THAT(named("", "any"), IsEmpty());
  EXPECT_THAT(named("Qwen/Qwen3-8B", "Qwen3-4B"), ElementsAre(HasSubstr("is \"Qwen/Qwen3-8B\"")));
  policy.weights.set_base_sha256("abc");
  save_adapter(policy, adapter.path());
  EXPECT_THAT(named("Qwen/Qwen3-8B", "Qwen3-4B"), IsEmpty()) << "check_base() compares the weights";
}

TEST(AdapterFile, UnknownKeysAreRemarked) {
  AdapterPolicy policy;
  const TemporaryDirectory adapter;
  policy.weights.set_base_sha256("abc");
  save_adapter(policy, adapter.path());
  const PolicyFiles files{policy.directory.path(), adapter.path()};
  EXPECT_THAT(adapter_remarks(files), IsEmpty());
  nlohmann::json config = read_json(adapter.path() / kAdapterConfigFile);
  config["use_newlora"] = true;
  config["other"] = nullptr;
  adapter.write(kAdapterConfigFile, config.dump());
  EXPECT_THAT(adapter_remarks(files), ElementsAre(HasSubstr(": use_newlora is not known here")));
}

TEST(AdapterFile, AnotherTokenizerThanItsBasesIsRemarked) {
  AdapterPolicy policy;
  const TemporaryDirectory adapter, base;
  policy.weights.set_base_sha256("abc");
  save_adapter(policy, adapter.path());
  const PolicyFiles files{base.path(), adapter.path()};
  adapter.write("tokenizer.json", R"({"version": "1.0", "model": {}})");
  base.write("tokenizer.json", R"({"model": {}, "version": "1.0"})");
  EXPECT_THAT(adapter_remarks(files), IsEmpty()) << "only written otherwise";
  base.write("tokenizer.json", R"({"model": {}, "version": "2.0"})");
  EXPECT_THAT(adapter_remarks(files), ElementsAre(HasSubstr("tokenizer.json: it is not read")));
  adapter.write("chat_template.jinja", "{{ messages }}");
  EXPECT_THAT(adapter_remarks(files), Contains(HasSubstr("chat_template.jinja: it is not read")));
}

TEST(AdapterFile, TheHashOfAnAdapterCoversItsScaleAndItsWeights) {
  AdapterPolicy policy;
  const TemporaryDirectory adapter;
  const PolicyFiles files{policy.directory.path(), adapter.path()};
  save_adapter(policy, adapter.path());
  const std::string saved = adapter_sha256(files);
  Json config = read_json(adapter.path() / kAdapterConfigFile);
  config["base_model_name_or_path"] = "elsewhere";
  write_json(config, adapter.path() / kAdapterConfigFile);
  EXPECT_EQ(adapter_sha256(files), saved) << "the place of the base is no content";
  config["lora_alpha"] = 9;
  write_json(config, adapter.path() / kAdapterConfigFile);
  EXPECT_NE(adapter_sha256(files), saved);
  save_adapter(policy, adapter.path());
  static_cast<float*>(policy.weights.flat().data)[3] += 1;
  save_adapter(policy, adapter.path());
  EXPECT_NE(adapter_sha256(files), saved);
}

}  // namespace
}  // namespace lie

// lie_cluster init writes a config that train accepts unchanged.
#include "tools/cluster/init.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "common/io/file.h"
#include "tests/directories.h"
#include "tests/temporary_directory.h"
#include "tools/run/config/train_config.h"

namespace lie {
namespace {

using testing::HasSubstr, testing::Not;

const std::filesystem::path kModel =
    std::filesystem::path(source_directory()) / "assets/count_pairs/model";

struct Init : testing::Test {
  std::string config_of(const std::string& rows, const std::string& name = "rows.jsonl") {
    text = initial_config({kModel, scratch.write(name, rows), samples, {}});
    return text;
  }
  /// Returns a copy of the model with a chat template.
  fs::path chat_model() {
    const fs::path model = scratch.path() / "model";
    fs::copy(kModel, model);
    scratch.write("model/tokenizer_config.json",
                  R"({"chat_template": "{% for m in messages %}{{ m.content }}{% endfor %}"})");
    return model;
  }
  TrainConfig loaded() { return load_train_config(scratch.write("my.yaml", text), {}); }

  TemporaryDirectory scratch;
  std::string text;
  std::int64_t samples = 0;  // responses to each prompt
};

TEST_F(Init, FindsTheFieldNamesOfTheRows) {
  config_of("{\"question\": \"1 2 target 3:\", \"solution\": \"5\", \"source\": \"mine\"}\n");
  const TrainConfig config = loaded();
  EXPECT_EQ(config.data.prompt_field, "question");
  EXPECT_EQ(config.data.gold_field, "solution");
  EXPECT_EQ(config.data.data_source_field, "source");
  EXPECT_EQ(config.data.prompt_template, "plain");
  EXPECT_EQ(config.model.path, kModel);
  EXPECT_EQ(config.run.steps, 60);
}

TEST_F(Init, SwitchesOffTheLengthRewardWithoutReferenceLengths) {
  config_of("{\"prompt\": \"1 2 target 3:\", \"gold\": \"5\"}\n");
  EXPECT_FALSE(loaded().reward.of<LengthRewardOptions>().enabled);
  EXPECT_THAT(text, HasSubstr("lie_cluster reference-lengths"));
  EXPECT_THAT(text, Not(HasSubstr("prompt_field:")))
      << "a field that is found anyway is not written";
  config_of("{\"prompt\": \"1 2 target 3:\", \"gold\": \"5\", \"reference_length\": 9}\n");
  EXPECT_TRUE(loaded().reward.of<LengthRewardOptions>().enabled);
}

TEST_F(Init, HeldOutPromptsMustHaveTheSameFieldsAndTheLimitFitsThem) {
  const std::string row = "{\"question\": \"1 2 target 3:\", \"solution\": \"5\"}\n";
  scratch.write("test.jsonl", "{\"problem\": \"1 2 target 3:\", \"answer\": \"5\"}\n");
  config_of(row);
  EXPECT_TRUE(loaded().data.evaluation_file.empty());
  EXPECT_THAT(text, HasSubstr("not taken: "));
  EXPECT_THAT(text, HasSubstr("test.jsonl:1: field question"));
  scratch.write("test.jsonl", row + "{\"question\": \"1 2 target 3:\"}\n");
  config_of(row);
  EXPECT_THAT(text, HasSubstr("not taken: ")) << "train refuses its second row";
  std::string longest = "1";
  for (int i = 0; i < 60; ++i) longest += " 2";
  const std::string held_out =
      scratch.write("test.jsonl", "{\"question\": \"" + longest + "\", \"solution\": \"5\"}\n");
  config_of(row);
  EXPECT_EQ(loaded().data.evaluation_file, std::vector{held_out});
  EXPECT_GE(loaded().rollout.max_prompt_tokens, 61);
}

TEST_F(Init, LimitsFitTheLongestPromptAndTheModel) {
  std::string longest = "1";
  for (int i = 0; i < 60; ++i) longest += " 2";
  config_of("{\"prompt\": \"1 2\", \"gold\": 5}\n{\"prompt\": \"" + longest + "\", \"gold\": 5}\n");
  const RolloutOptions rollout = loaded().rollout;
  EXPECT_GE(rollout.max_prompt_tokens, 61);
  EXPECT_EQ(rollout.max_prompt_tokens + rollout.sampling.max_response_tokens, 256);
}

TEST_F(Init, WithAChatTemplatePromptsRequestABoxAndTheLimitIncludesIt) {
  const fs::path model = chat_model();
  const auto config_of_prompt = [&](const std::string& prompt) {
    const auto data =
        scratch.write("rows.jsonl", "{\"prompt\": \"" + prompt + "\", \"gold\": 5}\n");
    text = initial_config({model, data, 0, {}});
    return loaded();
  };
  const TrainConfig config = config_of_prompt("1 2");
  EXPECT_THAT(config.data.prompt_suffix, HasSubstr("\\boxed{}"));
  EXPECT_GT(config.rollout.max_prompt_tokens, std::ssize(config.data.prompt_suffix))
      << "a byte of English is a token";
  EXPECT_EQ(config_of_prompt("1 2 in a \\\\boxed{}").data.prompt_suffix, "");
}

TEST_F(Init, ChoosesSettingsByResponsesOfTheModel) {
  samples = 4;
  const auto assets = kModel.parent_path();
  scratch.write("eval.jsonl", read_file(assets / "eval.jsonl"));
  config_of(read_file(assets / "train.jsonl"));
  const TrainConfig config = loaded();
  EXPECT_THAT(text, HasSubstr("in 64 responses to 16 prompts"));
  EXPECT_THAT(text, Not(HasSubstr("CANNOT")));
  EXPECT_THAT(text, HasSubstr("plain GSPO for comparison"));
  EXPECT_EQ(config.optimizer.learning_rate, 4e-4);  // the demo's, which uses this model
  EXPECT_EQ(config.reward.coverage.unit, CoverageUnit::kTokens) << "few blanks";
  const auto& length = config.reward.of<LengthRewardOptions>();
  EXPECT_EQ(length.target, LengthTarget::kReference);
  EXPECT_EQ(length.delta_tokens, 64);  // the responses have some 16 tokens
  EXPECT_GE(config.rollout.sampling.max_response_tokens, 16 + 2 * 64);
  EXPECT_LT(config.rollout.sampling.max_response_tokens, 224) << "what the model's positions leave";
  EXPECT_EQ(config.data.evaluation_file,
            std::vector<std::string>{(scratch.path() / "eval.jsonl").string()});
  EXPECT_EQ(config.rollout.evaluation.max_response_tokens,
            config.rollout.sampling.max_response_tokens);
}

TEST_F(Init, WithAChatTemplateTheModelIsSampledWithTheRequestForABox) {
  const auto data = scratch.write("rows.jsonl", read_file(kModel.parent_path() / "eval.jsonl"));
  text = initial_config({chat_model(), data, 1, {}});
  const TrainConfig config = loaded();
  const auto& length = config.reward.of<LengthRewardOptions>();
  EXPECT_GT(length.target_tokens, 128)
      << "the model answers in some 18 tokens, but not if other words follow the question";
  EXPECT_LT(length.target_tokens, config.rollout.sampling.max_response_tokens);
  EXPECT_THAT(text, Not(HasSubstr("delta_tokens"))) << "without effect";
}

TEST_F(Init, WithoutReferenceLengthsTheTargetIsMeasured) {
  samples = 4;
  config_of("{\"prompt\": \"11 8 13 2 1 17 target 13:\\n\", \"gold\": \"1\"}\n");
  const TrainConfig config = loaded();
  const auto& length = config.reward.of<LengthRewardOptions>();
  EXPECT_TRUE(length.enabled);
  EXPECT_EQ(length.target, LengthTarget::kAbsolute);
  EXPECT_GT(length.target_tokens, 64);
  EXPECT_LT(length.target_tokens, 64 + 130);
}

TEST_F(Init, SaysWhenRlCannotBegin) {
  samples = 4;
  config_of("{\"prompt\": \"11 8 13 2 1 17 target 13:\\n\", \"gold\": \"x^2\"}\n");
  EXPECT_THAT(text,
              HasSubstr("RL CANNOT START FROM HERE: no response is correct: fine-tune first"));
  EXPECT_FALSE(loaded().reward.of<LengthRewardOptions>().enabled);
  EXPECT_THAT(text, HasSubstr("# below 5 % correct it would reward length alone"));
}

TEST_F(Init, RefusesATokenizerThatDoesNotFitTheModelWithoutSampling) {
  const fs::path model = chat_model();
  std::string tokenizer = read_file(model / "tokenizer.json");
  const std::string key = "\"added_tokens\": [";
  ASSERT_NE(tokenizer.find(key), std::string::npos);
  tokenizer.insert(tokenizer.find(key) + key.size(),
                   R"({"id": 49152, "content": "<new>", "special": true},)");
  scratch.write("model/tokenizer.json", tokenizer);
  const auto data = scratch.write("rows.jsonl", R"({"prompt": "1", "gold": "1"})");
  EXPECT_THAT(error_of([&] { initial_config({model, data, 0, {}}); }), HasSubstr("vocab"));
}

/// With random weights no response ends before the longest that the model supports.
TEST_F(Init, CutResponsesSayNothingOfLengths) {
  samples = 1;
  const fs::path model = chat_model();
  std::string weights = read_file(model / "model.safetensors");
  std::fill(weights.begin() + 20'000, weights.end(), '\x3a');
  scratch.write("model/model.safetensors", weights);
  text = initial_config(
      {model, scratch.write("rows.jsonl", R"({"prompt": "1", "gold": "1"})"), 1, {}});
  EXPECT_THAT(text, HasSubstr("every response is cut at the limit: fine-tune first"));
  EXPECT_FALSE(loaded().reward.of<LengthRewardOptions>().enabled) << "no length is known";
  EXPECT_THAT(text, Not(HasSubstr("longest response of the start policy")));
}

TEST_F(Init, TheFirstRowWithPromptAndAnswerDeterminesTheFields) {
  config_of("{\"a\": 1}\n{\"question\": \"1 2\", \"gold\": 5}\n");
  EXPECT_EQ(loaded().data.prompt_field, "question");
  EXPECT_THAT(text, HasSubstr("1 of 2 rows skipped"));
}

TEST_F(Init, FieldNamesWithQuotesAndSpacesAreQuoted) {
  config_of("{\"prompt\": \"1 2\", \"gold\": 5}\n", "it's: a \"file\" #1.jsonl");
  EXPECT_EQ(loaded().data.train_file.front(),
            (scratch.path() / "it's: a \"file\" #1.jsonl").string());
}

TEST_F(Init, ReportsMissingFields) {
  EXPECT_THAT(
      error_of([&] { config_of("{\"a\": 1, \"gold\": 2}\n"); }),
      HasSubstr(
          "rows.jsonl:1: field prompt: expected a prompt, found nothing; the row has a, gold; "
          "set data.prompt_field to one of them"));
  EXPECT_THAT(error_of([&] { config_of("{\"prompt\": \"x\"}\n"); }),
              HasSubstr("no correct answer: expected field gold or answer or "
                        "reward_model.ground_truth; the row has prompt"));
}

TEST_F(Init, OverridesDetermineHowRowsAreRead) {
  const auto data = scratch.write("rows.jsonl", "{\"a\": \"1 2\", \"gold\": 2}\n");
  text = initial_config({kModel, data, 0, {"data.prompt_field=a", "data.prompt_suffix=?"}});
  EXPECT_EQ(loaded().data.prompt_field, "a");
  EXPECT_EQ(loaded().data.prompt_suffix, "?");
  EXPECT_THAT(
      error_of([&] {
        initial_config({kModel, data, 0, {"data.prompt_field=a", "data.prompt_template=qwen3"}});
      }),
      HasSubstr("which is not a token of"));
}

TEST_F(Init, BadRowsAreSkippedAndCounted) {
  config_of("{\"prompt\": \"1 2\", \"gold\": 5}\n{\"prompt\": 3}\n");
  EXPECT_TRUE(loaded().data.skip_bad_rows);
  EXPECT_THAT(text, HasSubstr("1 of 2 rows skipped"));
  config_of("{\"prompt\n{\"prompt\": \"1 2\", \"gold\": 5}\n");
  EXPECT_THAT(text, HasSubstr("1 of 2 rows skipped")) << "the first row is not JSON";
  EXPECT_THAT(error_of([&] { config_of("{\"prompt\n"); }),
              HasSubstr("rows.jsonl:1: not valid JSON"));
}

}  // namespace
}  // namespace lie

// lie_cluster init writes a config that train accepts unchanged.
#include "tools/cluster/init.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
    text = initial_config({kModel, scratch.write(name, rows)});
    return text;
  }
  TrainConfig loaded() { return load_train_config(scratch.write("my.yaml", text), {}); }

  TemporaryDirectory scratch;
  std::string text;
};

TEST_F(Init, FindsTheFieldNamesOfTheRows) {
  config_of("{\"question\": \"1 2 target 3:\", \"solution\": \"5\", \"source\": \"mine\"}\n");
  const TrainConfig config = loaded();
  EXPECT_EQ(config.data.prompt_field, "question");
  EXPECT_EQ(config.data.gold_field, "solution");
  EXPECT_EQ(config.data.data_source_field, "source");
  EXPECT_EQ(config.data.prompt_template, "plain");
  EXPECT_EQ(config.model.path, kModel);
  EXPECT_EQ(config.run.steps, 1);
}

TEST_F(Init, SwitchesOffTheLengthRewardWithoutReferenceLengths) {
  config_of("{\"prompt\": \"1 2 target 3:\", \"gold\": \"5\"}\n");
  EXPECT_FALSE(loaded().reward.of<LengthRewardOptions>().enabled);
  EXPECT_THAT(text, HasSubstr("lie_cluster reference-lengths"));
  EXPECT_THAT(text, Not(HasSubstr("prompt_field:"))) << "what is found without it is not written";
  config_of("{\"prompt\": \"1 2 target 3:\", \"gold\": \"5\", \"reference_length\": 9}\n");
  EXPECT_TRUE(loaded().reward.of<LengthRewardOptions>().enabled);
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
  namespace fs = std::filesystem;
  const fs::path model = scratch.path() / "model";
  fs::copy(kModel, model);
  scratch.write("model/tokenizer_config.json",
                R"({"chat_template": "{% for m in messages %}{{ m.content }}{% endfor %}"})");
  const auto config_of_prompt = [&](const std::string& prompt) {
    const auto data =
        scratch.write("rows.jsonl", "{\"prompt\": \"" + prompt + "\", \"gold\": 5}\n");
    text = initial_config({model, data});
    return loaded();
  };
  const TrainConfig config = config_of_prompt("1 2");
  EXPECT_THAT(config.data.prompt_suffix, HasSubstr("\\boxed{}"));
  EXPECT_GT(config.rollout.max_prompt_tokens, std::ssize(config.data.prompt_suffix))
      << "a byte of English is a token";
  EXPECT_EQ(config_of_prompt("1 2 in a \\\\boxed{}").data.prompt_suffix, "");
}

TEST_F(Init, TheFirstRowWithPromptAndAnswerDeterminesTheFields) {
  config_of("{\"a\": 1}\n{\"question\": \"1 2\", \"gold\": 5}\n");
  EXPECT_EQ(loaded().data.prompt_field, "question");
  EXPECT_THAT(text, HasSubstr("1 of 2 rows skipped"));
}

TEST_F(Init, FieldNamesWithQuotesAndSpacesAreQuoted) {
  config_of("{\"prompt\": \"1 2\", \"gold\": 5}\n", "it's: a \"file\" #1.jsonl");
  EXPECT_EQ(loaded().data.train_file, (scratch.path() / "it's: a \"file\" #1.jsonl").string());
}

TEST_F(Init, ReportsMissingFields) {
  EXPECT_THAT(
      error_of([&] { config_of("{\"a\": 1, \"gold\": 2}\n"); }),
      HasSubstr("rows.jsonl:1: found no field that looks like a prompt; the row has a, gold"));
  EXPECT_THAT(error_of([&] { config_of("{\"prompt\": \"x\"}\n"); }),
              HasSubstr("found no field that looks like the gold answer; the row has prompt"));
}

TEST_F(Init, BadRowsAreSkippedAndCounted) {
  config_of("{\"prompt\": \"1 2\", \"gold\": 5}\n{\"prompt\": 3}\n");
  EXPECT_TRUE(loaded().data.skip_bad_rows);
  EXPECT_THAT(text, HasSubstr("1 of 2 rows skipped"));
  config_of("{\"prompt\n{\"prompt\": \"1 2\", \"gold\": 5}\n");
  EXPECT_THAT(text, HasSubstr("1 of 2 rows skipped")) << "the first is no JSON";
  EXPECT_THAT(error_of([&] { config_of("{\"prompt\n"); }),
              HasSubstr("rows.jsonl:1: not valid JSON"));
}

}  // namespace
}  // namespace lie

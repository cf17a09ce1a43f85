// The tokens that end a response come from model files, the prompt template, and the keys that
// override both.
#include "tools/run/input/end_tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/io/file.h"
#include "common/io/json.h"
#include "tests/directories.h"
#include "tests/temporary_directory.h"

namespace lie {
namespace {

using testing::ElementsAre, testing::HasSubstr;

/// A model directory without weights. Its tokens are those of the golden Qwen tokenizer:
/// <|endoftext|> 420, <|im_start|> 421, <|im_end|> 422, <think> 423.
class EndTokenFiles : public testing::Test {
 protected:
  EndTokenFiles() {
    const std::filesystem::path root = source_directory();
    directory_.write("tokenizer.json",
                     read_file(root / "tests/tokenizer/golden/qwen/tokenizer.json"));
    config_ = read_json(root / "assets/count_pairs/model/config.json");
    config_["vocab_size"] = 430;
    set_config_end(420);
  }
  void set_config_end(const Json& ids) {
    config_["eos_token_id"] = ids;
    directory_.write("config.json", config_.dump());
  }
  void set_generation_end(const Json& ids) {
    directory_.write("generation_config.json", Json{{"eos_token_id", ids}}.dump());
  }
  void set_tokenizer_end(const std::string& token) {
    directory_.write("tokenizer_config.json", Json{{"eos_token", token}}.dump());
  }
  EndTokens ends(const std::string& prompts, const RolloutOptions& options = {}) {
    return end_tokens(directory_.path(), prompts, options);
  }
  std::string error(const std::string& prompts, const RolloutOptions& options = {}) {
    return error_of([&] { ends(prompts, options); });
  }

  TemporaryDirectory directory_;
  Json config_;
};

TEST_F(EndTokenFiles, AreThoseOfModelAndTemplate) {
  EXPECT_THAT(ends("plain").ids, ElementsAre(420));
  EXPECT_THAT(ends("qwen3").ids, ElementsAre(420, 422));
  EXPECT_EQ(ends("qwen3").text, "end at <|endoftext|> (420), <|im_end|> (422)");
}

TEST_F(EndTokenFiles, CombineAllSourcesWithoutDuplicates) {
  set_generation_end({422, 420});
  set_tokenizer_end("<think>");
  EXPECT_THAT(ends("qwen3").ids, ElementsAre(422, 420, 423));
  set_generation_end(421);
  EXPECT_THAT(ends("qwen3").ids, ElementsAre(421, 420, 423, 422));
}

TEST_F(EndTokenFiles, ReportsAModelWithoutEndTokens) {
  set_config_end(nullptr);
  EXPECT_THAT(ends("plain").ids, ElementsAre());
  EXPECT_THAT(ends("plain").text, HasSubstr("no token ends them"));
}

TEST_F(EndTokenFiles, ConfigKeysOverrideAllSources) {
  RolloutOptions options;
  options.end_of_sequence_tokens = {"<think>"};
  EXPECT_THAT(ends("qwen3", options).ids, ElementsAre(423));
  options.end_of_sequence_ids = {421, 423};
  EXPECT_THAT(ends("qwen3", options).ids, ElementsAre(421, 423));
}

TEST_F(EndTokenFiles, UnknownTokensAreErrors) {
  RolloutOptions options;
  options.end_of_sequence_tokens = {"<|eot_id|>"};
  EXPECT_THAT(error("qwen3", options),
              HasSubstr("rollout.end_of_sequence_tokens: \"<|eot_id|>\" is not a token of " +
                        (directory_.path() / "tokenizer.json").string()));
  options = {};
  options.end_of_sequence_ids = {430};
  EXPECT_THAT(error("qwen3", options), HasSubstr("430 is not a token id below the model's"));
  EXPECT_THAT(error("llama3"), HasSubstr("prompt_template llama3 ends a turn with \"<|eot_id|>\""));
  options.end_of_sequence_ids = {420};
  EXPECT_EQ(error("llama3", options), "no error");
  set_tokenizer_end("</s>");
  EXPECT_THAT(error("plain"), HasSubstr("\"eos_token\" \"</s>\" is not a token"));
}

}  // namespace
}  // namespace lie

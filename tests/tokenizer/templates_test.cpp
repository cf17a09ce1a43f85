// Compares rendered conversations with transformers, whose results are in golden/templates.json
// (golden/make_templates.py).
#include "model/tokenizer/template/templates.h"

#include <gtest/gtest.h>

#include "common/io/json.h"
#include "tests/directories.h"
#include "tests/temporary_directory.h"

namespace lie {
namespace {

const fs::path kGolden = fs::path(source_directory()) / "tests/tokenizer/golden/templates.json";

std::vector<ChatMessage> messages_of(const Json& json) {
  std::vector<ChatMessage> messages;
  for (const Json& m : json) messages.push_back({m["role"], m["content"]});
  return messages;
}

/// Writes a chat template into a directory and returns the directory.
fs::path model_with(const TemporaryDirectory& scratch, const std::string& jinja) {
  scratch.write("chat_template.jinja", jinja);
  return scratch.path();
}

TEST(Templates, RenderAsInTransformers) {
  const Json golden = read_json(kGolden);
  for (const auto& [name, known] : golden.items()) {
    const PromptTemplate prompts = prompt_template(name, "");
    for (const Json& row : known["cases"]) {
      std::vector<ChatMessage> messages = messages_of(row["messages"]);
      std::string answer;
      if (messages.back().role == "assistant") {
        const std::string content = messages.back().content;
        messages.pop_back();
        // In transformers the caller adds the empty thought.
        if (name != "qwen3-no-thinking") answer = prompts.answer(messages, content);
      }
      const std::string prompt = prompts.prompt(messages);
      EXPECT_EQ(prompt, row["prompt"].get<std::string>()) << name;
      if (answer.empty()) continue;
      // The line end after ChatML's end of turn belongs to the next turn. No model writes it.
      std::string expected = row["whole"];
      if (expected.ends_with("<|im_end|>\n")) expected.pop_back();
      EXPECT_EQ(prompt + answer, expected) << name;
    }
  }
}

TEST(Templates, RecognizeTheTemplateOfAModel) {
  const Json golden = read_json(kGolden);
  for (const auto& [name, known] : golden.items()) {
    if (!known.contains("jinja")) continue;
    const TemporaryDirectory scratch;
    const std::string jinja = known["jinja"];
    EXPECT_EQ(prompt_template("model", model_with(scratch, jinja + "\n")).name, name);
    fs::remove(scratch.path() / "chat_template.jinja");
    scratch.write("tokenizer_config.json", Json{{"chat_template", jinja}}.dump());
    EXPECT_EQ(prompt_template("model", scratch.path()).name, name);
  }
}

TEST(Templates, RejectUnknownNamesAndListKnownOnes) {
  const std::string names = kPromptTemplates;
  EXPECT_EQ(error_of([] { prompt_template("alpaca", ""); }),
            "unknown prompt template \"alpaca\"; known are " + names +
                ", and \"model\" for the model's own");
  const TemporaryDirectory scratch;
  const std::string bare = error_of([&] { prompt_template("model", scratch.path()); });
  EXPECT_NE(bare.find("contains no chat template"), std::string::npos) << bare;
  EXPECT_NE(bare.find(names), std::string::npos) << bare;
  const std::string other =
      error_of([&] { prompt_template("model", model_with(scratch, "a\n{% nosuch %}")); });
  EXPECT_NE(other.find("chat_template.jinja"), std::string::npos) << other;
}

TEST(Templates, RenderPlainAndOctothinkerPrompts) {
  const std::vector<ChatMessage> one = {{"user", "1+1?"}};
  EXPECT_EQ(prompt_template("plain", "").prompt(one), "1+1?");
  const std::string octo = prompt_template("octothinker", "").prompt(one);
  EXPECT_TRUE(octo.starts_with("<|begin_of_text|>A conversation between User and Assistant. "));
  EXPECT_TRUE(octo.ends_with("by the \\boxed{} tag.\n1+1?\nAssistant:"));
  EXPECT_EQ(prompt_template("octothinker", "").end_of_turn(), "");
  EXPECT_EQ(prompt_template("llama3", "").end_of_turn(), "<|eot_id|>");
}

TEST(Templates, PlainPromptsBeginAsThePostProcessorSaysAndOnlyOnce) {
  const fs::path model = fs::path(source_directory()) / "tests/tokenizer/golden/llama";
  const auto prompt = [&](const char* name, BeginOfSequence begin, const char* content) {
    return prompt_template(name, model, begin).prompt(std::vector<ChatMessage>{{"user", content}});
  };
  EXPECT_EQ(prompt("plain", BeginOfSequence::kAuto, "a"), "<|begin_of_text|>a");
  EXPECT_EQ(prompt("plain", BeginOfSequence::kNever, "a"), "a");
  EXPECT_EQ(prompt("plain", BeginOfSequence::kAuto, "<|begin_of_text|>a"), "<|begin_of_text|>a");
  EXPECT_EQ(prompt("chatml", BeginOfSequence::kAuto, "a"),
            prompt("chatml", BeginOfSequence::kNever, "a"));
  EXPECT_EQ(prompt("llama3", BeginOfSequence::kAlways, "a"),
            prompt("llama3", BeginOfSequence::kNever, "a"))
      << "this template begins with the token already";
  EXPECT_TRUE(prompt("chatml", BeginOfSequence::kAlways, "a").starts_with("<|begin_of_text|><|im"));
}

TEST(Templates, ReasoningIsRenderedOrRefused) {
  const std::vector<ChatMessage> question = {{"user", "a"}};
  const PromptTemplate qwen3 = prompt_template("qwen3", "");
  EXPECT_EQ(qwen3.answer(question, "2", "\n1+1\n"), qwen3.answer(question, "<think>1+1</think>2"));
  std::vector<ChatMessage> longer = {{"user", "a"}, {"assistant", "b", "c"}, {"user", "d"}};
  EXPECT_EQ(qwen3.prompt(longer).find("c"), std::string::npos) << "dropped, as in Qwen3's template";
  for (const char* name : {"plain", "chatml", "llama3", "octothinker"}) {
    const PromptTemplate other = prompt_template(name, "");
    EXPECT_NE(error_of([&] { other.answer(question, "2", "1+1"); }).find("reasoning"),
              std::string::npos);
    EXPECT_NE(error_of([&] { other.prompt(longer); }).find("reasoning"), std::string::npos);
  }
}

TEST(Templates, ThoughtsInAnAnswerAreRenderedOrRefused) {
  const std::vector<ChatMessage> question = {{"user", "a"}};
  const auto error = [&](const char* name, const char* content, const char* reasoning = "") {
    return error_of([&] { prompt_template(name, "").answer(question, content, reasoning); });
  };
  const PromptTemplate short_answers = prompt_template("qwen3-no-thinking", "");
  EXPECT_EQ(short_answers.answer(question, "<think>\n\n</think>\n\n5"), "5<|im_end|>");
  EXPECT_NE(error("qwen3-no-thinking", "<think>2+3</think>\n\n5").find("renders no thought"),
            std::string::npos);
  EXPECT_EQ(error("qwen3", "<think>A</think>\n\n5"), "no error");
  EXPECT_EQ(error("qwen3", "A</think>5"), "no error") << "the prompt may begin the thought";
  EXPECT_EQ(error("qwen3", "<think>\n</think>5", "A"), "no error");
  EXPECT_EQ(error("plain", "<think>A</think>5<think>B</think>6"), "no error") << "it is all text";
  const std::string one = "renders one thought, which begins the answer";
  EXPECT_NE(error("qwen3", "<think>B</think>5", "A").find(one), std::string::npos);
  EXPECT_NE(error("qwen3", "<think>A</think>5<think>B</think>6").find(one), std::string::npos);
  EXPECT_NE(error("qwen3", "Well. <think>A</think>5").find(one), std::string::npos);
}

}  // namespace
}  // namespace lie

#include "common/dataset/field_names.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace lie {
namespace {

FieldNames guess(const std::string& row) { return guess_fields(parse_json_row(row, "row")); }

TEST(FieldNames, RecognizesPublishedDatasets) {
  const FieldNames gsm8k = guess(R"({"question": "q", "answer": "so\n#### 5"})");
  EXPECT_EQ(gsm8k.prompt, "question");
  EXPECT_EQ(gsm8k.gold, "answer");
  const FieldNames aime = guess(R"({"ID": "1", "Problem": "p", "Solution": "s", "Answer": 33})");
  EXPECT_EQ(aime.prompt, "Problem");
  EXPECT_EQ(aime.gold, "Answer");
  const FieldNames verl =
      guess(R"({"data_source": "d", "prompt": [{"role": "user", "content": "p"}],)"
            R"( "reward_model": {"ground_truth": "2", "num_tokens": 9175}})");
  EXPECT_EQ(verl.prompt, "prompt");
  EXPECT_EQ(verl.gold, "reward_model.ground_truth");
  EXPECT_EQ(verl.data_source, "data_source");
  EXPECT_EQ(verl.reference_length, "") << "num_tokens has an excess and is found by itself";
  const FieldNames arc = guess(R"({"id": "1", "question": "q", "answerKey": "B",)"
                               R"( "choices": {"text": ["a", "b"], "label": ["A", "B"]}})");
  EXPECT_EQ(arc.choices, "choices.text");
  EXPECT_EQ(arc.gold, "answerKey");
  const FieldNames choice =
      guess(R"({"question": "q", "choices": ["a", "b"], "answer": "B", "subject": "law"})");
  EXPECT_EQ(choice.choices, "choices");
  EXPECT_EQ(choice.data_source, "subject");
}

TEST(FieldNames, IgnoresFieldsOfAnotherType) {
  EXPECT_EQ(guess(R"({"prompt": 7, "problem": "p"})").prompt, "problem");
  EXPECT_EQ(guess(R"({"prompt": "", "problem": "p"})").prompt, "problem");
  EXPECT_EQ(guess(R"({"messages": [{"role": "assistant", "content": "x"}]})").prompt, "");
  EXPECT_EQ(guess(R"({"messages": ["x"], "input": null})").prompt, "");
  EXPECT_EQ(guess(R"({"answer": [1], "solution": "s"})").gold, "solution");
  EXPECT_EQ(guess(R"({"choices": [1, 2]})").choices, "");
}

TEST(FieldNames, ListsAtMostTwentyFields) {
  std::string row = "{\"f0\": 0";
  for (int i = 1; i < 40; ++i) row += fmt::format(", \"f{}\": 0", i);
  const std::string text = fields_text(parse_json_row(row + "}", "row"));
  EXPECT_TRUE(text.starts_with("the row has f0, f1, ")) << text;
  EXPECT_TRUE(text.ends_with(", ...")) << text;
  EXPECT_EQ(std::ranges::count(text, ','), 20) << text;
  EXPECT_EQ(fields_text(parse_json_row("{}", "row")), "the row has no fields");
}

}  // namespace
}  // namespace lie

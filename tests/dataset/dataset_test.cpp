#include "common/dataset/dataset.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/dataset/row_remarks.h"
#include "tests/temporary_directory.h"

namespace lie {
namespace {

struct DatasetFile : ::testing::Test {
  std::vector<Prompt> load(const std::string& text) {
    return read_dataset(scratch.write("d.jsonl", text), options, {}).prompts;
  }
  std::string error(const std::string& text) {
    const std::string message = error_of([&] { load(text); });
    return message.substr(std::min(message.find("d.jsonl"), message.size()));
  }

  TemporaryDirectory scratch;
  RowOptions options;
};

TEST_F(DatasetFile, ReadsOurOwnRows) {
  const auto prompts = load(
      "{\"prompt\": \"1 2 target 3:\\n\", \"gold\": 1, \"data_source\": \"pairs\", "
      "\"reference_length\": 22.5}\n"
      "\n"
      "{\"prompt\": \"4 5 target 6:\\n\", \"answer\": \"\\\\frac{1}{2}\"}\n");
  ASSERT_EQ(prompts.size(), 2u);
  EXPECT_EQ(prompts[0].problem, 0);
  EXPECT_EQ(prompts[0].text, "1 2 target 3:\n");
  EXPECT_EQ(prompts[0].gold, "1");
  EXPECT_EQ(prompts[0].data_source, "pairs");
  EXPECT_EQ(prompts[0].reference_length, 22.5);
  EXPECT_EQ(prompts[1].problem, 1);
  EXPECT_EQ(prompts[1].gold, "\\frac{1}{2}");
  EXPECT_EQ(prompts[1].data_source, "");
  EXPECT_LT(prompts[1].reference_length, 0);
}

TEST_F(DatasetFile, ReadsVerlRows) {
  const auto prompts =
      load(R"({"data_source": "math_dapo", "prompt": [{"role": "system", "content": "Be brief."},)"
           R"( {"role": "user", "content": "What is 1+1?"}], "ability": "MATH",)"
           R"( "reward_model": {"ground_truth": "2", "num_tokens": 9175, "style": "rule"}})");
  ASSERT_EQ(prompts.size(), 1u);
  EXPECT_EQ(prompts[0].text, "Be brief.\n\nWhat is 1+1?");
  EXPECT_EQ(prompts[0].gold, "2");
  EXPECT_EQ(prompts[0].reference_length, 8175);
}

TEST_F(DatasetFile, OptionsNameTheFields) {
  options.prompt_field = std::string("q.text");
  options.gold_field = std::string("a");
  options.data_source_field = std::string("from");
  options.reference_length_field = std::string("len");
  const auto prompts = load(
      R"({"q": {"text": "x"}, "a": "y", "from": "z", "len": 7, "gold": "no", "num_tokens": 1})");
  EXPECT_EQ(prompts[0].text, "x");
  EXPECT_EQ(prompts[0].gold, "y");
  EXPECT_EQ(prompts[0].data_source, "z");
  EXPECT_EQ(prompts[0].reference_length, 7);
}

TEST_F(DatasetFile, RowErrorsNameFileAndRow) {
  const std::string good = "{\"prompt\": \"x\", \"gold\": \"y\"}\n";
  EXPECT_EQ(error(good + "{\"gold\": \"y\"}"),
            "d.jsonl:2: field prompt: expected a prompt, found nothing; the row has gold; set "
            "data.prompt_field to one of them");
  EXPECT_EQ(
      error("{\"Question\": \"x\", \"gold\": \"y\", \"meta\": {\"id\": 1}}"),
      "d.jsonl:1: field prompt: expected a prompt, found nothing; the row has Question, gold, "
      "meta.id; set data.prompt_field=Question");
  EXPECT_EQ(error(good + "{\"prompt\": \"\", \"gold\": \"y\"}"),
            "d.jsonl:2: field prompt is empty; give a prompt or remove the row");
  EXPECT_EQ(
      error(good + "{\"prompt\": \"x\"}"),
      "d.jsonl:2: no correct answer: expected field gold or answer or "
      "reward_model.ground_truth; the row has prompt; a row needs none with reward.command or "
      "verifier.command")
      << "the prompt is not offered as the correct answer";
  EXPECT_EQ(error("{\"prompt\": \"x\", \"extra\": {\"solution\": 4}, \"solution\": \"5\"}"),
            "d.jsonl:1: no correct answer: expected field gold or answer or "
            "reward_model.ground_truth; the row has prompt, solution, extra.solution; set "
            "data.gold_field=solution; a row needs none with reward.command or verifier.command");
  EXPECT_EQ(error(good + "{\"prompt\": \"x\", \"gold\": \"\"}"),
            "d.jsonl:2: field gold is empty; give the correct answer; a row needs none with "
            "reward.command or verifier.command");
  EXPECT_TRUE(error(good + "{\"prompt\": \"x\", \"gold\": \"\\u00a0\"}")
                  .starts_with("d.jsonl:2: field gold is empty; give the correct answer"));
  EXPECT_EQ(error(good + "{\"prompt\": \"x\", \"gold\": {\"a\": 1}}"),
            "d.jsonl:2: field gold: expected a text or a number, found object; correct the row");
  EXPECT_EQ(
      error("{\"prompt\": [{\"role\": \"assistant\", \"content\": \"x\"}], \"gold\": 1}"),
      "d.jsonl:1: field prompt: the last message has the role assistant; a prompt ends with the "
      "user's turn");
  EXPECT_EQ(error("{\"prompt\": [{\"role\": \"tool\", \"content\": \"x\"}], \"gold\": 1}"),
            "d.jsonl:1 prompt[0]: field role: expected system, user or assistant, found tool; "
            "correct the row");
  EXPECT_EQ(error("{\"prompt\": \"x\", \"gold\": 1, \"num_tokens\": 500}"),
            "d.jsonl:1: field num_tokens: expected a reference length of at least 0 tokens, found "
            "-500; correct the row or data.num_tokens_excess");
  EXPECT_TRUE(error(good + "{\"prompt\": ").starts_with("d.jsonl:2: not valid JSON at column"));
  EXPECT_EQ(error(""), "d.jsonl: holds no row; expected one JSON object per line, or Parquet");
  options.reference_length_field = std::string("len");
  EXPECT_EQ(error(good),
            "d.jsonl:1: field len is missing; correct data.reference_length_field or the row");
}

TEST_F(DatasetFile, AProgramNeedsNoCorrectAnswers) {
  options.gold_optional = true;
  const auto path = scratch.write("d.jsonl",
                                  "{\"prompt\": \"x\"}\n{\"prompt\": \"x\", \"gold\": \"\"}\n"
                                  "{\"prompt\": \"x\", \"answer\": 4}\n");
  const Dataset dataset = read_dataset(path, options);
  EXPECT_EQ(dataset.counts.without_gold, 2);
  EXPECT_EQ(dataset.prompts.at(0).gold, "");
  EXPECT_EQ(dataset.prompts.at(2).gold, "4");
  options.gold_field = "solution";
  EXPECT_EQ(
      error("{\"prompt\": \"x\"}"),
      "d.jsonl:1: no correct answer: expected field solution; the row has prompt; a row needs "
      "none with reward.command or verifier.command")
      << "a field that is named must be there";
}

TEST_F(DatasetFile, RendersMessagesWithSuffixAndChoices) {
  options.prompt_suffix = " Box it.";
  options.choices_field = "options";
  const auto path =
      scratch.write("d.jsonl", R"({"prompt": "Two?", "options": ["1", 2], "answer": "B"})"
                               "\n"
                               R"({"prompt": "Two?", "options": ["1", "2"], "answer": "C"})");
  const auto render = [](std::span<const ChatMessage> messages) {
    return messages.back().role + ":" + messages.back().content;
  };
  const std::string message = error_of([&] { read_dataset(path, options, render); });
  EXPECT_NE(message.find("d.jsonl:2: the correct answer is \"C\": expected a letter from A to B"),
            std::string::npos);
  options.skip_bad_rows = true;
  const Dataset data = read_dataset(path, options, render);
  ASSERT_EQ(data.prompts.size(), 1u);
  EXPECT_EQ(data.prompts[0].text, "user:Two?\n\nA. 1\nB. 2 Box it.");
  EXPECT_EQ(data.prompts[0].gold, "B");
}

TEST_F(DatasetFile, ChoiceNumbersBecomeLettersAndAreCounted) {
  options.choices_field = "options";
  const auto row = [](const std::string& key) {
    return R"({"prompt": "Two?", "options": ["1", "2"], "answer": ")" + key + "\"}\n";
  };
  const Dataset data =
      read_dataset(scratch.write("d.jsonl", row("B") + row("1") + row("2")), options);
  EXPECT_EQ(data.counts.digit_keys, 2);
  EXPECT_EQ(data.prompts[1].gold, "A");
  EXPECT_EQ(data.prompts[2].gold, "B");
  for (const char* key : {"0", "3", "11"}) {
    EXPECT_TRUE(error(row(key)).starts_with("d.jsonl:1: the correct answer is")) << key;
  }
  EXPECT_NE(
      error(R"({"prompt": "Two?", "options": ["2", "3"], "answer": "2"})")
          .find("the number of the choice \"3\", or the text of another; write the letter, B or A"),
      std::string::npos);
  options.skip_bad_rows = true;
  EXPECT_EQ(error(row("0") + row("1") + row("1")),
            "d.jsonl: the correct choice is 0 in 1 row and another number in 2: numbers are read "
            "as counted from 1, so these would be misread; set data.first_choice=0, or write "
            "letters")
      << "MMLU counts from 0";
  options.first_choice = 0;
  const auto from_0 = load(row("0") + row("1") + row("B"));
  ASSERT_EQ(from_0.size(), 3u);
  EXPECT_EQ(from_0[0].gold, "A");
  EXPECT_EQ(from_0[1].gold, "B");
  EXPECT_EQ(from_0[2].gold, "B");
  EXPECT_NE(error(row("2")).find("the number of a choice from 0 on; correct the row"),
            std::string::npos);
}

TEST_F(DatasetFile, CountsSkippedRows) {
  options.skip_bad_rows = true;
  const std::string good = "{\"prompt\": \"x\", \"gold\": \"y\"}\n";
  const Dataset data =
      read_dataset(scratch.write("d.jsonl", good + "{\"gold\": 1}\nnonsense\n" + good), options);
  EXPECT_EQ(data.rows, 4);
  EXPECT_EQ(data.skipped.size(), 2u);
  ASSERT_EQ(data.prompts.size(), 2u);
  EXPECT_EQ(data.prompts[1].problem, 3);
  EXPECT_NE(error("{\"gold\": 1}").find("every row is bad"), std::string::npos);
}

TEST_F(DatasetFile, BeginsWithAByteOrderMark) {
  EXPECT_EQ(load("\xEF\xBB\xBF{\"prompt\": \"q\", \"gold\": \"1\"}\r\n").size(), 1u);
}

TEST_F(DatasetFile, TextPartsOfAContentAreJoined) {
  const auto prompts =
      load(R"({"prompt": [{"role": "user", "content": [{"type": "text", "text": "a"}, )"
           R"({"type": "text", "text": "b"}]}], "gold": 1})");
  EXPECT_EQ(prompts.front().text, "ab");
  EXPECT_EQ(error(R"({"prompt": [{"role": "user", "content": [{"type": "image"}]}], "gold": 1})"),
            "d.jsonl:1 prompt[0] content[0]: field type: only text parts can be read, found image; "
            "remove the row");
}

TEST_F(DatasetFile, AListOfOneGoldIsThatGold) {
  EXPECT_EQ(load(R"({"prompt": "q", "gold": ["5"]})").front().gold, "5");
  EXPECT_EQ(load(R"({"prompt": "q", "gold": [5]})").front().gold, "5");
  EXPECT_NE(error(R"({"prompt": "q", "gold": ["5", "7"]})").find("a list of 2 correct answers"),
            std::string::npos);
  EXPECT_NE(error(R"({"prompt": "q", "gold": []})").find("a list of 0"), std::string::npos);
  EXPECT_NE(error(R"({"prompt": "q", "gold": "  "})").find("is empty"), std::string::npos);
}

TEST_F(DatasetFile, RefusesReferenceLengthsBeyondAnyContext) {
  for (const char* length : {"1e20", "100000000000000000000", "2e8"}) {
    const std::string row =
        R"({"prompt": "q", "gold": 1, "reference_length": )" + std::string(length) + "}";
    EXPECT_NE(error(row).find("cannot be a response length"), std::string::npos) << error(row);
  }
}

TEST_F(DatasetFile, CountsPromptsThatAreJsonText) {
  const auto path = scratch.write(
      "d.jsonl", R"({"prompt": "[{\"role\": \"user\", \"content\": \"q\"}]", "gold": 1})");
  EXPECT_EQ(read_dataset(path, options, {}).counts.json_prompts, 1);
}

TEST_F(DatasetFile, FieldsThatAreNotRenderedAreCounted) {
  const auto path = scratch.write(
      "d.jsonl",
      R"({"prompt": "<image>x", "gold": "1", "images": ["t.png"], "tools": []})"
      "\n"
      R"({"prompt": "y", "gold": "1", "tools": [{"name": "add"}], "images": null})"
      "\n"
      R"({"prompt": "z", "gold": "1", "system": "S", "tools": "[]", "videos": "v.mp4"})");
  const RowCounts counts = read_dataset(path, options).counts;
  EXPECT_EQ(counts.media, 1);
  EXPECT_EQ(counts.unrendered, (std::map<std::string, std::int64_t>{
                                   {"images", 1}, {"system", 1}, {"tools", 1}, {"videos", 1}}));
}

TEST_F(DatasetFile, MediaAndContextsAreCountedUnlessThePromptHoldsThem) {
  const auto counts = [&](const std::string& fields) {
    return read_dataset(scratch.write("d.jsonl", R"({"gold": "1", )" + fields + "}"), options)
        .counts;
  };
  using Names = std::map<std::string, std::int64_t>;
  EXPECT_EQ(counts(R"("prompt": "x", "decoded_image": "ab")").unrendered,
            (Names{{"decoded_image", 1}}));
  EXPECT_EQ(counts(R"("prompt": "x", "context": "A passage.")").unrendered,
            (Names{{"context", 1}}));
  EXPECT_EQ(counts(R"("prompt": "A passage. x", "context": "A passage.")").unrendered, Names{});
  EXPECT_EQ(
      counts(R"("prompt": "x", "has_image": false, "image_id": "7", "num_videos": 0)").unrendered,
      Names{});
  EXPECT_EQ(counts(R"("prompt": "x", "extra_info": {"tools_kwargs": {"a": 1}})").unrendered,
            (Names{{"extra_info.tools_kwargs", 1}}));
  EXPECT_EQ(
      counts(R"("prompt": [{"role": "user", "content": "x", "speaker": "S", "id": 3}])").unrendered,
      (Names{{"prompt[].speaker", 1}}));
  EXPECT_EQ(counts(R"("prompt": "see ![](a.png) now")").media, 1);
}

TEST_F(DatasetFile, LabelsBesideChoicesMustBeInOrder) {
  options.choices_field = "c.text";
  const auto error_with = [&](const char* labels) {
    const std::string row = fmt::format(
        R"({{"prompt": "x", "gold": "A", "c": {{"text": ["p", "q"], "label": {}}}}})", labels);
    return error_of([&] { read_dataset(scratch.write("d.jsonl", row), options); });
  };
  EXPECT_EQ(error_with(R"(["A", "B"])"), "no error");
  EXPECT_EQ(error_with(R"(["1", "2"])"), "no error");
  EXPECT_NE(error_with(R"(["B", "A"])").find("choice 1 has the label \"B\", but is shown as A"),
            std::string::npos);
}

TEST_F(DatasetFile, ChoicesAreCountedUnlessThePromptHoldsThem) {
  const auto counts = [&](const std::string& fields) {
    return read_dataset(scratch.write("d.jsonl", R"({"gold": "B", )" + fields + "}"), options)
        .counts.unrendered_choices;
  };
  using Names = std::map<std::string, std::int64_t>;
  EXPECT_EQ(counts(R"("prompt": "Which?", "choices": ["4", "7"])"), (Names{{"choices", 1}}));
  EXPECT_EQ(counts(R"("prompt": "Which? 4", "choices": [4, 7])"), (Names{{"choices", 1}}));
  EXPECT_EQ(counts(R"("prompt": "Which?", "options": {"A": "x", "B": "z"})"),
            (Names{{"options", 1}}));
  EXPECT_EQ(counts(R"("prompt": "Which? 4 or 7", "choices": [4, "7"])"), Names{});
  EXPECT_EQ(counts(R"("prompt": "Which?", "choices": [], "options": "all")"), Names{});
  options.choices_field = "choices";
  EXPECT_EQ(counts(R"("prompt": "Which?", "choices": ["4", "7"])"), Names{});
}

TEST_F(DatasetFile, SuspiciousAnswersAreCounted) {
  const auto counts = [&](const std::string& fields) {
    return read_dataset(scratch.write("d.jsonl", R"({"prompt": "x", )" + fields + "}"), options)
        .counts;
  };
  EXPECT_EQ(counts(R"("gold": "5", "answer": "6")").other_golds.at("gold and answer"), 1);
  EXPECT_TRUE(counts(R"("gold": "5", "answer": "2 + 3 = 5\n#### 5")").other_golds.empty());
  EXPECT_TRUE(counts(R"("gold": "5", "answer": "It is $5")").other_golds.empty());
  for (const char* other : {"15", "-5", "2.5", "1/5", "x^5", "a5", "1,005"}) {
    const std::string fields = fmt::format(R"("gold": "5", "answer": "{}")", other);
    EXPECT_EQ(counts(fields).other_golds.size(), 1U) << other;
  }
  EXPECT_TRUE(counts(R"("gold": "5", "answer": "")").other_golds.empty());
  EXPECT_EQ(counts(R"("gold": "None")").missing, 1);
  EXPECT_EQ(counts(R"("gold": "0")").missing, 0);
  EXPECT_EQ(counts(R"("gold": "\frac12")").lost_backslashes, 1);
  EXPECT_EQ(counts(R"("gold": "\text{yes}")").lost_backslashes, 1);
  EXPECT_EQ(counts(R"("gold": "1\t2")").lost_backslashes, 0);
  EXPECT_EQ(counts(R"("gold": "\\frac12")").lost_backslashes, 0);
}

TEST_F(DatasetFile, LostBackslashesOfPromptsAreCountedOncePerRow) {
  const auto lost = [&](const std::string& row) {
    return read_dataset(scratch.write("d.jsonl", row), options).counts.lost_backslashes;
  };
  EXPECT_EQ(lost(R"({"prompt": "\frac12?", "gold": "\frac12"})"), 1);
  EXPECT_EQ(lost(R"({"prompt": [{"role": "user", "content": "\frac12?"}], "gold": "1"})"), 1);
  EXPECT_EQ(lost(R"({"prompt": "\\frac12?", "gold": "1"})"), 0);
}

TEST(PromptSuffix, ABackslashInPlaceOfALineEndIsRemarked) {
  const auto remark = [](const char* suffix) {
    RowOptions options;
    options.prompt_suffix = suffix;
    return suffix_remark(options);
  };
  EXPECT_NE(remark("\\nBox it.").find("data.prompt_suffix has \\n as two characters"),
            std::string::npos);
  EXPECT_NE(remark(" \\boxed{}\\tnow").find("has \\t as two"), std::string::npos);
  EXPECT_NE(remark("\\nBox it.").find("double quotes in a config file"), std::string::npos);
  EXPECT_EQ(remark("\nBox it in \\boxed{}, as \\text{yes}."), "");
}

TEST_F(DatasetFile, MessageFieldsWithoutATemplateAreRefused) {
  const auto error_with = [&](const std::string& field) {
    return error(R"({"gold": "1", "prompt": [{"role": "user", "content": "x"},)"
                 R"({"role": "assistant", "content": "y", )" +
                 field + R"(}, {"role": "user", "content": "z"}]})");
  };
  EXPECT_EQ(error_with(R"("tool_calls": [], "function_call": null, "id": 3)"), "");
  for (const std::string field :
       {R"("tool_calls": [{"type": "function"}])", R"("function_call": {"name": "add"})",
        R"("images": ["a"])", R"("refusal": "no")", R"("audio": {"id": "a"})"}) {
    const std::string name = field.substr(1, field.find('"', 1) - 1);
    EXPECT_NE(error_with(field).find("field " + name + ": it is not rendered"), std::string::npos);
  }
}

TEST_F(DatasetFile, ReasoningOfAMessageIsKept) {
  const auto messages = [&](const std::string& fields, const std::string& content = "y z") {
    std::vector<ChatMessage> found;
    const RenderPrompt render = [&](std::span<const ChatMessage> all) {
      found.assign(all.begin(), all.end());
      return std::string("text");
    };
    read_dataset(
        scratch.write("d.jsonl", R"({"gold": "1", "prompt": [{"role": "user", "content": "x"},)"
                                 R"({"role": "assistant", "content": ")" +
                                     content + R"(", )" + fields +
                                     R"(}, {"role": "user", "content": "z"}]})"),
        options, render);
    return found.at(1);
  };
  for (const char* name : {"reasoning_content", "reasoning", "reasoning_text", "thinking",
                           "thinking_content", "thought"}) {
    EXPECT_EQ(messages(fmt::format("\"{}\": \"t\"", name)).reasoning, "t");
  }
  EXPECT_EQ(messages(R"("reasoning": "t", "reasoning_content": "t")").reasoning, "t");
  EXPECT_EQ(messages(R"("reasoning": "y")").reasoning, "y") << "the content is no thought";
  const std::string field = R"("reasoning": "y\n")";
  for (const char* content :
       {"<think>\\ny\\n</think>z", "y</think>z", "<think>x</think><think>y</think>z"}) {
    EXPECT_EQ(messages(field, content).reasoning, "") << "a thought of the content: " << content;
  }
  EXPECT_EQ(messages(field, "<think>x y</think>z y").reasoning, "y\n") << "another thought";
  EXPECT_NE(error_of([&] { messages(R"("reasoning": "t", "thinking": "u")"); }).find("differs"),
            std::string::npos);
}

}  // namespace
}  // namespace lie

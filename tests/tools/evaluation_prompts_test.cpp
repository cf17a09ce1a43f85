// The held-out prompts of a run, from one file or several, and remarks about rows.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/temporary_directory.h"
#include "tools/run/input/prompts.h"
#include "tools/run/input/sft_remarks.h"

namespace lie {
namespace {

class EvaluationPrompts : public testing::Test {
 protected:
  /// Writes a file of rows with or without a data source, in order.
  std::string file(const std::string& name, const std::vector<std::string>& sources) {
    std::string rows;
    for (const std::string& source : sources) {
      const std::string field = source.empty() ? "" : R"(,"data_source":")" + source + "\"";
      rows += R"({"prompt":"1+1?","gold":"2")" + field + "}\n";
    }
    std::filesystem::create_directories((directory_.path() / name).parent_path());
    return directory_.write(name, rows).string();
  }

  /// Returns source and problem row: "amc 3".
  std::vector<std::string> read(const std::vector<std::string>& files, std::int64_t limit = 0) {
    std::vector<std::string> prompts;
    for (const Prompt& prompt :
         read_evaluation_prompts(files, limit, options_, "", Log("test", 0), sources_)) {
      prompts.push_back(prompt.data_source + " " + std::to_string(prompt.problem));
    }
    return prompts;
  }

  TemporaryDirectory directory_;
  RowOptions options_;
  std::vector<std::string> sources_;
};

using Prompts = std::vector<std::string>;

TEST_F(EvaluationPrompts, RowsOfOneFileKeepTheirNumbers) {
  EXPECT_EQ(read({file("math.jsonl", {"amc", "", "amc"})}), (Prompts{"amc 0", " 1", "amc 2"}));
  EXPECT_EQ(read({}), Prompts{});
}

TEST_F(EvaluationPrompts, RowsOfSeveralFilesHaveDistinctNumbers) {
  EXPECT_EQ(read({file("a.jsonl", {"amc", "amc"}), file("b.jsonl", {"amc", "aime"})}),
            (Prompts{"amc 0", "amc 1", "amc 2", "aime 3"}));
}

TEST_F(EvaluationPrompts, OnlyRowsWithoutASourceGetTheirFilesName) {
  EXPECT_EQ(read({file("a.jsonl", {"", "b"}), file("b.jsonl", {"", "b"})}),
            (Prompts{"a 0", "b 1", file("b.jsonl", {"", "b"}) + " 2", "b 3"}));
  sources_ = {"amc"};
  EXPECT_EQ(read({file("part-0.jsonl", {"amc"}), file("part-1.jsonl", {"amc", "aime"})}),
            (Prompts{"amc 0", "amc 1"}));
}

TEST_F(EvaluationPrompts, SourcesAreChosenBeforeTheLimitOfAFile) {
  sources_ = {"aime", "b"};
  EXPECT_EQ(read({file("a.jsonl", {"amc", "aime", "aime"}), file("b.jsonl", {"", "amc"})}, 1),
            (Prompts{"aime 1", "b 3"}));
}

TEST_F(EvaluationPrompts, EverySourceMustExist) {
  sources_ = {"aime", "gsm8k"};
  const std::string error = error_of([&] {
    read({file("a.jsonl", {"amc", "aime"}), file("b.jsonl", {"math"})});
  });
  EXPECT_NE(error.find("has the data source gsm8k; they have aime, amc, math"), error.npos)
      << error;
  sources_ = {"aime", "b"};
  EXPECT_EQ(error_of([&] {
              read({file("a.jsonl", {"amc", "aime"}), file("b.jsonl", {""})});
            }),
            "no error");
}

TEST_F(EvaluationPrompts, WarnsOfANamedSourceFieldThatNoRowHas) {
  const auto warnings = [&](const std::string& field) {
    options_.data_source_field = field;
    testing::internal::CaptureStderr();
    read({file("a.jsonl", {"amc", ""})});
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_NE(warnings("benchmark").find("no row has the field benchmark"), std::string::npos);
  EXPECT_EQ(warnings("data_source"), "");
}

TEST_F(EvaluationPrompts, NumbersCountUnusedRows) {
  options_.skip_bad_rows = true;
  const std::string first = directory_.write("a.jsonl",
                                             "{\"prompt\":\"p\",\"gold\":\"1\"}\n"
                                             "{\"prompt\":\"p\"}\n"
                                             "{\"prompt\":\"p\",\"gold\":\"1\"}\n");
  EXPECT_EQ(read({first, file("b.jsonl", {"x", "x"})}, 1), (Prompts{"a 0", "x 3"}));
}

TEST_F(EvaluationPrompts, WarnsOfNumbersForTheCorrectChoice) {
  options_.choices_field = "options";
  const std::string row = R"({"prompt": "?", "options": ["x", "y"], "gold": ")";
  testing::internal::CaptureStderr();
  read({directory_.write("arc.jsonl", row + "B\"}\n" + row + "2\"}\n")});
  EXPECT_NE(testing::internal::GetCapturedStderr().find(
                "arc.jsonl: 1 of 2 rows give the correct choice as a number"),
            std::string::npos);
}

TEST_F(EvaluationPrompts, WarnsOfEarlierAnswersUnderATemplateWithoutRoles) {
  const std::string file =
      directory_
          .write(
              "turns.jsonl",
              R"({"prompt": [{"role": "user", "content": "1+1?"}, {"role": "assistant", "content": "2"}, )"
              R"({"role": "user", "content": "2+1?"}], "gold": "3"})"
              "\n")
          .string();
  const auto warnings = [&](const char* name) {
    options_.prompt_template = name;
    testing::internal::CaptureStderr();
    read({file});
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_NE(warnings("plain").find("1 of 1 rows are conversations with earlier answers"),
            std::string::npos);
  EXPECT_EQ(warnings("chatml"), "");
}

TEST_F(EvaluationPrompts, EveryPromptOfSeveralFilesHasASource) {
  EXPECT_EQ(read({file("aime.jsonl", {"", "amc"}), file("math500.jsonl", {""})}),
            (Prompts{"aime 0", "amc 1", "math500 2"}));
  const std::string one = file("one/test.jsonl", {""}), other = file("other/test.jsonl", {""});
  EXPECT_EQ(read({one, other}), (Prompts{one + " 0", other + " 1"}));
  const std::string taken = file("amc.jsonl", {""});  // its name is a source of the first file
  EXPECT_EQ(read({file("math.jsonl", {"amc"}), taken}), (Prompts{"amc 0", taken + " 1"}));
}

TEST_F(EvaluationPrompts, AFileNamedTwiceIsRefused) {
  const std::string one = file("one/a.jsonl", {"x"}), other = file("other/a.jsonl", {"x"});
  EXPECT_EQ(error_of([&] { read({one, other}); }), "no error") << "files of one name";
  EXPECT_NE(error_of([&] {
              read({one, one});
            }).find("data.evaluation_file: " + one + " and " + one + " are one file"),
            std::string::npos);
  const std::string detour = (directory_.path() / "other/../one/a.jsonl").string();
  std::filesystem::create_symlink(one, directory_.path() / "link.jsonl");
  const std::string link = (directory_.path() / "link.jsonl").string();
  for (const std::string& spelling : {detour, link}) {
    DataOptions options;
    options.train_file = {other, one, spelling};
    options.train_weights = {1, 1, 2};
    EXPECT_NE(error_of([&] { read_training_prompts(options, "", nullptr); })
                  .find("and " + spelling +
                        " are one file, and its rows would be read twice; name "
                        "it once, and set data.train_weights"),
              std::string::npos)
        << spelling;
  }
}

/// Returns the remarks about these rows, joined.
std::string remarks_of(const std::string& rows) {
  const TemporaryDirectory directory;
  std::string all;
  for (const std::string& remark :
       read_remarked_prompts(directory.write("rows.jsonl", rows), {}, "").remarks) {
    all += remark + "\n";
  }
  return all;
}

TEST(Remarks, NamePromptsWithDifferentCorrectAnswers) {
  const auto row = [](const std::string& prompt, const std::string& gold) {
    return R"({"prompt":")" + prompt + R"(","gold":")" + gold + "\"}\n";
  };
  EXPECT_EQ(
      remarks_of(row("2+3?", "5") + row("2+3?", "6")),
      "1 prompt has different correct answers in different rows; the first: row 1, \"5\", and "
      "row 2, \"6\"\n");
  EXPECT_NE(remarks_of(row("2 + 3?", "5") + row("2  + 3?\\n", "6")), "") << "up to white space";
  EXPECT_EQ(remarks_of(row("2+3?", "5") + row("2+3?", " 5") + row("2+3?", "5.0")), "");
  EXPECT_EQ(remarks_of(row("x_1?", "5") + row("x 1?", "6")), "") << "other prompts";
}

TEST(Remarks, NameFieldsAndPlaceholdersThatAreNotRead) {
  const std::string remarks =
      remarks_of(R"({"prompt":"<image>Area?","gold":"6","images":["t.png"],"tools":[]})"
                 "\n");
  EXPECT_NE(remarks.find("1 of 1 rows have the field images"), std::string::npos);
  EXPECT_NE(remarks.find("1 of 1 prompts have a placeholder such as <image>"), std::string::npos);
  EXPECT_EQ(remarks.find("tools"), std::string::npos);
}

TEST(Remarks, NameASuffixWithABackslash) {
  const TemporaryDirectory directory;
  RowOptions options;
  options.prompt_suffix = "\\nBox it.";
  const auto file = directory.write("rows.jsonl", R"({"prompt":"2+3?","gold":"5"})");
  const std::vector<std::string> remarks = read_remarked_prompts(file, options, "").remarks;
  ASSERT_EQ(remarks.size(), 1U);
  EXPECT_NE(remarks[0].find("data.prompt_suffix has \\n"), std::string::npos);
}

/// Returns the remarks about fine-tuning rows, joined.
std::string sft_remarks_of(const std::string& rows, const SftRowOptions& options = {}) {
  const TemporaryDirectory directory;
  std::string all;
  for (const std::string& remark : sft_remarks(directory.write("rows.jsonl", rows), options,
                                               {"<|im_end|>"}, prompt_template("plain", ""))) {
    all += remark + "\n";
  }
  return all;
}

/// Returns a conversation of one question and one answer, with more fields.
std::string conversation(const std::string& fields) {
  return R"({"messages":[{"role":"user","content":"2+3?"},{"role":"assistant","content":"5"}])" +
         fields + "}\n";
}

TEST(SftRemarks, NameSuspiciousTextsAsForTraining) {
  EXPECT_EQ(sft_remarks_of(R"({"prompt":"2+3?","response":"5<|im_end|>"})"), "");
  EXPECT_NE(sft_remarks_of(R"({"prompt":"2<|im_end|>+3?","response":"5"})")
                .find("the texts of 1 prompt hold special tokens of the tokenizer (<|im_end|>)"),
            std::string::npos);
  EXPECT_NE(
      sft_remarks_of(R"({"prompt":"[{\"role\": \"user\", \"content\": \"2+3?\"}]","response":"5"})")
          .find("1 of 1 prompts are the JSON text of chat messages"),
      std::string::npos);
  const std::string lost = "rows have a control character where LaTeX has a command";
  EXPECT_NE(sft_remarks_of(R"({"prompt":"x","response":"\frac12"})").find("1 of 1 " + lost),
            std::string::npos);
  EXPECT_NE(sft_remarks_of(conversation("") + R"({"messages":[{"role":"user","content":"\frac12"},)"
                                              R"({"role":"assistant","content":"y"}]})")
                .find("1 of 2 " + lost),
            std::string::npos);
}

TEST(SftRemarks, NameFieldsWithAnotherAnswerThanTheLearnedOne) {
  const auto remark = [](const std::string& other, const std::string& used) {
    return "1 of 1 rows have another text in the field " + other + " than in " + used +
           ", which is learned; remove the field or correct the row\n";
  };
  EXPECT_EQ(sft_remarks_of(conversation(R"(,"prompt":"2+3?","response":"5\n")")), "");
  EXPECT_EQ(sft_remarks_of(conversation(R"(,"response":6)")), remark("response", "messages"));
  EXPECT_EQ(sft_remarks_of(conversation(R"(,"completion":"6")")), remark("completion", "messages"));
  EXPECT_EQ(sft_remarks_of(conversation(R"(,"prompt":[{"role":"user","content":"2+4?"}])")),
            remark("prompt", "messages"));
  EXPECT_EQ(sft_remarks_of(R"({"prompt":"2+3?","response":"5","completion":"6"})"),
            remark("completion", "response"));
  EXPECT_EQ(sft_remarks_of(R"({"prompt":"2+3?","response":"5","completion":"5"})"), "");
  EXPECT_EQ(sft_remarks_of(R"({"prompt":"2+3?","completion":"5"})"), "");
  SftRowOptions options;
  options.response_field = "answer";
  EXPECT_EQ(sft_remarks_of(R"({"prompt":"2+3?","answer":"5","completion":"6"})", options), "")
      << "the config has chosen";
  EXPECT_NE(sft_remarks_of(R"({"prompt":"2+3?","response":"5","messages":"6"})").find("messages"),
            std::string::npos)
      << "a text is no conversation";
}

}  // namespace
}  // namespace lie

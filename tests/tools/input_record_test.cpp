// The record of a run's inputs, and what its comparison with other inputs says.
#include "tools/run/start/input_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "common/io/json.h"
#include "tests/directories.h"
#include "tests/temporary_directory.h"
#include "tools/run/start/input_difference.h"

namespace lie {
namespace {

using testing::AllOf, testing::HasSubstr;

const std::string kStartModel = std::string(source_directory()) + "/assets/count_pairs/model";

std::vector<Prompt> prompts(int count) {
  std::vector<Prompt> all;
  for (int i = 0; i < count; ++i) {
    all.push_back({.problem = i, .text = std::to_string(i), .gold = "1", .data_source = ""});
  }
  return all;
}

InputRecord record_of_rows(const std::vector<Prompt>& rows) {
  InputRecord record;
  record.train_file = "rows.jsonl";
  record.training = prompt_rows(rows);
  return record;
}

std::string difference(const std::vector<Prompt>& then, const std::vector<Prompt>& now) {
  return input_difference(record_of_rows(then), record_of_rows(now), "runs/a");
}

TEST(InputRecord, NamesTheChangedRow) {
  std::vector<Prompt> now = prompts(5);
  EXPECT_EQ(difference(prompts(5), now), "");
  now[3].gold = "2";
  EXPECT_THAT(difference(prompts(5), now),
              AllOf(HasSubstr("data.train_file rows.jsonl is not the one that runs/a began with"),
                    HasSubstr("row 4: another prompt, answer")));
  now = prompts(5);
  now[0].reference_length = 7;
  EXPECT_THAT(difference(prompts(5), now), HasSubstr("row 1: another"));
}

TEST(InputRecord, NamesTheBlockOfAChangedRowInALargeFile) {
  std::vector<Prompt> now = prompts(1000);  // blocks of 4
  now[501].text = "x";
  EXPECT_THAT(difference(prompts(1000), now), HasSubstr("rows 501 to 504: another"));
  EXPECT_LE(record_of_rows(now).training->blocks.size(), 256U);
}

TEST(InputRecord, TellsAppendedRemovedAndReorderedRowsApart) {
  std::vector<Prompt> reordered = prompts(9);
  std::swap(reordered[2], reordered[7]);
  EXPECT_THAT(difference(prompts(9), reordered), HasSubstr("its rows are in another order"));
  EXPECT_THAT(difference(prompts(9), prompts(11)),
              AllOf(HasSubstr("2 rows are appended to its 9"), HasSubstr("model.path=runs/a/")));
  EXPECT_THAT(difference(prompts(600), prompts(601)), HasSubstr("1 row is appended to its 600"));
  EXPECT_THAT(difference(prompts(9), prompts(7)), HasSubstr("it has 7 rows instead of 9"));
  EXPECT_THAT(difference(prompts(600), prompts(599)), HasSubstr("it has 599 rows instead of 600"));
}

TEST(InputRecord, TrainingRowsHoldWhatDecidesTheirOrder) {
  const TrainingPrompts rows = {.prompts = prompts(4), .file_sizes = {4}};
  EXPECT_EQ(training_rows(rows).sha256, prompt_rows(rows.prompts).sha256);
  TrainingPrompts other = rows;
  other.file_sizes = {1, 3};
  const RowsRecord split = training_rows(other);
  EXPECT_NE(split.sha256, training_rows(rows).sha256);
  other.file_sizes = {2, 2};
  EXPECT_NE(split.sha256, training_rows(other).sha256);
  other = rows;
  other.accuracies = {0, 0.5, 0.5, 1};
  const RowsRecord measured = training_rows(other);
  other.accuracies[2] = 0.25;
  EXPECT_THAT(rows_difference(measured, training_rows(other)), HasSubstr("row 3: another"));
}

TEST(InputRecord, PartsOfARowAreNotMixed) {
  const std::vector<std::string> one = {"a", "bc"}, other = {"ab", "c"};
  EXPECT_NE(row_digest(one), row_digest(other));
}

TEST(InputRecord, IsReadAsItWasWritten) {
  const TemporaryDirectory run;
  const EndTokens ends = end_tokens(kStartModel, "plain");
  InputRecord record = model_record({.path = kStartModel}, PromptOptions(), ends);
  record.training = prompt_rows(prompts(300));
  EXPECT_FALSE(record_inputs(run.path(), record)) << "a new run";
  run.write("config.yaml", "");
  EXPECT_EQ(record_sha256(recorded_inputs(run.path())), record_sha256(record));
  EXPECT_FALSE(record_inputs(run.path(), record));
  EXPECT_EQ(error_of([&] { check_same_inputs(run.path(), record); }), "no error");
  record.ends = "end at nothing";
  EXPECT_THAT(error_of([&] { check_same_inputs(run.path(), record); }),
              HasSubstr("the responses end at nothing"));
}

TEST(InputRecord, UnknownPartsAreNotComparedAndKept) {
  const TemporaryDirectory run;
  InputRecord record = record_of_rows(prompts(3));
  record.evaluation = prompt_rows(prompts(2));
  record_inputs(run.path(), record);
  run.write("config.yaml", "");
  InputRecord now = record_of_rows(prompts(3));
  now.weights = "1234";
  EXPECT_EQ(error_of([&] { check_same_inputs(run.path(), now); }), "no error");
  record_inputs(run.path(), now);
  EXPECT_EQ(recorded_inputs(run.path()).evaluation->rows, 2);
}

TEST(InputRecord, TokensOfAllTokenizerFilesCount) {
  const TemporaryDirectory model;
  std::filesystem::copy(kStartModel, model.path(), std::filesystem::copy_options::recursive);
  const auto record = [&] {
    return model_record({.path = model.path()}, PromptOptions(), {}, /*has_weights=*/false);
  };
  const InputRecord then = record();
  EXPECT_EQ(then.weights, "");
  const auto tokenizer_config = model.path() / "tokenizer_config.json";
  nlohmann::json other = read_json(tokenizer_config);
  other["model_max_length"] = 64;
  model.write("tokenizer_config.json", other.dump());
  EXPECT_EQ(record().special_tokens, then.special_tokens) << "no key of tokens";
  model.write("added_tokens.json", R"({"<think>": 300})");
  EXPECT_THAT(input_difference(then, record(), "runs/a"), HasSubstr("names other special tokens"));
}

TEST(InputRecord, TheTextBeforePromptsIsPartOfTheTemplate) {
  InputRecord then, now;
  then.prompt_template = "plain";
  now.prompt_template = "plain that begins with <s>";
  EXPECT_THAT(input_difference(then, now, "runs/a"),
              AllOf(HasSubstr("is plain that begins with <s>, but runs/a began with plain")));
}

TEST(InputRecord, NamesAChangedProgramFile) {
  const TemporaryDirectory directory;
  const std::string file = directory.write("score.py", "1");
  const std::string commands[] = {"python3 -u '" + file + "' --n 2", "", "judge --rules=" + file};
  InputRecord then, now;
  then.program_files = program_files(commands);
  EXPECT_THAT(then.program_files, testing::ElementsAre(testing::Key(file)));
  EXPECT_EQ(program_change(then, then), "");
  directory.write("score.py", "2");
  now.program_files = program_files(commands);
  EXPECT_THAT(program_change(then, now), HasSubstr(file + ", which reward.command"));
  EXPECT_EQ(program_change({}, now), "") << "unknown";
  ::setenv("LIE_TEST_FOLDER", directory.path().c_str(), 1);
  const std::string variable[] = {"python3 $LIE_TEST_FOLDER/score.py", "python3 $(id) ~none/x"};
  EXPECT_EQ(program_files(variable), now.program_files);
  EXPECT_EQ(input_difference(then, now, "runs/a"), "") << "no error";
}

TEST(InputRecord, TheTeacherOfDistillationIsAnInput) {
  InputRecord then, now;
  now.teacher = "b";
  now.teacher_path = "teach";
  EXPECT_EQ(input_difference(then, now, "runs/a"), "") << "unknown in older builds";
  then.teacher = "a";
  EXPECT_THAT(input_difference(then, now, "runs/a"),
              HasSubstr("policy_loss.distillation.teacher teach: its weights have SHA-256 b, but "
                        "runs/a began with those of a"));
  EXPECT_THAT(input_difference(then, now, "runs/a", {.settings_may_change = true}),
              HasSubstr("put the new ones into another directory"));
  EXPECT_EQ(input_difference(then, now, "runs/a", {.names_other_teacher = true}), "");
}

TEST(InputRecord, OnlyEvaluationRowsMayChange) {
  InputRecord then = record_of_rows(prompts(3)), now = then;
  then.evaluation = prompt_rows(prompts(2));
  now.evaluation = prompt_rows(prompts(4));
  EXPECT_THAT(input_difference(then, now, "runs/a"), HasSubstr("2 rows are appended to its 2"));
  EXPECT_EQ(input_difference(then, now, "runs/a", {.settings_may_change = true}), "");
  now.training = prompt_rows(prompts(4));
  EXPECT_NE(input_difference(then, now, "runs/a", {.settings_may_change = true}), "");
}

}  // namespace
}  // namespace lie

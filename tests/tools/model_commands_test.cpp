// lie_cluster tokenize, score and generate: their outputs are inputs of each other, they agree, and
// errors name the line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdio.h>

#include <sstream>

#include "common/io/json.h"
#include "tests/directories.h"
#include "tests/temporary_directory.h"
#include "tools/cluster/generate.h"
#include "tools/cluster/score.h"
#include "tools/cluster/tokenize.h"

namespace lie {
namespace {

using testing::HasSubstr;

const std::string kModel = std::string(source_directory()) + "/assets/count_pairs/model";

/// Runs commands on files in a temporary directory.
class ModelCommands : public testing::Test {
 protected:
  std::string tokenized(const std::string& input, TokenizeArguments how = {}) {
    how.model = kModel;
    how.input = directory_.write("input", input);
    std::ostringstream out;
    tokenize(how, out);
    return out.str();
  }
  std::string scored_lines(const std::string& rows, ScoreArguments how = {}) {
    how.model.path = kModel;
    how.input = directory_.write("rows.jsonl", rows);
    std::ostringstream out;
    score(how, out);
    return out.str();
  }
  std::vector<Json> scored(const std::string& rows, ScoreArguments how = {}) {
    return parsed(scored_lines(rows, std::move(how)));
  }
  std::vector<Json> generated(const std::string& rows, GenerateArguments how = {}) {
    how.model.path = kModel;
    how.input = directory_.write("rows.jsonl", rows);
    std::ostringstream out;
    generate(how, out);
    return parsed(out.str());
  }
  std::string error_scoring(const std::string& rows) {
    return error_of([&] { scored(rows); });
  }

 private:
  static std::vector<Json> parsed(const std::string& lines) {
    std::vector<Json> rows;
    std::istringstream in(lines);
    for (std::string line; std::getline(in, line);) rows.push_back(Json::parse(line));
    return rows;
  }

  TemporaryDirectory directory_;
};

constexpr const char* kPrompts =
    R"({"prompt": "7 1 20 10 17 4 target 11:\n", "kept": {"z": 1, "a": [2]}}
{"prompt": "1 2 3 4 5 6 target 7:\n"}

{"prompt_ids": [3, 4, 5]}
)";

std::string joined(const std::vector<Json>& rows) {
  std::string lines;
  for (const Json& row : rows) lines += row.dump() + "\n";
  return lines;
}

TEST_F(ModelCommands, TextJsonStringsAndIdsAgree) {
  const std::string text = "7 1 20 target 11:\nin order:\n\n 7+1=8 no\r\n<|endoftext|>";
  const std::string strings =
      "\"7 1 20 target 11:\"\n\"in order:\"\n\"\"\n\" 7+1=8 no\\r\"\n\"<|endoftext|>\"\n";
  const std::string ids = tokenized(text);
  EXPECT_EQ(tokenized(strings, {.json = true}), ids);
  EXPECT_EQ(tokenized(ids, {.decode = true}), strings);
  EXPECT_THAT(ids, HasSubstr("\n[]\n"));  // the empty line
  const std::string plain = tokenized(ids, {.decode = true, .skip_special_tokens = true});
  EXPECT_TRUE(plain.ends_with("\n\"\"\n")) << plain;
  EXPECT_EQ(tokenized(""), "");
}

TEST_F(ModelCommands, TokenizeNamesTheInvalidLine) {
  const auto error = [&](const std::string& input, TokenizeArguments how) {
    return error_of([&] { tokenized(input, how); });
  };
  EXPECT_THAT(error("\"a\"\nb\n", {.json = true}), HasSubstr("input:2: not valid JSON"));
  EXPECT_THAT(error("[1]\n", {.json = true}), HasSubstr("input:1: expected a JSON string"));
  EXPECT_THAT(error("a\nb\xff\n", {}), HasSubstr("input:2: not valid UTF-8; convert"));
  EXPECT_THAT(error("[1]\n7\n", {.decode = true}), HasSubstr("input:2: expected a JSON list"));
  EXPECT_THAT(error("[1, -1]\n", {.decode = true}), HasSubstr("input:1: -1 is not a token id"));
  EXPECT_THAT(error_of([] {
                std::ostringstream out;
                tokenize({.model = kModel, .input = "/no/such/file"}, out);
              }),
              HasSubstr("cannot read /no/such/file: No such file"));
}

TEST_F(ModelCommands, ScoreReproducesTheLogProbsOfSampling) {
  GenerateArguments sampling;
  sampling.sampling = {.temperature = 0.8, .top_p = 0.9, .max_response_tokens = 40};
  sampling.samples = 3;
  sampling.model.threads = 2;
  const std::vector<Json> responses = generated(kPrompts, sampling);
  ASSERT_EQ(responses.size(), 9u);
  ScoreArguments how;
  how.temperature = 0.8;
  const std::vector<Json> rows = scored(joined(responses), how);
  ASSERT_EQ(rows.size(), 9u);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i]["log_probs"], responses[i]["log_probs"]) << i;  // every bit
    EXPECT_EQ(rows[i]["sample"], i % 3);
  }
  EXPECT_EQ(rows[2]["kept"], Json({{"z", 1}, {"a", {2}}}));
}

GenerateArguments short_samples(std::int64_t samples) {
  GenerateArguments how;
  how.sampling.max_response_tokens = 100;
  how.samples = samples;
  return how;
}

TEST_F(ModelCommands, DefaultLimitIsWhatTheLongestPromptLeaves) {
  GenerateArguments how;
  how.ignore_end = true;
  const auto rows = generated("{\"prompt_ids\": [3, 4, 5]}\n{\"prompt_ids\": [6]}\n", how);
  ASSERT_EQ(rows.size(), 2u);
  for (const Json& row : rows) EXPECT_EQ(row["response_ids"].size(), 256u - 3u);
  how.sampling.max_response_tokens = 254;
  EXPECT_THAT(
      error_of([&] { generated("{\"prompt_ids\": [3, 4, 5]}\n", how); }),
      HasSubstr("3 tokens of prompt and --max-response-tokens 254 are more than the model's 256"));
}

TEST_F(ModelCommands, ResultsDoNotDependOnBatchesAndThreads) {
  const std::string rows = joined(generated(kPrompts, short_samples(2)));
  ScoreArguments one, many;
  one.batch_tokens = 1;
  one.model.threads = 1;
  one.entropies = many.entropies = true;
  EXPECT_EQ(scored(rows, one), scored(rows, many));
  GenerateArguments narrow = short_samples(2);
  narrow.slots = 1;
  narrow.model.threads = 1;
  EXPECT_EQ(joined(generated(kPrompts, narrow)), rows);
}

TEST_F(ModelCommands, TextsAndTheirIdsScoreAlike) {
  const auto by_text = scored("{\"prompt\": \"1 2 target 3:\\n\", \"response\": \"1+2=3 yes\"}\n");
  Json ids = by_text[0];
  ids.erase("prompt");
  ids.erase("response");
  ids.erase("log_probs");
  const auto by_ids = scored(ids.dump());
  EXPECT_EQ(by_ids[0]["log_probs"], by_text[0]["log_probs"]);
  EXPECT_EQ(by_text[0]["log_probs"].size(), by_text[0]["response_ids"].size());
}

TEST_F(ModelCommands, AnEmptyResponseHasNoLogProbs) {
  const auto rows = scored("{\"prompt_ids\": [1], \"response_ids\": []}\n");
  EXPECT_EQ(rows[0]["log_probs"], Json::array());
}

TEST_F(ModelCommands, GenerateWarnsOfSuspiciousPrompts) {
  const auto warnings = [&](const std::string& rows, std::vector<std::string> overrides = {}) {
    GenerateArguments how;
    how.sampling.max_response_tokens = 1;
    how.overrides = std::move(overrides);
    testing::internal::CaptureStderr();
    generated(rows, how);
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_THAT(warnings(R"({"prompt": "7 1<|endoftext|> target 11:"})"),
              HasSubstr("warning: the texts of 1 prompt hold special tokens"));
  EXPECT_THAT(warnings(R"({"prompt": "[{\"role\": \"user\", \"content\": \"7\"}]"})"),
              HasSubstr("warning: 1 of 1 prompts are the JSON text of chat messages"));
  EXPECT_THAT(warnings(R"({"prompt": "\frac12"})"),
              HasSubstr("warning: 1 of 1 rows have a control character"));
  EXPECT_THAT(warnings(R"({"prompt": "7 1"})", {R"(prompt_suffix=\n target 8:)"}),
              HasSubstr("warning: data.prompt_suffix has \\n as two characters"));
  EXPECT_THAT(warnings(R"({"prompt": "7 1 target 8:"})"), testing::Not(HasSubstr("warning")));
}

TEST_F(ModelCommands, NumbersOfOtherFieldsAreCopiedAsTheyAre) {
  const std::string copied =
      R"("id":12345678901234567890123,"x":[0.1234567890123456789,NaN,-Infinity,1e400],"s":"1e400")";
  EXPECT_THAT(scored_lines(R"({"prompt_ids":[1],"response_ids":[2],)" + copied + "}\n"),
              HasSubstr(copied));
}

TEST_F(ModelCommands, NamesTheLineOfAnInvalidRow) {
  const std::string good = "{\"prompt_ids\": [1], \"response_ids\": [2]}\n";
  const auto error = [&](const std::string& row) { return error_scoring(good + "\n" + row); };
  EXPECT_THAT(error("{\"prompt_ids\": [1]}"),
              HasSubstr("rows.jsonl:3: the row has neither \"response_ids\""));
  EXPECT_THAT(error("{\"prompt_ids\": [1], \"response\": 7}"), HasSubstr("field response"));
  EXPECT_THAT(error("{\"prompt_ids\": [], \"response_ids\": [1]}"), HasSubstr("no token"));
  EXPECT_THAT(error("{\"prompt_ids\": 1, \"response_ids\": [1]}"),
              HasSubstr("a JSON list of token ids"));
  EXPECT_THAT(error("{\"prompt_ids\": [1], \"response_ids\": [100000]}"),
              HasSubstr("rows.jsonl:3: field response_ids: 100000 is not a token id"));
  EXPECT_THAT(error("{\"prompt_ids\": [1], \"response_ids\": [1.5]}"), HasSubstr("1.5"));
  EXPECT_THAT(error("{\"prompt_ids\": [1], \"response_ids\": [NaN]}"),
              HasSubstr("rows.jsonl:3: field response_ids: NaN is not a token id"));
  EXPECT_THAT(error("[1]"), HasSubstr("rows.jsonl:3: expected a JSON object"));
  EXPECT_THAT(error("{\"prompt_ids\": [1]"), HasSubstr("rows.jsonl:3: not valid JSON"));
  EXPECT_THAT(
      error(Json{{"prompt_ids", std::vector<int>(100000, 1)}, {"response_ids", {1}}}.dump()),
      HasSubstr("max_position_embeddings"));
  EXPECT_THAT(error_scoring("\n"), HasSubstr("holds no row"));
}

TEST_F(ModelCommands, GenerateStopsAtLimitAndEndToken) {
  GenerateArguments how;
  how.sampling = {.temperature = 0, .max_response_tokens = 60};
  how.ignore_end = true;
  for (const Json& row : generated(kPrompts, how)) {
    EXPECT_EQ(row["response_ids"].size(), 60u);
    EXPECT_EQ(row["finish"], "length");
  }
  how.sampling.max_response_tokens = 250;
  EXPECT_THAT(error_of([&] { generated(kPrompts, how); }), HasSubstr("rows.jsonl:1: 14 tokens"));
  how.ignore_end = false;
  how.sampling.max_response_tokens = 200;
  const auto rows = generated(kPrompts, how);
  EXPECT_EQ(rows[0]["finish"], "end_of_sequence");
  EXPECT_EQ(rows, generated(kPrompts, how));
}

/// Returns the exit status and all output of the program.
std::pair<int, std::string> run_program(const std::string& arguments) {
  FILE* pipe = ::popen((LIE_CLUSTER " " + arguments + " 2>&1 </dev/null").c_str(), "r");
  std::string output;
  for (int c; (c = std::fgetc(pipe)) != EOF;) output += static_cast<char>(c);
  return {::pclose(pipe), output};
}

TEST(ModelCommandLine, HelpAndErrorsAreClear) {
  for (const char* command : {"tokenize", "score", "generate"}) {
    const auto [status, help] = run_program(std::string(command) + " --help");
    EXPECT_EQ(status, 0);
    EXPECT_THAT(help, HasSubstr("MODEL_DIR"));
    EXPECT_THAT(help, HasSubstr("--add-special-tokens"));
    const auto [bad_status, error] = run_program(std::string(command) + " /no/such/model -");
    EXPECT_NE(bad_status, 0);
    EXPECT_TRUE(error.starts_with("error: /no/such/model")) << error;
  }
  EXPECT_NE(run_program("score " + kModel).first, 0);  // no FILE
  EXPECT_NE(run_program("tokenize --decode --json " + kModel).first, 0);
  EXPECT_NE(run_program("generate --temperature -1 " + kModel + " -").first, 0);
}

}  // namespace
}  // namespace lie

#include "tools/verify/jsonl.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace lie {
namespace {

std::string many_pairs() {
  const char* golds[] = {"\\\\frac{1}{2}", "\\\\sqrt{8}",    "x^2-1",  "[0,1)",
                         "\\\\{1,2\\\\}",  "\\\\text{blue}", "2^{100}"};
  const char* answers[] = {"0.5",           "2\\\\sqrt{2}", "(x-1)(x+1)", "(0,1)",
                           "\\\\{2,1\\\\}", "blue",         "2^{101}"};
  std::string out;
  for (int i = 0; i < 9000; ++i) {
    out += R"({"id":)" + std::to_string(i) + R"(,"gold":")" + golds[i % 7] +
           R"(","response":"so \\boxed{)" + answers[(i / 7) % 7] + R"(}","kept":[1,2]})" + "\n";
  }
  return out;
}

std::string output_with(int threads, const std::string& input) {
  std::istringstream in(input);
  std::ostringstream out, errors;
  verify_jsonl(in, "pairs.jsonl", out, errors, {}, false, threads);
  EXPECT_EQ(errors.str(), "");
  return out.str();
}

TEST(VerifyJsonl, ThreadsDoNotChangeTheBytes) {
  const std::string input = many_pairs();
  const std::string one = output_with(1, input);
  EXPECT_GT(one.size(), input.size());
  EXPECT_EQ(one, output_with(8, input));
}

TEST(VerifyJsonl, KeepsFieldsAndOrder) {
  const std::string line = R"({"id":1,"gold":"1","response":"\\boxed{1}"})"
                           "\n"
                           R"({"id":2,"gold":"1","response":"2"})"
                           "\n";
  EXPECT_EQ(
      output_with(2, line),
      R"({"id":1,"gold":"1","response":"\\boxed{1}","correct":true,"reason":"equal","extracted":"1"})"
      "\n"
      R"({"id":2,"gold":"1","response":"2","correct":false,"reason":"no_answer","extracted":""})"
      "\n");
}

TEST(VerifyJsonl, AcceptsGoldsThatAreNumbers) {
  EXPECT_EQ(output_with(1, "{\"gold\":18,\"response\":\"\\\\boxed{18.0}\"}\n"),
            "{\"gold\":18,\"response\":\"\\\\boxed{18.0}\",\"correct\":true,\"reason\":\"equal\","
            "\"extracted\":\"18.0\"}\n");
}

TEST(VerifyJsonl, KeepsNumbersThatADoubleWouldRound) {
  const std::string row =
      R"({"id":123456789012345678901234567890,"x":1e400,"gold":12345678901234567890123,)"
      R"("response":"\\boxed{12345678901234567890123}")";
  EXPECT_EQ(output_with(1, row + "}\n"),
            row + R"(,"correct":true,"reason":"equal","extracted":"12345678901234567890123"})"
                  "\n");
}

TEST(VerifyJsonl, ARowWithAKeyTwiceIsBad) {
  std::istringstream in(R"({"gold":"1","gold":"2","response":"\\boxed{2}"})"
                        "\n");
  std::ostringstream out, errors;
  EXPECT_EQ(verify_jsonl(in, "pairs", out, errors, {}, false, 1).bad_rows, 1);
  EXPECT_EQ(errors.str(), "pairs:1: key \"gold\" appears twice; delete one\n");
  EXPECT_EQ(out.str(), "");
}

TEST(VerifyJsonl, BadRowsAreNamedByLineAndDoNotStopTheRest) {
  std::istringstream in(
      "{\"gold\": \"1\"}\n\nnot json\n{\"gold\":\"1\",\"response\":\"\\\\boxed{1}\"}\n");
  std::ostringstream out, errors;
  const VerifyCounts counts = verify_jsonl(in, "pairs.jsonl", out, errors, {}, false, 2);
  EXPECT_EQ(errors.str(),
            "pairs.jsonl:1: no text under \"response\"\npairs.jsonl:3: not a JSON object\n");
  EXPECT_EQ(counts.bad_rows, 2);
  EXPECT_EQ(counts.by_code[0], 1);
}

}  // namespace
}  // namespace lie

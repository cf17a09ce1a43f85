// Tests the interface for other languages from C++ and from C.
#include "verifier/c_api.h"

#include <gtest/gtest.h>

#include <string>

extern "C" int lie_verify_texts_from_c(const char* gold, const char* response);

namespace lie {
namespace {

int code_of(const std::string& gold, const std::string& response, const char* rules,
            std::string& extracted) {
  char found[64] = "";
  const int code = lie_verify_pair(gold.data(), gold.size(), response.data(), response.size(),
                                   rules, found, sizeof found);
  extracted = found;
  return code;
}

TEST(CApi, VerifiesAPairAndReturnsTheAnswerFound) {
  std::string found;
  EXPECT_STREQ(lie_verdict_name(code_of("1/2", "so \\boxed{0.5}", nullptr, found)), "equal");
  EXPECT_EQ(found, "0.5");
  EXPECT_STREQ(lie_verdict_name(code_of("1/2", "so 0.5", nullptr, found)), "no_answer");
  EXPECT_STREQ(lie_verdict_name(code_of("1/2", "so 0.5", "mode=lenient", found)), "equal");
}

TEST(CApi, AcceptsRulesAndRejectsUnknownOnes) {
  std::string found;
  EXPECT_EQ(code_of("1/3", "\\boxed{0.333}", "decimal_places=3", found), 0);
  EXPECT_EQ(code_of("1/3", "\\boxed{0.333}", "decimal_places=4\nmode=reward\n", found), 1);
  EXPECT_EQ(code_of("1/3", "\\boxed{0.333}", "decimal=3", found), -1);
  EXPECT_NE(found.find("no such rule"), std::string::npos) << found;
}

TEST(CApi, CutsTheAnswerToTheBuffer) {
  char found[4];
  const std::string response = "\\boxed{12345678}";
  EXPECT_EQ(lie_verify_pair("1", 1, response.data(), response.size(), nullptr, found, 4), 1);
  EXPECT_STREQ(found, "123");
  EXPECT_EQ(lie_verify_pair("1", 1, response.data(), response.size(), nullptr, nullptr, 0), 1);
}

TEST(CApi, CanBeCalledFromC) {
  EXPECT_EQ(lie_verify_texts_from_c("\\frac12", "\\boxed{0.5}"), 0);
  EXPECT_STREQ(lie_verdict_name(8), "unknown");
  lie_verifier_release_thread();
}

}  // namespace
}  // namespace lie

// Tests every portable case of Math-Verify's own tests that is not flagged as wrong or as an
// artifact.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <iostream>

#include "tests/verifier/corpus.h"
#include "verifier/verify.h"

namespace lie {
namespace {

using nlohmann::json;

// Returns the options for Math-Verify's extraction targets.
VerifierOptions options_of(const json& row, const char* side) {
  VerifierOptions options;
  options.mode = ExtractionMode::kLenient;
  options.salvage_last_equals = options.gold_decimal_comma = true;
  options.lenient_latex = options.lenient_plain = !row.contains(side);
  if (row.contains(side)) {
    for (const json& target : row[side]) {
      if (target["target"] == "latex") {
        options.lenient_latex = true;
        options.boxed_priority = target.value("boxed_match_priority", 50);
        options.bare_fractions =
            target.value("normalization_config", json::object()).value("malformed_operators", true);
      }
      if (target["target"] == "expr") options.lenient_plain = true;
      if (target["target"] == "string")
        options.choices = target["strings"].get<std::vector<std::string>>();
    }
  }
  if (row.contains("kwargs") && row["kwargs"].is_object()) {
    options.decimal_places = row["kwargs"].value("float_rounding", 6);
    options.rename_variables = !row["kwargs"].value("strict", true);
    options.relation_for_interval = row["kwargs"].value("allow_set_relation_comp", false);
  }
  return options;
}

// Math-Verify refuses -2 <= x <= 7 for x in [-2, 7] by default. Here a solved inequality is the
// set.
constexpr std::string_view kDecidedOtherwise = "test_all.py::test_set_rel_assymetry[3]";

bool counts(const json& row) {
  const std::string flag = row.value("flag", "");
  if (row["id"] == kDecidedOtherwise) return false;
  return row["portable"].get<bool>() && flag != "wrong_expectation" && flag != "artefact";
}

std::string code_and_reason(const Verdict& verdict) {
  return fmt::format("{} ({}) extracted '{}' {} against {}", name(verdict.code), verdict.reason,
                     verdict.extracted, verdict.gold_form, verdict.answer_form);
}

TEST(MathVerify, AgreesOnItsPairs) {
  const auto rows = rows_of(shared_data() / "verifier" / "mathverify_tests.jsonl");
  if (rows.empty()) GTEST_SKIP() << "no shared/data/verifier beside the repository";
  int pairs = 0;
  for (const json& row : rows) {
    if (!counts(row) || (row["kind"] != "verify" && row["kind"] != "expr_eq")) continue;
    ++pairs;
    const Verdict verdict = explain(row["gold"].get<std::string>(), row["pred"].get<std::string>(),
                                    options_of(row, "pred_config"));
    EXPECT_EQ(verdict.correct(), row["expected"].get<bool>())
        << row["id"] << "\n  gold " << row["gold"] << "\n  pred "
        << row["pred"].get<std::string>().substr(0, 300) << "\n  " << code_and_reason(verdict);
  }
  std::cout << pairs << " pairs\n";
}

bool nothing(const Verdict& verdict) {
  return verdict.code == VerdictCode::kNoAnswer || verdict.code == VerdictCode::kUnparsableAnswer;
}

// parse() finds the expected value, or nothing.
TEST(MathVerify, AgreesOnItsParses) {
  const auto rows = rows_of(shared_data() / "verifier" / "mathverify_tests.jsonl");
  if (rows.empty()) GTEST_SKIP() << "no shared/data/verifier beside the repository";
  int parses = 0;
  for (const json& row : rows) {
    if (!counts(row) || row["kind"] != "parse") continue;
    ++parses;
    const json& expected = row["expected"];
    const std::string wanted = expected.empty()          ? "0"
                               : expected[0].is_string() ? expected[0].get<std::string>()
                                                         : expected[0]["str"].get<std::string>();
    const Verdict verdict = explain(fmt::format("${}$", wanted), row["pred"].get<std::string>(),
                                    options_of(row, "pred_config"));
    if (expected.empty())
      EXPECT_TRUE(nothing(verdict)) << row["id"] << code_and_reason(verdict);
    else
      EXPECT_EQ(verdict.code, VerdictCode::kEqual) << row["id"] << code_and_reason(verdict);
  }
  std::cout << parses << " parses\n";
}

}  // namespace
}  // namespace lie

// Every portable case of Math-Verify's own tests whose expectation is not flagged as wrong or as an
// artefact.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "tests/verifier/corpus.h"
#include "verifier/verify.h"

namespace lie {
namespace {

using nlohmann::json;

// Math-Verify's extraction targets as our options.
VerifierOptions options_of(const json& row, const char* side) {
  VerifierOptions options;
  options.mode = ExtractionMode::kLenient;
  options.salvage_last_equals = true;
  options.lenient_latex = options.lenient_plain = !row.contains(side);
  if (row.contains(side)) {
    for (const json& target : row[side]) {
      if (target["target"] == "latex") {
        options.lenient_latex = true;
        options.boxed_priority = target.value("boxed_match_priority", 50);
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

bool counts(const json& row) {
  const std::string flag = row.value("flag", "");
  return row["portable"].get<bool>() && flag != "wrong_expectation" && flag != "artefact";
}

std::string code_and_reason(const Verdict& verdict) {
  return std::string(name(verdict.code)) + " (" + verdict.reason + ") extracted '" +
         verdict.extracted + "' " + verdict.gold_form + " against " + verdict.answer_form;
}

TEST(MathVerify, ItsPairsAreDecidedAsItDecidesThem) {
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

// What parse() finds: the verdict against the expected value, or that there is nothing.
TEST(MathVerify, ItsParsesAreFound) {
  const auto rows = rows_of(shared_data() / "verifier" / "mathverify_tests.jsonl");
  if (rows.empty()) GTEST_SKIP() << "no shared/data/verifier beside the repository";
  int parses = 0;
  for (const json& row : rows) {
    if (!counts(row) || row["kind"] != "parse") continue;
    ++parses;
    const json& expected = row["expected"];
    const bool malformed = !row["pred_config"][0]
                                .value("normalization_config", json::object())
                                .value("malformed_operators", true);
    if (malformed) continue;  // switches off a repair that is grammar here: \frac12
    const std::string wanted = expected.empty()          ? "0"
                               : expected[0].is_string() ? expected[0].get<std::string>()
                                                         : expected[0]["str"].get<std::string>();
    const Verdict verdict =
        explain("$" + wanted + "$", row["pred"].get<std::string>(), options_of(row, "pred_config"));
    if (expected.empty())
      EXPECT_EQ(verdict.code, VerdictCode::kNoAnswer) << row["id"];
    else
      EXPECT_EQ(verdict.code, VerdictCode::kEqual) << row["id"] << code_and_reason(verdict);
  }
  std::cout << parses << " parses\n";
}

}  // namespace
}  // namespace lie

// Cases of lighteval, rasbt, NeMo-Skills and Qwen2.5-Math. The test prints the rows that are
// decided otherwise. Each is a policy: percent against number, equal values that a grader rejects,
// joined boxes, and chains such as x = 7 = 11, which contradict themselves.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "tests/verifier/corpus.h"
#include "verifier/verify.h"

namespace lie {
namespace {

using nlohmann::json;

VerifierOptions options_of(const json& row) {
  VerifierOptions options;
  if (row.contains("kwargs") && row["kwargs"].is_object())
    options.decimal_places = row["kwargs"].value("precision", 6);
  if (!row.contains("targets")) return options;
  const json& targets = row["targets"];
  const auto has = [&](const char* target) {
    return std::find(targets.begin(), targets.end(), target) != targets.end();
  };
  options.mode = ExtractionMode::kLenient;
  options.lenient_latex = has("latex");
  options.lenient_plain = has("expr");
  if (has("NativeLetters")) options.choices = {"A", "B", "C", "D"};
  return options;
}

TEST(OtherGraders, AgreesOnTheirPairs) {
  const auto rows = rows_of(shared_data() / "verifier" / "other_grader_tests.jsonl");
  if (rows.empty()) GTEST_SKIP() << "no shared/data/verifier beside the repository";
  int pairs = 0, agreed = 0;
  for (const json& row : rows) {
    if (row.contains("kind") || !row["expected"].is_boolean() || !row["gold"].is_string() ||
        !row["pred"].is_string())
      continue;
    const VerifierOptions options = options_of(row);
    const std::string pred = row["pred"];
    const std::string response =
        options.mode == ExtractionMode::kLenient ? pred : fmt::format("\\boxed{{{}}}", pred);
    const Verdict verdict = verify(row["gold"].get<std::string>(), response, options);
    const bool agrees = verdict.correct() == row["expected"].get<bool>();
    ++pairs;
    agreed += agrees ? 1 : 0;
    if (!agrees)
      std::cout << row["id"] << " " << row["gold"] << " against " << row["pred"] << ": "
                << name(verdict.code) << "\n";
  }
  std::cout << agreed << " of " << pairs << " pairs\n";
  EXPECT_GE(agreed, 284);
}

}  // namespace
}  // namespace lie

// The parser rows of latex2sympy have the value that sympy gave them, or are rejected.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <iostream>

#include "tests/verifier/corpus.h"
#include "tests/verifier/srepr.h"
#include "verifier/equal/compare.h"
#include "verifier/latex/parser.h"
#include "verifier/scalar/equality.h"
#include "verifier/scalar/rational_value.h"
#include "verifier/verify.h"

namespace lie {
namespace {

using nlohmann::json;

// latex2sympy removes dollar signs and boxes around the text before it parses.
std::string bare(std::string text) {
  if (text.size() > 2 && text.front() == '$' && text.back() == '$')
    return text.substr(1, text.size() - 2);
  return text;
}

struct Outcome {
  bool right = false;
  std::string note;
  bool whole_numbers = false;  // see has_common_of_others
};

Outcome normalized(const json& row) {
  const Verdict verdict = explain(row["expected"].get<std::string>(),
                                  fmt::format("\\boxed{{{}}}", row["latex"].get<std::string>()));
  return {verdict.correct(), verdict.reason};
}

// Returns whether a row has a macro that only latex2sympy knows, or an integral or limit, which are
// not parsed.
bool is_left_out(const std::string& latex) {
  const auto has = [&](const char* word) { return latex.find(word) != std::string::npos; };
  return has("\\variable") || has("\\char") || has("\\int") || has("\\lim_");
}

// Returns whether a gcd or lcm of anything but numbers occurs. In sympy such arguments are
// polynomials, so that gcd(a, b) is 1 and lcm(a, b) is ab. Here they are whole numbers.
bool has_common_of_others(const expr::Expr& e) {
  const VerifierOptions options;
  Budget budget(options);
  const bool common =
      e.op == expr::Op::kFunction && (e.fn == expr::Fn::kGcd || e.fn == expr::Fn::kLcm);
  return (common && !scalar::rational_value(e, budget)) || expr::any_arg(e, has_common_of_others);
}

Outcome code_of(const json& row) {
  if (row["expect"] == "normalize") return normalized(row);
  const std::string latex = bare(row["latex"].get<std::string>());
  VerifierOptions options;
  options.identical_text = false;
  options.decimal_places = 8;
  options.max_steps = 1'000'000;
  Budget budget(options);
  expr::Arena arena(budget);
  const latex::Parsed parsed = latex::parse(latex, arena);
  if (row["expect"] == "parse_error") return {parsed.tree == nullptr, "parsed"};
  if (parsed.tree == nullptr)
    return {false, parsed.error.reason + " at " + std::to_string(parsed.error.position)};
  if (!row.contains("expected")) return {true, ""};
  const json& srepr = row["expected"]["srepr"];
  const expr::Expr* expected =
      srepr.is_string() ? from_srepr(srepr.get<std::string>(), arena) : nullptr;
  if (expected == nullptr) return {false, "the expectation is not understood"};
  const bool same = equal::compare(expected, parsed.tree, arena, options) == equal::Tri::kYes;
  return {same, to_text(*parsed.tree) + " for " + to_text(*expected),
          has_common_of_others(*parsed.tree)};
}

TEST(Latex2Sympy, RowsHaveTheValueThatSympyGaveThem) {
  const auto rows = rows_of(shared_data() / "verifier" / "latex2sympy_tests.jsonl");
  if (rows.empty()) GTEST_SKIP() << "no shared/data/verifier beside the repository";
  int right = 0, refused = 0, whole_numbers = 0;
  for (const json& row : rows) {
    if (is_left_out(row["latex"].get<std::string>())) continue;
    const Outcome outcome = code_of(row);
    whole_numbers += outcome.whole_numbers ? 1 : 0;
    if (outcome.whole_numbers) continue;
    right += outcome.right ? 1 : 0;
    refused += outcome.right && row["expect"] == "parse_error" ? 1 : 0;
    if (!outcome.right)
      std::cout << row["latex"] << " should be " << row["expect"] << " "
                << (row.contains("expected") && row["expected"].is_object()
                        ? row["expected"].value("srepr", row["expected"].value("str", ""))
                        : "")
                << "\n    " << outcome.note << "\n";
  }
  std::cout << right << " of " << rows.size() << " rows, " << refused << " refused, "
            << whole_numbers << " read otherwise\n";
  EXPECT_EQ(whole_numbers, 56);
  EXPECT_GE(right, 1083);
  EXPECT_EQ(refused, 36);
}

}  // namespace
}  // namespace lie

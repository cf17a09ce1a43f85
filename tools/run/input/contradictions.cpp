#include "tools/run/input/contradictions.h"

#include <fmt/format.h>

#include <set>
#include <string_view>
#include <unordered_map>

#include "common/io/json_lines.h"
#include "common/text/collapsed.h"
#include "common/text/counted.h"
#include "common/text/scan.h"
#include "verifier/verify.h"

namespace lie {
namespace {

bool are_equal(const std::string& gold, const std::string& other, bool by_verifier) {
  if (trimmed(gold) == trimmed(other)) return true;
  return by_verifier && (verify(gold, "\\boxed{" + other + "}").correct() ||
                         verify(other, "\\boxed{" + gold + "}").correct());
}

}  // namespace

std::string contradictions_text(std::span<const Prompt> prompts, bool by_verifier) {
  std::unordered_map<std::string, const Prompt*> first_rows;
  std::set<const Prompt*> contradicted;  // rows of first_rows
  std::string example;
  for (const Prompt& prompt : prompts) {
    const Prompt* first = first_rows.try_emplace(collapsed(prompt.text), &prompt).first->second;
    if (are_equal(first->gold, prompt.gold, by_verifier)) continue;
    contradicted.insert(first);
    if (!example.empty()) continue;
    example = fmt::format("row {}, {}, and row {}, {}", first->problem + 1,
                          json_quoted(first->gold), prompt.problem + 1, json_quoted(prompt.gold));
  }
  if (contradicted.empty()) return "";
  return fmt::format("{} {} different correct answers in different rows; the first: {}",
                     counted(std::ssize(contradicted), "prompt"),
                     contradicted.size() == 1 ? "has" : "have", example);
}

}  // namespace lie

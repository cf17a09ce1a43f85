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

std::string sentence(std::size_t prompts, const char* where, const std::string& example) {
  if (prompts == 0) return "";
  return fmt::format("{} {} different correct answers in different {}; the first: {}",
                     counted(static_cast<std::int64_t>(prompts), "prompt"),
                     prompts == 1 ? "has" : "have", where, example);
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
  return sentence(contradicted.size(), "rows", example);
}

std::string contradictions_text(std::span<const FilePrompts> files, bool by_verifier) {
  struct First {
    const FilePrompts* file = nullptr;
    const Prompt* prompt = nullptr;
  };
  std::unordered_map<std::string, First> first_rows;
  std::set<const Prompt*> contradicted;
  std::string example;
  for (const FilePrompts& file : files) {
    for (const Prompt& prompt : file.prompts) {
      const First first =
          first_rows.try_emplace(collapsed(prompt.text), First{&file, &prompt}).first->second;
      if (first.file == &file || are_equal(first.prompt->gold, prompt.gold, by_verifier)) continue;
      contradicted.insert(first.prompt);
      if (!example.empty()) continue;
      example = fmt::format("{} in {} and {} in {}", json_quoted(first.prompt->gold),
                            first.file->file, json_quoted(prompt.gold), file.file);
    }
  }
  return sentence(contradicted.size(), "files", example);
}

}  // namespace lie

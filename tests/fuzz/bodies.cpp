#include "tests/fuzz/bodies.h"

#include <cstdlib>
#include <string>
#include <vector>

#include "verifier/extract/answer.h"
#include "verifier/extract/boxed.h"
#include "verifier/latex/parser.h"
#include "verifier/verify.h"

namespace lie::fuzz {
namespace {

// A broken promise ends the process, so that a fuzzer keeps the input.
void require(bool promise) {
  if (!promise) std::abort();
}

std::string printed(std::string_view input) {
  const VerifierOptions options;
  Budget budget(options);
  expr::Arena arena(budget);
  const latex::Parsed parsed = latex::parse(input, arena);
  require(parsed.tree != nullptr || budget.exhausted() || !parsed.error.reason.empty());
  return parsed.tree == nullptr ? parsed.error.reason : to_text(*parsed.tree);
}

}  // namespace

void extract_body(std::string_view input) {
  VerifierOptions options;
  options.choices = {"A", "B"};
  const std::vector<extract::Box> boxes = extract::all_boxes(input, true);
  for (const extract::Box& box : boxes) require(box.end <= input.size() && box.begin < box.end);
  // The scan from the front and the one from the end see the same boxes.
  const std::vector<extract::Box> last = extract::last_boxes(input, true, true);
  require(last.size() <= boxes.size() && last.empty() == boxes.empty());
  for (std::size_t i = 1; i <= last.size(); ++i)
    require(last[last.size() - i].begin == boxes[boxes.size() - i].begin &&
            last[last.size() - i].end == boxes[boxes.size() - i].end);
  extract::from_boxes(input, options);
  std::size_t candidates = 0;
  extract::from_prose(input, options, [&](const extract::Candidate&) {
    ++candidates;
    return false;
  });
  require(candidates <= 2 * input.size() + 1);
  extract::from_gold(input, options);
}

void parse_body(std::string_view input) { require(printed(input) == printed(input)); }

void verify_body(std::string_view input) {
  const std::size_t line = input.find('\n');
  const std::string_view gold = input.substr(0, line);
  const std::string_view response =
      line == std::string_view::npos ? std::string_view() : input.substr(line + 1);
  VerifierOptions options;
  options.max_steps = 20'000;
  const std::string boxed = "\\boxed{" + std::string(response) + "}";
  const VerdictCode code = verify(gold, boxed, options).code;
  require(code == verify(gold, boxed, options).code);
  // The short way by literals decides as the trees do.
  options.identical_text = false;
  require(verify(gold, boxed, options).code == explain(gold, boxed, options).code);
  options.mode = ExtractionMode::kLenient;
  verify(gold, response, options);
}

}  // namespace lie::fuzz

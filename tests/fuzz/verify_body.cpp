#include "tests/fuzz/bodies.h"

#include <string>

#include "verifier/verify.h"

namespace lie::fuzz {

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
  // The shortcut by literals decides as the trees do.
  options.identical_text = false;
  require(verify(gold, boxed, options).code == explain(gold, boxed, options).code);
  options.mode = ExtractionMode::kLenient;
  verify(gold, response, options);
}

}  // namespace lie::fuzz

#include "tests/fuzz/bodies.h"

#include <string>

#include "verifier/latex/parser.h"
#include "verifier/verify.h"

namespace lie::fuzz {
namespace {

std::string printed(std::string_view input) {
  const VerifierOptions options;
  Budget budget(options);
  expr::Arena arena(budget);
  const latex::Parsed parsed = latex::parse(input, arena);
  require(parsed.tree != nullptr || budget.exhausted() || !parsed.error.reason.empty());
  return parsed.tree == nullptr ? parsed.error.reason : to_text(*parsed.tree);
}

}  // namespace

void parse_body(std::string_view input) { require(printed(input) == printed(input)); }

}  // namespace lie::fuzz

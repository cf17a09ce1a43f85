#include "verifier/latex/parity.h"

#include "common/text/scan.h"

namespace lie::latex {
namespace {

// Takes a word from the end of a text.
bool take_back(std::string_view& text, std::string_view word) {
  if (!text.ends_with(word)) return false;
  text.remove_suffix(word.size());
  return true;
}

}  // namespace

std::optional<Parity> read_parity(std::string_view text) {
  while (take_back(text, ",") || take_back(text, ".")) {
  }
  for (const std::string_view word : {"if", "for", "when"})
    if (lie::take(text, word)) break;
  const bool even = lie::take(text, "even") || take_back(text, "even");
  const bool odd = !even && (lie::take(text, "odd") || take_back(text, "odd"));
  if (text.size() > 1) take_back(text, "is");
  if (even == odd || text.size() != 1 || !is_letter(text[0])) return std::nullopt;
  return Parity{text[0], odd};
}

}  // namespace lie::latex

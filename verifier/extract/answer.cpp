#include "verifier/extract/answer.h"

#include "common/text/scan.h"
#include "verifier/extract/boxed.h"

namespace lie::extract {
namespace {

// Removes the dollar signs around a text without any others.
std::string_view without_dollars(std::string_view s) {
  const bool around = s.size() > 2 && s.starts_with('$') && s.ends_with('$') && !s.ends_with("\\$");
  const std::string_view inner = around ? s.substr(1, s.size() - 2) : s;
  return inner.find('$') == std::string_view::npos ? trimmed(inner) : s;
}

// Returns the elements of a list as Python prints one of strings: ['5', '6'].
std::string without_quotes(std::string_view s) {
  const bool quoted = s.size() > 4 && ((s.starts_with("['") && s.ends_with("']")) ||
                                       (s.starts_with("[\"") && s.ends_with("\"]")));
  if (!quoted) return std::string(s);
  std::string out(s.substr(2, s.size() - 4));
  const std::string between = {s[1], ',', ' ', s[1]};
  for (std::size_t at = out.find(between); at != out.npos; at = out.find(between, at))
    out.replace(at, between.size(), ", ");
  return out;
}

}  // namespace

std::optional<std::string> from_boxes(std::string_view response, const VerifierOptions& options) {
  if (options.after_think) response = after_think(response);
  const std::vector<Box> boxes = last_boxes(response, options.fbox, options.join_boxes);
  return boxes.empty() ? std::nullopt : std::optional(joined(boxes));
}

std::string from_gold(std::string_view gold, const VerifierOptions& options) {
  if (const std::size_t mark = gold.rfind("####"); mark != std::string_view::npos)
    gold = gold.substr(mark + 4);
  if (const std::optional<std::string> boxed = from_boxes(gold, options)) return *boxed;
  return without_quotes(without_dollars(trimmed(gold)));
}

}  // namespace lie::extract

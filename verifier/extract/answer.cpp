#include "verifier/extract/answer.h"

#include "common/text/scan.h"
#include "verifier/extract/places.h"

namespace lie::extract {
namespace {

// Removes the dollar signs around a text without any others.
std::string_view without_dollars(std::string_view s) {
  const bool around = s.size() > 2 && s.starts_with('$') && s.ends_with('$') && !s.ends_with("\\$");
  if (!around) return s;
  const std::string_view inner = s.substr(1, s.size() - 2);
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

// --- options of multiple-choice questions ------------------------------------------------------

namespace {

bool is_option_letter(char c) { return c >= 'A' && c <= 'J'; }

// Skips blanks. Returns whether there were any.
bool take_blanks(std::string_view& s) {
  const std::size_t before = s.size();
  while (take(s, " ") || take(s, "\n") || take(s, "~") || take(s, "\\ ") || take(s, "\\,") ||
         take(s, "\\;") || take(s, "\\quad") || take(s, "\\qquad")) {
  }
  return s.size() < before;
}

// Skips a label such as "Option" or 选.
void take_label(std::string_view& s) {
  for (const std::string_view word : {"Option", "option", "Choice", "choice", "选项", "选", "答案"})
    if (take(s, word)) take_blanks(s);
}

bool take_text_command(std::string_view& s) {
  return take(s, "\\textbf{") || take(s, "\\text{") || take(s, "\\mathbf{") ||
         take(s, "\\mathrm{") || take(s, "\\textrm{") || take(s, "\\mbox{");
}

// Returns whether a letter of an option stands alone in the text, as in "(A) or (B)".
bool names_a_letter(std::string_view s) {
  for (std::size_t i = 0; i < s.size(); ++i) {
    const bool alone = (i == 0 || (!is_letter(s[i - 1]) && s[i - 1] != '\\')) &&
                       (i + 1 == s.size() || !is_letter(s[i + 1]));
    if (alone && is_option_letter(s[i])) return true;
  }
  return false;
}

}  // namespace

std::optional<Option> read_option(std::string_view s) {
  take_blanks(s);
  const bool group = take_text_command(s);
  if (group) take_blanks(s);
  take_label(s);
  const bool bracket = take(s, "(");
  if (s.empty() || !is_option_letter(s.front())) return std::nullopt;
  Option out{s.front(), {}};
  s.remove_prefix(1);
  if (bracket && !take(s, ")")) return std::nullopt;
  const bool colon = !bracket && take(s, ":");
  const bool marked = bracket || colon || take(s, ".") || take(s, ")");
  const bool apart = take_blanks(s) || bracket || group;
  if (group) {
    const std::size_t end = s.find('}');
    if (end == std::string_view::npos) return std::nullopt;
    if (end > 0) out.value.append("\\text{").append(s.substr(0, end)).append("}");
    s.remove_prefix(end + 1);
    take_blanks(s);
  }
  out.value += s;
  if (out.value == "." || out.value.empty()) return Option{out.letter, {}};
  if (colon && out.value.find(':') != std::string::npos) return std::nullopt;  // several labels
  if (!marked || !apart || names_a_letter(out.value)) return std::nullopt;
  return out;
}

}  // namespace lie::extract

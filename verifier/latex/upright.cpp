#include "verifier/latex/upright.h"

#include <algorithm>
#include <iterator>

#include "common/text/scan.h"
#include "verifier/expr/expr.h"
#include "verifier/latex/lexer/lexer.h"
#include "verifier/latex/units.h"

namespace lie::latex {
namespace {

/// Words of two letters, and symbols of units that are not converted.
constexpr std::string_view kShortWords[] = {
    "BC", "AD", "CE", "am", "an", "bn", "as", "at", "be", "by", "cd", "Ci", "ct",
    "do", "dz", "ea", "go", "he", "hp", "if", "in", "is", "it", "lm", "lx", "me",
    "mo", "my", "nd", "no", "of", "ok", "on", "or", "pH", "pp", "pt", "qt", "so",
    "sq", "sr", "to", "up", "vs", "us", "US", "we", "rd", "st", "th"};

// Returns whether a text begins with a function and its argument: "sqrt(2)", "ln 2", "sin x".
bool calls_function(std::string_view text) {
  const auto letters =
      static_cast<std::size_t>(std::ranges::find_if_not(text, is_letter) - text.begin());
  const Meaning* meaning = letters > 1 ? plain_word(text.substr(0, letters)) : nullptr;
  const bool function = meaning != nullptr &&
                        (meaning->kind == Tok::kSqrt || meaning->kind == Tok::kFunction) &&
                        !is_one_of(meaning->fn, expr::Fn::kMax, expr::Fn::kMin);
  const std::string_view argument = trimmed(text.substr(letters));
  if (!function || argument.empty()) return false;
  const char first = argument[0];
  return is_digit(first) || is_one_of(first, '(', '{', '\\') ||
         (is_letter(first) && (argument.size() == 1 || !is_letter(argument[1])));
}

enum class Part { kName, kSign, kWord };

// Takes letters, a command or a sign from the front of a text.
Part take_part(std::string_view& text) {
  const char c = text.front();
  const bool escaped = c == '\\';
  if (escaped) text.remove_prefix(1);
  const auto letters =
      static_cast<std::size_t>(std::ranges::find_if_not(text, is_letter) - text.begin());
  const std::string_view run = text.substr(0, letters);
  if (letters > 0) {
    text.remove_prefix(letters);
    if (!escaped)
      return letters > 2 || std::ranges::find(kShortWords, run) != std::end(kShortWords)
                 ? Part::kWord
                 : Part::kName;
    const Meaning* meaning = command(run);
    if (meaning == nullptr || is_one_of(meaning->kind, Tok::kText, Tok::kCurrency))
      return Part::kWord;
    return is_one_of(meaning->kind, Tok::kIgnore, Tok::kDegree) ? Part::kSign : Part::kName;
  }
  const auto lead = static_cast<unsigned char>(c);
  const std::size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  const std::string_view sign = text.substr(0, length);
  text.remove_prefix(sign.size());
  if (length == 1) {
    constexpr std::string_view kSigns = "0123456789^_{}()+-*/=<>| ~,;!";
    return !sign.empty() && kSigns.find(sign[0]) != kSigns.npos ? Part::kSign : Part::kWord;
  }
  const Meaning* meaning = unicode(sign);
  if (meaning == nullptr || meaning->kind == Tok::kCurrency) return Part::kWord;
  return is_one_of(meaning->kind, Tok::kSymbol, Tok::kConstant) ? Part::kName : Part::kSign;
}

}  // namespace

bool is_formula(std::string_view text) {
  text = trimmed(text);
  while (take(text, "~") || take(text, "\\,")) text = trimmed(text);
  constexpr std::size_t kLongest = 40;
  if (text.empty() || text.size() > kLongest || read_unit(unit_name(text))) return false;
  if (calls_function(text)) return true;
  bool named = false;
  while (!text.empty()) {
    const Part part = take_part(text);
    if (part == Part::kWord) return false;
    named = named || part == Part::kName;
  }
  return named;
}

}  // namespace lie::latex

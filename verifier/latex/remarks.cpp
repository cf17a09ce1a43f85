#include "verifier/latex/remarks.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/text/scan.h"
#include "verifier/expr/expr.h"
#include "verifier/latex/lexer/lexer.h"
#include "verifier/latex/text.h"
#include "verifier/latex/units.h"

namespace lie::latex {
namespace {

/// Words that exclude each other in a remark after a number.
constexpr std::pair<std::string_view, std::string_view> kOpposites[] = {
    {"increase", "decrease"},
    {"profit", "loss"},
    {"gain", "loss"},
    {"up", "down"},
    {"more", "less"},
    {"more", "fewer"},
    {"left", "right"},
    {"above", "below"},
    {"over", "under"},
    {"faster", "slower"},
    {"older", "younger"},
    {"north", "south"},
    {"east", "west"},
    {"before", "after"},
    {"taller", "shorter"},
    {"longer", "shorter"},
    {"higher", "lower"},
    {"heavier", "lighter"},
    {"earlier", "later"},
    {"early", "late"},
    {"larger", "smaller"},
    {"greater", "less"},
    {"greater", "smaller"},
    {"bigger", "smaller"},
    {"atleast", "atmost"},
    {"minimum", "maximum"},
    {"min", "max"},
    {"inside", "outside"},
    {"forward", "backward"},
    {"credit", "debit"},
    {"deposit", "withdraw"},
    {"ahead", "behind"},
    {"rise", "fall"},
    {"rise", "drop"},
    {"surplus", "deficit"},
    {"positive", "negative"},
    {"ascending", "descending"},
    {"clockwise", "counterclockwise"},
    {"clockwise", "anticlockwise"},
    {"discount", "markup"},
    {"discount", "surcharge"},
    {"asmany", "fewer"},
    {"asmuch", "less"},
    {"warmer", "colder"},
    {"hotter", "colder"},
    {"win", "loss"},
    {"wins", "losses"},
    {"won", "lost"},
    {"cheaper", "dearer"},
    {"cheaper", "moreexpensive"},
    {"upstream", "downstream"},
    {"asset", "liabilit"},
    {"income", "expense"},
    {"growth", "decline"},
    {"exclusive", "inclusive"},
    {"upward", "downward"},
    {"ad", "bc"},
    {"ce", "bce"},
    {"bought", "sold"},
    {"closed", "open"},
    {"even", "odd"},
    {"top", "bottom"}};

/// Parts that turn a word into its opposite, as in women and impossible.
constexpr std::string_view kOpposing[] = {"un",  "im", "ir", "il",   "dis",
                                          "non", "wo", "fe", "anti", "counter"};

/// Words that describe a measure of any dimension.
constexpr std::string_view kDescribing[] = {
    "tall", "high",  "long",    "wide",  "deep", "thick", "old",  "away",   "far", "apart",
    "ago",  "later", "earlier", "early", "late", "more",  "less", "profit", "loss"};

/// Words that may count anything.
constexpr std::string_view kGeneric[] = {
    "unit",    "item",      "thing",    "object", "piece",   "people",      "person",
    "total",   "time",      "way",      "possib", "arrange", "permutation", "combination",
    "choice",  "number",    "solution", "value",  "integer", "element",     "outcome",
    "case",    "answer",    "approx",   "exact",  "about",   "altogether",  "inall",
    "each",    "different", "distinct", "part",   "amount",  "count",       "rounded",
    "correct", "remaining", "left",     "needed", "required"};

bool contains(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

template <typename Words>
bool contains_any(std::string_view text, const Words& words) {
  return std::ranges::any_of(words, [text](std::string_view word) { return contains(text, word); });
}

// Returns whether a text holds a word that is not part of its opposite. Short words must end it, as
// cups do in red cups.
bool holds_word(std::string_view text, std::string_view word) {
  constexpr std::size_t kShortest = 3, kShortestInside = 4;
  const std::size_t at = text.rfind(word);
  if (at == std::string_view::npos || word.size() < kShortest) return false;
  if (word.size() < kShortestInside && at + word.size() < text.size()) return false;
  return at == 0 || std::ranges::none_of(kOpposing, [&](std::string_view part) {
           return text.substr(0, at).ends_with(part);
         });
}

// Returns what a rate is for: "hour" of "applesperhour". Nothing if the text is no rate.
std::string_view rate_of(std::string_view text) {
  if (const std::size_t slash = text.find('/'); slash != std::string_view::npos)
    return text.substr(slash + 1);
  for (std::size_t at = text.find("per", 3); at != std::string_view::npos;
       at = text.find("per", at + 1)) {
    const std::string_view after = text.substr(at + 3);
    if (after.size() > 1 && read_unit(after)) return after;
  }
  return {};
}

// Returns the power that a word of a unit ends with or begins with, and 1 if there is none.
int power_of(std::string_view text) {
  if (text.ends_with("^2") || text.ends_with("²") || text.starts_with("square")) return 2;
  if (text.ends_with("^3") || text.ends_with("³") || text.starts_with("cubic")) return 3;
  return 1;
}

// Returns whether words begin with a unit, or hold one of at least four letters.
bool starts_with_unit(std::string_view words, std::string_view unit) {
  if (unit.size() < 2) return words == unit;
  return unit.size() < 4 ? words.starts_with(unit) : contains(words, unit);
}

// Returns whether words may describe a quantity of a known unit: "tall" for 5 cm, and "per second"
// for 5 Hz. The sign \$ does not say what is paid for.
bool words_fit(std::string_view words, std::string_view name, const Unit& unit) {
  if (name == "$") return true;
  if (words.starts_with("per")) {
    const std::optional<Unit> below = read_unit(words.substr(3));
    const auto inverse = [](int a, int b) { return a == -b; };
    return below && std::ranges::equal(unit.powers, below->powers, inverse);
  }
  const std::string_view rate = rate_of(words);
  if (!rate.empty() && !contains(words.substr(0, words.size() - rate.size()), name)) return false;
  return starts_with_unit(words, name) || contains_any(words, kDescribing) ||
         contains_any(words, kGeneric) || names_dimension(words, unit);
}

// Returns the word in small letters, without the ending of a plural.
std::string stem(std::string_view word) {
  std::string out = lowered(word);
  for (const std::string_view ending : {"ies", "es", "s", "y"})
    if (out.size() > ending.size() + 2 && out.ends_with(ending)) {
      out.resize(out.size() - ending.size());
      break;
    }
  return out;
}

// Returns whether words agree if one of them has characters beyond ASCII, whose parts are not
// known. The words 个 and the like count anything.
bool foreign_words_agree(std::string_view a, std::string_view b) {
  constexpr std::string_view kCounting[] = {"个", "只", "本", "次", "种", "人", "名", "件", "条"};
  const auto counts = [&](std::string_view word) {
    return std::ranges::find(kCounting, word) != std::end(kCounting);
  };
  return contains(a, b) || contains(b, a) || counts(a) || counts(b);
}

bool is_beyond_ascii(char c) { return static_cast<unsigned char>(c) >= 0x80; }

}  // namespace

bool are_opposites(std::string_view a, std::string_view b) {
  const std::string here = lowered(a), there = lowered(b);
  return std::ranges::any_of(kOpposites, [&](const auto& pair) {
    const auto& [one, other] = pair;
    const bool first_here = contains(here, one), first_there = contains(there, one);
    const bool other_here = contains(here, other), other_there = contains(there, other);
    // One word may contain the other, as clockwise does in counterclockwise.
    if (contains(other, one)) return other_here != other_there && first_here && first_there;
    return (first_here && !other_here && other_there && !first_there) ||
           (other_here && !first_here && first_there && !other_there);
  });
}

bool words_agree(std::string_view a, std::string_view b) {
  const std::string here = lowered(a), there = lowered(b);
  const std::optional<Unit> unit_here = read_unit(a), unit_there = read_unit(b);
  if (unit_here && unit_there) return unit_here->powers == unit_there->powers;
  if (here == there) return true;
  if (are_opposites(here, there)) return false;
  if (std::ranges::any_of(here + there, is_beyond_ascii)) return foreign_words_agree(here, there);
  if (unit_here) return words_fit(there, stem(here), *unit_here);
  if (unit_there) return words_fit(here, stem(there), *unit_there);
  const int power_here = power_of(here), power_there = power_of(there);
  if (power_here > 1 && power_there > 1 && power_here != power_there) return false;
  const std::string_view rate_here = rate_of(here), rate_there = rate_of(there);
  if (rate_here.empty() != rate_there.empty()) return false;
  const std::string stem_here = stem(here), stem_there = stem(there);
  if (stem_here == stem_there) return true;
  if (holds_word(stem_here, stem_there) || holds_word(stem_there, stem_here)) return true;
  return contains_any(here, kGeneric) || contains_any(there, kGeneric);
}

namespace {

// Reads a unit. Beside a length, pm is the picometer and no time of day.
std::optional<Unit> read_beside(std::string_view text, std::string_view other) {
  const std::optional<Unit> beside = text == "pm" ? read_unit(other) : std::nullopt;
  return beside && beside->is(Base::kLength) ? read_unit("picometer") : read_unit(text);
}

}  // namespace

std::optional<exact::Rational> unit_ratio(std::string_view a, std::string_view b) {
  using exact::Rational;
  if (a == b) return Rational(1);
  const std::optional<Unit> first = read_beside(a, b), second = read_beside(b, a);
  if (!first || !second) return words_agree(a, b) ? std::optional(Rational(1)) : std::nullopt;
  if (first->powers == second->powers) return second->factor / first->factor;
  // The sign \$ does not say what is paid for.
  const bool amount = a == "$" || b == "$";
  return amount && first->is(Base::kDollar) && second->is(Base::kDollar)
             ? std::optional(Rational(1))
             : std::nullopt;
}

namespace {

/// Words that add another value, or deny the one before them.
constexpr std::string_view kChanging[] = {
    "or",        "nor",        "either",    "neither",     "else",      "otherwise",  "instead",
    "plus",      "minus",      "except",    "but",         "excluding", "wrong",      "incorrect",
    "false",     "invalid",    "never",     "rejected",    "discarded", "extraneous", "excluded",
    "undefined", "impossible", "factorial", "reciprocal",  "doubled",   "tripled",    "halved",
    "negative",  "permille",   "mille",     "basis",       "least",     "most",       "upwards",
    "inverse",   "twice",      "conjugate", "quintillion", "below"};

/// Words that restrict or deny the value, unless a noun stands before them: "students who are not
/// in the band".
constexpr std::string_view kRestricting[] = {
    "no",     "if",   "iff",    "when", "whenever", "unless", "provided", "not",
    "cannot", "isnt", "doesnt", "dont", "didnt",    "cant",   "wont",     "arent"};

/// Words that are no nouns.
constexpr std::string_view kAuxiliary[] = {"is",  "are",  "was",  "were", "does", "do",   "did",
                                           "can", "will", "it",   "this", "that", "only", "which",
                                           "be",  "has",  "have", "had",  "a",    "the"};

/// Words that speak of the value itself.
constexpr std::string_view kJudging[] = {
    "answer",  "correct", "right",    "solution", "solutions", "valid",    "true", "work",
    "works",   "value",   "possible", "sure",     "odd",       "even",     "so",   "result",
    "integer", "number",  "hold",     "holds",    "satisfy",   "satisfies"};

/// Words that add another value if a number or letter follows them.
constexpr std::string_view kJoining[] = {"and",   "to", "times", "by", "over",
                                         "point", "of", "in",    "vs", "versus"};

/// Words of a remark that tells to how many digits a value is rounded.
constexpr std::string_view kRounding =
    " correct rounded round rounding to the a an place places figure figures fig figs "
    "digit digits whole integer number unit one tenth hundredth thousandth ten hundred "
    "thousand cent dollar degree percent minute second hour day year meter cm mm km foot "
    "inch approximately approx about when is answer in with up accurate ";
constexpr std::string_view kOfRounding[] = {
    "decimal", "decimals", "significant", "sig", "nearest", "dp", "sf", "2dp", "3dp", "2sf", "3sf"};

/// Characters and words of Chinese that change the value before them.
constexpr std::string_view kChangingSigns[] = {"或", "不", "非", "错", "至", "到",   "加",
                                               "减", "乘", "除", "半", "若", "当",   "仅",
                                               "无", "没", "否", "奇", "偶", "以上", "以下"};

template <typename Words>
bool is_in(std::string_view word, const Words& words) {
  return std::ranges::find(words, word) != std::end(words);
}

// Takes a command from the front of a text. Returns whether it holds words, is a space or a sign of
// words, such as \%.
bool take_word_command(std::string_view& text) {
  text.remove_prefix(1);
  const std::size_t length =
      static_cast<std::size_t>(std::ranges::find_if_not(text, is_letter) - text.begin());
  if (length == 0) {
    text.remove_prefix(std::min<std::size_t>(1, text.size()));
    return true;
  }
  const Meaning* meaning = command(text.substr(0, length));
  text.remove_prefix(length);
  return meaning != nullptr && is_one_of(meaning->kind, Tok::kText, Tok::kIgnore, Tok::kCurrency);
}

// Takes the power of a unit in words: units^2, units^{-1}.
void take_power_sign(std::string_view& text) {
  if (!take(text, "^")) return;
  const bool braced = take(text, "{");
  take(text, "-");
  while (!text.empty() && is_digit(text.front())) text.remove_prefix(1);
  if (braced) take(text, "}");
}

// Returns the words of a text in small letters, without their points and apostrophes. Returns
// nothing if the text has operators or other mathematics.
std::optional<std::vector<std::string>> plain_words(std::string_view text) {
  constexpr std::string_view kBetween = " \t\n~(){}[],;:\"&$%", kDropped = ".'`*!";
  std::vector<std::string> out(1);
  while (!text.empty()) {
    const char c = text.front();
    if (c == '\\') {
      if (!take_word_command(text)) return std::nullopt;
      out.emplace_back();
    } else if (c == '^') {
      take_power_sign(text);
    } else {
      const bool inside = !out.back().empty() && text.size() > 1 && is_letter_or_digit(text[1]);
      if (kBetween.find(c) != kBetween.npos || (c == '/' && inside))
        out.emplace_back();
      else if (is_letter_or_digit(c) || is_beyond_ascii(c) || (c == '-' && inside))
        out.back() += to_lower(c);
      else if (kDropped.find(c) == kDropped.npos)
        return std::nullopt;
      text.remove_prefix(1);
    }
  }
  std::erase(out, "");
  return out;
}

// Returns whether words only tell how a value is rounded: "correct to 2 decimal places".
bool tells_rounding(const std::vector<std::string>& words) {
  const auto belongs = [](const std::string& word) {
    const bool number = word.find_first_not_of("0123456789") == word.npos && word.size() < 3;
    return number || contains(kRounding, " " + word + " ") || is_in(word, kOfRounding) ||
           number_in_words(word);
  };
  return std::ranges::all_of(words, belongs) &&
         std::ranges::any_of(words, [](const auto& word) { return is_in(word, kOfRounding); });
}

// Returns whether a word may be another value: seven, half, x.
bool may_be_value(std::string_view word) {
  return (word.size() == 1 && word != "a") || (word != "one" && number_in_words(word));
}

// Returns whether the word at an index joins another value: "to seven", "and a half", "3 out of
// four". In "in two days" the number counts something else.
bool joins_value(const std::vector<std::string>& words, std::size_t at) {
  const std::string_view word = words[at];
  if (!is_in(word, kJoining)) return false;
  std::size_t next = at + 1;
  const bool article = next < words.size() && is_one_of(std::string_view(words[next]), "a", "the");
  if (article && is_one_of(word, "and", "to")) ++next;
  const bool counts = is_one_of(word, "of", "in", "by", "over") && next + 1 < words.size();
  return next < words.size() && !counts && may_be_value(words[next]);
}

// Returns whether the word at an index restricts or denies the value before the words.
bool restricts(const std::vector<std::string>& words, std::size_t at) {
  if (!is_in(words[at], kRestricting)) return false;
  // The words "no solutions" explain 0.
  if (words[at] == "no" && at == 0 && words.size() > 1) return may_be_value(words[1]);
  const auto here = words.begin() + static_cast<std::ptrdiff_t>(at);
  const bool noun =
      std::any_of(words.begin(), here, [](const auto& word) { return !is_in(word, kAuxiliary); });
  return !noun || here + 1 == words.end() || std::any_of(here, words.end(), [](const auto& word) {
    return may_be_value(word) || is_in(word, kJudging);
  });
}

// Returns whether the word at an index changes the value before the words.
bool changes_value(const std::vector<std::string>& words, std::size_t at, bool is_number) {
  const std::string& word = words[at];
  if (is_in(word, kChanging) || joins_value(words, at) || restricts(words, at)) return true;
  if (word != "odd" && word != "even") return false;
  // The words "even numbers" name what is counted.
  return !is_number || at + 1 == words.size() || words[at + 1].size() == 1;
}

// Returns whether words begin with another value: "and a half", "to the fifth", "half". The words
// "one" and "hundred" may describe.
bool adds_value(const std::vector<std::string>& words) {
  const std::string_view word = words[0];
  const std::optional<exact::Rational> number = number_in_words(word);
  if (number && !(*number == exact::Rational(1)) && *number < exact::Rational(100)) return true;
  if (word != "to") return word == "and";
  const std::size_t next = words.size() > 1 && words[1] == "the" ? 2 : 1;
  return next >= words.size() || words[next] == "one" || words[next] == "power" ||
         ordinal_in_words(words[next]);
}

}  // namespace

bool only_describes(std::string_view text, bool is_number) {
  const std::optional<std::vector<std::string>> words = plain_words(text);
  if (!words) return false;
  if (words->empty() || tells_rounding(*words)) return true;
  if (words->size() == 1 && words->front().size() == 1) return false;  // a name
  for (std::size_t i = 0; i < words->size(); ++i) {
    const std::string& word = (*words)[i];
    if (std::ranges::any_of(word, is_digit) || contains_any(word, kChangingSigns)) return false;
    if (changes_value(*words, i, is_number)) return false;
  }
  return !adds_value(*words);
}

bool only_labels(std::string_view text) {
  // Parts of words, because \text{at least} is one word to the parser.
  constexpr std::string_view kBounding[] = {"least",  "most",  "than",   "anything",
                                            "except", "error", "inverse"};
  const std::optional<std::vector<std::string>> words = plain_words(text);
  return words && std::ranges::none_of(*words, [&](const std::string& word) {
           return std::ranges::any_of(word, is_digit) || is_in(word, kChanging) ||
                  is_in(word, kRestricting) || contains_any(word, kBounding);
         });
}

}  // namespace lie::latex

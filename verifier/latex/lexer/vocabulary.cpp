// The meanings of words, commands and characters: tables sorted at compile time and searched by
// bisection.
#include <algorithm>
#include <array>
#include <span>

#include "common/text/scan.h"
#include "verifier/latex/lexer/lexer.h"

namespace lie::latex {
namespace {

using expr::Fn, expr::Rel;

/// A meaning without its word, and its spellings, separated by spaces: LaTeX commands, words of
/// plain mathematics, and characters beyond ASCII.
struct Spelled {
  Meaning meaning;
  std::string_view commands, words = {}, characters = {};
};

constexpr Meaning plain(Tok kind) { return {"", kind}; }
constexpr Meaning function(Fn fn) { return {"", Tok::kFunction, fn}; }
constexpr Meaning relation(Rel rel) { return {"", Tok::kRelation, Fn::kNone, rel}; }
constexpr Meaning bracket(Tok kind, char c) { return {"", kind, Fn::kNone, Rel::kEqual, c}; }
constexpr Meaning named(Tok kind, std::string_view name) {
  return {"", kind, Fn::kNone, Rel::kEqual, 0, name};
}

/// Functions whose only spelling is their name.
constexpr std::string_view kPlainFunctions =
    "sin cos tan cot sec csc sinh cosh tanh exp ln gcd lcm max min floor ceil abs det";

constexpr auto kSpelled = std::to_array<Spelled>({
    // letters
    {plain(Tok::kSymbol),
     "alpha beta gamma delta epsilon dim zeta eta theta iota kappa lambda mu nu xi rho "
     "sigma tau upsilon phi Pr chi psi omega Gamma Delta Theta Lambda Xi Sigma Upsilon Phi "
     "Psi Omega Pi ell hbar aleph partial square triangle angle imath jmath bullet top "
     "forall exists neg therefore wp",
     "alpha beta theta lambda"},
    {named(Tok::kSymbol, "epsilon"), "varepsilon"},
    {named(Tok::kSymbol, "theta"), "vartheta"},
    {named(Tok::kSymbol, "rho"), "varrho"},
    {named(Tok::kSymbol, "phi"), "varphi"},
    {named(Tok::kSymbol, "neg"), "lnot"},
    {named(Tok::kSymbol, "top"), "intercal"},
    {named(Tok::kConstant, "pi"), "pi", "pi", "π"},
    {named(Tok::kConstant, "infinity"), "infty", "infinity Infinity inf oo", "∞"},
    {named(Tok::kConstant, "e"), "exponentialE"},
    {named(Tok::kNamedSet, "empty"), "emptyset varnothing", "", "∅ ⌀"},
    {named(Tok::kNamedSet, "N"), "N", "", "ℕ"},
    {named(Tok::kNamedSet, "Z"), "Z", "", "ℤ"},
    {named(Tok::kNamedSet, "Q"), "Q", "", "ℚ"},
    {named(Tok::kNamedSet, "R"), "R Reals", "", "ℝ"},
    {named(Tok::kNamedSet, "C"), "C", "", "ℂ"},
    // functions
    {plain(Tok::kFunction), kPlainFunctions, kPlainFunctions},
    {function(Fn::kTan), "tg"},
    {function(Fn::kCot), "ctg cotg"},
    {function(Fn::kCsc), "cosec", "cosec"},
    {function(Fn::kArcsin), "arcsin asin", "arcsin asin"},
    {function(Fn::kArccos), "arccos acos", "arccos acos"},
    {function(Fn::kArctan), "arctan atan arctg", "arctan atan arctg"},
    {function(Fn::kArccot), "arccot arcctg arccotg", "arcctg"},
    {function(Fn::kArcsec), "arcsec", "arcsec"},
    {function(Fn::kArccsc), "arccsc", "arccsc"},
    {function(Fn::kArsinh), "arsinh arcsinh"},
    {function(Fn::kArcosh), "arcosh arccosh"},
    {function(Fn::kArtanh), "artanh arctanh"},
    {function(Fn::kLog), "log lg", "log"},
    // operators
    {plain(Tok::kPlus), "", "", "＋"},
    {plain(Tok::kMinus), "", "", "− – — －"},
    {plain(Tok::kPlusMinus), "pm", "", "±"},
    {plain(Tok::kMinusPlus), "mp", "", "∓"},
    {plain(Tok::kTimes), "times cdot centerdot", "", "× · ⋅ ∙"},
    {plain(Tok::kDivide), "div slash", "", "÷ ⁄ ∕"},
    {plain(Tok::kColon), "colon", "", "："},
    {plain(Tok::kMod), "mod bmod", "mod"},
    {plain(Tok::kPmod), "pmod"},
    {plain(Tok::kCup), "cup bigcup", "union", "∪"},
    {plain(Tok::kCap), "cap", "intersect", "∩"},
    {plain(Tok::kSetMinus), "setminus smallsetminus backslash", "", "∖"},
    {plain(Tok::kAnd), "&", "and", "和 且"},
    {plain(Tok::kOr), "", "or", "或"},
    {named(Tok::kLogic, "and"), "land wedge", "", "∧"},
    {named(Tok::kLogic, "or"), "lor vee", "", "∨"},
    {named(Tok::kOperation, "⊗"), "otimes", "", "⊗"},
    {named(Tok::kOperation, "⊕"), "oplus", "", "⊕"},
    {named(Tok::kOperation, "⊙"), "odot", "", "⊙"},
    {named(Tok::kOperation, "⊖"), "ominus", "", "⊖"},
    {named(Tok::kOperation, "⋆"), "star", "", "⋆ ★"},
    {named(Tok::kOperation, "∗"), "ast"},
    {named(Tok::kOperation, "⋄"), "diamond", "", "⋄ ◇"},
    {plain(Tok::kDegree), "circ degree textcirc textdegree", "degrees degree", "° º ∘"},
    {plain(Tok::kPrime), "prime", "", "′ ’ ″"},
    // relations
    {relation(Rel::kEqual), "eq", "", "＝"},
    {relation(Rel::kNotEqual), "ne neq", "", "≠"},
    {relation(Rel::kLess), "lt", "", "＜"},
    {relation(Rel::kLessEqual), "le leq leqslant leqq", "", "≤ ⩽ ≦"},
    {relation(Rel::kGreater), "gt", "", "＞"},
    {relation(Rel::kGreaterEqual), "ge geq geqslant geqq", "", "≥ ⩾ ≧"},
    {relation(Rel::kApprox), "approx approxeq simeq doteq", "", "≈"},
    {relation(Rel::kSimilar), "sim", "", "∼"},
    {relation(Rel::kCongruent), "cong", "", "≅"},
    {relation(Rel::kEquivalent), "equiv", "", "≡"},
    {relation(Rel::kIn), "in", "", "∈"},
    {relation(Rel::kNotIn), "notin", "", "∉"},
    {relation(Rel::kSubset), "subset subseteq", "", "⊂ ⊆"},
    {relation(Rel::kSuperset), "supset supseteq", "", "⊃ ⊇"},
    {relation(Rel::kArrow), "to rightarrow Rightarrow longrightarrow Longrightarrow mapsto implies",
     "", "→ ⇒"},
    {relation(Rel::kIff), "iff leftrightarrow Leftrightarrow longleftrightarrow Longleftrightarrow",
     "", "⇔ ↔"},
    {relation(Rel::kParallel), "parallel", "", "∥"},
    {relation(Rel::kPerpendicular), "perp", "", "⊥"},
    {relation(Rel::kProportional), "propto"},
    // brackets
    {bracket(Tok::kOpen, '{'), "lbrace {", "", "｛"},
    {bracket(Tok::kClose, '}'), "rbrace }", "", "｝"},
    {bracket(Tok::kOpen, '['), "lbrack", "", "【 ［"},
    {bracket(Tok::kClose, ']'), "rbrack", "", "】 ］"},
    {bracket(Tok::kOpen, '('), "lgroup lparen", "", "（"},
    {bracket(Tok::kClose, ')'), "rgroup rparen", "", "）"},
    {bracket(Tok::kOpen, 'A'), "langle", "", "⟨"},
    {bracket(Tok::kClose, 'A'), "rangle", "", "⟩"},
    {bracket(Tok::kOpen, 'F'), "lfloor llcorner", "", "⌊"},
    {bracket(Tok::kClose, 'F'), "rfloor lrcorner", "", "⌋"},
    {bracket(Tok::kOpen, 'C'), "lceil ulcorner", "", "⌈"},
    {bracket(Tok::kClose, 'C'), "rceil urcorner", "", "⌉"},
    {bracket(Tok::kOpen, '|'), "lvert"},
    {bracket(Tok::kClose, '|'), "rvert"},
    {bracket(Tok::kOpen, 'N'), "lVert"},
    {bracket(Tok::kClose, 'N'), "rVert"},
    {plain(Tok::kBar), "vert"},
    {plain(Tok::kDoubleBar), "Vert |"},
    {plain(Tok::kMid), "mid", "", "∣"},
    // structures
    {plain(Tok::kFrac), "frac dfrac tfrac cfrac nicefrac sfrac"},
    {plain(Tok::kSqrt), "sqrt", "sqrt SQRT", "√"},
    {named(Tok::kSqrt, "3"), "", "", "∛"},
    {plain(Tok::kBinom), "binom dbinom tbinom"},
    {plain(Tok::kChoose), "choose"},
    {plain(Tok::kOver), "over"},
    {plain(Tok::kBoxed), "boxed fbox"},
    {plain(Tok::kOperatorName), "operatorname"},
    {named(Tok::kOperatorName, "Var"), "", "Var"},
    {named(Tok::kOperatorName, "Cov"), "", "Cov"},
    {named(Tok::kOperatorName, "Corr"), "", "Corr"},
    {plain(Tok::kSum), "sum", "", "∑"},
    {plain(Tok::kProd), "prod", "", "∏"},
    {plain(Tok::kBad), "int lim", "", "∫"},
    {plain(Tok::kBegin), "begin"},
    {plain(Tok::kEndEnvironment), "end"},
    {named(Tok::kAccent, "bar"), "overline bar widebar"},
    {named(Tok::kAccent, "vec"), "vec overrightarrow"},
    {named(Tok::kAccent, "hat"), "hat widehat"},
    {named(Tok::kAccent, "dot"), "dot"},
    {named(Tok::kAccent, "ddot"), "ddot"},
    {named(Tok::kAccent, ""),
     "mathbf boldsymbol bm mathit mathcal mathscr mathfrak mathsf mathtt mathnormal ensuremath "
     "underline "
     "mathord"},
    // text
    {plain(Tok::kText),
     "text textbf textit textrm textnormal textsf texttt textsc mbox hbox mathrm mathbb "
     "emph mathop"},
    {plain(Tok::kSiunitx), "num SI qty ang si unit"},
    // characters and dots
    {plain(Tok::kPercent), "%", "percent percentage pct", "％"},
    {plain(Tok::kCurrency), "$ euro pounds yen", "USD EUR GBP INR Rs", "€ £ ¥ ₹ ￥"},
    {plain(Tok::kDots), "ldots cdots dots dotsc dotsb vdots ddots", "", "… ⋯"},
    {plain(Tok::kComma), "", "", "， 、"},
    {plain(Tok::kSemicolon), "", "", "；"},
    {plain(Tok::kPeriod), "", "", "。"},
    {plain(Tok::kUnderscore), "_"},
    // spacing and size
    {plain(Tok::kIgnore),
     "newline ( ) [ ] , ; : ! > / quad qquad left right mleft mright middle big bigl bigr "
     "bigg biggl biggr Big Bigl Bigr Bigg Biggl Biggr displaystyle textstyle limits "
     "nolimits checkmark hline rm bf it not tiny small normalsize large Large LARGE huge "
     "Huge",
     "", "\u00a0 \u2009 \u202f \u2003 \u3000 \u200b \u2061 “ ”"},
    // with the braces after them, whose content is not visible
    {named(Tok::kIgnore, "{}"), "color textcolor colorbox hspace vspace phantom tag label"},
    // with the square brackets after them
    {named(Tok::kIgnore, "[]"), "bbox"},
});

/// Letters beyond ASCII, and the names of their commands.
struct Letter {
  std::string_view character, name;
};
constexpr auto kLetters = std::to_array<Letter>(
    {{"α", "alpha"},    {"β", "beta"},  {"γ", "gamma"}, {"δ", "delta"},  {"ε", "epsilon"},
     {"ζ", "zeta"},     {"η", "eta"},   {"θ", "theta"}, {"κ", "kappa"},  {"λ", "lambda"},
     {"μ", "mu"},       {"µ", "mu"},    {"ν", "nu"},    {"ξ", "xi"},     {"ρ", "rho"},
     {"σ", "sigma"},    {"τ", "tau"},   {"φ", "phi"},   {"ϕ", "phi"},    {"χ", "chi"},
     {"ψ", "psi"},      {"ω", "omega"}, {"Γ", "Gamma"}, {"Δ", "Delta"},  {"Θ", "Theta"},
     {"Λ", "Lambda"},   {"Σ", "Sigma"}, {"Φ", "Phi"},   {"Ψ", "Psi"},    {"Ω", "Omega"},
     {"△", "triangle"}, {"∠", "angle"}, {"ℓ", "ell"},   {"∀", "forall"}, {"∃", "exists"},
     {"¬", "neg"}});

/// Returns the meanings sorted by one kind of spelling. A symbol without a name is named by its
/// word, and so is the function of a meaning without one.
template <std::string_view Spelled::*kKind>
constexpr auto table() {
  constexpr std::span<const Letter> kNamed =
      kKind == &Spelled::characters ? std::span<const Letter>(kLetters) : std::span<const Letter>();
  constexpr std::size_t kSize = [kNamed] {
    std::size_t size = kNamed.size();
    for (const Spelled& spelled : kSpelled)
      size += spelled.*kKind == "" ? 0 : 1 + std::ranges::count(spelled.*kKind, ' ');
    return size;
  }();
  std::array<Meaning, kSize> meanings;
  auto next = meanings.begin();
  for (const Spelled& spelled : kSpelled) {
    for (std::string_view rest = spelled.*kKind; !rest.empty();) {
      Meaning& meaning = *next++ = spelled.meaning;
      meaning.word = rest.substr(0, rest.find(' '));
      rest.remove_prefix(std::min(meaning.word.size() + 1, rest.size()));
      if (meaning.kind == Tok::kSymbol && meaning.name.empty()) meaning.name = meaning.word;
      if (meaning.kind == Tok::kFunction && meaning.fn == Fn::kNone)
        meaning.fn = expr::fn_named(meaning.word);
    }
  }
  for (const Letter& letter : kNamed) {
    Meaning& meaning = *next++ = named(Tok::kSymbol, letter.name);
    meaning.word = letter.character;
  }
  std::ranges::sort(meanings, {}, &Meaning::word);
  return meanings;
}

constexpr auto kCommands = table<&Spelled::commands>();
constexpr auto kPlainWords = table<&Spelled::words>();
constexpr auto kCharacters = table<&Spelled::characters>();

template <std::size_t N>
const Meaning* find(const std::array<Meaning, N>& table, std::string_view word) {
  const auto at = std::ranges::lower_bound(table, word, {}, &Meaning::word);
  return at != table.end() && at->word == word ? &*at : nullptr;
}

}  // namespace

const Meaning* command(std::string_view word) { return find(kCommands, word); }

const Meaning* command_prefix(std::string_view word) {
  for (std::size_t n = word.size(); n >= 2; --n)
    if (const Meaning* meaning = find(kCommands, word.substr(0, n))) return meaning;
  return nullptr;
}

const Meaning* plain_word(std::string_view word) { return find(kPlainWords, word); }

namespace {

/// A word of a number: a summand below 100, a factor from 100, or the denominator of a fraction.
struct NumberWord {
  std::string_view word;
  std::int64_t value = 0, denominator = 1;
};

// Returns the longest number word at the front of a text.
NumberWord number_word(std::string_view text) {
  static constexpr auto kNumberWords = std::to_array<NumberWord>(
      {{"zero", 0},       {"one", 1},          {"two", 2},           {"three", 3},
       {"four", 4},       {"five", 5},         {"six", 6},           {"seven", 7},
       {"eight", 8},      {"nine", 9},         {"ten", 10},          {"eleven", 11},
       {"twelve", 12},    {"thirteen", 13},    {"fourteen", 14},     {"fifteen", 15},
       {"sixteen", 16},   {"seventeen", 17},   {"eighteen", 18},     {"nineteen", 19},
       {"twenty", 20},    {"thirty", 30},      {"forty", 40},        {"fifty", 50},
       {"sixty", 60},     {"seventy", 70},     {"eighty", 80},       {"ninety", 90},
       {"hundred", 100},  {"thousand", 1'000}, {"million", 1000000}, {"billion", 1000000000},
       {"half", 1, 2},    {"halves", 1, 2},    {"third", 1, 3},      {"thirds", 1, 3},
       {"quarter", 1, 4}, {"quarters", 1, 4},  {"fourth", 1, 4},     {"fourths", 1, 4},
       {"fifth", 1, 5},   {"fifths", 1, 5},    {"sixth", 1, 6},      {"sixths", 1, 6},
       {"eighth", 1, 8},  {"eighths", 1, 8},   {"tenth", 1, 10},     {"tenths", 1, 10}});
  NumberWord longest;
  for (const NumberWord& entry : kNumberWords)
    if (text.starts_with(entry.word) && entry.word.size() > longest.word.size()) longest = entry;
  return longest;
}

// Reads Chinese numerals such as 十二, 一百零五 and 三万.
std::optional<exact::Rational> chinese_number(std::string_view text) {
  constexpr std::string_view kDigits[] = {"零", "一", "二", "三", "四",
                                          "五", "六", "七", "八", "九"};
  constexpr std::pair<std::string_view, std::int64_t> kPlaces[] = {
      {"十", 10}, {"百", 100}, {"千", 1000}, {"万", 10'000}, {"亿", 100'000'000}};
  constexpr std::size_t kLongest = 60;
  if (text.empty() || text.size() > kLongest) return std::nullopt;
  std::int64_t total = 0, group = 0, digit = -1, last = 100'000'000'000;
  while (!text.empty()) {
    if (take(text, "两")) {
      if (digit >= 0) return std::nullopt;
      digit = 2;
      continue;
    }
    const auto* sign = std::ranges::find_if(kDigits, [&](auto each) { return take(text, each); });
    if (sign != std::end(kDigits)) {
      const auto value = static_cast<std::int64_t>(sign - std::begin(kDigits));
      if (digit > 0 || (digit == 0 && value == 0)) return std::nullopt;
      digit = value;
      continue;
    }
    const auto* place =
        std::ranges::find_if(kPlaces, [&](const auto& each) { return take(text, each.first); });
    if (place == std::end(kPlaces)) return std::nullopt;
    if (place->second >= 10'000) {
      if (place->second >= last || (digit < 1 && group == 0)) return std::nullopt;
      total += (group + std::max<std::int64_t>(digit, 0)) * place->second;
      group = 0;
      last = place->second;
    } else {
      group += (digit < 0 ? 1 : digit) * place->second;
    }
    digit = -1;
  }
  return exact::Rational(total + group + std::max<std::int64_t>(digit, 0));
}

}  // namespace

std::optional<exact::Rational> ordinal_in_words(std::string_view text) {
  constexpr std::string_view kOrdinals[] = {"first",       "second",     "third",      "fourth",
                                            "fifth",       "sixth",      "seventh",    "eighth",
                                            "ninth",       "tenth",      "eleventh",   "twelfth",
                                            "thirteenth",  "fourteenth", "fifteenth",  "sixteenth",
                                            "seventeenth", "eighteenth", "nineteenth", "twentieth"};
  constexpr std::string_view kTens[] = {"twenty", "thirty",  "forty",  "fifty",
                                        "sixty",  "seventy", "eighty", "ninety"};
  std::int64_t tens = 0;
  for (std::size_t i = 0; i < std::size(kTens); ++i)
    if (text.size() > kTens[i].size() && take(text, kTens[i])) {
      tens = 10 * static_cast<std::int64_t>(i + 2);
      take(text, "-");
      break;
    }
  const auto* at = std::ranges::find(kOrdinals, text);
  const auto value = static_cast<std::int64_t>(at - std::begin(kOrdinals)) + 1;
  if (at == std::end(kOrdinals) || (tens > 0 && value > 9)) return std::nullopt;
  return exact::Rational(tens + value);
}

std::optional<exact::Rational> number_in_words(std::string_view text) {
  if (!text.empty() && static_cast<unsigned char>(text[0]) >= 0x80) return chinese_number(text);
  std::int64_t total = 0, group = 0;                   // complete thousands, and the rest
  std::int64_t below = 1000, scale = 100'000'000'000;  // bounds of the next summand and factor
  bool first = true, joined = false;
  for (; !text.empty(); first = false) {
    const NumberWord next = number_word(text);
    const bool counts = first || group > 0;
    if (!take(text, next.word) || next.word.empty()) return std::nullopt;
    if (next.denominator > 1) {
      const bool fits = first ? next.word == "half" : next.word.ends_with('s') == (group > 1);
      if (!fits || joined || !text.empty() || total > 0) return std::nullopt;
      return exact::Rational(first ? 1 : group, next.denominator);
    }
    if (next.value < 100) {
      if (next.value >= below || (next.value == 0 && !first)) return std::nullopt;
      group += next.value;
      below = next.value < 20 ? 1 : 10;
    } else if (next.value == 100) {
      if (!counts || group > 99) return std::nullopt;
      group = std::max<std::int64_t>(group, 1) * 100;
      below = 100;
    } else {
      if (!counts || next.value >= scale) return std::nullopt;
      total += std::max<std::int64_t>(group, 1) * next.value;
      group = 0;
      below = 1000;
      scale = next.value;
    }
    if (text.size() > 1) take(text, "-");
    joined = text.size() > 3 && below >= 100 && take(text, "and");
  }
  return first ? std::nullopt : std::optional(exact::Rational(total + group));
}

const Meaning* unicode(std::string_view character) { return find(kCharacters, character); }

}  // namespace lie::latex

// The meanings of words, commands and characters: tables sorted at compile time and searched by
// bisection.
#include <algorithm>
#include <array>
#include <initializer_list>
#include <span>

#include "verifier/latex/lexer/token.h"

namespace lie::latex {
namespace {

using expr::Fn, expr::Rel;

/// A few spellings.
struct Words {
  constexpr Words(std::initializer_list<std::string_view> words = {}) : count(words.size()) {
    std::ranges::copy(words, all.begin());
  }

  std::array<std::string_view, 76> all;
  std::size_t count;
};

/// A meaning without its word, and its spellings: LaTeX commands, words of plain mathematics, and
/// characters beyond ASCII.
struct Spelled {
  Meaning meaning;
  Words commands, words = {}, characters = {};
};

constexpr Meaning plain(Tok kind) { return {"", kind}; }
constexpr Meaning function(Fn fn) { return {"", Tok::kFunction, fn}; }
constexpr Meaning relation(Rel rel) { return {"", Tok::kRelation, Fn::kNone, rel}; }
constexpr Meaning bracket(Tok kind, char c) { return {"", kind, Fn::kNone, Rel::kEqual, c}; }
constexpr Meaning named(Tok kind, std::string_view name) {
  return {"", kind, Fn::kNone, Rel::kEqual, 0, name};
}

constexpr auto kSpelled = std::to_array<Spelled>({
    // letters
    {plain(Tok::kSymbol),
     {"alpha",   "beta",  "gamma",   "delta",   "epsilon",  "dim",   "zeta",      "eta",   "theta",
      "iota",    "kappa", "lambda",  "mu",      "nu",       "xi",    "rho",       "sigma", "tau",
      "upsilon", "phi",   "Pr",      "chi",     "psi",      "omega", "Gamma",     "Delta", "Theta",
      "Lambda",  "Xi",    "Sigma",   "Upsilon", "Phi",      "Psi",   "Omega",     "Pi",    "ell",
      "hbar",    "aleph", "partial", "square",  "triangle", "angle", "imath",     "jmath", "bullet",
      "top",     "odot",  "otimes",  "forall",  "exists",   "neg",   "therefore", "wp"},
     {"alpha", "beta", "theta", "lambda"}},
    {named(Tok::kSymbol, "epsilon"), {"varepsilon"}},
    {named(Tok::kSymbol, "theta"), {"vartheta"}},
    {named(Tok::kSymbol, "rho"), {"varrho"}},
    {named(Tok::kSymbol, "phi"), {"varphi"}},
    {named(Tok::kSymbol, "neg"), {"lnot"}},
    {named(Tok::kConstant, "pi"), {"pi"}, {"pi"}, {"π"}},
    {named(Tok::kConstant, "infinity"), {"infty"}, {"infinity", "Infinity", "inf", "oo"}, {"∞"}},
    {named(Tok::kConstant, "e"), {"exponentialE"}},
    {named(Tok::kNamedSet, "empty"), {"emptyset", "varnothing"}, {}, {"∅", "⌀"}},
    {named(Tok::kNamedSet, "N"), {"N"}, {}, {"ℕ"}},
    {named(Tok::kNamedSet, "Z"), {"Z"}, {}, {"ℤ"}},
    {named(Tok::kNamedSet, "Q"), {"Q"}, {}, {"ℚ"}},
    {named(Tok::kNamedSet, "R"), {"R", "Reals"}, {}, {"ℝ"}},
    {named(Tok::kNamedSet, "C"), {"C"}, {}, {"ℂ"}},
    // functions
    {function(Fn::kSin), {"sin"}, {"sin"}},
    {function(Fn::kCos), {"cos"}, {"cos"}},
    {function(Fn::kTan), {"tan"}, {"tan"}},
    {function(Fn::kCot), {"cot"}, {"cot"}},
    {function(Fn::kSec), {"sec"}, {"sec"}},
    {function(Fn::kCsc), {"csc"}, {"csc"}},
    {function(Fn::kArcsin), {"arcsin", "asin"}, {"arcsin", "asin"}},
    {function(Fn::kArccos), {"arccos", "acos"}, {"arccos", "acos"}},
    {function(Fn::kArctan), {"arctan", "atan"}, {"arctan", "atan"}},
    {function(Fn::kArccot), {"arccot"}},
    {function(Fn::kSinh), {"sinh"}, {"sinh"}},
    {function(Fn::kCosh), {"cosh"}, {"cosh"}},
    {function(Fn::kTanh), {"tanh"}, {"tanh"}},
    {function(Fn::kArsinh), {"arsinh", "arcsinh"}},
    {function(Fn::kArcosh), {"arcosh", "arccosh"}},
    {function(Fn::kArtanh), {"artanh", "arctanh"}},
    {function(Fn::kExp), {"exp"}, {"exp"}},
    {function(Fn::kLn), {"ln"}, {"ln"}},
    {function(Fn::kLog), {"log", "lg"}, {"log"}},
    {function(Fn::kGcd), {"gcd"}, {"gcd"}},
    {function(Fn::kLcm), {"lcm"}, {"lcm"}},
    {function(Fn::kMax), {"max"}, {"max"}},
    {function(Fn::kMin), {"min"}, {"min"}},
    {function(Fn::kFloor), {"floor"}, {"floor"}},
    {function(Fn::kCeil), {"ceil"}, {"ceil"}},
    {function(Fn::kAbs), {"abs"}, {"abs"}},
    {function(Fn::kDet), {"det"}, {"det"}},
    // operators
    {plain(Tok::kPlus), {}, {}, {"＋"}},
    {plain(Tok::kMinus), {}, {}, {"−", "–", "—", "－"}},
    {plain(Tok::kPlusMinus), {"pm"}, {}, {"±"}},
    {plain(Tok::kMinusPlus), {"mp"}, {}, {"∓"}},
    {plain(Tok::kTimes), {"times", "cdot", "centerdot"}, {}, {"×", "·", "⋅", "∙"}},
    {plain(Tok::kDivide), {"div", "slash"}, {}, {"÷", "⁄", "∕"}},
    {plain(Tok::kColon), {"colon"}, {}, {"："}},
    {plain(Tok::kMod), {"mod", "bmod"}, {"mod"}},
    {plain(Tok::kPmod), {"pmod"}},
    {plain(Tok::kCup), {"cup", "bigcup"}, {"union"}, {"∪"}},
    {plain(Tok::kCap), {"cap"}, {"intersect"}, {"∩"}},
    {plain(Tok::kSetMinus), {"setminus", "smallsetminus", "backslash"}, {}, {"∖"}},
    {plain(Tok::kAnd), {"land", "wedge", "&"}, {"and"}, {"∧", "和", "且"}},
    {plain(Tok::kOr), {"lor", "vee"}, {"or"}, {"∨", "或"}},
    {plain(Tok::kDegree),
     {"circ", "degree", "textcirc", "textdegree"},
     {"degrees", "degree"},
     {"°", "º"}},
    {plain(Tok::kPrime), {"prime"}, {}, {"′", "’", "″"}},
    // relations
    {relation(Rel::kEqual), {"eq"}, {}, {"＝"}},
    {relation(Rel::kNotEqual), {"ne", "neq"}, {}, {"≠"}},
    {relation(Rel::kLess), {"lt"}, {}, {"＜"}},
    {relation(Rel::kLessEqual), {"le", "leq", "leqslant", "leqq"}, {}, {"≤", "⩽", "≦"}},
    {relation(Rel::kGreater), {"gt"}, {}, {"＞"}},
    {relation(Rel::kGreaterEqual), {"ge", "geq", "geqslant", "geqq"}, {}, {"≥", "⩾", "≧"}},
    {relation(Rel::kApprox), {"approx", "approxeq", "simeq", "doteq"}, {}, {"≈"}},
    {relation(Rel::kSimilar), {"sim"}, {}, {"∼"}},
    {relation(Rel::kCongruent), {"cong"}, {}, {"≅"}},
    {relation(Rel::kEquivalent), {"equiv"}, {}, {"≡"}},
    {relation(Rel::kIn), {"in"}, {}, {"∈"}},
    {relation(Rel::kNotIn), {"notin"}, {}, {"∉"}},
    {relation(Rel::kSubset), {"subset", "subseteq"}, {}, {"⊂", "⊆"}},
    {relation(Rel::kSuperset), {"supset", "supseteq"}, {}, {"⊃", "⊇"}},
    {relation(Rel::kArrow),
     {"to", "rightarrow", "Rightarrow", "longrightarrow", "Longrightarrow", "mapsto", "implies",
      "iff", "leftrightarrow", "Leftrightarrow"},
     {},
     {"→", "⇒", "⇔"}},
    {relation(Rel::kParallel), {"parallel"}, {}, {"∥"}},
    {relation(Rel::kPerpendicular), {"perp"}, {}, {"⊥"}},
    {relation(Rel::kProportional), {"propto"}},
    // brackets
    {bracket(Tok::kOpen, '{'), {"lbrace", "{"}, {}, {"｛"}},
    {bracket(Tok::kClose, '}'), {"rbrace", "}"}, {}, {"｝"}},
    {bracket(Tok::kOpen, '['), {"lbrack"}, {}, {"【", "［"}},
    {bracket(Tok::kClose, ']'), {"rbrack"}, {}, {"】", "］"}},
    {bracket(Tok::kOpen, '('), {"lgroup", "lparen"}, {}, {"（"}},
    {bracket(Tok::kClose, ')'), {"rgroup", "rparen"}, {}, {"）"}},
    {bracket(Tok::kOpen, 'A'), {"langle"}, {}, {"⟨"}},
    {bracket(Tok::kClose, 'A'), {"rangle"}, {}, {"⟩"}},
    {bracket(Tok::kOpen, 'F'), {"lfloor", "llcorner"}, {}, {"⌊"}},
    {bracket(Tok::kClose, 'F'), {"rfloor", "lrcorner"}, {}, {"⌋"}},
    {bracket(Tok::kOpen, 'C'), {"lceil", "ulcorner"}, {}, {"⌈"}},
    {bracket(Tok::kClose, 'C'), {"rceil", "urcorner"}, {}, {"⌉"}},
    {bracket(Tok::kOpen, '|'), {"lvert"}},
    {bracket(Tok::kClose, '|'), {"rvert"}},
    {bracket(Tok::kOpen, 'N'), {"lVert"}},
    {bracket(Tok::kClose, 'N'), {"rVert"}},
    {plain(Tok::kBar), {"vert"}},
    {plain(Tok::kDoubleBar), {"Vert", "|"}},
    {plain(Tok::kMid), {"mid"}, {}, {"∣"}},
    // structures
    {plain(Tok::kFrac), {"frac", "dfrac", "tfrac", "cfrac", "nicefrac"}},
    {plain(Tok::kSqrt), {"sqrt"}, {"sqrt", "SQRT"}, {"√"}},
    {named(Tok::kSqrt, "3"), {}, {}, {"∛"}},
    {plain(Tok::kBinom), {"binom", "dbinom", "tbinom"}},
    {plain(Tok::kChoose), {"choose"}},
    {plain(Tok::kOver), {"over"}},
    {plain(Tok::kBoxed), {"boxed", "fbox"}},
    {plain(Tok::kOperatorName), {"operatorname"}},
    {plain(Tok::kSum), {"sum"}, {}, {"∑"}},
    {plain(Tok::kProd), {"prod"}, {}, {"∏"}},
    {plain(Tok::kIntegral), {"int"}, {}, {"∫"}},
    {plain(Tok::kLimit), {"lim"}},
    {plain(Tok::kBegin), {"begin"}},
    {plain(Tok::kEndEnvironment), {"end"}},
    {named(Tok::kAccent, "bar"), {"overline", "bar", "widebar"}},
    {named(Tok::kAccent, "vec"), {"vec", "overrightarrow"}},
    {named(Tok::kAccent, "hat"), {"hat", "widehat"}},
    {named(Tok::kAccent, "dot"), {"dot"}},
    {named(Tok::kAccent, "ddot"), {"ddot"}},
    {named(Tok::kAccent, ""),
     {"mathbf", "boldsymbol", "bm", "mathit", "mathcal", "mathscr", "mathfrak", "mathsf",
      "ensuremath", "underline", "mathord"}},
    // text
    {plain(Tok::kText),
     {"text", "textbf", "textit", "textrm", "textnormal", "textsf", "texttt", "textsc", "mbox",
      "hbox", "mathrm", "mathbb", "emph", "mathop"}},
    // characters and dots
    {plain(Tok::kPercent), {"%"}, {"percent", "percentage", "pct"}, {"％"}},
    {plain(Tok::kCurrency),
     {"$", "euro", "pounds", "yen"},
     {"USD", "EUR", "GBP", "INR", "Rs"},
     {"€", "£", "¥", "₹", "￥"}},
    {plain(Tok::kDots),
     {"ldots", "cdots", "dots", "dotsc", "dotsb", "vdots", "ddots"},
     {},
     {"…", "⋯"}},
    {plain(Tok::kComma), {}, {}, {"，", "、"}},
    {plain(Tok::kSemicolon), {}, {}, {"；"}},
    {plain(Tok::kPeriod), {}, {}, {"。"}},
    {plain(Tok::kUnderscore), {"_"}},
    // spacing and size
    {plain(Tok::kIgnore),
     {"newline",   "(",      ")",        "[",          "]",     ",",     ";",     ":",
      "!",         " ",      ">",        "/",          "quad",  "qquad", "left",  "right",
      "mleft",     "mright", "middle",   "big",        "bigl",  "bigr",  "bigg",  "biggl",
      "biggr",     "Big",    "Bigl",     "Bigr",       "Bigg",  "Biggl", "Biggr", "displaystyle",
      "textstyle", "limits", "nolimits", "checkmark",  "hline", "rm",    "bf",    "it",
      "not",       "tiny",   "small",    "normalsize", "large", "Large", "LARGE", "huge",
      "Huge"},
     {},
     {"\u00a0", "\u2009", "\u202f", "\u2003", "\u3000", "\u200b", "\u2061", "“", "”"}},
    // with the braces after them, whose content is not visible
    {named(Tok::kIgnore, "{}"),
     {"color", "textcolor", "colorbox", "hspace", "vspace", "phantom", "tag", "label"}},
    // with the square brackets after them
    {named(Tok::kIgnore, "[]"), {"bbox"}},
});

/// Letters beyond ASCII, and the names of their commands.
struct Letter {
  std::string_view character, name;
};
constexpr auto kLetters = std::to_array<Letter>(
    {{"α", "alpha"},    {"β", "beta"},  {"γ", "gamma"}, {"δ", "delta"}, {"ε", "epsilon"},
     {"ζ", "zeta"},     {"η", "eta"},   {"θ", "theta"}, {"κ", "kappa"}, {"λ", "lambda"},
     {"μ", "mu"},       {"µ", "mu"},    {"ν", "nu"},    {"ξ", "xi"},    {"ρ", "rho"},
     {"σ", "sigma"},    {"τ", "tau"},   {"φ", "phi"},   {"ϕ", "phi"},   {"χ", "chi"},
     {"ψ", "psi"},      {"ω", "omega"}, {"Γ", "Gamma"}, {"Δ", "Delta"}, {"Θ", "Theta"},
     {"Λ", "Lambda"},   {"Σ", "Sigma"}, {"Φ", "Phi"},   {"Ψ", "Psi"},   {"Ω", "Omega"},
     {"△", "triangle"}, {"∠", "angle"}, {"ℓ", "ell"}});

/// Returns the meanings sorted by one kind of spelling. A symbol without a name is named by its
/// word.
template <Words Spelled::*kKind>
constexpr auto table() {
  constexpr std::span<const Letter> kNamed =
      kKind == &Spelled::characters ? std::span<const Letter>(kLetters) : std::span<const Letter>();
  constexpr std::size_t kSize = [kNamed] {
    std::size_t size = kNamed.size();
    for (const Spelled& spelled : kSpelled) size += (spelled.*kKind).count;
    return size;
  }();
  std::array<Meaning, kSize> meanings;
  auto next = meanings.begin();
  for (const Spelled& spelled : kSpelled) {
    const Words& words = spelled.*kKind;
    for (std::size_t i = 0; i < words.count; ++i) {
      Meaning& meaning = *next++ = spelled.meaning;
      meaning.word = words.all[i];
      if (meaning.kind == Tok::kSymbol && meaning.name.empty()) meaning.name = meaning.word;
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
constexpr auto kWords = table<&Spelled::words>();
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

const Meaning* plain_word(std::string_view word) { return find(kWords, word); }

namespace {

std::optional<int> up_to_twenty(std::string_view word) {
  static constexpr auto kNumbers = std::to_array<std::string_view>(
      {"zero",     "one",     "two",     "three",     "four",     "five",     "six",
       "seven",    "eight",   "nine",    "ten",       "eleven",   "twelve",   "thirteen",
       "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"});
  const auto* at = std::ranges::find(kNumbers, word);
  if (at == kNumbers.end()) return std::nullopt;
  return static_cast<int>(at - kNumbers.begin());
}

}  // namespace

std::optional<int> number_in_words(std::string_view word) {
  static constexpr auto kTens = std::to_array<std::string_view>(
      {"twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"});
  const auto* tens = std::ranges::find_if(kTens, [&](auto ten) { return word.starts_with(ten); });
  if (tens == kTens.end()) return up_to_twenty(word);
  const int value = 10 * static_cast<int>(tens - kTens.begin() + 2);
  word.remove_prefix(tens->size());
  if (word.empty()) return value;
  if (word.front() == '-') word.remove_prefix(1);
  const std::optional<int> ones = up_to_twenty(word);
  if (!ones || *ones < 1 || *ones > 9) return std::nullopt;
  return value + *ones;
}

const Meaning* unicode(std::string_view character) { return find(kCharacters, character); }

}  // namespace lie::latex

// Parses numbers, symbols and words.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "common/text/scan.h"
#include "verifier/latex/forms.h"
#include "verifier/latex/measures.h"
#include "verifier/latex/parser_state.h"
#include "verifier/latex/text.h"
#include "verifier/latex/units.h"

namespace lie::latex {

const Expr* Parser::atom() {
  const Scoped<std::int64_t> deeper(nesting_, nesting_ + 1);
  if (!enter()) return nullptr;
  if (const Expr* digits = lettered_digits()) return digits;
  const Token& t = tok();
  switch (t.kind) {
    case Tok::kNumber: return number();
    case Tok::kSymbol: return symbol();
    case Tok::kWord: return words();
    case Tok::kText: return text();
    case Tok::kConstant: ++at_; return arena_.constant(t.name);
    case Tok::kNamedSet: ++at_; return named_set(t.name);
    case Tok::kFunction: ++at_; return function(t.fn);
    case Tok::kOperatorName: return operator_name();
    case Tok::kAccent: return accent();
    case Tok::kFrac: return fraction();
    case Tok::kSqrt: return root();
    case Tok::kBinom: return binomial();
    case Tok::kSum: ++at_; return repeated(Fn::kSum);
    case Tok::kProd: ++at_; return repeated(Fn::kProduct);
    case Tok::kBegin: return environment();
    case Tok::kBoxed: ++at_; return is(Tok::kBraceOpen) ? braces() : atom();
    case Tok::kBraceOpen: return braces();
    case Tok::kOpen: return brackets();
    case Tok::kBar:
    case Tok::kDoubleBar: return bars();
    case Tok::kDots: ++at_; return arena_.symbol("...");
    case Tok::kCurrency: return price();
    default: return fail("an operand is missing");
  }
}

// Parses \$5 and \$-5. A sign of currency before anything else than a number is skipped.
const Expr* Parser::price() {
  const std::string sign = currency(at_++);
  take(Tok::kPeriod);
  const bool negative = take(Tok::kMinus);
  const Expr* value = amount(atom(), sign);
  return negative ? negated(value, arena_) : value;
}

// --- numbers ---------------------------------------------------------------------------------

const Expr* Parser::number() {
  const Token& first = tok();
  if (first.repeating && (is(Tok::kAccent, 1) || at_repeating_group())) return repeating(first);
  const bool starts_thousands = thousands_ok_ && may_start_thousands();
  if (std::optional<exact::Rational> whole = underscored()) {
    while (is(Tok::kUnderscore, 1)) at_ += 2;
    return ++at_, arena_.number(*std::move(whole));
  }
  ++at_;
  if (const Expr* written = literal(first)) return written;
  const exact::Rational& value = lexed_.numbers[first.number];
  if (starts_thousands) return thousands(value, false);
  const Expr* out = arena_.number(value, first.decimal);
  return value.is_integer() && !first.decimal ? mixed(out) : out;
}

// Returns a literal such as 0x1F that makes up an element, with its digits and base. Elsewhere it
// is its value.
const Expr* Parser::literal(const Token& token) {
  const std::string_view name = token.name;
  if (name.size() < 3 || name[0] != '0' || !is_letter(name[1]) || !ends_element(0)) return nullptr;
  const int radix = to_lower(name[1]) == 'x' ? 16 : name[1] == 'o' ? 8 : 2;
  std::string digits(name.substr(2));
  std::ranges::transform(digits, digits.begin(), to_upper);
  return arena_.make({.op = Op::kBased,
                      .flag = true,
                      .name = std::move(digits),
                      .args = {arena_.number(lexed_.numbers[token.number]), arena_.number(radix)}});
}

// Returns the value of 1_000_000, whose underscores group digits, or nothing.
std::optional<exact::Rational> Parser::underscored() const {
  constexpr std::size_t kMostTokens = 40;
  if (tok().decimal || tok().name.size() > 3 || tok().name.starts_with('0')) return std::nullopt;
  exact::Rational value = lexed_.numbers[tok().number];
  std::size_t n = 1;
  for (; is(Tok::kUnderscore, n) && n < kMostTokens; n += 2) {
    if (!is(Tok::kNumber, n + 1) || tok(n + 1).spaced || tok(n + 1).name.size() != 3 ||
        tok(n + 1).decimal)
      return std::nullopt;
    value = value * exact::Rational(1000) + lexed_.numbers[tok(n + 1).number];
  }
  return n > 1 && !is(Tok::kUnderscore, n) ? std::optional(std::move(value)) : std::nullopt;
}

// Thousands start with one to three digits before a comma, without a zero in front, and without a
// number and comma directly before. A superscript has no digits.
bool Parser::may_start_thousands() const {
  const Token& first = tok();
  if (first.decimal || first.name.empty() || first.name.size() > 3 || first.name.front() == '0' ||
      !is(Tok::kComma, 1))
    return false;
  if (at_ < 2 || first.spaced || lexed_.tokens[at_ - 1].spaced) return true;
  return lexed_.tokens[at_ - 1].kind != Tok::kComma || lexed_.tokens[at_ - 2].kind != Tok::kNumber;
}

// Joins groups of three digits after commas, if only such groups follow.
const Expr* Parser::thousands(exact::Rational value, bool decimal) {
  std::size_t n = 0;
  bool any = decimal;
  exact::Rational glued = value;
  while (is(Tok::kComma, n) && !tok(n).spaced && is(Tok::kNumber, n + 1) && tok(n + 1).thousands &&
         !any) {
    glued = glued * exact::Rational(1000) + lexed_.numbers[tok(n + 1).number];
    any = tok(n + 1).decimal;
    n += 2;
  }
  const bool list_goes_on = is(Tok::kComma, n) && is(Tok::kNumber, n + 1) && !tok(n + 1).spaced;
  if (n == 0 || list_goes_on) return arena_.number(std::move(value), decimal);
  at_ += n;
  return arena_.number(std::move(glued), any);
}

bool Parser::at_dotted_digit(std::size_t ahead) const {
  return is(Tok::kAccent, ahead) && tok(ahead).name == "dot" && is(Tok::kBraceOpen, ahead + 1) &&
         is(Tok::kNumber, ahead + 2) && !tok(ahead + 2).decimal && is(Tok::kBraceClose, ahead + 3);
}

// Returns whether the digits of 0.1(6) recur. Next to other factors, and in 2.5(3) = 7.5, the
// brackets multiply.
bool Parser::at_repeating_group() const {
  if (!is_open('(', 1) || !is(Tok::kNumber, 2) || tok(2).decimal || !is(Tok::kClose, 3))
    return false;
  const bool multiplies =
      at_ > 0 && is_one_of(lexed_.tokens[at_ - 1].kind, Tok::kTimes, Tok::kDivide, Tok::kPlus);
  return !multiplies && std::ranges::all_of(tok(2).name, is_digit) &&
         is_one_of(tok(4).kind, Tok::kEnd, Tok::kComma, Tok::kSemicolon, Tok::kAnd, Tok::kOr,
                   Tok::kPercent, Tok::kPeriod, Tok::kText, Tok::kClose, Tok::kBraceClose);
}

// Parses 0.1\overline{6} and 0.1(6), whose marked digits repeat forever.
const Expr* Parser::repeating(const Token& first) {
  const std::string_view digits = first.name;
  const std::size_t point = digits.find('.');
  const auto places =
      point == std::string_view::npos ? 0 : static_cast<std::int64_t>(digits.size() - point - 1);
  at_ += 2;
  const bool bracketed = lexed_.tokens[at_ - 1].kind == Tok::kOpen;
  const bool braced = !bracketed && take(Tok::kBraceOpen);
  if (!is(Tok::kNumber) || tok().decimal) return fail("no digits under the line");
  auto length = static_cast<std::int64_t>(tok().name.size());
  exact::Rational block = lexed_.numbers[tok().number];
  at_ += bracketed ? 2 : 1;
  if (braced && !take(Tok::kBraceClose)) return fail("the line over the digits is not closed");
  // In 0.\dot{1}2\dot{3} the digits from the first to the last dot recur.
  while (at_dotted_digit(0) || (is(Tok::kNumber) && at_dotted_digit(1))) {
    at_ += is(Tok::kNumber) ? 0 : 2;
    const auto more = static_cast<std::int64_t>(tok().name.size());
    if (!arena_.budget().allow_bits(4 * (length + more))) return nullptr;
    block = block * exact::power_of_ten(more) + lexed_.numbers[tok().number];
    length += more;
    at_ += is(Tok::kBraceClose, 1) ? 2 : 1;
  }
  if (!arena_.budget().allow_bits(4 * (places + length))) return nullptr;
  const exact::Rational nines = exact::power_of_ten(length) - exact::Rational(1);
  return arena_.number(lexed_.numbers[first.number] + block / nines * exact::power_of_ten(-places));
}

// Returns the fraction of two whole numbers that follows, and its number of tokens.
std::optional<Parser::Ahead> Parser::fraction_ahead() const {
  const auto whole = [&](std::size_t i) { return is(Tok::kNumber, i) && !tok(i).decimal; };
  const auto value = [&](std::size_t i) { return lexed_.numbers[tok(i).number]; };
  if (is(Tok::kNumber) && tok().spaced && is(Tok::kDivide, 1) && whole(0) && whole(2))
    return Ahead{value(0), value(2), 3};
  if (!is(Tok::kFrac)) return std::nullopt;
  if (is(Tok::kBraceOpen, 1) && whole(2) && is(Tok::kBraceClose, 3) && is(Tok::kBraceOpen, 4) &&
      whole(5) && is(Tok::kBraceClose, 6))
    return Ahead{value(2), value(5), 7};
  if (whole(1) && whole(2) && tok(1).name.size() <= 1) return Ahead{value(1), value(2), 3};
  const std::string_view digits = tok(1).name;
  if (!whole(1) || digits.size() != 2 || is(Tok::kBraceOpen, 2)) return std::nullopt;
  return Ahead{exact::Rational(digits[0] - '0'), exact::Rational(digits[1] - '0'), 2};
}

// Adds a proper fraction of whole numbers after a whole number: 1\frac{1}{2} and 1 1/2.
const Expr* Parser::mixed(const Expr* whole) {
  const std::optional<Ahead> ahead = fraction_ahead();
  if (whole == nullptr || !ahead || !(ahead->top < ahead->bottom)) return whole;
  at_ += ahead->tokens;
  return arena_.number(whole->value + ahead->top / ahead->bottom);
}

// Parses \mathbb{R}, and the expected value \mathbb{E}[X].
const Expr* Parser::named_set(std::string_view name) {
  const bool called = is_one_of(name, "E", "P", "V") && (is_open('[') || is_open('('));
  return called ? applied(std::string(name)) : arena_.named(Op::kNamedSet, name);
}

// --- symbols ---------------------------------------------------------------------------------

const Expr* Parser::letter(std::string_view name) {
  const bool alone = !is(Tok::kUnderscore) && !is(Tok::kPrime);
  if (alone && name == "e") return arena_.constant("e");
  if (alone && name == "i" && !bound_.contains(name)) return arena_.constant("i");
  return nullptr;
}

const Expr* Parser::symbol() {
  const std::string_view name = tok().name;
  ++at_;
  if (const Expr* known = letter(name)) return known;
  if (name.size() > 1) {
    if (is_one_of(name, "angle", "measuredangle", "triangle")) return figure(name);
    if (is_one_of(name, "neg", "forall", "exists")) return quantified(name);
    const bool change =
        name == "Delta" && is(Tok::kSymbol) && tok().name.size() == 1 && tok().name[0] >= 'a';
    if (change) return ++at_, maybe_applied(fmt::format("Delta{}", lexed_.tokens[at_ - 1].name));
  }
  std::string full = normal_name(name);
  while (take(Tok::kPrime)) full += "'";
  if (is(Tok::kUnderscore)) full.append("_").append(subscript_text());
  if (full.ends_with('_')) return fail("an empty subscript");
  return maybe_applied(std::move(full));
}

// Parses \neg p and \forall x \exists y, whose order counts.
const Expr* Parser::quantified(std::string_view name) {
  const Expr* of = power_or_postfix();
  Expr out{.op = Op::kApply, .name = fmt::format("\\{}", name), .args = {of}};
  if (of != nullptr && (is_symbol("forall") || is_symbol("exists"))) out.args.push_back(symbol());
  return arena_.make(std::move(out));
}

// Parses the points of \angle ABC and \triangle ABC, whose order counts. The angle CBA is ABC.
const Expr* Parser::figure(std::string_view kind) {
  std::vector<std::string> points;
  const bool braced = is(Tok::kBraceOpen) && is(Tok::kSymbol, 1) && take(Tok::kBraceOpen);
  while (points.size() < 3 && is(Tok::kSymbol) && tok().name.size() == 1 && tok().name[0] <= 'Z' &&
         (points.empty() || !tok().spaced)) {
    points.emplace_back(tok().name);
    ++at_;
    while (take(Tok::kPrime)) points.back() += "'";
    if (is(Tok::kUnderscore)) points.back() += subscript_text();
  }
  if (braced && !take(Tok::kBraceClose)) return fail("more than three points");
  if (kind != "triangle") kind = "angle";
  if (kind == "angle" && points.size() == 3 && points[2] < points[0])
    std::swap(points[0], points[2]);
  return arena_.symbol(fmt::format("{}{}", kind, fmt::join(points, "")));
}

// Parses the argument of 5\angle 30^\circ, which is 5(\cos 30^\circ + i \sin 30^\circ). Whole
// numbers beyond a full turn in radians are degrees. Returns nullptr for the points of an angle.
const Expr* Parser::polar(const Expr* modulus) {
  if (!is_one_of(tok(1).kind, Tok::kNumber, Tok::kMinus, Tok::kFrac, Tok::kConstant, Tok::kOpen,
                 Tok::kBraceOpen))
    return nullptr;
  const std::size_t first = at_++;
  const Expr* argument = operand();
  if (argument == nullptr || !is_constant(*argument)) {
    at_ = first;
    error_ = {};
    return nullptr;
  }
  const exact::Rational turn(7);
  const bool degrees = argument->op == Op::kNumber && !argument->flag &&
                       (turn < argument->value || argument->value < exact::Rational(-7));
  if (degrees) argument = arena_.node(Op::kDegree, {argument});
  const Expr* sine = arena_.mul({arena_.constant("i"), arena_.call(Fn::kSin, {argument})});
  return arena_.mul({modulus, arena_.add({arena_.call(Fn::kCos, {argument}), sine})});
}

// Returns whether the name of an expected value, variance or probability stands before its
// argument: E[X^2], P(A). In P(1 + r) it is a factor.
bool Parser::is_operator(std::string_view name) const {
  constexpr std::size_t kLongest = 24;
  if (!is_one_of(name, "E", "P", "Pr", "V", "D") || tok().spaced) return false;
  if ((name == "E" && is_open('[')) || (name == "Pr" && (is_open('(') || is_open('['))))
    return true;
  if (!is_open('(') && !is_open('[')) return false;
  bool variables = false, event = false;  // an event: P(X = 4)
  std::size_t n = 1;
  for (; n < kLongest && !is(Tok::kClose, n); ++n) {
    const bool variable = is(Tok::kSymbol, n) && tok(n).name.size() == 1 && tok(n).name[0] <= 'Z';
    variables = variables || variable;
    event = event || is(Tok::kRelation, n);
    if (!variable && !is(Tok::kRelation, n) &&
        !is_one_of(tok(n).kind, Tok::kNumber, Tok::kCaret, Tok::kBraceOpen, Tok::kBraceClose,
                   Tok::kUnderscore, Tok::kPlus, Tok::kMinus, Tok::kCap, Tok::kCup))
      return false;
  }
  if (event && !(name == "P" && is(Tok::kRelation, n + 1))) return false;
  return variables && (is_one_of(name, "E", "P") || n == 2);
}

// Parses a call such as f(x), for the letters that name functions. Other names are called only at
// 0, and are factors otherwise.
const Expr* Parser::maybe_applied(std::string name) {
  static constexpr std::array<std::string_view, 8> kFunctionLetters = {"f", "g", "h",   "F",
                                                                       "G", "H", "phi", "psi"};
  std::string_view letters = name;
  while (letters.ends_with('\'')) letters.remove_suffix(1);
  letters = letters.substr(0, letters.find('_'));
  if (name == "Gamma" && is_open('(')) {
    const Expr* above = brackets();
    return arena_.call(Fn::kFactorial, {arena_.add({above, arena_.number(-1)})});
  }
  if (name == "zeta" && is_open('(') && !tok().spaced) return zeta_series(brackets());
  const bool at_number = is_open('(') && is(Tok::kNumber, 1) && is(Tok::kClose, 2);
  const bool at_zero =
      at_number &&
      (lexed_.numbers[tok(1).number].is_zero() ||
       (is(Tok::kRelation, 3) && name.size() == 1 && !is_one_of(name[0], 'x', 'y', 'z')));
  if (is(Tok::kOpen) && is_operator(name)) return applied(std::move(name));
  if (!at_zero && std::ranges::find(kFunctionLetters, letters) == kFunctionLetters.end())
    return arena_.symbol(name);
  const bool inverse = is(Tok::kCaret) && is(Tok::kBraceOpen, 1) && is(Tok::kMinus, 2) &&
                       is(Tok::kNumber, 3) && is(Tok::kBraceClose, 4) && is_open('(', 5) &&
                       lexed_.numbers[tok(3).number] == exact::Rational(1);
  if (inverse) {
    at_ += 5;
    name += "^-1";
  }
  return is_open('(') && !tok().spaced ? applied(std::move(name)) : arena_.symbol(name);
}

// Parses the arguments of a call.
const Expr* Parser::applied(std::string name) {
  const Expr* inner = brackets();
  if (inner == nullptr) return nullptr;
  return arena_.make({.op = Op::kApply,
                      .name = std::move(name),
                      .args = inner->op == Op::kTuple ? inner->args : std::vector{inner}});
}

// Returns the sum of n^-s, which is zeta(s) for s > 1.
const Expr* Parser::zeta_series(const Expr* s) {
  const Expr* term = arena_.power(arena_.symbol("n'"), arena_.negate(s));
  return arena_.make({.op = Op::kBinder,
                      .fn = Fn::kSum,
                      .name = "n'",
                      .args = {term, arena_.number(1), arena_.constant("infinity")}});
}

// Returns a name or constant as a vector.
const Expr* Parser::vector(const Expr* e) {
  if (e == nullptr || !is_one_of(e->op, Op::kSymbol, Op::kConstant)) return e;
  return arena_.make({.op = e->op, .flag = true, .name = e->name});
}

// Returns the letter of a unit vector such as \hat{i}, \vec{j} or \hat{\mathbf{k}}.
const Expr* Parser::unit_vector(const Expr& under) {
  if (is_one_of(under.name, "i", "imath")) return arena_.constant("i");
  if (is_one_of(under.name, "j", "jmath")) return arena_.symbol("j");
  return under.name == "k" ? arena_.symbol("k") : nullptr;
}

namespace {

// Returns whether a product is that of two points, as under the line of \overline{AB}.
bool is_segment(const Expr& e) {
  return e.op == Op::kMul && e.args.size() == 2 &&
         std::ranges::all_of(e.args, [](const Expr* point) {
           return point->op == Op::kSymbol && point->name.size() == 1 && point->name[0] <= 'Z';
         });
}

}  // namespace

// An accented name such as \bar{x} or \vec{v} is a name of its own. The name \mathbf{v} is v.
const Expr* Parser::accent() {
  const std::string_view mark = tok().name;
  ++at_;
  const std::size_t first = at_;
  if (mark.empty()) {
    const std::string_view command = source(first - 1, first);
    const bool bold = is_one_of(command, "\\mathbf", "\\boldsymbol", "\\bm");
    const Expr* inner = is(Tok::kBraceOpen) ? braces() : atom();
    if (inner != nullptr && inner->op == Op::kMul && lexed_.tokens[first].kind == Tok::kBraceOpen)
      return arena_.symbol(normal_name(source(first, at_)));
    return bold ? vector(inner) : inner;
  }
  const Expr* under = nullptr;
  if (is(Tok::kBraceOpen)) {
    under = fraction_part();
    if (under == nullptr) return nullptr;
  } else if (is(Tok::kSymbol)) {
    under = arena_.symbol(tok().name);
    ++at_;
  } else {
    return fail("nothing is under an accent");
  }
  if (mark == "hat" || mark == "vec")
    if (const Expr* unit = unit_vector(*under)) return vector(unit);
  if (mark == "bar" && is_segment(*under)) return under;
  const Expr* name = arena_.symbol(std::string(mark) + normal_name(source(first, at_)));
  return mark == "hat" || mark == "vec" ? vector(name) : name;
}

// --- words -----------------------------------------------------------------------------------

const Expr* Parser::words() {
  const std::size_t first = at_;
  while (is(Tok::kWord)) ++at_;
  return worded(compared_text(source(first, at_)));
}

// Returns the number or constant that normalized words name, or the words.
const Expr* Parser::worded(std::string_view words) {
  if (is_one_of(words, "infinity", "infinitelymany")) return arena_.constant("infinity");
  if (is_one_of(words, "noon", "midnight")) {
    const std::optional<Form> time = read_form(words);
    return arena_.make(
        {.op = Op::kCode, .open = static_cast<char>(time->sort), .name = time->text});
  }
  std::optional<exact::Rational> value = number_in_words(words);
  if (!value) value = ordinal_in_words(words);
  return value ? arena_.number(std::move(*value)) : arena_.named(Op::kText, words);
}

// Parses 5th, the 5th, 5-th and 5th term as texts. Returns nullptr for anything else.
const Expr* Parser::ordinal_text(std::string_view content) {
  for (const std::string_view article : {"the ", "The "}) lie::take(content, article);
  const std::size_t digits = content.find_first_not_of("0123456789");
  if (digits == 0 || digits >= content.size()) return nullptr;
  std::string_view rest = content.substr(digits);
  lie::take(rest, "-");
  const std::size_t ending = ordinal_ending(rest);
  if (ending == 0) return nullptr;
  rest = trimmed(rest.substr(ending));
  std::optional<exact::Rational> value = exact::from_decimal(content.substr(0, digits));
  if (!value || !std::ranges::all_of(rest, [](char c) { return is_letter(c) || c == ' '; }))
    return nullptr;
  const Expr* number = arena_.number(std::move(*value));
  return rest.empty() ? number : measured(number, unit_name(rest), rest);
}

// Parses \text{...}, which holds a number, a single letter, the name of a function, or words.
const Expr* Parser::text() {
  const Token t = tok();
  ++at_;
  const std::string_view content = trimmed(t.name);
  if (names_function(t.name) && !is(Tok::kRelation))
    return content == "cis" ? cis() : function(command(content)->fn);
  if (std::optional<exact::Rational> value = exact::from_decimal(content))
    return arena_.number(std::move(*value), content.find('.') != std::string_view::npos);
  if (const Expr* number = ordinal_text(content)) return number;
  if (std::optional<RadixLiteral> literal = radix_literal(content);
      literal && literal->length == content.size())
    return arena_.number(std::move(literal->value));
  const std::string words = normal_text(content);
  const bool called = is_open('(') && !tok().spaced && content.size() == t.name.size() &&
                      content.size() > 1 && std::ranges::all_of(content, is_letter);
  if (called) return applied(std::string(content));
  const bool currency = is_one_of(words, "usd", "us", "rs", "eur", "gbp", "inr");
  if (words.empty() || (currency && (is(Tok::kNumber) || is(Tok::kCurrency)))) return atom();
  return worded(compared_text(content));
}

}  // namespace lie::latex

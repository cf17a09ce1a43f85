// The expression tree. The parser makes it from LaTeX and plain mathematics, and the rules of
// equality compare it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "verifier/exact/rational.h"
#include "verifier/rules/budget.h"

namespace lie {

/// Returns whether `value` is any of `others`.
constexpr bool is_one_of(auto value, auto... others) { return ((value == others) || ...); }

}  // namespace lie

namespace lie::expr {

enum class Op : std::uint8_t {
  // scalars
  kNumber,     // value
  kSymbol,     // name
  kConstant,   // name: "pi", "e", "i", "infinity"
  kAdd,        // sum of args
  kMul,        // product of args; a / b is a * b^-1, -a is -1 * a
  kPow,        // args[0] ^ args[1]
  kFunction,   // fn(args)
  kApply,      // unknown function `name` of args, or an operation with a sign as its name
  kPlusMinus,  // +-args[0]; flag: -+
  kPercent,    // args[0] / 100
  kDegree,     // args[0] degrees
  kUnit,       // args[0] with the unit or remark `name`
  kBased,      // args[0] with the digits `name` in base args[1]
  kRatio,      // args[0] : args[1] : ...
  kBinder,     // fn kSum or kProduct over variable `name`

  // answers with several parts
  kText,        // words: name, normalized
  kList,        // args without brackets; flag: separated by "or"
  kTuple,       // args in brackets open, close (order counts); of two numbers also an interval
  kSet,         // {args}
  kNamedSet,    // name: "R", "Z", "empty", ...
  kSetBuilder,  // {args[0] | args[1], ...}
  kUnion,
  kIntersection,
  kDifference,
  kMatrix,    // args row by row, `columns` wide
  kRelation,  // args[0] relations[0] args[1] relations[1] args[2] ...
  kCases,     // value, condition, value, condition, ...
  kCode,      // a date, time, range or code: name, and args[0] is its value if it is arithmetic
};

enum class Fn : std::uint8_t {
  kNone,
  kSin,
  kCos,
  kTan,
  kCot,
  kSec,
  kCsc,
  kArcsin,
  kArccos,
  kArctan,
  kArccot,
  kArcsec,
  kArccsc,
  kSinh,
  kCosh,
  kTanh,
  kArsinh,
  kArcosh,
  kArtanh,
  kExp,
  kLn,
  kLog,  // args value, base
  kAbs,
  kNorm,
  kFloor,
  kCeil,
  kFactorial,
  kBinomial,
  kGcd,
  kLcm,
  kMax,
  kMin,
  kMod,
  kDet,
  kSum,
  kProduct,  // args body, lower, upper
};

/// The names of functions by Fn.
inline constexpr auto kFnNames = std::to_array<std::string_view>(
    {"none",     "sin",    "cos",    "tan",    "cot",  "sec",  "csc",   "arcsin", "arccos",
     "arctan",   "arccot", "arcsec", "arccsc", "sinh", "cosh", "tanh",  "arsinh", "arcosh",
     "artanh",   "exp",    "ln",     "log",    "abs",  "norm", "floor", "ceil",   "factorial",
     "binomial", "gcd",    "lcm",    "max",    "min",  "mod",  "det",   "sum",    "product"});
/// Returns "sin", "sum" and the like.
constexpr std::string_view name(Fn fn) { return kFnNames[static_cast<std::size_t>(fn)]; }
/// Returns the function of a name, which must be one of kFnNames.
constexpr Fn fn_named(std::string_view name) {
  return static_cast<Fn>(std::ranges::find(kFnNames, name) - kFnNames.begin());
}

enum class Rel : std::uint8_t {
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kApprox,
  kIn,
  kNotIn,
  kSubset,
  kSuperset,
  kEquivalent,
  kArrow,
  kIff,
  kParallel,
  kPerpendicular,
  kSimilar,
  kCongruent,
  kProportional,
};

/// Properties that an expression has if any node in it has them. Arena::make() sets them.
namespace trait {
constexpr std::uint32_t kName = 1;             // a symbol, a text or an unknown function
constexpr std::uint32_t kDecimal = 1 << 1;     // a number written as a decimal
constexpr std::uint32_t kBinder = 1 << 2;      // a sum or product
constexpr std::uint32_t kImaginary = 1 << 3;   // the constant i
constexpr std::uint32_t kInfinity = 1 << 4;    // infinity, outside of binders and calls
constexpr std::uint32_t kText = 1 << 5;        // words
constexpr std::uint32_t kCall = 1 << 6;        // an unknown function
constexpr std::uint32_t kSign = 1 << 7;        // a plus-minus sign
constexpr std::uint32_t kMatrix = 1 << 8;      // a matrix
constexpr std::uint32_t kCommon = 1 << 9;      // gcd or lcm
constexpr std::uint32_t kStep = 1 << 10;       // floor, ceiling or mod
constexpr std::uint32_t kSignPower = 1 << 11;  // a negative number to a power with a name in it
constexpr std::uint32_t kAngle = 1 << 12;      // pi or degrees
constexpr std::uint32_t kVector = 1 << 13;     // a name in bold or under an arrow
constexpr std::uint32_t kOrdered = 1 << 14;    // a bold capital or a transpose: factors in order
constexpr std::uint32_t kUnit = 1 << 15;       // a unit or remark
constexpr std::uint32_t kBend = 1 << 16;       // bars, max, min or an even root of names
}  // namespace trait

/// An Arena makes nodes, which never change and live as long as the Arena. Nodes may share
/// arguments, so that a small graph can stand for a large tree. `size` bounds that tree.
struct Expr {
  Op op = Op::kNumber;
  Fn fn = Fn::kNone;
  bool flag = false;  // kNumber: written as a decimal; kPlusMinus: -+; kList: "or"; kSymbol and
                      // kConstant: in bold or under an arrow; kUnit: a remark that changes or
                      // restricts the value, as in "5 or 7"
  char open = 0;      // kTuple: '(' or '['; kList: '&' if its parts are separated by "and";
                      // kCode: the latex::Sort
  char close = 0;     // kTuple: ')' or ']'
  std::int32_t columns = 0, depth = 1;
  std::int32_t size = 1;      // nodes of the tree; a shared node counts each time
  std::uint32_t traits = 0;   // of the whole tree
  std::uint64_t symbols = 0;  // a bit for each symbol in the tree, by symbol_bit()
  std::string name = {};
  exact::Rational value = {};
  std::vector<const Expr*> args = {};
  std::vector<Rel> relations = {};

  bool has(std::uint32_t any_of) const { return (traits & any_of) != 0; }
};

/// Returns the bit of a symbol's name in Expr::symbols. Different names may have the same bit.
std::uint64_t symbol_bit(std::string_view name);

/// Owns the nodes of a pair and counts them against its budget. Every maker returns nullptr once
/// the budget is spent.
class Arena {
 public:
  explicit Arena(Budget& budget) : budget_(budget) {}
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Stores a node. Returns nullptr if an argument is nullptr, nesting is too deep, the tree is
  /// too large or the budget is spent.
  const Expr* make(Expr node);
  const Expr* number(exact::Rational value, bool decimal = false);
  const Expr* number(std::int64_t value) { return number(exact::Rational(value)); }
  const Expr* symbol(std::string_view name) { return named(Op::kSymbol, name); }
  const Expr* constant(std::string_view name) { return named(Op::kConstant, name); }
  const Expr* named(Op op, std::string_view name);
  const Expr* node(Op op, std::vector<const Expr*> args);
  const Expr* call(Fn fn, std::vector<const Expr*> args);
  /// Make sums and products, which flatten their own kind and unwrap a single argument.
  const Expr* add(std::vector<const Expr*> args) { return flat(Op::kAdd, std::move(args)); }
  const Expr* mul(std::vector<const Expr*> args) { return flat(Op::kMul, std::move(args)); }
  const Expr* negate(const Expr* a);
  const Expr* power(const Expr* base, const Expr* exponent) {
    return node(Op::kPow, {base, exponent});
  }
  const Expr* divide(const Expr* a, const Expr* b);

  Budget& budget() { return budget_; }

 private:
  const Expr* flat(Op op, std::vector<const Expr*> args);

  Budget& budget_;
  std::deque<Expr> nodes_;
};

/// Returns whether a node is a scalar: no text, list, set, matrix or relation.
bool is_scalar(const Expr& e);
/// Returns whether a test holds for any argument.
bool any_arg(const Expr& e, bool (*test)(const Expr&));
inline bool has_names(const Expr& e) { return e.has(trait::kName); }
inline bool has_decimal(const Expr& e) { return e.has(trait::kDecimal); }
inline bool has_binder(const Expr& e) { return e.has(trait::kBinder); }
/// Returns whether a node is an operation with a sign as its name, such as f \circ g, whose laws
/// are not known.
bool is_operation(const Expr& e);
/// Returns whether a node is a scalar without names.
inline bool is_constant(const Expr& e) { return is_scalar(e) && !has_names(e); }
/// Returns whether two trees are the same, node by node.
bool same_tree(const Expr& a, const Expr& b);
/// Returns 1 or -1 for plus or minus infinity, and 0 for anything else.
int infinity_sign(const Expr& e);

/// Returns the form that --explain prints, such as "(add 1 (mul 2 x))".
std::string to_text(const Expr& e);

/// Returns e with its arguments changed. Returns e itself if none changes, and nullptr if one
/// becomes nullptr.
using Change = std::function<const Expr*(const Expr*)>;
const Expr* map_args(const Expr* e, Arena& arena, const Change& change);

/// Returns e with a name replaced wherever it is free.
const Expr* substitute(const Expr* e, std::string_view name, const Expr* value, Arena& arena);

/// Returns e with the names of one list replaced by those of the other.
const Expr* rename(const Expr* e, const std::vector<std::string>& from,
                   const std::vector<std::string>& to, Arena& arena);

/// Returns whether a name occurs free in e.
bool is_free_in(const Expr& e, std::string_view name);

/// Returns the free names of e in order of appearance, without those of unknown functions.
std::vector<std::string> free_names(const Expr& e);

/// Returns "=", "<=" and the like.
std::string_view name(Rel rel);

}  // namespace lie::expr

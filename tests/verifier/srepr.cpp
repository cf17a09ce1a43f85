#include "tests/verifier/srepr.h"

#include <charconv>
#include <map>
#include <string>
#include <vector>

#include "verifier/latex/parser.h"
#include "verifier/latex/text.h"

namespace lie {
namespace {

using exact::Rational, expr::Arena, expr::Expr, expr::Fn, expr::Op, expr::Rel;

const std::map<std::string, Fn, std::less<>> kFunctions = {{"sin", Fn::kSin},
                                                           {"cos", Fn::kCos},
                                                           {"tan", Fn::kTan},
                                                           {"csc", Fn::kCsc},
                                                           {"sec", Fn::kSec},
                                                           {"cot", Fn::kCot},
                                                           {"asin", Fn::kArcsin},
                                                           {"acos", Fn::kArccos},
                                                           {"atan", Fn::kArctan},
                                                           {"sinh", Fn::kSinh},
                                                           {"cosh", Fn::kCosh},
                                                           {"tanh", Fn::kTanh},
                                                           {"asinh", Fn::kArsinh},
                                                           {"acosh", Fn::kArcosh},
                                                           {"atanh", Fn::kArtanh},
                                                           {"exp", Fn::kExp},
                                                           {"log", Fn::kLog},
                                                           {"Abs", Fn::kAbs},
                                                           {"floor", Fn::kFloor},
                                                           {"ceiling", Fn::kCeil},
                                                           {"factorial", Fn::kFactorial},
                                                           {"binomial", Fn::kBinomial},
                                                           {"Max", Fn::kMax},
                                                           {"Min", Fn::kMin},
                                                           {"Mod", Fn::kMod}};
const std::map<std::string, Rel, std::less<>> kRelations = {{"Equality", Rel::kEqual},
                                                            {"Unequality", Rel::kNotEqual},
                                                            {"StrictLessThan", Rel::kLess},
                                                            {"LessThan", Rel::kLessEqual},
                                                            {"StrictGreaterThan", Rel::kGreater},
                                                            {"GreaterThan", Rel::kGreaterEqual}};
const std::map<std::string, Fn, std::less<>> kBinders = {{"Sum", Fn::kSum},
                                                         {"Product", Fn::kProduct}};

class Reader {
 public:
  Reader(std::string_view text, Arena& arena) : text_(text), arena_(arena) {}

  const Expr* value() {
    skip();
    if (peek() == '[') return list();
    if (peek() == '\'') return arena_.symbol(latex::normal_name(quoted()));
    if (peek() == '-' || isdigit(peek())) return number();
    const std::string head = word();
    if (peek() != '(') return atom(head);
    if (head == "Symbol" || head == "Float") return leaf(head);
    if (head == "Function") return applied();
    return build(head, arguments());
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip() {
    while (peek() == ' ' || peek() == ',') ++at_;
  }
  std::string word() {
    const std::size_t first = at_;
    while (isalnum(peek()) || peek() == '_') ++at_;
    return std::string(text_.substr(first, at_ - first));
  }
  std::string quoted() {
    const std::size_t first = ++at_;
    while (peek() != '\'' && at_ < text_.size()) ++at_;
    std::string out(text_.substr(first, at_++ - first));
    for (std::size_t i = out.find("\\\\"); i != std::string::npos; i = out.find("\\\\", i + 1))
      out.erase(i, 1);
    return out;
  }

  const Expr* number() {
    const std::size_t first = at_;
    while (isalnum(peek()) || peek() == '-' || peek() == '.' || peek() == '+') ++at_;
    const latex::Parsed parsed = latex::parse(text_.substr(first, at_ - first), arena_);
    return parsed.tree;
  }

  const Expr* atom(const std::string& head) {
    if (head == "pi") return arena_.constant("pi");
    if (head == "E") return arena_.constant("e");
    if (head == "I") return arena_.constant("i");
    if (head == "oo") return arena_.constant("infinity");
    if (head == "EmptySet") return arena_.named(Op::kNamedSet, "empty");
    if (head == "true" || head == "false") return arena_.number(head == "true" ? 1 : 0);
    for (const char* set : {"Naturals", "Integers", "Rationals", "Reals", "Complexes"})
      if (head == set)
        return arena_.named(Op::kNamedSet, head == "Integers"    ? "Z"
                                           : head == "Rationals" ? "Q"
                                                                 : head.substr(0, 1));
    return nullptr;
  }

  void close() {
    while (peek() != ')' && at_ < text_.size()) ++at_;
    ++at_;
  }

  const Expr* leaf(const std::string& head) {
    ++at_;
    skip();
    const std::string inner = quoted();
    close();
    if (head == "Symbol") return arena_.symbol(latex::normal_name(inner));
    // The shortest decimal that is the same binary float is what was written.
    char digits[64];
    const auto end = std::to_chars(digits, digits + sizeof digits, std::stod(inner));
    const Expr* parsed =
        latex::parse({digits, static_cast<std::size_t>(end.ptr - digits)}, arena_).tree;
    if (parsed == nullptr) return nullptr;
    if (parsed->op != Op::kNumber) return parsed;
    return arena_.number(parsed->op == Op::kNumber ? parsed->value : Rational(0), true);
  }

  const Expr* applied() {
    ++at_;
    const std::string name = quoted();
    close();
    Expr out;
    out.op = Op::kApply;
    out.name = name;
    out.args = arguments();
    return arena_.make(std::move(out));
  }

  std::vector<const Expr*> arguments() {
    std::vector<const Expr*> out;
    ++at_;
    for (skip(); peek() != ')' && at_ < text_.size(); skip()) out.push_back(value());
    ++at_;
    return out;
  }

  // [[a, b], [c, d]] of a matrix
  const Expr* list() {
    ++at_;
    std::vector<const Expr*> items;
    for (skip(); peek() != ']' && at_ < text_.size(); skip()) items.push_back(value());
    ++at_;
    return arena_.node(Op::kList, std::move(items));
  }

  const Expr* matrix(const Expr* rows) {
    Expr out;
    out.op = Op::kMatrix;
    for (const Expr* row : rows->args) {
      out.columns = static_cast<std::int32_t>(row->args.size());
      out.args.insert(out.args.end(), row->args.begin(), row->args.end());
    }
    return arena_.make(std::move(out));
  }

  const Expr* tuple(std::vector<const Expr*> items, char open, char close) {
    Expr out;
    out.op = Op::kTuple;
    out.open = open;
    out.close = close;
    out.args = std::move(items);
    return arena_.make(std::move(out));
  }

  // sympy writes membership as an equation with a set.
  const Expr* negated(Expr relation) {
    relation.relations = {Rel::kNotIn};
    return arena_.make(std::move(relation));
  }

  const Expr* build(const std::string& head, std::vector<const Expr*> args) {
    for (const Expr* arg : args)
      if (arg == nullptr) return nullptr;
    if (head == "Integer" || head == "UnevaluatedExpr") return args[0];
    if (head == "Rational") return arena_.number(args[0]->value / args[1]->value);
    if (head == "Add" || head == "MatAdd") return arena_.add(std::move(args));
    if (head == "Mul" || head == "MatMul") return arena_.mul(std::move(args));
    if (head == "Pow") return arena_.power(args[0], args[1]);
    if (head == "FiniteSet") return arena_.node(Op::kSet, std::move(args));
    if (head == "Tuple") return tuple(std::move(args), '(', ')');
    if (head == "Interval")
      return tuple({args[0], args[1]}, args[2]->value.is_zero() ? '[' : '(',
                   args[3]->value.is_zero() ? ']' : ')');
    if (head == "Union") return arena_.node(Op::kUnion, std::move(args));
    if (head == "Intersection") return arena_.node(Op::kIntersection, std::move(args));
    if (head == "Complement") return arena_.node(Op::kDifference, std::move(args));
    if (head.ends_with("DenseMatrix")) return matrix(args[0]);
    if (head == "Not") return negated(*args[0]);
    return call(head, std::move(args));
  }

  Expr binder(Fn fn, std::string name, std::vector<const Expr*> args) {
    Expr out;
    out.op = Op::kBinder;
    out.fn = fn;
    out.name = std::move(name);
    out.args = std::move(args);
    return out;
  }

  const Expr* call(const std::string& head, std::vector<const Expr*> args) {
    if (const auto at = kFunctions.find(head); at != kFunctions.end()) {
      if (at->second == Fn::kLog && args.size() == 2 && args[1]->name == "e")
        return arena_.call(Fn::kLn, {args[0]});
      if (at->second == Fn::kExp) return arena_.power(arena_.constant("e"), args[0]);
      return arena_.call(at->second, std::move(args));
    }
    if (const auto at = kRelations.find(head); at != kRelations.end()) {
      Expr out;
      out.op = Op::kRelation;
      out.relations = {at->second};
      out.args = std::move(args);
      return arena_.make(std::move(out));
    }
    if (const auto at = kBinders.find(head); at != kBinders.end() && args.size() == 2) {
      std::vector<const Expr*> parts = {args[0]};
      parts.insert(parts.end(), args[1]->args.begin() + 1, args[1]->args.end());
      return arena_.make(binder(at->second, args[1]->args[0]->name, std::move(parts)));
    }
    return nullptr;
  }

  std::string_view text_;
  Arena& arena_;
  std::size_t at_ = 0;
};

}  // namespace

const Expr* from_srepr(std::string_view text, Arena& arena) { return Reader(text, arena).value(); }

}  // namespace lie

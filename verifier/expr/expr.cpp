#include "verifier/expr/expr.h"

#include <algorithm>
#include <array>
#include <set>

namespace lie::expr {
namespace {

constexpr auto kRelNames = std::to_array<std::string_view>(
    {"=", "!=", "<", "<=", ">", ">=", "approx", "in", "notin", "subset", "superset", "equivalent",
     "->", "iff", "parallel", "perpendicular", "similar", "congruent", "proportional"});
constexpr auto kOpNames = std::to_array<std::string_view>(
    {"number", "symbol",       "constant",   "add",    "mul",      "pow",      "function",
     "apply",  "plusminus",    "percent",    "degree", "unit",     "based",    "ratio",
     "binder", "text",         "list",       "tuple",  "set",      "namedset", "setbuilder",
     "union",  "intersection", "difference", "matrix", "relation", "cases",    "code"});

void append_head(std::string& out, const Expr& e) {
  switch (e.op) {
    case Op::kFunction: out += name(e.fn); break;
    case Op::kBinder: out.append(name(e.fn)).append(" ").append(e.name); break;
    case Op::kApply: out += e.name; break;
    case Op::kTuple: out.append("tuple").append({e.open, e.close}); break;
    case Op::kCode: out.append("code '").append(e.name).append("'"); break;
    case Op::kUnit: out.append("unit '").append(e.name).append("'"); break;
    case Op::kMatrix: out.append("matrix/").append(std::to_string(e.columns)); break;
    case Op::kRelation:
      for (std::size_t i = 0; i < e.relations.size(); ++i)
        out.append(i == 0 ? "" : ",").append(name(e.relations[i]));
      break;
    default: out += kOpNames[static_cast<std::size_t>(e.op)];
  }
}

void append(std::string& out, const Expr& e) {
  if (e.op == Op::kNumber) {
    out += e.value.text();
    return;
  }
  if (e.args.empty() && !e.name.empty()) {
    const std::string_view quote = is_one_of(e.op, Op::kText, Op::kCode) ? "'" : "";
    out.append(quote).append(e.name).append(quote);
    return;
  }
  out += '(';
  append_head(out, e);
  for (const Expr* arg : e.args) {
    out += ' ';
    append(out, *arg);
  }
  out += ')';
}

std::uint32_t own_traits(const Expr& e) {
  switch (e.op) {
    case Op::kNumber: return e.flag ? trait::kDecimal : 0;
    case Op::kSymbol: {
      const bool capital = e.name.size() == 1 && e.name[0] >= 'A' && e.name[0] <= 'Z';
      return trait::kName | (e.flag ? trait::kVector : 0) |
             (e.flag && capital ? trait::kOrdered : 0);
    }
    case Op::kText: return trait::kName | trait::kText;
    case Op::kApply:
      return trait::kName | trait::kCall | (e.name == "transpose" ? trait::kOrdered : 0);
    case Op::kConstant:
      if (e.flag) return trait::kVector | (e.name == "i" ? trait::kImaginary : 0);
      if (e.name == "pi") return trait::kAngle;
      return e.name == "i" ? trait::kImaginary : e.name == "infinity" ? trait::kInfinity : 0;
    case Op::kDegree: return trait::kAngle;
    case Op::kUnit: return trait::kUnit;
    case Op::kBinder: return trait::kBinder;
    case Op::kPlusMinus: return trait::kSign;
    case Op::kMatrix: return trait::kMatrix;
    case Op::kPow: {
      const Expr *base = e.args[0], *exponent = e.args[1];
      if (base == nullptr || exponent == nullptr) return 0;
      const bool even_root = exponent->op == Op::kNumber && has_names(*base) &&
                             fmpz_is_even(exponent->value.denominator()) != 0;
      const bool negative = base->op == Op::kNumber && base->value.sign() < 0;
      return (even_root ? trait::kBend : 0) |
             (negative && has_names(*exponent) ? trait::kSignPower : 0);
    }
    default: break;
  }
  if (is_one_of(e.fn, Fn::kGcd, Fn::kLcm)) return trait::kCommon;
  if (is_one_of(e.fn, Fn::kFloor, Fn::kCeil, Fn::kMod)) return trait::kStep;
  if (is_one_of(e.fn, Fn::kAbs, Fn::kMax, Fn::kMin)) return trait::kBend;
  return 0;
}

}  // namespace

std::uint64_t symbol_bit(std::string_view name) {
  std::uint64_t h = 14695981039346656037ULL;
  for (char c : name) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return std::uint64_t{1} << (h >> 58);
}

const Expr* Arena::make(Expr node) {
  // The cost of a node grows with its size, so that long nodes are not made for free.
  if (!budget_.spend(1 + static_cast<std::int64_t>(node.args.size() / 8 + node.name.size() / 64)))
    return nullptr;
  node.depth = 1;
  node.traits = own_traits(node);
  node.symbols = node.op == Op::kSymbol ? symbol_bit(node.name) : 0;
  std::int64_t size = 1;
  for (const Expr* arg : node.args) {
    if (arg == nullptr) return nullptr;
    node.depth = std::max(node.depth, arg->depth + 1);
    node.traits |= arg->traits;
    node.symbols |= arg->symbols;
    size += arg->size;
  }
  if (is_one_of(node.op, Op::kBinder, Op::kApply)) node.traits &= ~trait::kInfinity;
  if (!budget_.allow_depth(node.depth) || !budget_.allow_size(size)) return nullptr;
  node.size = static_cast<std::int32_t>(size);
  return &nodes_.emplace_back(std::move(node));
}

const Expr* Arena::number(exact::Rational value, bool decimal) {
  if (!budget_.allow_bits(value.bits())) return nullptr;
  return make({.flag = decimal, .value = std::move(value)});
}

const Expr* Arena::named(Op op, std::string_view name) {
  return make({.op = op, .name = std::string(name)});
}

const Expr* Arena::node(Op op, std::vector<const Expr*> args) {
  return make({.op = op, .args = std::move(args)});
}

const Expr* Arena::call(Fn fn, std::vector<const Expr*> args) {
  return make({.op = Op::kFunction, .fn = fn, .args = std::move(args)});
}

const Expr* Arena::flat(Op op, std::vector<const Expr*> args) {
  if (args.size() == 1) return args.front();
  Expr out{.op = op};
  for (const Expr* arg : args) {
    if (arg == nullptr) return nullptr;
    if (arg->op == op) {
      if (!budget_.spend(static_cast<std::int64_t>(arg->args.size()))) return nullptr;
      out.args.insert(out.args.end(), arg->args.begin(), arg->args.end());
    } else {
      out.args.push_back(arg);
    }
  }
  return make(std::move(out));
}

const Expr* Arena::negate(const Expr* a) {
  if (a == nullptr) return nullptr;
  if (a->op == Op::kNumber) return number(-a->value, a->flag);
  return mul({number(-1), a});
}

const Expr* Arena::divide(const Expr* a, const Expr* b) {
  if (a == nullptr || b == nullptr) return nullptr;
  return mul({a, power(b, number(-1))});
}

bool any_arg(const Expr& e, bool (*test)(const Expr&)) {
  return std::ranges::any_of(e.args, [test](const Expr* arg) { return test(*arg); });
}

bool is_operation(const Expr& e) {
  const char first = e.op == Op::kApply ? e.name.front() : 'a';
  return !((first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z'));
}

bool is_scalar(const Expr& e) { return e.op <= Op::kBinder; }

bool same_tree(const Expr& a, const Expr& b) {
  if (&a == &b) return true;
  return a.op == b.op && a.fn == b.fn && a.flag == b.flag && a.open == b.open &&
         a.close == b.close && a.columns == b.columns && a.size == b.size && a.traits == b.traits &&
         a.symbols == b.symbols && a.name == b.name && a.value == b.value &&
         a.relations == b.relations &&
         std::ranges::equal(a.args, b.args,
                            [](const Expr* x, const Expr* y) { return same_tree(*x, *y); });
}

int infinity_sign(const Expr& e) {
  if (e.op == Op::kConstant && e.name == "infinity") return 1;
  if (!e.has(trait::kInfinity)) return 0;
  if (e.op == Op::kPercent) return infinity_sign(*e.args[0]);
  if (e.op == Op::kAdd) {
    int all = 0;
    for (const Expr* arg : e.args) {
      if (!arg->has(trait::kInfinity)) continue;
      const int here = infinity_sign(*arg);
      if (here == 0 || here == -all) return 0;
      all = here;
    }
    return all;
  }
  if (e.op != Op::kMul) return 0;
  int sign = 1;
  bool infinite = false;
  for (const Expr* arg : e.args) {
    const int here = arg->op == Op::kNumber ? arg->value.sign() : infinity_sign(*arg);
    infinite = infinite || arg->op != Op::kNumber;
    sign *= here;
  }
  return infinite ? sign : 0;
}

std::string to_text(const Expr& e) {
  std::string out;
  append(out, e);
  return out;
}

std::string_view name(Rel rel) { return kRelNames[static_cast<std::size_t>(rel)]; }

// --- names and arguments -----------------------------------------------------------------------

namespace {

// Returns the node with other arguments.
const Expr* with_args(const Expr& e, std::vector<const Expr*> args, Arena& arena) {
  if (e.op == Op::kAdd) return arena.add(std::move(args));
  if (e.op == Op::kMul) return arena.mul(std::move(args));
  Expr out = e;
  out.args = std::move(args);
  return arena.make(std::move(out));
}

void collect_names(const Expr& e, std::vector<std::string>& out, std::set<std::string>& bound) {
  if (e.symbols == 0) return;
  if (e.op == Op::kSymbol && !bound.contains(e.name) && std::ranges::find(out, e.name) == out.end())
    out.push_back(e.name);
  const bool binds = e.op == Op::kBinder && bound.insert(e.name).second;
  for (const Expr* arg : e.args) collect_names(*arg, out, bound);
  if (binds) bound.erase(e.name);
}

}  // namespace

const Expr* map_args(const Expr* e, Arena& arena, const Change& change) {
  if (e == nullptr || e->args.empty()) return e;
  std::vector<const Expr*> args;
  bool changed = false;
  for (const Expr* arg : e->args) {
    args.push_back(change(arg));
    if (args.back() == nullptr) return nullptr;
    changed = changed || args.back() != arg;
  }
  return changed ? with_args(*e, std::move(args), arena) : e;
}

const Expr* substitute(const Expr* e, std::string_view name, const Expr* value, Arena& arena) {
  if ((e->symbols & symbol_bit(name)) == 0) return e;
  if (e->op == Op::kSymbol) return e->name == name ? value : e;
  if (e->op == Op::kBinder && e->name == name) return e;
  return map_args(e, arena, [&](const Expr* arg) { return substitute(arg, name, value, arena); });
}

const Expr* rename(const Expr* e, const std::vector<std::string>& from,
                   const std::vector<std::string>& to, Arena& arena) {
  const bool may_hold = std::ranges::any_of(
      from, [e](const std::string& name) { return (e->symbols & symbol_bit(name)) != 0; });
  if (!may_hold) return e;
  if (e->op == Op::kSymbol) {
    const auto at = std::ranges::find(from, e->name);
    return at == from.end() ? e : arena.symbol(to[static_cast<std::size_t>(at - from.begin())]);
  }
  return map_args(e, arena, [&](const Expr* arg) { return rename(arg, from, to, arena); });
}

bool is_free_in(const Expr& e, std::string_view name) {
  if ((e.symbols & symbol_bit(name)) == 0) return false;
  if (e.op == Op::kSymbol) return e.name == name;
  if (e.op == Op::kBinder && e.name == name) return false;
  return std::ranges::any_of(e.args, [&](const Expr* arg) { return is_free_in(*arg, name); });
}

std::vector<std::string> free_names(const Expr& e) {
  std::vector<std::string> out;
  std::set<std::string> bound;
  collect_names(e, out, bound);
  return out;
}

}  // namespace lie::expr

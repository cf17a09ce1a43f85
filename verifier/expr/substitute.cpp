#include "verifier/expr/substitute.h"

#include <algorithm>
#include <set>

namespace lie::expr {
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

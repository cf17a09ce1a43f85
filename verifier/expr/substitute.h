// Parts of an expression exchanged for others: arguments, and names that are free.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "verifier/expr/expr.h"

namespace lie::expr {

/// e with its arguments changed; e itself where none changes, nullptr where one becomes nullptr.
using Change = std::function<const Expr*(const Expr*)>;
const Expr* map_args(const Expr* e, Arena& arena, const Change& change);

/// e with a name replaced everywhere it is free.
const Expr* substitute(const Expr* e, std::string_view name, const Expr* value, Arena& arena);

/// e with its names replaced by others, by position in the two lists.
const Expr* rename(const Expr* e, const std::vector<std::string>& from,
                   const std::vector<std::string>& to, Arena& arena);

/// The free names of e in order of appearance; names of unknown functions are not among them.
std::vector<std::string> free_names(const Expr& e);

}  // namespace lie::expr

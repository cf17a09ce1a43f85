// Replaces parts of an expression: arguments, and free names.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "verifier/expr/expr.h"

namespace lie::expr {

/// Returns e with its arguments changed. Returns e itself where none changes, and nullptr where one
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

}  // namespace lie::expr

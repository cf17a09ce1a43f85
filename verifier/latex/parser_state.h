// The parser. Its members are grouped by the file that defines them.
#pragma once

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "verifier/latex/parser.h"

namespace lie::latex {

using expr::Expr, expr::Fn, expr::Op, expr::Rel;

/// Sets a variable until the end of a scope.
template <typename T>
class Scoped {
 public:
  Scoped(T& variable, T value) : variable_(variable), before_(std::move(variable)) {
    variable_ = std::move(value);
  }
  Scoped(const Scoped&) = delete;
  Scoped& operator=(const Scoped&) = delete;
  ~Scoped() { variable_ = std::move(before_); }

 private:
  T& variable_;
  T before_;
};

/// Returns whether a text is a function, as \text{sin} is. The text C is no set, unlike \C.
bool names_function(std::string_view text);

/// Returns whether a factor may be a matrix, if another factor certainly is one.
bool may_be_matrix(const Expr& e);

/// Returns the element of a set that has only one: braces group in 2\{x + 1\}.
const Expr* unwrapped(const Expr* e);

class Parser {
 public:
  Parser(std::string_view text, const Lexed& lexed, expr::Arena& arena, bool bars_nest,
         bool bare_fractions)
      : text_(text),
        lexed_(lexed),
        arena_(arena),
        bars_nest_(bars_nest),
        bare_fractions_(bare_fractions),
        has_logic_(lexed.logic) {}

  const Expr* answer();
  const ParseError& error() const { return error_; }
  bool saw_bar() const { return saw_bar_; }

 private:
  // --- tokens ---
  const Token& tok(std::size_t ahead = 0) const {
    return lexed_.tokens[std::min(at_ + ahead, lexed_.tokens.size() - 1)];
  }
  bool is(Tok kind, std::size_t ahead = 0) const { return tok(ahead).kind == kind; }
  bool is_open(char bracket, std::size_t ahead = 0) const {
    return is(Tok::kOpen, ahead) && tok(ahead).bracket == bracket;
  }
  bool is_close(char bracket) const { return is(Tok::kClose) && tok().bracket == bracket; }
  bool is_symbol(std::string_view name, std::size_t ahead = 0) const {
    return is(Tok::kSymbol, ahead) && tok(ahead).name == name;
  }
  bool take(Tok kind);
  const Expr* fail(std::string_view reason);
  bool enter() { return arena_.budget().spend() && arena_.budget().allow_depth(nesting_); }
  std::string_view source(std::size_t first, std::size_t last) const;
  // Returns whether a name is part of the text. Others are spelled by the lexer.
  bool in_text(std::string_view name) const {
    return std::less_equal<>()(text_.data(), name.data()) &&
           std::less<>()(name.data(), text_.data() + text_.size());
  }

  // --- parser.cpp: answers, lists, relations ---
  const Expr* text_answer();
  const Expr* groups();
  const Expr* join(std::vector<std::vector<const Expr*>> groups, bool any_or);
  bool list(std::vector<const Expr*>& items, bool& any_or);
  bool at_separator();
  bool take_separator(bool& is_or);
  bool at_list_end() const;
  const Expr* element();
  bool ends_element(std::size_t ahead) const;
  std::size_t form_length() const;
  bool may_be_form(std::size_t length) const;
  std::size_t unit_length(std::size_t ahead) const;
  std::size_t measured_range() const;
  const Expr* form();
  void share_modulus(std::vector<const Expr*>& items);
  void group_solutions(std::vector<const Expr*>& items, const std::vector<bool>& after_or);
  std::string currency(std::size_t at) const;
  const Expr* amount(const Expr* value, std::string currency);

  const Expr* implication();
  const Expr* disjunction();
  const Expr* joined_statements(std::vector<const Expr*> parts, std::string_view name);
  const Expr* relation();
  const Expr* carried_out();
  const Expr* set_expression();
  const Expr* set_operation(Tok kind, const Expr* left, const Expr* right);
  bool at_bracketed_modulus() const;
  const Expr* with_modulus(const Expr* relation);
  const Expr* with_identity(const Expr& relation);
  bool parts_from_set(const Expr& left) const;

  // --- arithmetic.cpp ---
  const Expr* sum();
  const Expr* signed_product();
  const Expr* product();
  const Expr* product_step(const Expr* left);
  bool at_composition(const Expr& left) const;
  const Expr* operation(std::string_view sign, const Expr* left, const Expr* right);
  bool is_cross(std::size_t at, const Expr& left, const Expr& right) const;
  const Expr* product_of(std::vector<const Expr*> factors);
  const Expr* operand();
  const Expr* implicit_run();
  bool starts_operand() const;
  bool starts_bar_operand() const;

  // --- quantities.cpp ---
  const Expr* quantity_sum(const Expr& first, const Expr& second);
  void take_unit_power();
  std::size_t letters_ahead(std::size_t ahead) const;
  bool is_unit_of_letters(std::size_t n) const;
  bool at_temperature() const;
  void take_unit_parts(bool known);
  bool at_bracketed_unit() const;
  const Expr* base_after(const Expr& number);
  const Expr* without_prefix(const Expr* value, std::string& unit);
  const Expr* scaled(const Expr* value, std::string& unit, std::string_view& text);
  const Expr* measured(const Expr* value, std::string unit, std::string_view text);
  const Expr* unit_after(const Expr* left);

  // --- powers.cpp ---
  const Expr* power_or_postfix();
  const Expr* postfix(const Expr* base);
  const Expr* double_factorial(const Expr* base);
  const Expr* raised(const Expr* base);
  const Expr* with_minutes(const Expr* degrees);
  const Expr* ordinal(const Expr* base);
  const Expr* transposed(const Expr& matrix);
  const Expr* charged(const Expr* base);
  const Expr* exponent();
  const Expr* subscripted(const Expr* base);
  std::string subscript_text();
  const Expr* based(std::string_view digits, const std::optional<exact::Rational>& radix);
  const Expr* lettered_digits();

  // --- atoms.cpp ---
  const Expr* atom();
  const Expr* price();
  const Expr* number();
  const Expr* literal(const Token& token);
  std::optional<exact::Rational> underscored() const;
  bool may_start_thousands() const;
  const Expr* thousands(exact::Rational value, bool decimal);
  bool at_dotted_digit(std::size_t ahead) const;
  const Expr* repeating(const Token& first);
  bool at_repeating_group() const;
  struct Ahead {
    exact::Rational top, bottom;
    std::size_t tokens = 0;
  };
  std::optional<Ahead> fraction_ahead() const;
  const Expr* mixed(const Expr* whole);
  const Expr* named_set(std::string_view name);
  const Expr* symbol();
  const Expr* quantified(std::string_view name);
  bool is_operator(std::string_view name) const;
  const Expr* vector(const Expr* e);
  const Expr* letter(std::string_view name);
  const Expr* maybe_applied(std::string name);
  const Expr* applied(std::string name);
  const Expr* figure(std::string_view kind);
  const Expr* polar(const Expr* modulus);
  const Expr* unit_vector(const Expr& under);
  const Expr* zeta_series(const Expr* s);
  const Expr* accent();
  const Expr* words();
  const Expr* worded(std::string_view words);
  const Expr* ordinal_text(std::string_view content);
  const Expr* text();

  // --- calls.cpp ---
  const Expr* function(Fn fn);
  const Expr* operator_name();
  const Expr* cis();
  bool arguments(Fn fn, std::vector<const Expr*>& args);
  const Expr* bare_argument();
  const Expr* fraction();
  const Expr* fraction_part();
  const Expr* root();
  const Expr* binomial();
  bool at_selection() const;
  const Expr* selection();
  bool at_joined_base() const;
  const Expr* logarithm();
  bool at_derivative() const;
  std::size_t after_differentials(std::size_t ahead) const;
  const Expr* derivative();
  std::string plain_letters(std::size_t first, std::size_t last) const;
  const Expr* inline_derivative();
  const Expr* repeated(Fn fn);
  const Expr* bound();
  bool bounds(const Expr*& lower, const Expr*& upper, std::string& variable);

  // --- brackets.cpp ---
  const Expr* braces();
  const Expr* infix_fraction(const Expr* above);
  const Expr* brackets();
  const Expr* close_tuple(std::vector<const Expr*> items, char open, bool any_or);
  const Expr* tuple(std::vector<const Expr*> items, char open, char close, bool any_or);
  const Expr* set_braces();
  const Expr* set_builder(const Expr* head);
  const Expr* bars();
  const Expr* enclosed(Fn fn, char close);
  const Expr* group_value(std::vector<const Expr*> items, bool any_or, Op op);
  const Expr* environment();
  bool take_condition_word();
  const Expr* parity();
  bool rows(std::vector<std::vector<const Expr*>>& rows);
  const Expr* matrix(const std::vector<std::vector<const Expr*>>& rows);
  const Expr* cases(const std::vector<std::vector<const Expr*>>& rows);
  void skip_column_spec();

  std::string_view text_;
  const Lexed& lexed_;
  expr::Arena& arena_;
  bool bars_nest_, bare_fractions_, has_logic_;
  std::size_t at_ = 0, element_first_ = 0;  // element_first_: first token of the element
  std::int64_t nesting_ = 0;
  int open_bars_ = 0;
  bool saw_bar_ = false;
  bool saw_and_ = false;       // between conditions
  bool in_statement_ = false;  // an arrow ends a statement joined by "and" or "or"
  bool thousands_ok_ = true;   // a comma may group digits here
  bool colon_is_ratio_ = true;
  bool in_set_ = false;  // a bar ends the head of a set builder
  std::set<std::string, std::less<>> bound_;
  ParseError error_;
};

}  // namespace lie::latex

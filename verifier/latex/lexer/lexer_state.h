// The lexer. Its members are grouped by the file that defines them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/text/scan.h"
#include "verifier/latex/lexer/lexer.h"

namespace lie::latex {

class Lexer {
 public:
  Lexer(std::string_view text, Budget& budget, const TextRules& rules)
      : text_(text), budget_(budget), rules_(rules) {}

  Lexed run();

 private:
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  std::string_view rest() const { return text_.substr(std::min(at_, text_.size())); }
  Token& push(Tok kind, std::size_t begin);
  void push(const Meaning& meaning, std::size_t begin);
  void step();

  // --- numbers ---
  std::size_t digits_from(std::size_t i) const;
  std::size_t glue_length(std::size_t i) const;
  void number();
  void push_number(exact::Rational value, std::size_t begin);
  bool radix_number();
  static bool repeats(std::string_view s);
  bool take_dots(std::string_view digits);
  bool fraction(std::string& digits);
  exact::Rational exponent(exact::Rational value);
  bool is_group_behind_comma(std::size_t begin) const;

  // --- words ---
  void word();
  void skip_letters() {
    while (is_letter(peek())) ++at_;
  }
  void letters(std::size_t begin, std::string_view run);
  void character();
  bool superscript(std::size_t begin);
  bool subscript(std::size_t begin);
  bool vulgar_fraction(std::string_view bytes, std::size_t begin);
  void integer(std::int64_t value, std::size_t begin);

  // --- commands ---
  void backslash();
  void double_backslash(std::size_t begin);
  void known_command(const Meaning& meaning, std::size_t begin);
  bool roman_group();
  void negated(std::size_t begin);
  bool between_statements() const;
  bool holds_number() const;
  bool holds_ion() const;
  bool after_operand() const;
  bool after_element() const;
  void splice(std::string_view content);
  bool upright_formula();
  bool quantity();
  bool two_units(std::string_view words, std::size_t close);
  bool formula();
  std::string_view argument();
  void group(std::string_view content);
  void angle(std::string_view parts, std::size_t begin);
  void si_command(std::string_view name, std::size_t begin);
  void ampersand(std::size_t begin);
  void delimiter(Tok kind, std::size_t begin);
  bool parts_cell(std::string_view words) const;
  void braced_name(const Meaning& meaning, std::size_t begin);
  void typed_text(const Meaning& meaning, Token& token, std::string_view content);
  std::size_t closing_brace(std::size_t open) const;

  // --- other signs ---
  void punctuation();
  bool emphasis();
  void dollar(std::size_t begin);
  void period(std::size_t begin);
  void quotation_mark(std::size_t begin);
  bool comparison();
  bool lost_backslash();
  bool script_tag();

  std::string_view text_;
  Budget& budget_;
  const TextRules& rules_;
  Lexed out_;
  std::size_t at_ = 0, environments_ = 0;
  bool spaced_ = false, emphasized_ = false;
  std::size_t dollars_ = 0, last_dollar_ = std::string_view::npos;
};

/// Rewrites the tokens of an answer: the interval ]0, 1[ as (0, 1), and 3x10^8 as a product.
/// Removes universal quantifiers, and separates the declarations of integers.
void respell(Lexed& lexed);

}  // namespace lie::latex

// What the verifier may take for the same answer, and how much work it may spend: every rule, once,
// with its default.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/options.h"

namespace lie {

/// Where the answer is looked for.
enum class ExtractionMode : std::uint8_t {
  kReward = 0,   // the last balanced \boxed or \fbox, after </think>; never a number out of prose
  kLenient = 1,  // also math environments, "final answer is", plain numbers: where Math-Verify's
                 // default looks
};

/// How two decimals, or a decimal and an exact value, are compared.
enum class DecimalRule : std::uint8_t {
  kPlaces = 0,   // both rounded to `decimal_places` decimals, half to even, and below 1 equal to
                 // 10^(1 - decimal_places) of the gold as well
  kHalfUlp = 1,  // the exact side may differ by half a unit of the last digit written
  kExact = 2,    // a decimal is the rational number that it spells
};

/// The table of rules. Each field is one rule; none is applied that does not stand here.
struct VerifierOptions {
  // --- where the answer is -------------------------------------------------------------------
  ExtractionMode mode = ExtractionMode::kReward;
  bool after_think = true;     // only what follows the last </think>, where one stands
  bool fbox = true;            // \fbox counts as \boxed
  bool bare_fractions = true;  // \frac12 is a half, although its braces lack
  bool join_boxes = true;     // boxes with only commas, "and", "or" and spaces between are one list
  bool lenient_latex = true;  // lenient: answers in math environments
  bool lenient_plain = true;  // lenient: plain numbers and arithmetic
  std::vector<std::string>
      choices;  // lenient: strings taken as answers, such as A, B, C, D; empty: none
  std::int64_t boxed_priority =
      0;  // lenient: 0 before all, 50 or 100 as in Math-Verify, -1 ignores boxes

  // --- what counts as equal ------------------------------------------------------------------
  bool identical_text =
      true;  // an answer that is the gold letter by letter is right, parsable or not
  DecimalRule decimals = DecimalRule::kPlaces;
  std::int64_t decimal_places = 6;  // for DecimalRule::kPlaces
  bool percent_is_number =
      true;                     // 10% equals 10 (from 1% on), besides 1/10, which it always equals
  bool drop_units = true;       // a unit or a currency sign beside a number does not count
  bool assignment = true;       // x = 5 equals 5
  bool names_in_lists = true;   // {AB = 4, CD = 5} equals {4, 5}
  bool list_is_tuple = true;    // 1, 3 and {1, 3} equal (1, 3) in this order
  bool unordered_lists = true;  // lists without brackets, and sets, are compared in any order
  bool interval_for_relation = true;   // gold -2 <= x <= 7 equals the interval [-2, 7]
  bool relation_for_interval = false;  // the reverse: gold [-2, 7] equals -2 <= x <= 7
  bool ignore_case = true;             // X equals x where a name stands alone; text always
  bool base_may_lack = true;           // 204_5 equals 204, but not 204_6
  bool degrees_may_lack = true;  // 90 degrees equals 90; with units on both sides they must agree
  bool constant_may_differ =
      true;                   // antiderivatives with + C on both sides are equal up to a constant
  bool last_of_chain = true;  // x = 2 + 3 = 5 is x = 5; a wrong middle step does not count
  bool rename_variables = false;     // f(x) equals f(y)
  bool salvage_last_equals = false;  // what follows the last = where the whole cannot be parsed

  // --- budgets: steps and bits, never time ---------------------------------------------------
  std::int64_t max_answer_bytes = 20'000;  // longer answers are out of budget
  std::int64_t max_depth = 200;            // nesting of an expression
  std::int64_t max_steps = 100'000;  // of parsing, rewriting and evaluating, both sides together
  std::int64_t max_bits = 40'000;    // of any exact number
  std::int64_t max_precision =
      1'024;  // bits of a ball before "undecided" or "equal to that many bits"
};

/// The table as config fields, with range and sentence.
void describe(FieldList& fields, VerifierOptions& options);

/// Sets one rule from "rule=value", lists with commas ("choices=A,B"). Throws Error on a rule or
/// value that does not exist.
void set_rule(VerifierOptions& options, std::string_view setting);

}  // namespace lie

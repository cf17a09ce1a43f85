// The options of the verifier: what counts as the same answer, and how much work it may spend.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/config/options.h"

namespace lie {

/// Selects where the answer is searched.
enum class ExtractionMode : std::uint8_t { kReward = 0, kLenient = 1 };

/// Selects how two decimals, or a decimal and an exact value, are compared.
enum class DecimalRule : std::uint8_t { kPlaces = 0, kHalfUlp = 1, kExact = 2 };

/// All rules with their defaults. describe() documents each.
struct VerifierOptions {
  // --- where the answer is -------------------------------------------------------------------
  ExtractionMode mode = ExtractionMode::kReward;
  bool after_think = true;
  bool fbox = true;
  bool bare_fractions = true;
  bool join_boxes = true;
  bool lenient_latex = true;
  bool lenient_plain = true;
  bool gold_decimal_comma = false;
  std::vector<std::string> choices;
  std::int64_t boxed_priority = 0;
  bool refuse_copied = true;

  // --- what counts as equal ------------------------------------------------------------------
  bool identical_text = true;
  DecimalRule decimals = DecimalRule::kPlaces;
  std::int64_t decimal_places = 6;
  bool percent_is_number = true;
  bool drop_units = true;
  bool assignment = true;
  bool names_in_lists = true;
  bool list_is_tuple = true;
  bool unordered_lists = true;
  bool interval_for_relation = true;
  bool relation_for_interval = false;
  bool ignore_case = true;
  bool base_may_lack = true;
  bool degrees_may_lack = true;
  bool constant_may_differ = true;
  bool last_of_chain = true;
  bool rename_variables = false;
  bool salvage_last_equals = false;

  // --- budgets: steps and bits, never time ---------------------------------------------------
  std::int64_t max_answer_bytes = 20'000;
  std::int64_t max_depth = 200;
  std::int64_t max_steps = 100'000;
  std::int64_t max_bits = 40'000;
  std::int64_t max_precision = 1'024;
};

/// Lists the rules as config fields, each with its range and one sentence.
void describe(FieldList& fields, VerifierOptions& options);

/// Sets one rule from "rule=value". Lists have commas ("choices=A,B"). Throws Error on an unknown
/// rule or value.
void set_rule(VerifierOptions& options, std::string_view setting);

}  // namespace lie

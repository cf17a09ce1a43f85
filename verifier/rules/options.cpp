#include "verifier/rules/options.h"

#include <algorithm>

#include "common/base/error.h"

namespace lie {
namespace {

void describe_extraction(FieldList& fields, VerifierOptions& o) {
  fields.add(
      "mode", o.mode, {{"reward", ExtractionMode::kReward}, {"lenient", ExtractionMode::kLenient}},
      {"reward: the last balanced \\boxed or \\fbox, never a number out of prose; lenient: also "
       "math environments, \"final answer is\" and plain numbers, where Math-Verify's default "
       "looks"});
  fields.add("after_think", o.after_think, {"look only after the last </think>, if there is one"});
  fields.add("fbox", o.fbox, {"\\fbox counts as \\boxed"});
  fields.add("bare_fractions", o.bare_fractions, {"\\frac12 is a half, without its braces"});
  fields.add("join_boxes", o.join_boxes,
             {"boxes with only commas, \"and\", \"or\" and spaces between are one list"});
  fields.add("lenient_latex", o.lenient_latex, {"lenient mode finds answers in math environments"});
  fields.add("lenient_plain", o.lenient_plain, {"lenient mode finds plain numbers and arithmetic"});
  fields.add("gold_decimal_comma", o.gold_decimal_comma,
             {"lenient mode reads the gold 1,22 as 1.22, as Math-Verify does, and not as a list"});
  fields.add("choices", o.choices,
             {"strings that lenient mode takes as answers, such as A, B, C, D; empty: none"});
  fields.add("boxed_priority", o.boxed_priority,
             {"lenient mode: 0 boxes before all, 50 or 100 with the anchors of that rank, as in "
              "Math-Verify, -1 never",
              "", -1, 1000});
  fields.add("refuse_copied", o.refuse_copied,
             {"an expression of the prompt that still has operations to carry out is \"copied\", "
              "not equal, unless the gold is written so; counts where the prompt is known, as in "
              "training"});
}

void describe_equality(FieldList& fields, VerifierOptions& o) {
  fields.add("identical_text", o.identical_text,
             {"an answer that is the gold letter by letter is equal, parsable or not"});
  fields.add(
      "decimals", o.decimals,
      {{"places", DecimalRule::kPlaces},
       {"half_ulp", DecimalRule::kHalfUlp},
       {"exact", DecimalRule::kExact}},
      {"places: both sides rounded to decimal_places, half to even, and a gold below 1 must agree "
       "to 10^(1 - decimal_places) of itself as well; half_ulp: the exact side may differ by half "
       "a unit of the last digit written; exact: a decimal is the rational number that it spells"});
  fields.add("decimal_places", o.decimal_places,
             {"decimals that count under decimals = places", "digits", 0, 100});
  fields.add("percent_is_number", o.percent_is_number,
             {"10% equals 10, from 1% on, besides 1/10, which it always equals"});
  fields.add("drop_units", o.drop_units,
             {"a unit or currency sign that only one side has does not count"});
  fields.add("assignment", o.assignment, {"x = 5 equals 5"});
  fields.add("names_in_lists", o.names_in_lists, {"{AB = 4, CD = 5} equals {4, 5}"});
  fields.add("list_is_tuple", o.list_is_tuple, {"1, 3 and {1, 3} equal (1, 3) in this order"});
  fields.add("unordered_lists", o.unordered_lists,
             {"lists without brackets, and sets, are compared in any order"});
  fields.add("interval_for_relation", o.interval_for_relation,
             {"gold -2 <= x <= 7 equals the interval [-2, 7]"});
  fields.add("relation_for_interval", o.relation_for_interval,
             {"gold [-2, 7] also equals an inequality that is not solved for x"});
  fields.add("ignore_case", o.ignore_case, {"X equals x where a name stands alone; text always"});
  fields.add("base_may_lack", o.base_may_lack, {"204_5 equals 204, but not 204_6"});
  fields.add("degrees_may_lack", o.degrees_may_lack,
             {"90 degrees equals 90; with units on both sides they must agree"});
  fields.add("constant_may_differ", o.constant_may_differ,
             {"antiderivatives with + C on both sides are equal up to a constant"});
  fields.add("last_of_chain", o.last_of_chain,
             {"x = 2 + 3 = 5 is x = 5; a chain that contradicts itself is never equal"});
  fields.add("rename_variables", o.rename_variables, {"f(x) equals f(y)"});
  fields.add("salvage_last_equals", o.salvage_last_equals,
             {"where the whole cannot be parsed, what follows its last ="});
}

void describe_budgets(FieldList& fields, VerifierOptions& o) {
  fields.add("max_answer_bytes", o.max_answer_bytes,
             {"longer answers are out of budget", "bytes", 1, 1e6});
  fields.add("max_depth", o.max_depth, {"nesting of an expression", "", 1, 1000});
  fields.add(
      "max_steps", o.max_steps,
      {"steps of parsing, rewriting and evaluating a pair, both sides together", "", 100, 1e9});
  fields.add("max_bits", o.max_bits, {"size of any exact number", "bits", 64, 1e7});
  fields.add("max_precision", o.max_precision,
             {"precision of a ball before \"undecided\", or \"equal\" to that many bits", "bits",
              64, 1e5});
}

std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t comma = std::min(list.find(',', begin), list.size());
    out.emplace_back(list.substr(begin, comma - begin));
    begin = comma + 1;
  }
  return out;
}

}  // namespace

void describe(FieldList& fields, VerifierOptions& options) {
  describe_extraction(fields, options);
  describe_equality(fields, options);
  describe_budgets(fields, options);
}

void set_rule(VerifierOptions& options, std::string_view setting) {
  FieldList fields;
  describe(fields, options);
  const std::size_t equals = setting.find('=');
  const auto field = std::ranges::find(fields.fields(), setting.substr(0, equals), &Field::key);
  if (equals == std::string_view::npos || field == fields.fields().end())
    fail("{}: no such rule; write rule=value, lie_verify --rules lists them", setting);
  const std::string value(setting.substr(equals + 1));
  field->set(field->is_list ? split(value) : std::vector<std::string>{value});
}

}  // namespace lie

#include "verifier/rules/options.h"

#include <algorithm>

#include "common/error.h"

namespace lie {
namespace {

void describe_extraction(FieldList& fields, VerifierOptions& o) {
  fields.add("mode", o.mode,
             {{"reward", ExtractionMode::kReward}, {"lenient", ExtractionMode::kLenient}},
             {"reward: the last balanced box; lenient: also math environments and plain numbers"});
  fields.add("after_think", o.after_think,
             {"look only behind the last </think>, where one stands"});
  fields.add("fbox", o.fbox, {"\\fbox counts as \\boxed"});
  fields.add("bare_fractions", o.bare_fractions, {"\\frac12 is a half, although its braces lack"});
  fields.add("join_boxes", o.join_boxes, {"boxes with only separators between them are one list"});
  fields.add("lenient_latex", o.lenient_latex, {"lenient mode finds answers in math environments"});
  fields.add("lenient_plain", o.lenient_plain, {"lenient mode finds plain numbers and arithmetic"});
  fields.add("choices", o.choices, {"strings that lenient mode takes as answers; empty: none"});
  fields.add("boxed_priority", o.boxed_priority,
             {"lenient mode: 0 boxes first, 50 or 100 with the anchors of that rank, -1 never", "",
              -1, 1000});
}

void describe_equality(FieldList& fields, VerifierOptions& o) {
  fields.add("identical_text", o.identical_text,
             {"an answer that is the gold letter by letter is right"});
  fields.add("decimals", o.decimals,
             {{"places", DecimalRule::kPlaces},
              {"half_ulp", DecimalRule::kHalfUlp},
              {"exact", DecimalRule::kExact}},
             {"how a decimal is compared"});
  fields.add("decimal_places", o.decimal_places,
             {"decimals that count under decimals = places", "digits", 0, 100});
  fields.add("percent_is_number", o.percent_is_number, {"10% equals 10, from 1% on"});
  fields.add("drop_units", o.drop_units,
             {"a unit or currency sign beside a number does not count"});
  fields.add("assignment", o.assignment, {"x = 5 equals 5"});
  fields.add("names_in_lists", o.names_in_lists, {"{AB = 4, CD = 5} equals {4, 5}"});
  fields.add("list_is_tuple", o.list_is_tuple, {"a list equals the tuple with the same order"});
  fields.add("unordered_lists", o.unordered_lists, {"lists and sets are compared in any order"});
  fields.add("interval_for_relation", o.interval_for_relation,
             {"an interval may answer a gold inequality"});
  fields.add("relation_for_interval", o.relation_for_interval,
             {"an inequality may answer a gold interval"});
  fields.add("ignore_case", o.ignore_case, {"case of names and text does not count"});
  fields.add("base_may_lack", o.base_may_lack, {"204_5 equals 204"});
  fields.add("degrees_may_lack", o.degrees_may_lack, {"90 degrees equals 90"});
  fields.add("constant_may_differ", o.constant_may_differ,
             {"antiderivatives are equal up to a constant"});
  fields.add("last_of_chain", o.last_of_chain, {"of x = 2 + 3 = 5 only x = 5 counts"});
  fields.add("rename_variables", o.rename_variables, {"f(x) equals f(y)"});
  fields.add("salvage_last_equals", o.salvage_last_equals,
             {"what follows the last = of text that cannot be parsed"});
}

void describe_budgets(FieldList& fields, VerifierOptions& o) {
  fields.add("max_answer_bytes", o.max_answer_bytes,
             {"longer answers are out of budget", "bytes", 1, 1e6});
  fields.add("max_depth", o.max_depth, {"nesting of an expression", "", 1, 1000});
  fields.add("max_steps", o.max_steps, {"steps of parsing and evaluating a pair", "", 100, 1e9});
  fields.add("max_bits", o.max_bits, {"size of any exact number", "bits", 64, 1e7});
  fields.add("max_precision", o.max_precision, {"largest precision of a ball", "bits", 64, 1e5});
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

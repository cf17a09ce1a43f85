#include "common/dataset/field_names.h"

#include <fmt/ranges.h>
#include <functional>
#include <initializer_list>

#include "common/io/json.h"
#include "common/text/scan.h"

namespace lie {
namespace {

constexpr std::size_t kFieldsShown = 20;

struct NamedValue {
  std::string path;
  const Json* value;
};

/// Appends the values of an object and of its inner objects, outermost first.
void add_values(const Json& object, const std::string& prefix, std::vector<NamedValue>& values) {
  for (const auto& [name, value] : object.items()) {
    if (!value.is_object()) values.push_back({prefix + name, &value});
  }
  for (const auto& [name, value] : object.items()) {
    if (value.is_object()) add_values(value, prefix + name + ".", values);
  }
}

std::vector<NamedValue> values_of(const JsonRow& row) {
  std::vector<NamedValue> values;
  add_values(row.object(), "", values);
  return values;
}

bool is_text_or_number(const Json& value) { return value.is_string() || value.is_number(); }

bool is_text_list(const Json& value) {
  return value.is_array() && !value.empty() && value.front().is_string();
}

bool is_prompt(const Json& value) {
  if (value.is_string()) return !value.get_ref<const std::string&>().empty();
  return value.is_array() && !value.empty() && value.back().is_object() &&
         value.back().value("role", Json()) == "user";
}

/// Returns the path of the first of `names` that is a field whose value satisfies `fits`. Empty if
/// there is none.
std::string first_of(const std::vector<NamedValue>& values,
                     std::initializer_list<const char*> names,
                     const std::function<bool(const Json&)>& fits) {
  for (const char* name : names) {
    for (const NamedValue& named : values) {
      if (lowered(named.path) == lowered(name) && fits(*named.value)) return named.path;
    }
  }
  return "";
}

}  // namespace

FieldNames guess_fields(const JsonRow& row) {
  const std::vector<NamedValue> values = values_of(row);
  const auto is_text = [](const Json& value) { return value.is_string(); };
  const auto is_number = [](const Json& value) { return value.is_number(); };
  return {.prompt = first_of(values,
                             {"prompt", "question", "problem", "query", "instruction", "input",
                              "messages", "text"},
                             is_prompt),
          .choices = first_of(values, {"choices", "options", "choices.text"}, is_text_list),
          .gold = first_of(values,
                           {"gold", "answer", "reward_model.ground_truth", "ground_truth",
                            "final_answer", "expected_answer", "correct_answer", "answerKey",
                            "solution", "target", "label", "response", "output"},
                           is_text_or_number),
          .data_source = first_of(values, {"data_source", "source", "dataset", "subject"}, is_text),
          .reference_length = first_of(values, {"reference_length", "l_ref"}, is_number)};
}

std::string fields_text(const JsonRow& row) {
  std::vector<std::string> paths;
  for (const NamedValue& named : values_of(row)) paths.push_back(named.path);
  if (paths.empty()) return "the row has no fields";
  const bool cut = paths.size() > kFieldsShown;
  if (cut) paths.resize(kFieldsShown);
  return fmt::format("the row has {}{}", fmt::join(paths, ", "), cut ? ", ..." : "");
}

}  // namespace lie

// The list of an options struct's fields. It drives load, dump, --help, range errors and
// unknown-key errors. A folder declares its struct and `void describe(FieldList&, ItsOptions&)`
// next to it.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lie {

/// Returns "samples" for "rollout.samples".
inline std::string_view last_part(std::string_view key) {
  const std::size_t dot = key.rfind('.');
  return dot == std::string_view::npos ? key : key.substr(dot + 1);
}

/// Returns "rollout" for "rollout.samples". Empty at the top level.
inline std::string_view section_of(std::string_view key) {
  const std::size_t dot = key.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : key.substr(0, dot);
}

/// Returns whether `key` is `name` or in a section of that name.
bool is_within(std::string_view key, std::string_view name);

/// The text of an unset optional field in configs and --help.
inline constexpr const char* kUnset = "auto";
/// The same in files of earlier versions.
inline constexpr const char* kFormerUnset = "-1";

/// The help text of a field and its legal values.
struct FieldInfo {
  std::string help;       // one sentence
  std::string unit = {};  // "tokens", ...; "path": a path to read (see config.h); empty: no unit
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  std::string before = {};  // value for runs of versions without the key; empty: the default
  bool is_command = false;  // a command line, which is shown and stored without secrets
  /// The command that sets the field. It is stored and compared like others, but not explained, and
  /// an override of it is refused. Empty: users set it.
  std::string set_by = {};
};

/// One configurable value: its full key, its description, and functions that read and write it as
/// YAML text.
struct Field {
  std::string key;  // "optimizer.learning_rate"
  FieldInfo info;
  std::string range = {};  // printed by --help: "0 to 1", "k2 | k3"; empty: any number
  std::string default_text = {};
  bool is_list = false;
  bool takes_one = false;    // a one-element list is read and printed without brackets; "" is none
  bool is_text = false;      // a text field: a dump quotes values that look like other types
  bool is_optional = false;  // a number that may be unset, which is written kUnset
  std::function<std::vector<std::string>()> get = {};             // one element unless is_list
  std::function<void(const std::vector<std::string>&)> set = {};  // throws Error for a bad value

  /// Returns the values of get() as they are stored: a command line without its secrets.
  std::vector<std::string> stored() const;
  /// Returns the current value in the format of --help.
  std::string text() const;
  /// Returns whether the values of get() are printed in brackets.
  bool prints_as_list(const std::vector<std::string>& values) const {
    return is_list && !(takes_one && values.size() == 1);
  }
};

/// Collects the fields of options structs, by section. The values at the time of add() are the
/// defaults. Numbers must be finite.
class FieldList {
 public:
  void add(std::string_view name, bool& value, FieldInfo info);
  void add(std::string_view name, std::int64_t& value, FieldInfo info);
  void add(std::string_view name, double& value, FieldInfo info);
  /// Adds a number that may be unset, which is written kUnset. `info` must give a range of numbers
  /// of at least 0. kFormerUnset also reads as unset, because earlier versions wrote it.
  void add(std::string_view name, std::optional<double>& value, FieldInfo info);
  void add(std::string_view name, std::string& value, FieldInfo info);
  void add(std::string_view name, std::vector<std::int64_t>& value, FieldInfo info);
  void add(std::string_view name, std::vector<std::string>& value, FieldInfo info);
  /// Adds a field whose value is a text or a list of texts. No text of a list may be empty.
  void add_one_or_more(std::string_view name, std::vector<std::string>& value, FieldInfo info);

  /// Adds a text field whose value must be one of `choices`.
  void add_one_of(std::string_view name, std::string& value, std::vector<std::string> choices,
                  FieldInfo info);

  /// Adds a field with named values, such as {{"k2", KlEstimator::kK2}, {"k3", KlEstimator::kK3}}.
  template <typename Enum>
  void add(std::string_view name, Enum& value,
           std::initializer_list<std::pair<const char*, Enum>> choices, FieldInfo info) {
    std::vector<std::string> names;
    std::vector<Enum> values;
    for (const auto& [choice_name, choice_value] : choices) {
      names.emplace_back(choice_name);
      values.push_back(choice_value);
    }
    add_choice(
        name, names, std::move(info),
        [&value, values] {
          std::size_t i = 0;
          while (i < values.size() && values[i] != value) ++i;
          return i;
        },
        [&value, values](std::size_t i) { value = values[i]; });
  }

  /// Adds the fields of `options` with "name." before their keys. `options` may also be a function
  /// that adds fields to this list.
  template <typename Options>
  void section(std::string_view name, Options&& options) {
    const std::string outer = prefix_;
    prefix_ += std::string(name) + ".";
    if constexpr (std::invocable<Options>) {
      options();
    } else {
      describe(*this, options);
    }
    prefix_ = outer;
  }

  /// Accepts the former name of a key or section in place of the current one. load_config reports
  /// its use.
  void rename(std::string_view former, std::string_view current) {
    renamed_.emplace_back(prefix_ + std::string(former), prefix_ + std::string(current));
  }

  /// Refuses a key that users may expect. The error for it says why there is no such key.
  void refuse(std::string_view name, std::string_view reason) {
    refused_.emplace_back(prefix_ + std::string(name), reason);
  }
  /// Returns the reason for refusing this key, or an empty text.
  std::string refusal(std::string_view key) const;

  const std::vector<Field>& fields() const { return fields_; }
  /// Returns the keys that users set.
  std::vector<std::string> keys() const;
  /// Returns the field with this key or former key; null if there is none.
  const Field* find(std::string_view key) const;
  /// Returns all sections that hold a field, including outer ones.
  std::set<std::string> sections(bool with_former_names) const;

 private:
  void append(Field field);  // the field's current value becomes its default
  void add_choice(std::string_view name, std::vector<std::string> names, FieldInfo info,
                  std::function<std::size_t()> get, std::function<void(std::size_t)> set);

  std::string prefix_;
  std::vector<Field> fields_;
  std::vector<std::pair<std::string, std::string>> renamed_;  // former and current names
  std::vector<std::pair<std::string, std::string>> refused_;  // keys and reasons
};

/// Adds the fields of an entry of a list of options: in a section of its kName, or, if it has
/// kHasSection = false, without one.
template <typename Options>
void add_entry(FieldList& fields, Options& entry) {
  if constexpr (requires { entry.kHasSection; }) {
    describe(fields, entry);
  } else {
    fields.section(entry.kName, entry);
  }
}

/// Returns the keys of the fields whose values differ between two lists of the same fields.
std::vector<std::string> differing_keys(const FieldList& one, const FieldList& other);

}  // namespace lie

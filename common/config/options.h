// One listing of an options struct's fields drives load, dump, --help, range errors and unknown-key
// errors. A folder declares its struct and `void describe(FieldList&, ItsOptions&)` beside it.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lie {

/// The text of an unset optional field in configs and --help.
inline constexpr const char* kUnset = "auto";

/// What --help says of a field, and what values it takes.
struct FieldInfo {
  std::string help;       // one sentence
  std::string unit = {};  // "tokens", ...; "path": of what is read (config.h); empty: neither
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  std::string before = {};  // what runs did before there was the key; empty: as its default does
  std::string renamed_from = {};  // former name in the same section, which is still accepted
};

/// One configurable value: its full key, what it is, and how to read and write it as YAML text.
struct Field {
  std::string key;  // "policy_loss.clip_low"
  FieldInfo info;
  std::string range = {};  // as help prints it: "0 to 1", "grpo | gspo"; empty: any number
  std::string default_text = {};
  bool is_list = false;
  bool takes_one = false;    // a list that may be one plain value, and is printed so; "" is none
  bool is_text = false;      // of strings: a dump quotes what else would read as a number
  bool is_optional = false;  // a number that may be unset, which is written kUnset
  std::function<std::vector<std::string>()> get = {};             // scalar: one element
  std::function<void(const std::vector<std::string>&)> set = {};  // throws Error: what was expected

  /// The value it holds now, as help prints it.
  std::string text() const;
  /// Whether values that get() gave are printed in brackets.
  bool prints_as_list(const std::vector<std::string>& values) const {
    return is_list && !(takes_one && values.size() == 1);
  }
};

/// Collects the fields of options structs, by section. The values they hold when added are the
/// defaults. A number never takes nan or infinity.
class FieldList {
 public:
  void add(std::string_view name, bool& value, FieldInfo info);
  void add(std::string_view name, std::int64_t& value, FieldInfo info);
  void add(std::string_view name, double& value, FieldInfo info);
  /// Adds a number that may be unset, which is written kUnset. `info` must give a range of numbers
  /// of at least 0. A negative number reads as unset, because earlier versions wrote one for it.
  void add(std::string_view name, std::optional<double>& value, FieldInfo info);
  void add(std::string_view name, std::string& value, FieldInfo info);
  void add(std::string_view name, std::vector<std::int64_t>& value, FieldInfo info);
  void add(std::string_view name, std::vector<std::string>& value, FieldInfo info);
  /// A text or a list of them; none is empty.
  void add_one_or_more(std::string_view name, std::vector<std::string>& value, FieldInfo info);

  /// A field with named values, such as {{"grpo", Algorithm::kGrpo}, {"gspo", Algorithm::kGspo}}.
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

  /// Adds the fields of `options`, with "name." before their keys.
  template <typename Options>
  void section(std::string_view name, Options& options) {
    const std::string outer = prefix_;
    prefix_ += std::string(name) + ".";
    describe(*this, options);
    prefix_ = outer;
  }

  const std::vector<Field>& fields() const { return fields_; }

 private:
  void append(Field field);  // its present value becomes the default
  void add_choice(std::string_view name, std::vector<std::string> names, FieldInfo info,
                  std::function<std::size_t()> get, std::function<void(std::size_t)> set);

  std::string prefix_;
  std::vector<Field> fields_;
};

}  // namespace lie

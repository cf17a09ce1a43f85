#include "common/config/options.h"

#include <algorithm>

#include "common/base/error.h"
#include "common/config/number_text.h"
#include "common/text/printable.h"
#include "common/text/scan.h"

namespace lie {

namespace {

/// Parses the booleans of YAML 1.1, in lower, upper or mixed case.
bool parse_bool(std::string_view text) {
  const std::string lower = lowered(text);
  for (const char* name : {"true", "yes", "on"}) {
    if (lower == name) return true;
  }
  for (const char* name : {"false", "no", "off"}) {
    if (lower == name) return false;
  }
  fail("expected true or false, found \"{}\"", text);
}

std::string joined(const std::vector<std::string>& values, std::string_view separator) {
  return fmt::format("{}", fmt::join(values, separator));
}

const std::string& only(const std::vector<std::string>& values) {
  if (values.size() != 1) fail("expected one value, found {}", values.size());
  return values.front();
}

}  // namespace

// fmt prints the shortest text that parses back to the same double.
void FieldList::add(std::string_view name, double& value, FieldInfo info) {
  Field field{.key = prefix_ + std::string(name), .info = info, .range = range_text(info)};
  field.get = [&value] { return std::vector{fmt::format("{}", value)}; };
  field.set = [&value, info](const auto& texts) { value = parse_number(only(texts), info); };
  append(std::move(field));
}

void FieldList::add(std::string_view name, std::optional<double>& value, FieldInfo info) {
  Field field{.key = prefix_ + std::string(name),
              .info = info,
              .range = fmt::format("{}, or {}", kUnset, range_text(info)),
              .is_optional = true};
  field.get = [&value] { return std::vector{value ? fmt::format("{}", *value) : kUnset}; };
  field.set = [&value, info](const auto& texts) {
    const std::string& text = only(texts);
    value.reset();
    if (text != kUnset && text != kFormerUnset) value = parse_number(text, info);
  };
  append(std::move(field));
}

void FieldList::add(std::string_view name, std::int64_t& value, FieldInfo info) {
  Field field{.key = prefix_ + std::string(name), .info = info, .range = range_text(info)};
  field.get = [&value] { return std::vector{std::to_string(value)}; };
  field.set = [&value, info](const auto& texts) { value = parse_integer(only(texts), info); };
  append(std::move(field));
}

void FieldList::add(std::string_view name, bool& value, FieldInfo info) {
  Field field{.key = prefix_ + std::string(name), .info = info, .range = "true | false"};
  field.get = [&value] { return std::vector<std::string>{value ? "true" : "false"}; };
  field.set = [&value](const auto& texts) { value = parse_bool(only(texts)); };
  append(std::move(field));
}

void FieldList::add(std::string_view name, std::string& value, FieldInfo info) {
  Field field{.key = prefix_ + std::string(name), .info = info, .range = "text", .is_text = true};
  field.get = [&value] { return std::vector{value}; };
  field.set = [&value](const auto& texts) { value = only(texts); };
  append(std::move(field));
}

void FieldList::add(std::string_view name, std::vector<std::int64_t>& value, FieldInfo info) {
  Field field{.key = prefix_ + std::string(name),
              .info = info,
              .range = with_range("list of integers", range_text(info)),
              .is_list = true};
  field.get = [&value] {
    std::vector<std::string> texts;
    for (const std::int64_t element : value) texts.push_back(std::to_string(element));
    return texts;
  };
  field.set = [&value, info](const auto& texts) {
    std::vector<std::int64_t> parsed;
    for (const auto& text : texts) parsed.push_back(parse_integer(text, info));
    value = std::move(parsed);
  };
  append(std::move(field));
}

void FieldList::add(std::string_view name, std::vector<std::string>& value, FieldInfo info) {
  Field field{.key = prefix_ + std::string(name),
              .info = info,
              .range = "list of texts",
              .is_list = true,
              .is_text = true};
  field.get = [&value] { return value; };
  field.set = [&value](const auto& texts) { value = texts; };
  append(std::move(field));
}

void FieldList::add_one_or_more(std::string_view name, std::vector<std::string>& value,
                                FieldInfo info) {
  Field field{.key = prefix_ + std::string(name),
              .info = info,
              .range = "text, or list of texts",
              .is_list = true,
              .takes_one = true,
              .is_text = true};
  field.get = [&value] { return value.empty() ? std::vector<std::string>{""} : value; };
  field.set = [&value](const std::vector<std::string>& texts) {
    const bool is_none = texts.size() == 1 && texts.front().empty();
    if (!is_none && std::ranges::count(texts, "") > 0) fail("expected texts, found an empty one");
    value = is_none ? std::vector<std::string>() : texts;
  };
  append(std::move(field));
}

void FieldList::add_one_of(std::string_view name, std::string& value,
                           std::vector<std::string> choices, FieldInfo info) {
  const auto place = [&value, choices] {
    return static_cast<std::size_t>(std::ranges::find(choices, value) - choices.begin());
  };
  const auto choose = [&value, choices](std::size_t i) { value = choices[i]; };
  add_choice(name, std::move(choices), std::move(info), place, choose);
}

void FieldList::add_choice(std::string_view name, std::vector<std::string> names, FieldInfo info,
                           std::function<std::size_t()> get, std::function<void(std::size_t)> set) {
  Field field{.key = prefix_ + std::string(name), .info = info, .range = joined(names, " | ")};
  field.get = [names, get = std::move(get)] { return std::vector{names.at(get())}; };
  field.set = [names, set = std::move(set)](const std::vector<std::string>& texts) {
    const std::string& text = only(texts);
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] == text) return set(i);
    }
    fail("expected one of {}, found \"{}\"", joined(names, ", "), text);
  };
  append(std::move(field));
}

std::vector<std::string> Field::stored() const {
  std::vector<std::string> values = get();
  if (info.is_command) std::ranges::transform(values, values.begin(), without_secrets);
  return values;
}

std::string Field::text() const {
  const std::vector<std::string> values = get();
  return prints_as_list(values) ? fmt::format("[{}]", joined(values, ", ")) : values.front();
}

bool is_within(std::string_view key, std::string_view name) {
  return key.starts_with(name) && (key.size() == name.size() || key[name.size()] == '.');
}

const Field* FieldList::find(std::string_view key) const {
  const auto field = std::ranges::find(fields_, key, &Field::key);
  if (field != fields_.end()) return &*field;
  for (const auto& [former, current] : renamed_) {
    if (is_within(key, former)) return find(current + std::string(key.substr(former.size())));
  }
  return nullptr;
}

std::string FieldList::refusal(std::string_view key) const {
  for (const auto& [name, reason] : refused_) {
    if (name == key) return reason;
  }
  return {};
}

std::vector<std::string> FieldList::keys() const {
  std::vector<std::string> keys;
  for (const Field& field : fields_) {
    if (field.info.set_by.empty()) keys.push_back(field.key);
  }
  return keys;
}

std::set<std::string> FieldList::sections(bool with_former_names) const {
  std::set<std::string> sections;
  const auto add_outer = [&](std::string_view key) {
    for (std::string_view s = section_of(key); !s.empty(); s = section_of(s)) sections.emplace(s);
  };
  for (const Field& field : fields_) {
    add_outer(field.key);
    if (!with_former_names) continue;
    for (const auto& [former, current] : renamed_) {
      if (is_within(field.key, current)) add_outer(former + field.key.substr(current.size()));
    }
  }
  return sections;
}

void FieldList::append(Field field) {
  for (const Field& other : fields_) {
    if (other.key == field.key) fail("option {} is declared twice; rename one of them", field.key);
  }
  field.default_text = field.text();
  if (field.info.before.empty()) field.info.before = field.default_text;
  fields_.push_back(std::move(field));
}

std::vector<std::string> differing_keys(const FieldList& one, const FieldList& other) {
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < one.fields().size(); ++i) {
    const Field& field = one.fields()[i];
    if (field.get() != other.fields()[i].get()) keys.push_back(field.key);
  }
  return keys;
}

}  // namespace lie

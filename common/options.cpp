#include "common/options.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <system_error>

#include "common/error.h"

namespace lie {
namespace {

std::string range_text(const FieldInfo& info) {
  const bool below = std::isfinite(info.min);
  const bool above = std::isfinite(info.max);
  if (below && above) return fmt::format("{} to {}", info.min, info.max);
  if (below) return fmt::format("at least {}", info.min);
  if (above) return fmt::format("at most {}", info.max);
  return "";
}

std::string with_range(std::string kind, const std::string& range) {
  return range.empty() ? kind : kind + ", " + range;
}

template <typename Number>
void require_in_range(Number value, const FieldInfo& info, std::string_view kind,
                      std::string_view text) {
  // long double holds every 64-bit integer and every double exactly.
  const auto wide = static_cast<long double>(value);
  if (wide < static_cast<long double>(info.min) || wide > static_cast<long double>(info.max)) {
    fail("expected {}, found {}", with_range(std::string(kind), range_text(info)), text);
  }
}

std::string_view without_plus(std::string_view text) {
  const bool plus = text.size() > 1 && text[0] == '+' && text[1] != '-';
  return plus ? text.substr(1) : text;
}

std::int64_t parse_integer(std::string_view text, const FieldInfo& info) {
  const std::string_view digits = without_plus(text);
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (code == std::errc::result_out_of_range) {
    fail("expected {}, found {}, which no 64-bit integer holds",
         with_range("an integer", range_text(info)), text);
  }
  if (code != std::errc() || end != digits.data() + digits.size()) {
    fail("expected {}, found \"{}\"", with_range("an integer", range_text(info)), text);
  }
  require_in_range(value, info, "an integer", text);
  return value;
}

double parse_number(std::string_view text, const FieldInfo& info) {
  const std::string_view digits = without_plus(text);
  double value = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (code == std::errc::result_out_of_range) {
    fail("expected {}, found {}, which no double holds", with_range("a number", range_text(info)),
         text);
  }
  const bool whole = code == std::errc() && end == digits.data() + digits.size();
  if (!whole || !std::isfinite(value)) {
    fail("expected {}, found \"{}\"", with_range("a finite number", range_text(info)), text);
  }
  require_in_range(value, info, "a number", text);
  return value;
}

/// As YAML 1.1 knows them, in lower case, Capitalised or in CAPITALS.
bool parse_bool(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
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

// fmt prints the shortest text that reads back to the same double.
void FieldList::add(std::string_view name, double& value, FieldInfo info) {
  Field field{.key = prefix_ + std::string(name), .info = info, .range = range_text(info)};
  field.get = [&value] { return std::vector{fmt::format("{}", value)}; };
  field.set = [&value, info](const auto& texts) { value = parse_number(only(texts), info); };
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

std::string Field::text() const {
  const std::vector<std::string> values = get();
  return prints_as_list(values) ? fmt::format("[{}]", joined(values, ", ")) : values.front();
}

void FieldList::append(Field field) {
  for (const Field& other : fields_) {
    if (other.key == field.key) fail("option {} is declared twice; rename one of them", field.key);
  }
  field.default_text = field.text();
  fields_.push_back(std::move(field));
}

}  // namespace lie

#include "common/io/json_lines.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/base/error.h"
#include "common/io/file.h"
#include "common/io/json.h"
#include "common/io/json_numbers.h"

namespace lie {
namespace {

/// Throws Error for a line that is not the beginning of a JSONL row, such as multi-line JSON, CSV
/// or compressed data. Its message asks for the format instead of reporting a syntax error.
void check_begins_an_object(std::string_view line, const std::string& place) {
  constexpr std::size_t kShown = 20;
  const std::size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
  const std::string_view rest = line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin);
  if (rest.starts_with('{') && rest.size() > 1) return;
  refuse_lfs_pointer(place, line);
  fail(
      "{}: expected a JSON object such as {{\"prompt\": \"...\"}} in a line (JSONL), found a line "
      "that begins with {}: is it in another format or damaged?",
      place, json_quoted(rest.substr(0, kShown)));
}

/// Returns a text, or the JSON text of a finite number or boolean; nothing for other values.
std::optional<std::string> text_of(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  const bool is_number = value.is_number() && std::isfinite(value.get<double>());
  return is_number || value.is_boolean() ? std::optional(value.dump()) : std::nullopt;
}

}  // namespace

JsonRow::JsonRow(std::string place, std::shared_ptr<const Json> object)
    : place_(std::move(place)), object_(std::move(object)) {}

const Json* JsonRow::find(std::string_view field) const {
  const Json* at = object_.get();
  while (true) {
    if (!at->is_object()) return nullptr;
    // A field whose name contains dots wins over the path.
    const auto whole = at->find(std::string(field));
    const std::size_t dot = field.find('.');
    const bool here = whole != at->end() || dot == std::string_view::npos;
    const auto found = here ? whole : at->find(std::string(field.substr(0, dot)));
    if (found == at->end() || found->is_null()) return nullptr;
    if (here) return &*found;
    at = &*found;
    field.remove_prefix(dot + 1);
  }
}

void JsonRow::fail_expected(std::string_view field, std::string_view what) const {
  const Json* found = find(field);
  if (found == nullptr) {
    fail("{}: field {}: expected {}, found nothing; the row has {}", place_, field, what,
         fmt::join(names(), ", "));
  }
  if (found->is_object() && found->size() == 1 && found->contains(kUnreadType)) {
    fail("{}: field {}: its column holds {}, which is not read; convert it to UTF-8 text", place_,
         field, found->front().dump());
  }
  const bool is_finite = !found->is_number() || std::isfinite(found->get<double>());
  fail("{}: field {}: expected {}, found {}; correct the row", place_, field, what,
       is_finite ? found->type_name() : "NaN or Infinity");
}

bool JsonRow::has(std::string_view field) const { return find(field) != nullptr; }

bool JsonRow::is_list(std::string_view field) const {
  const Json* found = find(field);
  return found != nullptr && found->is_array();
}

std::optional<std::string> JsonRow::text(std::string_view field) const {
  const Json* found = find(field);
  if (found == nullptr) return std::nullopt;
  if (!found->is_string()) fail_expected(field, "a text");
  return found->get<std::string>();
}

std::optional<std::string> JsonRow::text_or_number(std::string_view field) const {
  const Json* found = find(field);
  if (found == nullptr) return std::nullopt;
  std::optional<std::string> text = text_of(*found);
  if (!text) fail_expected(field, "a text or a number");
  return text;
}

std::optional<double> JsonRow::number(std::string_view field) const {
  const Json* found = find(field);
  if (found == nullptr) return std::nullopt;
  if (found->is_string()) {
    const auto value = value_of_literal(found->get_ref<const std::string&>());
    if (value) return value;
  }
  if (!found->is_number() || !std::isfinite(found->get<double>())) {
    fail_expected(field, "a finite number");
  }
  return found->get<double>();
}

std::optional<std::int64_t> JsonRow::integer(std::string_view field) const {
  const Json* found = find(field);
  if (found == nullptr) return std::nullopt;
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  const bool too_large = found->is_number_unsigned() && found->get<std::uint64_t>() > kMost;
  if (!found->is_number_integer() || too_large) fail_expected(field, "a 64-bit integer");
  return found->get<std::int64_t>();
}

std::optional<bool> JsonRow::boolean(std::string_view field) const {
  const Json* found = find(field);
  if (found == nullptr) return std::nullopt;
  if (!found->is_boolean()) fail_expected(field, "true or false");
  return found->get<bool>();
}

std::optional<std::vector<std::string>> JsonRow::texts(std::string_view field) const {
  const Json* found = find(field);
  if (found == nullptr) return std::nullopt;
  if (!found->is_array()) fail_expected(field, "a list of texts or numbers");
  std::vector<std::string> texts;
  for (const Json& element : *found) {
    std::optional<std::string> text = text_of(element);
    if (!text) fail_expected(field, "a list of texts or numbers only");
    texts.push_back(*std::move(text));
  }
  return texts;
}

std::vector<JsonRow> JsonRow::rows(std::string_view field) const {
  const Json* found = find(field);
  if (found == nullptr) return {};
  if (!found->is_array()) fail_expected(field, "a list of objects");
  std::vector<JsonRow> rows;
  for (const Json& element : *found) {
    if (!element.is_object()) fail_expected(field, "a list of objects only");
    std::string place = fmt::format("{} {}[{}]", place_, field, rows.size());
    // The aliasing pointer keeps the outer object alive.
    rows.emplace_back(std::move(place), std::shared_ptr<const Json>(object_, &element));
  }
  return rows;
}

std::string JsonRow::required_text(std::string_view field) const {
  std::optional<std::string> value = text(field);
  if (!value) fail_expected(field, "a text");
  return *std::move(value);
}

std::string JsonRow::as_json() const {
  return object_->dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::vector<std::string> JsonRow::names() const {
  std::vector<std::string> names;
  for (const auto& item : object_->items()) names.push_back(item.key());
  return names;
}

JsonRow parse_json_row(std::string_view line, const std::string& place) {
  check_begins_an_object(line, place);
  return JsonRow(place, std::make_shared<const Json>(parse_exact_json(line, place)));
}

std::string json_quoted(std::string_view text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace lie

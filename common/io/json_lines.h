// Rows of JSONL files, with errors that name file and line.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lie {

/// One JSON object and its place. Fields are named by path: "reward_model.ground_truth" is the
/// field ground_truth of the object reward_model. A field that is null counts as absent. Every
/// method throws Error naming place, field and what was expected if the field is there but of
/// another kind.
class JsonRow {
 public:
  JsonRow(std::string place, std::shared_ptr<const nlohmann::json> object);

  /// "prompts.jsonl:12", for errors of one's own.
  const std::string& place() const { return place_; }

  bool has(std::string_view field) const;
  /// Whether the field is there and is a list (of anything).
  bool is_list(std::string_view field) const;

  std::optional<std::string> text(std::string_view field) const;
  /// A text, or a number or boolean as JSON writes it: gold answers come as both.
  std::optional<std::string> text_or_number(std::string_view field) const;
  /// Finite; an integer counts as a number.
  std::optional<double> number(std::string_view field) const;
  std::optional<std::int64_t> integer(std::string_view field) const;
  std::optional<bool> boolean(std::string_view field) const;
  std::optional<std::vector<std::string>> texts(std::string_view field) const;
  /// A list of objects, placed as "prompts.jsonl:12 prompt[0]"; empty if absent.
  std::vector<JsonRow> rows(std::string_view field) const;

  /// As text(), but absence is an error.
  std::string required_text(std::string_view field) const;

  /// The whole object.
  const nlohmann::json& object() const { return *object_; }

  /// The whole object on one line; bytes that are no UTF-8 become U+FFFD.
  std::string as_json() const;

  /// Names of the object's own fields, for errors and copies.
  std::vector<std::string> names() const;

 private:
  const nlohmann::json* find(std::string_view field) const;
  [[noreturn]] void fail_expected(std::string_view field, std::string_view what) const;

  std::string place_;
  std::shared_ptr<const nlohmann::json> object_;
};

/// One line of JSONL. Throws Error, with `place` before it, if it is no JSON object.
JsonRow parse_json_row(std::string_view line, const std::string& place);

/// `text` between quotation marks with JSON's escapes; bytes that are no UTF-8 become U+FFFD.
std::string json_quoted(std::string_view text);

}  // namespace lie

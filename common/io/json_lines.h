// Rows of JSONL files, with errors that give file and line.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lie {

/// One JSON object and its place in a file. Fields are named by path: "reward_model.ground_truth"
/// is the field ground_truth of the object reward_model. A null field counts as absent. Every
/// method throws Error with place, field and expected type if the field has another type.
class JsonRow {
 public:
  JsonRow(std::string place, std::shared_ptr<const nlohmann::json> object);

  /// Returns "prompts.jsonl:12", for the caller's error messages.
  const std::string& place() const { return place_; }

  bool has(std::string_view field) const;
  /// Returns whether the field exists and is a list, of any element type.
  bool is_list(std::string_view field) const;

  std::optional<std::string> text(std::string_view field) const;
  /// Returns a text, or the JSON text of a number or boolean. Datasets have gold answers of both
  /// types.
  std::optional<std::string> text_or_number(std::string_view field) const;
  /// Returns a finite number. An integer counts as a number.
  std::optional<double> number(std::string_view field) const;
  std::optional<std::int64_t> integer(std::string_view field) const;
  std::optional<bool> boolean(std::string_view field) const;
  /// Returns a list whose elements text_or_number() would accept.
  std::optional<std::vector<std::string>> texts(std::string_view field) const;
  /// Returns a list of objects with places such as "prompts.jsonl:12 prompt[0]". Empty if absent.
  std::vector<JsonRow> rows(std::string_view field) const;

  /// Like text(), but throws Error if the field is absent.
  std::string required_text(std::string_view field) const;

  /// Returns the whole object.
  const nlohmann::json& object() const { return *object_; }

  /// Returns the whole object on one line. Invalid UTF-8 becomes U+FFFD.
  std::string as_json() const;

  /// Returns the names of the object's top-level fields.
  std::vector<std::string> names() const;

 private:
  const nlohmann::json* find(std::string_view field) const;
  [[noreturn]] void fail_expected(std::string_view field, std::string_view what) const;

  std::string place_;
  std::shared_ptr<const nlohmann::json> object_;
};

/// Key of the object that stands for a value of Parquet that is not read, such as {"unread type":
/// "duration[ns]"}. A method of JsonRow that reads it throws Error with the type.
inline constexpr const char* kUnreadType = "unread type";

/// Parses one line of JSONL by parse_exact_json(). Throws Error, prefixed with `place`, if it is
/// not a JSON object.
JsonRow parse_json_row(std::string_view line, const std::string& place);

/// Returns `text` as a quoted JSON string. Invalid UTF-8 becomes U+FFFD.
std::string json_quoted(std::string_view text);

}  // namespace lie

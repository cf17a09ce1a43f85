// One value of a JSON file with its place, for files that other programs write.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/error.h"
#include "common/io/json.h"

namespace lie {

/// A value of a JSON file and its path of keys. Every error names file, path, value and what is
/// expected.
class JsonNode {
 public:
  /// `json` is null for an absent key. `place` is "FILE: " for the whole file.
  JsonNode(const Json* json, std::string place) : json_(json), place_(std::move(place)) {}

  const std::string& place() const { return place_; }
  /// Returns whether the value is null or absent.
  bool is_null() const { return json_ == nullptr || json_->is_null(); }
  bool is_object() const { return json_ != nullptr && json_->is_object(); }
  /// Returns the value, null if it is absent.
  Json json() const { return json_ == nullptr ? Json() : *json_; }

  JsonNode at(const std::string& key) const {
    const std::string place = place_.ends_with(' ') ? place_ + key : place_ + "." + key;
    if (!is_object()) return {nullptr, place};
    const auto found = json_->find(key);
    return {found == json_->end() ? nullptr : &*found, place};
  }

  /// Returns the values of a list.
  std::vector<JsonNode> items() const {
    if (json_ == nullptr || !json_->is_array()) reject("a list");
    std::vector<JsonNode> all;
    for (const Json& item : *json_) {
      all.emplace_back(&item, fmt::format("{}[{}]", place_, all.size()));
    }
    return all;
  }

  const Json& object() const {
    if (!is_object()) reject("an object");
    return *json_;
  }

  const std::string& text() const {
    if (json_ == nullptr || !json_->is_string()) reject("a string");
    return json_->get_ref<const std::string&>();
  }

  bool flag(bool fallback) const {
    if (is_null()) return fallback;
    if (!json_->is_boolean()) reject("true or false");
    return json_->get<bool>();
  }

  /// Returns whether the value is an integer from 0 to `most`.
  bool is_natural(std::uint64_t most = UINT64_MAX) const {
    return json_ != nullptr && json_->is_number_unsigned() && json_->get<std::uint64_t>() <= most;
  }

  /// Returns an integer from 1 to `most`, or `fallback` if the value is null.
  std::int64_t size(std::uint64_t most, std::optional<std::int64_t> fallback = {}) const {
    if (fallback && is_null()) return *fallback;
    if (!is_natural(most) || *json_ == 0) reject(fmt::format("an integer from 1 to {}", most));
    return json_->get<std::int64_t>();
  }

  /// Returns a finite number above 0, or `fallback` if the value is null.
  double positive(std::optional<double> fallback = {}) const {
    if (fallback && is_null()) return *fallback;
    const double value = json_ != nullptr && json_->is_number() ? json_->get<double>() : 0;
    if (!(value > 0) || !std::isfinite(value)) reject("a number above 0");
    return value;
  }

  [[noreturn]] void reject(std::string_view expected) const {
    std::string found =
        json_ == nullptr ? "nothing" : json_->dump(-1, ' ', false, Json::error_handler_t::replace);
    if (found.size() > 80) found = found.substr(0, 77) + "...";
    fail("{}{}found {}, expected {}", place_, place_.ends_with(' ') ? "" : ": ", found, expected);
  }

 private:
  const Json* json_;
  std::string place_;
};

}  // namespace lie

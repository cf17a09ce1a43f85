// Typed access to one config.json; every failure names file, key and what was expected.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "common/io/json.h"

namespace lie {

/// One object of a config: the file itself, or an object within it.
class ConfigReader {
 public:
  /// Reads the file. Throws Error if it is not a JSON object.
  explicit ConfigReader(const std::filesystem::path& path);

  const std::string& file() const { return file_; }

  /// The value, or nullptr if the key is absent or null.
  const Json* find(const char* key) const;
  /// The value. Throws Error if it is absent or null.
  const Json& at(const char* key) const;
  /// The object at `key`, whose errors name it "key.inner". Throws Error if it is no object.
  ConfigReader object(const char* key) const;

  /// An integer from 1 to `max`. Throws Error if it is anything else, or absent without
  /// `otherwise`.
  std::int64_t size(const char* key, std::optional<std::int64_t> otherwise = {},
                    std::int64_t max = kMaxWidth) const;
  /// A finite number above 0.
  double positive(const char* key, std::optional<double> otherwise = {}) const;
  bool flag(const char* key, bool otherwise) const;

  /// For keys that transformers obeys and we do not: only the value without effect is accepted.
  [[noreturn]] void refuse(const char* key, const Json& value, std::string_view supported) const;

  /// Far above any model, so that every count of parameters stays within 63 bits.
  static constexpr std::int64_t kMaxWidth = 1 << 20;

 private:
  ConfigReader(std::string file, std::string prefix, Json json);

  std::string file_;
  std::string prefix_;  // "rope_parameters." within that object
  Json json_;
};

}  // namespace lie

// Typed access to one config.json. Every error names the file, the key and the expected value.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "common/io/json.h"

namespace lie {

/// One JSON object of a config: the file itself, or an object within it.
class ConfigReader {
 public:
  /// Reads the file. Throws Error if it is not a JSON object.
  explicit ConfigReader(const std::filesystem::path& path);

  const std::string& file() const { return file_; }

  /// Returns the value, or nullptr if the key is absent or null.
  const Json* find(const char* key) const;
  /// Returns the value. Throws Error if it is absent or null.
  const Json& at(const char* key) const;
  /// Returns a reader of the object at `key`, whose errors name keys as "key.inner". Throws Error
  /// if the value is not an object.
  ConfigReader object(const char* key) const;

  /// Returns an integer from 1 to `max`. Returns `fallback` if the key is absent. Throws Error for
  /// any other value, or if the key is absent and there is no `fallback`.
  std::int64_t size(const char* key, std::optional<std::int64_t> fallback = {},
                    std::int64_t max = kMaxWidth) const;
  /// Returns a finite number above 0, with `fallback` and errors as in size().
  double positive(const char* key, std::optional<double> fallback = {}) const;
  bool flag(const char* key, bool fallback) const;

  /// Throws Error for an unsupported value of a key that transformers supports.
  [[noreturn]] void reject(const char* key, const Json& value, std::string_view supported) const;

  /// Far above the width of any model, and small enough that parameter counts fit into 63 bits.
  static constexpr std::int64_t kMaxWidth = 1 << 20;

 private:
  ConfigReader(std::string file, std::string prefix, Json json);

  std::string file_;
  std::string prefix_;  // "rope_parameters." in the reader of that object
  Json json_;
};

}  // namespace lie

#include "model/config/config_reader.h"

#include <cmath>
#include <utility>

#include "common/base/error.h"

namespace lie {

ConfigReader::ConfigReader(const std::filesystem::path& path)
    : ConfigReader(path.string(), "", read_json(path)) {
  if (!json_.is_object()) fail("{}: expected a JSON object", file_);
}

ConfigReader::ConfigReader(std::string file, std::string prefix, Json json)
    : file_(std::move(file)), prefix_(std::move(prefix)), json_(std::move(json)) {}

const Json* ConfigReader::find(const char* key) const {
  const auto found = json_.find(key);
  return found == json_.end() || found->is_null() ? nullptr : &*found;
}

const Json& ConfigReader::at(const char* key) const {
  const Json* value = find(key);
  if (value == nullptr) fail("{}: key \"{}{}\" is missing", file_, prefix_, key);
  return *value;
}

ConfigReader ConfigReader::object(const char* key) const {
  const Json& value = at(key);
  if (!value.is_object()) reject(key, value, "an object or null");
  return {file_, prefix_ + key + ".", value};
}

std::int64_t ConfigReader::size(const char* key, std::optional<std::int64_t> fallback,
                                std::int64_t max) const {
  if (fallback && find(key) == nullptr) return *fallback;
  const Json& value = at(key);
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() < 1 ||
      value.get<std::uint64_t>() > static_cast<std::uint64_t>(max)) {
    fail("{}: \"{}{}\" is {}, expected an integer from 1 to {}", file_, prefix_, key, value.dump(),
         max);
  }
  return value.get<std::int64_t>();
}

double ConfigReader::positive(const char* key, std::optional<double> fallback) const {
  if (fallback && find(key) == nullptr) return *fallback;
  const Json& value = at(key);
  if (!value.is_number() || !(value.get<double>() > 0) || !std::isfinite(value.get<double>())) {
    fail("{}: \"{}{}\" is {}, expected a number above 0", file_, prefix_, key, value.dump());
  }
  return value.get<double>();
}

bool ConfigReader::flag(const char* key, bool fallback) const {
  const Json* value = find(key);
  if (value == nullptr) return fallback;
  if (!value->is_boolean())
    fail("{}: \"{}{}\" is {}, expected true or false", file_, prefix_, key, value->dump());
  return value->get<bool>();
}

void ConfigReader::reject(const char* key, const Json& value, std::string_view supported) const {
  fail("{}: \"{}{}\": {} is not supported (only {})", file_, prefix_, key, value.dump(), supported);
}

}  // namespace lie

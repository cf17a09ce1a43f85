// Reads, writes and explains a config: YAML text that matches a FieldList.
#pragma once

#include <algorithm>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/config/options.h"

namespace lie {

/// Sets the fields from a YAML file, then from `overrides` ("optimizer.beta2=0.95"). A file may
/// extend others: `base: ../qwen3.yaml`, or a list of files. The bases are read first, in order, so
/// the file's own values win. A relative path in `base` or in a field with unit "path" is resolved
/// from the directory of the file that names it, then from the working directory. Throws Error with
/// file, line, key and the expected value, and for an unknown key with the nearest known key.
/// Returns a sentence for each key that is given by its former name (FieldList::rename).
std::vector<std::string> load_config(const FieldList& fields, const std::filesystem::path& path,
                                     std::span<const std::string> overrides);

/// Sets the fields from overrides alone. Returns as load_config does.
std::vector<std::string> set_config(const FieldList& fields,
                                    std::span<const std::string> overrides);

/// Returns the values as YAML with nested sections. load_config reads it back to the same values.
std::string dump_config(const FieldList& fields);

/// Comments by key.
using ConfigComments = std::map<std::string, std::string>;

/// Like dump_config, but prints only values that differ from their defaults or have a comment. The
/// comment follows the value.
std::string dump_changes(const FieldList& fields, const ConfigComments& comments);

/// Returns the text of --help KEY: the keys whose names contain `part`, with help text, default,
/// unit and range, by section. "all" selects all keys. If no key matches, names the nearest one.
/// For an empty text or the path of a config, explains the keys `basics` and lists the others.
std::string explain_config(const FieldList& fields, std::string_view part,
                           std::span<const std::string_view> basics = {});

/// Returns whether the argument of a command is part of a key, as in --help KEY, and not the path
/// of a config.
bool is_part_of_key(std::string_view argument);

/// Returns the keys whose values differ between the fields and a config written by dump_config, as
/// "key: there 0.2, here 0.3". Skips `ignored` keys and sections. A config of an older version may
/// use former names of keys. FieldInfo::before gives the values of keys that it lacks.
std::vector<std::string> config_differences(const FieldList& fields,
                                            const std::filesystem::path& other,
                                            std::span<const std::string> ignored);

/// Returns whether `key` is one of `names` or in a section of that name.
bool is_in(const auto& names, std::string_view key) {
  return std::ranges::any_of(names, [&](const auto& name) { return is_within(key, name); });
}

/// Returns the fields of a config struct that has a describe(). The struct must outlive them.
template <typename Config>
FieldList fields_of(Config& config) {
  FieldList fields;
  describe(fields, config);
  return fields;
}

/// Returns dump_config() of a config struct.
template <typename Config>
std::string dump_config_of(Config config) {
  return dump_config(fields_of(config));
}

/// Returns explain_config() of a config struct's defaults.
template <typename Config>
std::string explain_config_of(std::string_view part, std::span<const std::string_view> basics) {
  Config defaults;
  return explain_config(fields_of(defaults), part, basics);
}

/// Returns every key of a config file with its value as text, in the file's order. List elements
/// are joined by ", ". Includes keys that this program does not know.
std::vector<std::pair<std::string, std::string>> config_values(const std::filesystem::path& path);

/// Returns whether these values, by full keys, are those of lie_cluster eval, which trains no step.
bool are_of_evaluation(std::span<const std::pair<std::string, std::string>> values);

}  // namespace lie

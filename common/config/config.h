// Reading, writing and explaining a config: YAML text against a FieldList.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/config/options.h"

namespace lie {

/// Sets the fields from a YAML file, then from `overrides` ("policy_loss.clip_low=0.2"). A file may
/// build on others: `base: ../qwen3.yaml`, or a list of files. They are read first, in order; the
/// file's own values win. A relative `base`, or field with unit "path", is looked for beside the
/// file that names it, then in the working directory. Throws Error naming file, line, key, what was
/// expected, and for an unknown key the nearest known one. Returns a sentence for each key that is
/// given by its former name (FieldInfo::renamed_from).
std::vector<std::string> load_config(const FieldList& fields, const std::filesystem::path& path,
                                     std::span<const std::string> overrides);

/// Sets the fields from overrides alone. Returns as load_config does.
std::vector<std::string> set_config(const FieldList& fields,
                                    std::span<const std::string> overrides);

/// The values as YAML, sections nested; load_config reads it back to the same values.
std::string dump_config(const FieldList& fields);

/// By key.
using ConfigComments = std::map<std::string, std::string>;

/// As dump_config, but only values that are no defaults, and those with a comment, which follows
/// them.
std::string dump_changes(const FieldList& fields, const ConfigComments& comments);

/// Keys with default, unit, range and sentence, by section, as --help prints them: those whose
/// names hold `part`, or all where none does, which is said unless a config stands there.
std::string explain_config(const FieldList& fields, std::string_view part = "");

/// Keys whose values differ between the fields and a config written by dump_config, as
/// "key: there 0.2, here 0.3"; `ignored` keys and sections are left out. An older program's config
/// may lack keys: they are as FieldInfo::before says. It may use the former names of keys.
std::vector<std::string> config_differences(const FieldList& fields,
                                            const std::filesystem::path& other,
                                            std::span<const std::string> ignored);

/// The fields of a config struct that has a describe(); it must outlive them.
template <typename Config>
FieldList fields_of(Config& config) {
  FieldList fields;
  describe(fields, config);
  return fields;
}

/// dump_config() of a struct.
template <typename Config>
std::string dump_config_of(Config config) {
  return dump_config(fields_of(config));
}

/// explain_config() of a struct's defaults.
template <typename Config>
std::string explain_config_of(std::string_view part = "") {
  Config defaults;
  return explain_config(fields_of(defaults), part);
}

/// Every key of a config file with its value as text (lists with ", " between elements), in the
/// file's order, known to this program or not.
std::vector<std::pair<std::string, std::string>> config_values(const std::filesystem::path& path);

}  // namespace lie

// Prints a config as YAML and as help text.
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <span>

#include "common/config/config.h"
#include "common/config/name_hints.h"
#include "common/config/options.h"
#include "common/io/json_lines.h"
#include "common/text/scan.h"

namespace lie {
namespace {

struct Section {
  std::string name;  // "" at the top level
  std::vector<const Field*> fields;
};

/// Appends `outer` and its inner sections, depth first: its own fields, then each inner section.
/// Fields and sections keep their order of declaration.
void collect_sections(std::span<const Field> fields, const std::string& outer,
                      std::vector<Section>& out) {
  Section own{.name = outer, .fields = {}};
  std::vector<std::string> inner;
  const std::string prefix = outer.empty() ? "" : outer + ".";
  for (const Field& field : fields) {
    if (!field.key.starts_with(prefix)) continue;
    const std::size_t dot = field.key.find('.', prefix.size());
    const std::string name = dot == std::string::npos ? "" : field.key.substr(0, dot);
    if (name.empty()) {
      own.fields.push_back(&field);
    } else if (std::find(inner.begin(), inner.end(), name) == inner.end()) {
      inner.push_back(name);
    }
  }
  out.push_back(std::move(own));
  for (const std::string& name : inner) collect_sections(fields, name, out);
}

std::vector<Section> sections_of(std::span<const Field> fields) {
  std::vector<Section> sections;
  collect_sections(fields, "", sections);
  return sections;
}

/// Returns whether a YAML reader could read the unquoted text as anything but this text.
bool needs_quotes(std::string_view text) {
  static constexpr std::string_view kSafe =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-";
  static constexpr std::array<std::string_view, 9> kWords = {"true", "false", "yes", "no", "on",
                                                             "off",  "null",  "y",   "n"};
  if (text.empty() || text.find_first_not_of(kSafe) != std::string_view::npos) return true;
  // Text that begins with a digit, a sign or a dot could be read as a number.
  if (std::string_view("0123456789.-").find(text.front()) != std::string_view::npos) return true;
  return std::find(kWords.begin(), kWords.end(), lowered(text)) != kWords.end();
}

std::string yaml_value(const Field& field) {
  std::vector<std::string> values = field.stored();
  for (std::string& value : values) {
    // A quoted JSON string is valid YAML.
    if (field.is_text && needs_quotes(value)) value = json_quoted(value);
  }
  if (!field.prints_as_list(values)) return values.front();
  return fmt::format("[{}]", fmt::join(values, ", "));
}

std::string indent_of(std::string_view key) {
  return std::string(2 * static_cast<std::size_t>(std::count(key.begin(), key.end(), '.')), ' ');
}

/// Returns for example "default 8; responses; 1 to 64".
std::string facts(const Field& field) {
  const std::string& value = field.default_text;
  std::string text = fmt::format("default {}", value.empty() ? "\"\"" : value);
  if (!field.info.unit.empty()) text += "; " + field.info.unit;
  if (!field.range.empty()) text += "; " + field.range;
  return text;
}

std::string dump(std::span<const Field> fields, const ConfigComments& comments) {
  std::string out;
  for (const Section& section : sections_of(fields)) {
    if (!section.name.empty()) {
      out += fmt::format("{}{}:\n", indent_of(section.name), last_part(section.name));
    }
    for (const Field* field : section.fields) {
      const std::string line =
          fmt::format("{}{}: {}", indent_of(field->key), last_part(field->key), yaml_value(*field));
      const auto comment = comments.find(field->key);
      out += comment == comments.end() ? line + "\n"
                                       : fmt::format("{:<39} # {}\n", line, comment->second);
    }
  }
  return out;
}

}  // namespace

std::string dump_config(const FieldList& fields) { return dump(fields.fields(), {}); }

std::string dump_changes(const FieldList& fields, const ConfigComments& comments) {
  std::vector<Field> changed;
  for (const Field& field : fields.fields()) {
    if (field.text() != field.default_text || comments.contains(field.key))
      changed.push_back(field);
  }
  return dump(changed, comments);
}

bool is_part_of_key(std::string_view argument) {
  return !argument.empty() && !argument.ends_with(".yaml");
}

namespace {

/// Appends two lines: the key with its help text, and its default, unit and range.
void explain(const Field& field, std::size_t width, std::string& out) {
  out += fmt::format("  {:<{}}  {}\n  {:<{}}    {}\n", field.key, width, field.info.help, "", width,
                     facts(field));
}

/// Explains the basic keys, and names the others by section.
std::string explain_basics(std::span<const Field> fields, std::size_t width,
                           std::span<const std::string_view> basics) {
  std::string explained, others;
  for (const Section& section : sections_of(fields)) {
    std::vector<std::string_view> names;
    for (const Field* field : section.fields) {
      if (std::ranges::find(basics, field->key) != basics.end()) {
        explain(*field, width, explained);
      } else {
        names.push_back(last_part(field->key));
      }
    }
    if (names.empty()) continue;
    others += fmt::format("  {}: {}\n", section.name.empty() ? "top level" : section.name,
                          fmt::join(names, ", "));
  }
  return fmt::format(
      "\nThe keys that most runs set:\n{}\n"
      "The others by section. --help KEY explains the keys whose names contain KEY, --help all "
      "explains all.\n{}",
      explained, others);
}

std::string explain_none(const FieldList& fields, std::string_view part) {
  const std::vector<std::string> keys = fields.keys();
  std::string hint = foreign_key_hint(part, "", keys);
  if (hint.empty()) hint = did_you_mean(part, keys);
  return fmt::format("No key contains \"{}\"{} --help all lists all keys\n", part,
                     hint.empty() ? ";" : hint);
}

}  // namespace

std::string explain_config(const FieldList& all, std::string_view part,
                           std::span<const std::string_view> basics) {
  const auto is_meant = [&](const Field& field) {
    return part == "all" || field.key.find(part) != std::string::npos;
  };
  std::vector<Field> fields = all.fields();
  std::erase_if(fields, [](const Field& field) { return !field.info.set_by.empty(); });
  std::size_t width = 0;
  for (const Field& field : fields) width = std::max(width, field.key.size());
  if (!is_part_of_key(part)) return explain_basics(fields, width, basics);
  if (std::ranges::none_of(fields, is_meant)) return explain_none(all, part);
  std::string out;
  for (Section& section : sections_of(fields)) {
    std::erase_if(section.fields, [&](const Field* field) { return !is_meant(*field); });
    if (section.fields.empty()) continue;
    if (!section.name.empty()) out += fmt::format("\n{}:\n", section.name);
    for (const Field* field : section.fields) explain(*field, width, out);
  }
  return out;
}

}  // namespace lie

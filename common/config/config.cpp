#include "common/config/config.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>
#include <system_error>

#include "common/base/error.h"
#include "common/config/name_hints.h"
#include "common/config/options.h"
#include "common/io/file.h"
#include "common/text/scan.h"

namespace lie {
namespace {

/// A key of a YAML file with its values as texts, and its line.
struct Entry {
  std::string key;
  std::vector<std::string> values;
  bool is_list = false;
  int line = 0;
};

/// Returns the first key with the same last part. With `in_section`, only one of the same outermost
/// section.
std::string same_name(std::span<const std::string> keys, std::string_view key, bool in_section) {
  const auto section = [](std::string_view k) { return k.substr(0, k.find('.')); };
  for (const std::string& known : keys) {
    if (last_part(known) != last_part(key)) continue;
    if (!in_section || section(known) == section(key)) return "; did you mean " + known + "?";
  }
  return "";
}

/// Suggests a key of the same section whose name contains the given one: max_staleness for
/// staleness.
std::string longer_key(std::span<const std::string> keys, std::string_view key) {
  for (const std::string& known : keys) {
    if (section_of(known) != section_of(key) || last_part(key).size() < 3) continue;
    if (last_part(known).find(last_part(key)) == std::string_view::npos) continue;
    return "; did you mean " + known + "?";
  }
  return "";
}

/// Suggests a key for an unknown one. A correct name in the wrong section, or a key of another
/// framework, is more likely than a misspelled name. `value` is empty if it is not one.
std::string hint_for(const FieldList& fields, std::string_view key, std::string_view value) {
  const std::vector<std::string> keys = fields.keys();
  for (const std::string& hint :
       {same_name(keys, key, /*in_section=*/true), foreign_key_hint(key, value, keys),
        same_name(keys, key, /*in_section=*/false), did_you_mean(key, keys)}) {
    if (!hint.empty()) return hint;
  }
  return longer_key(keys, key);
}

constexpr const char* kAllKeys = "--help all lists all keys";

std::string scalar_of(const YAML::Node& value) { return value.IsScalar() ? value.Scalar() : ""; }

std::string unknown_key_text(const FieldList& fields, std::string_view key,
                             std::string_view value) {
  const std::string refusal = fields.refusal(key);
  if (!refusal.empty()) return fmt::format("there is no key {}: {};", key, refusal);
  const std::string hint = hint_for(fields, key, value);
  return fmt::format("unknown key {}{}", key, hint.empty() ? ";" : hint);
}

[[noreturn]] void fail_unknown_key(const FieldList& fields, std::string_view place,
                                   const Entry& entry) {
  const std::string value = entry.values.size() == 1 ? entry.values.front() : "";
  fail("{}: {} {}", place, unknown_key_text(fields, entry.key, value), kAllKeys);
}

/// A line of a YAML file whose key no field has, and the sentence that says so.
struct Unknown {
  int line = 0;
  std::string text;
};

/// Walks a YAML tree and collects its values by full key.
class Reader {
 public:
  /// Without `fields`, any map is a section.
  explicit Reader(std::string file, const FieldList* fields = nullptr)
      : file_(std::move(file)), fields_(fields) {
    if (fields != nullptr) sections_ = fields->sections(/*with_former_names=*/true);
  }

  /// Throws Error that names all keys which no field has, in the order of the file.
  std::vector<Entry> read(const YAML::Node& root) {
    read_section(root, "");
    refuse_unknown();
    return std::move(entries_);
  }

 private:
  std::string place(int line) const { return fmt::format("{}:{}", file_, line); }

  void read_section(const YAML::Node& node, const std::string& prefix) {
    for (const auto& pair : node) {
      const int line = pair.first.Mark().line + 1;
      if (!pair.first.IsScalar()) {
        fail("{}: a key must be a plain name; write \"name: value\"", place(line));
      }
      read_pair(prefix + pair.first.Scalar(), pair.second, line);
    }
  }

  void read_pair(const std::string& key, const YAML::Node& value, int line) {
    if (last_part(key) == "<<") {
      fail(
          "{}: {}: merge keys (<<) are not supported; write the keys out, or name a config whose "
          "values this file extends by base: FILE at the top",
          place(line), key);
    }
    const auto [first, fresh] = lines_.emplace(key, line);
    if (!fresh) {
      fail("{}: {} is already set on line {}; keep one of them", place(line), key, first->second);
    }
    const bool is_section = sections_.contains(key);
    if (value.IsMap() && (is_section || fields_ == nullptr)) return read_section(value, key + ".");
    if (value.IsMap()) return note_unknown_section(key, value, line);
    if (is_section && value.IsNull()) return;  // a section whose every line is commented out
    if (is_section) {
      fail("{}: {} is a section; put its keys under it, indented", place(line), key);
    }
    if (value.IsNull()) {
      fail("{}: {} has no value; give one (\"\" is the empty text) or remove the line", place(line),
           key);
    }
    if (fields_ != nullptr && fields_->find(key) == nullptr) {
      unknown_.push_back({line, unknown_key_text(*fields_, key, scalar_of(value))});
      return;
    }
    entries_.push_back({key, texts(key, value, line), value.IsSequence(), line});
  }

  /// Notes a section that no field has: its keys if another framework has one of them, else the
  /// section as a whole.
  void note_unknown_section(const std::string& key, const YAML::Node& value, int line) {
    std::vector<Unknown> keys;
    if (note_foreign_keys(key, value, 1, keys)) {
      unknown_.insert(unknown_.end(), keys.begin(), keys.end());
      return;
    }
    const std::set<std::string> sections = fields_->sections(/*with_former_names=*/false);
    const std::vector<std::string> known(sections.begin(), sections.end());
    const std::string hint = did_you_mean(key, known);
    unknown_.push_back(
        {line, !hint.empty() ? fmt::format("{} is not a section{}", key, hint)
                             : fmt::format("{} is not a section of this command; its sections are "
                                           "{};",
                                           key, fmt::join(known, ", "))});
  }

  /// Appends the keys of a section to `keys`. Returns whether another framework has one of them.
  bool note_foreign_keys(const std::string& section, const YAML::Node& values, int depth,
                         std::vector<Unknown>& keys) const {
    constexpr int kDeepest = 4;
    bool any = false;
    for (const auto& pair : values) {
      if (!pair.first.IsScalar()) continue;
      const std::string key = section + "." + pair.first.Scalar();
      if (pair.second.IsMap() && depth < kDeepest) {
        any = note_foreign_keys(key, pair.second, depth + 1, keys) || any;
        continue;
      }
      const std::string foreign = foreign_key_hint(key, scalar_of(pair.second), fields_->keys());
      any = any || !foreign.empty();
      keys.push_back({pair.first.Mark().line + 1,
                      fmt::format("unknown key {}{}", key, foreign.empty() ? ";" : foreign)});
    }
    return any;
  }

  void refuse_unknown() const {
    if (unknown_.empty()) return;
    if (unknown_.size() == 1) {
      fail("{}: {} {}", place(unknown_.front().line), unknown_.front().text, kAllKeys);
    }
    std::string lines;
    for (const Unknown& each : unknown_) {
      lines += fmt::format(
          "\n  {}: {}", place(each.line),
          each.text.ends_with(';') ? each.text.substr(0, each.text.size() - 1) : each.text);
    }
    fail("{}: {} keys or sections are unknown; {}{}", file_, unknown_.size(), kAllKeys, lines);
  }

  std::vector<std::string> texts(const std::string& key, const YAML::Node& value, int line) const {
    if (value.IsScalar()) return {value.Scalar()};
    std::vector<std::string> values;
    for (const YAML::Node& element : value) {
      if (!element.IsScalar()) {
        fail("{}: {} must be a flat list; write [a, b, c]", place(line), key);
      }
      values.push_back(element.Scalar());
    }
    return values;
  }

  std::string file_;
  const FieldList* fields_;
  std::set<std::string> sections_;
  std::map<std::string, int> lines_;
  std::vector<Entry> entries_;
  std::vector<Unknown> unknown_;
};

class IgnoredEvents : public YAML::EventHandler {
  using Mark = YAML::Mark;
  using Anchor = YAML::anchor_t;
  using Style = YAML::EmitterStyle::value;
  using Text = const std::string&;
  void OnDocumentStart(const Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const Mark&, Anchor) override {}
  void OnAlias(const Mark&, Anchor) override {}
  void OnScalar(const Mark&, Text, Anchor, Text) override {}
  void OnSequenceStart(const Mark&, Text, Anchor, Style) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const Mark&, Text, Anchor, Style) override {}
  void OnMapEnd() override {}
};

/// Reads the documents one at a time, because yaml-cpp's LoadAll does not terminate if a document
/// begins with a comma.
bool holds_several_documents(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  IgnoredEvents ignored;
  return parser.HandleNextDocument(ignored) && parser.HandleNextDocument(ignored);
}

YAML::Node parse_yaml(const std::filesystem::path& path) {
  const std::string text = read_file(path);
  YAML::Node document;
  bool has_several = false;
  try {
    document = YAML::Load(text);
    has_several = document.IsMap() && holds_several_documents(text);
  } catch (const YAML::Exception& error) {
    fail("{}:{}: not valid YAML: {}; check indentation, quotes and brackets there", path.string(),
         error.mark.line + 1, error.msg);
  }
  if (document.IsNull()) {
    fail("{}: the config has no keys; see configs/ for examples", path.string());
  }
  if (!document.IsMap()) {
    fail("{}:{}: expected \"key: value\" lines, as in configs/", path.string(),
         document.Mark().line + 1);
  }
  if (has_several) fail("{}: the file has several YAML documents; keep one", path.string());
  return document;
}

/// Expands "~/data" as a shell does. Without this, a directory called "~" would be created.
std::string from_home(const std::string& path) {
  if (path != "~" && !path.starts_with("~/")) return path;
  const char* home = std::getenv("HOME");
  if (home == nullptr) fail("{}: HOME is not set; write the full path", path);
  return home + path.substr(1);
}

/// Throws Error if a path holds a shell variable or command, as "$WORK/data", "${WORK}/data",
/// "$(pwd)/data" and "`pwd`/data" do. Without this, a directory of that name would be created.
void reject_variables(const std::string& path) {
  if (path.find('`') != path.npos) {
    fail("{}: commands in backticks are not run in paths; write the path out", path);
  }
  for (std::size_t at = path.find('$'); at != path.npos; at = path.find('$', at + 1)) {
    const std::string_view after = std::string_view(path).substr(at + 1);
    if (after.empty() ||
        !(is_letter(after[0]) || std::string_view("_{(").find(after[0]) != after.npos)) {
      continue;
    }
    fail(
        "{}: variables are not expanded in paths; write the path out, or let the shell expand it: "
        "--set KEY=\"{}\" in double quotes",
        path, path);
  }
}

/// Returns whether `path` exists. A path that cannot be examined, for example because its name is
/// too long, counts as missing.
bool is_there(const std::filesystem::path& path) {
  std::error_code none;
  return std::filesystem::exists(path, none);
}

/// Returns the path relative to the config's directory if that exists, else relative to the working
/// directory.
std::string path_from(const std::filesystem::path& config, const std::string& path) {
  if (path.empty()) return path;
  reject_variables(path);
  const std::filesystem::path beside = config.parent_path() / from_home(path);
  return is_there(beside) ? beside.string() : from_home(path);
}

/// Removes the key `base` from a config and returns the files that it names.
std::vector<std::string> bases_of(YAML::Node& root, const std::filesystem::path& path) {
  const YAML::Node base = root["base"];
  std::vector<std::string> files;
  if (!base) return files;
  const std::string place = fmt::format("{}:{}: base", path.string(), base.Mark().line + 1);
  const auto take = [&](const YAML::Node& file) {
    if (!file.IsScalar() || file.Scalar().empty()) {
      fail("{}: expected the path of a config, or a list of them", place);
    }
    files.push_back(path_from(path, file.Scalar()));
    if (is_there(files.back())) return;
    fail("{}: {} is neither next to this config nor in the working directory", place, files.back());
  };
  if (base.IsSequence()) {
    for (const YAML::Node& file : base) take(file);
  } else {
    take(base);
  }
  root.remove("base");
  return files;
}

/// Sentences about keys that were given by their former names.
using Notes = std::vector<std::string>;

/// The unit of paths that are never resolved relative to the config.
constexpr std::string_view kDirectory = "directory";

/// Sets one field. Adds place, key and remedy to an Error about the value.
void assign(const FieldList& fields, Entry entry, const std::string& place, Notes& notes) {
  const Field* field = fields.find(entry.key);
  if (field == nullptr) fail_unknown_key(fields, place, entry);
  if (field->key != entry.key) {
    notes.push_back(fmt::format("{}: {} is now called {}", place, entry.key, field->key));
  }
  if (entry.is_list && !field->is_list) {
    fail("{}: {} takes one value, found a list; remove the brackets", place, entry.key);
  }
  if (!entry.is_list && field->is_list && !field->takes_one) {
    fail("{}: {} takes a list, found one value; write [value]", place, entry.key);
  }
  try {
    if (field->info.unit == "path" || field->info.unit == kDirectory) {
      for (std::string& value : entry.values) {
        reject_variables(value);
        value = from_home(value);
      }
    }
    field->set(entry.values);
  } catch (const Error& error) {
    fail("{}: {}: {}; correct it, or leave the key out for the default {}", place, entry.key,
         error.what(), field->default_text);
  }
}

/// Returns the elements of "[a, b]" or "a,b" from the command line.
std::vector<std::string> list_of_override(const std::string& place, const std::string& text) {
  try {
    const YAML::Node node = YAML::Load(text.starts_with('[') ? text : "[" + text + "]");
    std::vector<std::string> values;
    for (const YAML::Node& element : node) {
      if (!element.IsScalar()) fail("{}: expected a flat list such as [a, b]", place);
      values.push_back(element.Scalar());
    }
    return values;
  } catch (const YAML::Exception&) {
    fail("{}: expected a list such as [a, b]", place);
  }
}

void apply_override(const FieldList& fields, const std::string& text, Notes& notes) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) fail("--set {}: expected key=value", text);
  const std::string place = "--set " + text;
  const std::string value = text.substr(equals + 1);
  Entry entry{.key = text.substr(0, equals), .values = {value}};
  const Field* field = fields.find(entry.key);
  if (field == nullptr && fields.sections(/*with_former_names=*/true).contains(entry.key)) {
    fail("{}: {} is a section; set its keys one by one, as in --set {}.KEY=VALUE", place, entry.key,
         entry.key);
  }
  if (field == nullptr) fail_unknown_key(fields, place, entry);
  if (!field->info.set_by.empty()) {
    fail("{}: {} is set by {} only; drop it", place, field->key, field->info.set_by);
  }
  entry.is_list = field->is_list && (!field->takes_one || value.starts_with('['));
  entry.values = entry.is_list ? list_of_override(place, value) : std::vector{value};
  assign(fields, entry, place, notes);
}

constexpr int kDeepestBase = 8;

void load_file(const FieldList& fields, const std::filesystem::path& path, int depth,
               Notes& notes) {
  if (depth > kDeepestBase) {
    fail("{}: more than {} files build on each other by base; is there a cycle?", path.string(),
         kDeepestBase);
  }
  YAML::Node root = parse_yaml(path);
  for (const std::string& base : bases_of(root, path)) {
    load_file(fields, base, depth + 1, notes);
  }
  Reader reader(path.string(), &fields);
  for (Entry& entry : reader.read(root)) {
    const Field* field = fields.find(entry.key);
    if (field != nullptr && field->info.unit == "path") {
      for (std::string& value : entry.values) value = path_from(path, value);
    }
    assign(fields, entry, fmt::format("{}:{}", path.string(), entry.line), notes);
  }
}

}  // namespace

std::vector<std::string> load_config(const FieldList& fields, const std::filesystem::path& path,
                                     std::span<const std::string> overrides) {
  Notes notes;
  load_file(fields, path, 0, notes);
  for (std::string& note : set_config(fields, overrides)) notes.push_back(std::move(note));
  return notes;
}

std::vector<std::string> set_config(const FieldList& fields,
                                    std::span<const std::string> overrides) {
  Notes notes;
  for (const std::string& text : overrides) apply_override(fields, text, notes);
  return notes;
}

namespace {

/// Replaces the number that earlier versions wrote for an unset field by kUnset.
std::vector<std::string> as_written_now(const Field& field, std::vector<std::string> values) {
  const bool is_unset = field.is_optional && values.size() == 1 && values[0] == kFormerUnset;
  return is_unset ? std::vector<std::string>{kUnset} : std::move(values);
}

}  // namespace

std::vector<std::string> config_differences(const FieldList& fields,
                                            const std::filesystem::path& other,
                                            std::span<const std::string> ignored) {
  std::map<std::string, std::vector<std::string>> there;
  for (Entry& entry : Reader(other.string()).read(parse_yaml(other))) {
    const Field* field = fields.find(entry.key);
    there.emplace(field != nullptr ? field->key : entry.key, std::move(entry.values));
  }
  const auto text = [](const std::vector<std::string>& values) {
    const std::string joined = fmt::format("{}", fmt::join(values, ", "));
    return joined.empty() ? "none" : joined;
  };
  std::vector<std::string> differences;
  for (const Field& field : fields.fields()) {
    const auto found = there.find(field.key);
    const bool is_new = found == there.end();
    const bool differs = is_new ? field.info.before != field.text()
                                : as_written_now(field, found->second) != field.stored();
    if (differs && !is_in(ignored, field.key)) {
      differences.push_back(fmt::format(
          "{}: there {}, here {}", field.key,
          text(is_new ? std::vector{field.info.before} : found->second), text(field.stored())));
    }
    if (!is_new) there.erase(found);
  }
  for (const auto& [key, values] : there) {
    if (!is_in(ignored, key)) {
      differences.push_back(fmt::format("{}: there {}, here unknown", key, text(values)));
    }
  }
  return differences;
}

std::vector<std::pair<std::string, std::string>> config_values(const std::filesystem::path& path) {
  std::vector<std::pair<std::string, std::string>> values;
  for (const Entry& entry : Reader(path.string()).read(parse_yaml(path))) {
    values.emplace_back(entry.key, fmt::format("{}", fmt::join(entry.values, ", ")));
  }
  return values;
}

bool are_of_evaluation(std::span<const std::pair<std::string, std::string>> values) {
  return std::ranges::any_of(values, [](const auto& value) {
    return value.first == "evaluation.ks" || value.first == "table.ks";  // its former name
  });
}

}  // namespace lie

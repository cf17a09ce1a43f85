#include "common/io/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/io/file.h"

namespace lie {

namespace {

/// Returns the position of a byte as "line 3, column 7", both counted from 1. The line is left out
/// if the text has one only, because such a text is a line of a file, which the caller names.
std::string place(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte, text.size()));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 == 0
  const std::string column = fmt::format("column {}", before.size() - line_start + 1);
  return text.find('\n') == text.npos ? column : fmt::format("line {}, {}", line, column);
}

/// Rejects duplicate keys, of which the parser would silently keep the last.
class DuplicateKeys {
 public:
  explicit DuplicateKeys(std::string_view where) : where_(where) {}

  bool operator()(int, Json::parse_event_t event, Json& parsed) {
    using Event = Json::parse_event_t;
    if (event == Event::object_start) seen_.emplace_back();
    if (event == Event::object_end) seen_.pop_back();
    if (event == Event::key) check(parsed.get_ref<const std::string&>());
    return true;
  }

 private:
  void check(const std::string& key) {
    if (!seen_.back().insert(key).second) {
      fail("{}: key \"{}\" appears twice in one object; delete one", where_, key);
    }
  }

  std::string_view where_;
  std::vector<std::set<std::string>> seen_;
};

}  // namespace

bool nests_too_deep(std::string_view text) {
  int levels = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size() && levels <= kMostJsonLevels; ++i) {
    const char c = text[i];
    if (c == '"') in_string = !in_string;
    if (c == '\\' && in_string) ++i;
    if (in_string) continue;
    if (c == '[' || c == '{') ++levels;
    if (c == ']' || c == '}') --levels;
  }
  return levels > kMostJsonLevels;
}

Json parse_json(std::string_view text, std::string_view where) {
  if (nests_too_deep(text)) {
    fail("{}: lists and objects nest more than {} levels deep", where, kMostJsonLevels);
  }
  try {
    return Json::parse(text.begin(), text.end(), DuplicateKeys(where));
  } catch (const Json::parse_error& error) {
    refuse_lfs_pointer(where, text);
    const std::size_t byte = error.byte == 0 ? 0 : error.byte - 1;
    const bool encoding = std::string_view(error.what()).find("UTF-8") != std::string_view::npos;
    fail("{}: not valid {} at {} ({} bytes in all); {}", where, encoding ? "UTF-8" : "JSON",
         place(text, byte), text.size(),
         encoding ? "convert the file to UTF-8" : "is the file damaged or truncated?");
  } catch (const Json::exception& error) {
    fail("{}: {}", where, error.what());
  }
}

Json read_json(const std::filesystem::path& path) {
  return parse_json(read_file(path), path.string());
}

void write_json(const Json& value, const std::filesystem::path& path) {
  write_file_atomically(path, value.dump(2) + "\n");
}

}  // namespace lie

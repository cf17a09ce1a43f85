#include "learner/checkpoint/checkpoint_directory.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "common/base/error.h"
#include "common/io/file.h"
#include "common/text/scan.h"

namespace lie {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "step-";

std::vector<std::pair<std::int64_t, fs::path>> complete_checkpoints(const fs::path& checkpoints) {
  std::vector<std::pair<std::int64_t, fs::path>> found;
  if (!fs::is_directory(checkpoints)) return found;
  for (const std::string& name : list_directory(checkpoints)) {
    if (const auto step = checkpoint_step(name)) found.emplace_back(*step, checkpoints / name);
  }
  std::sort(found.begin(), found.end());
  return found;
}

void remove_tree(const fs::path& path) {
  std::error_code code;
  fs::remove_all(path, code);
  if (code) fail("{}: cannot remove it: {}; check its permissions", path.string(), code.message());
}

}  // namespace

void remove_checkpoint(const fs::path& checkpoint) {
  // Renamed first, so that a partly removed checkpoint never has the name of a complete one.
  const fs::path aside =
      checkpoint.parent_path() / fmt::format(".{}.removed", checkpoint.filename().string());
  remove_tree(aside);
  rename_durably(checkpoint, aside);
  remove_tree(aside);
}

void remove_leftovers(const fs::path& checkpoints) {
  for (const std::string& name : list_directory(checkpoints)) {
    if (name.ends_with(".partial") || name.ends_with(".removed")) {
      remove_tree(checkpoints / name);
    }
  }
}

void remove_old_checkpoints(const fs::path& checkpoints, std::int64_t keep_last,
                            std::optional<std::int64_t> best) {
  if (keep_last == 0) return;
  const auto all = complete_checkpoints(checkpoints);
  for (std::int64_t i = 0; i < std::ssize(all) - keep_last; ++i) {
    const auto& [step, path] = all[static_cast<std::size_t>(i)];
    if (step != best) remove_checkpoint(path);
  }
}

std::optional<std::int64_t> checkpoint_step(std::string_view name) {
  return number_in_name(name, kPrefix);
}

fs::path checkpoint_path(const fs::path& checkpoints, std::int64_t step) {
  return checkpoints / fmt::format("{}{:06}", kPrefix, step);
}

std::optional<fs::path> latest_checkpoint(const fs::path& checkpoints, std::int64_t at_most) {
  auto all = complete_checkpoints(checkpoints);
  std::erase_if(all, [&](const auto& entry) { return entry.first > at_most; });
  if (all.empty()) return std::nullopt;
  return all.back().second;
}

}  // namespace lie

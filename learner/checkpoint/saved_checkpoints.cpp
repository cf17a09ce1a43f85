#include "learner/checkpoint/saved_checkpoints.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "common/base/error.h"
#include "common/io/checksums.h"
#include "common/io/file.h"
#include "learner/checkpoint/trainer_state.h"

namespace lie {
namespace {

namespace fs = std::filesystem;

using LogHolds = std::function<bool(std::int64_t step)>;

constexpr std::string_view kDamaged = ".damaged";

std::string name_of(const fs::path& path) { return path.filename().string(); }

bool has_checksums(const fs::path& checkpoint) { return fs::exists(checkpoint / kChecksumsFile); }

std::vector<std::string> damaged_checkpoints(const fs::path& checkpoints) {
  std::vector<std::string> damaged;
  if (!fs::is_directory(checkpoints)) return damaged;
  for (const std::string& name : list_directory(checkpoints)) {
    if (name.find(kDamaged) != std::string::npos) damaged.push_back(name);
  }
  return damaged;
}

/// Throws Error unless the log holds the step of the last damaged checkpoint: after a disk failure,
/// a run and its log must not begin again at step 0. `damaged`: the names of the damaged
/// checkpoints.
void refuse_unless(const LogHolds& log_holds, std::vector<std::string> damaged,
                   const fs::path& checkpoints, const Log& log) {
  if (damaged.empty()) return;
  std::ranges::sort(damaged);
  const auto last = checkpoint_step(damaged.back().substr(0, damaged.back().find(kDamaged)));
  if (log_holds && last && log_holds(*last)) {
    log.warn(
        "{}: NO VALID CHECKPOINT IS LEFT: beginning with the start model, from which the "
        "logged steps are learned again",
        checkpoints.string());
    return;
  }
  fail(
      "{}: no valid checkpoint is left, only {}: restore an intact copy of one under its name "
      "without \"{}\", or move them away to begin the run again from step 0",
      checkpoints.string(), fmt::join(damaged, ", "), kDamaged);
}

/// Renames a damaged checkpoint, or only returns the name that it would get.
using Rename = std::function<fs::path(const fs::path& checkpoint)>;

std::optional<fs::path> last_valid(const fs::path& checkpoints, const Log& log,
                                   const LogHolds& log_holds, std::int64_t at_most,
                                   const Rename& rename) {
  std::vector<std::string> damaged = damaged_checkpoints(checkpoints);
  auto latest = latest_checkpoint(checkpoints, at_most);
  for (; latest; latest = latest_checkpoint(checkpoints, *checkpoint_step(name_of(*latest)) - 1)) {
    const auto faults = checkpoint_faults(*latest);
    if (faults.empty()) {
      if (!has_checksums(*latest)) {
        log.warn("{} has no checksums (written by an older version): accepted unchecked",
                 latest->string());
      }
      return latest;
    }
    damaged.push_back(name_of(rename(*latest)));
    log.warn("{} IS DAMAGED: {}; renamed to {}, trying the preceding one", latest->string(),
             fmt::join(faults, "; "), damaged.back());
  }
  refuse_unless(log_holds, std::move(damaged), checkpoints, log);
  return std::nullopt;
}

}  // namespace

std::vector<std::string> checkpoint_faults(const fs::path& checkpoint) {
  try {
    if (has_checksums(checkpoint)) return checksum_faults(checkpoint);
    if (!promises_checksums(checkpoint)) return {};
  } catch (const Error& error) {
    return {error.what()};
  }
  return {fmt::format("{} is missing", kChecksumsFile)};
}

std::optional<fs::path> valid_checkpoint(const fs::path& checkpoints, const Log& log,
                                         const LogHolds& log_holds, std::int64_t at_most) {
  return last_valid(checkpoints, log, log_holds, at_most,
                    [](const fs::path& checkpoint) { return set_aside(checkpoint, kDamaged); });
}

std::optional<fs::path> find_valid_checkpoint(const fs::path& checkpoints, const Log& log,
                                              const LogHolds& log_holds, std::int64_t at_most) {
  return last_valid(checkpoints, log, log_holds, at_most, [](const fs::path& checkpoint) {
    return fs::path(checkpoint.string() + std::string(kDamaged));
  });
}

}  // namespace lie

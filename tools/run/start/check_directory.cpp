#include "tools/run/start/check_directory.h"

#include <filesystem>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/config/config.h"
#include "common/io/file.h"
#include "common/process/log.h"
#include "common/process/writer_lock.h"
#include "tools/run/start/resume.h"

namespace lie {
namespace {

namespace fs = std::filesystem;

/// Returns the keys and sections that run.resume changed allows to differ from the run's. If
/// steps take the first groups, the staleness says which groups are left for later steps.
std::vector<std::string> changeable_keys(const TrainConfig& config) {
  std::vector<std::string> keys = {"optimizer", "policy_loss", "evaluation", "data.evaluation_file",
                                   "rollout.max_response_tokens"};
  for (const std::string& term : reward_sections()) keys.push_back("reward." + term);
  if (!config.tickets.takes_first_groups()) keys.emplace_back("rollout.max_staleness");
  return keys;
}

/// Returns whether run.directory holds a run that this start resumes. Throws Error as
/// holds_this_run() does.
bool holds_run(TrainConfig config) {
  const std::string& directory = config.run.directory;
  const FieldList fields = fields_of(config);
  const std::vector<std::string> changeable = changeable_keys(config);
  if (config.run.resume == Resume::kChanged) return holds_this_run(directory, fields, changeable);
  const bool can_change = fs::exists(fs::path(directory) / "config.yaml") &&
                          differences_text(directory, fields, changeable).empty();
  return holds_this_run(
      directory, fields, {},
      can_change ? "set run.resume=changed to continue with the new ones from the first step not "
                   "logged, "
                 : "");
}

bool replaces_failed_start(TrainConfig config) {
  return config.run.resume == Resume::kAuto &&
         holds_failed_start(config.run.directory, fields_of(config));
}

}  // namespace

void check_directory(const TrainConfig& config) {
  const std::string& directory = config.run.directory;
  const bool resumes = holds_run(config);
  if (!resumes && config.run.resume == Resume::kMust) {
    fail("run.directory {} holds no run to continue, but run.resume is must: check the path",
         directory);
  }
  if (resumes && config.run.resume == Resume::kNever) {
    fail("run.directory {} already holds a run, but run.resume is never: name another directory",
         directory);
  }
}

void check_directory_before_start(const TrainConfig& config) {
  if (!replaces_failed_start(config)) check_directory(config);
}

void set_failed_start_aside(const TrainConfig& config) {
  if (!replaces_failed_start(config)) return;
  check_unlocked(config.run.directory);
  const fs::path aside = set_aside(config.run.directory, ".failed");
  Log("learner", 0)
      .warn("{} held a start of another config that failed before its first step; it is now {}",
            config.run.directory, aside.string());
}

}  // namespace lie

#include "tools/run/start/check_directory.h"

#include <filesystem>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/base/run_files.h"
#include "common/config/config.h"
#include "common/io/file.h"
#include "common/process/log.h"
#include "common/process/writer_lock.h"
#include "tools/run/start/input_difference.h"
#include "tools/run/start/resume.h"

namespace lie {
namespace {

namespace fs = std::filesystem;

/// Returns the keys and sections that run.resume changed allows to differ from the run's. If
/// steps take the first groups, the staleness says which groups are left for later steps.
std::vector<std::string> changeable_keys(const TrainConfig& config) {
  std::vector<std::string> keys = {"optimizer",
                                   "policy_loss",
                                   "evaluation",
                                   "data.evaluation_file",
                                   "rollout.max_response_tokens",
                                   "update.zero_stage",
                                   "update.max_micro_batch_tokens"};
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
  const bool can_change = fs::exists(fs::path(directory) / kConfigFile) &&
                          differences_text(directory, fields, changeable).empty();
  return holds_this_run(
      directory, fields, {},
      can_change ? "set run.resume=changed to continue with the new ones from the first step not "
                   "logged, "
                 : "");
}

bool may_replace(const TrainConfig& config) {
  return config.run.resume == Resume::kAuto && holds_no_step(config.run.directory);
}

bool replaces_failed_start(TrainConfig config) {
  return may_replace(config) && !differences_text(config.run.directory, fields_of(config)).empty();
}

/// Returns whether the teacher of distillation has another path than in the run's config. The steps
/// that are logged are then learned again with the old one.
bool names_other_teacher(const TrainConfig& config) {
  const fs::path stored = fs::path(config.run.directory) / kConfigFile;
  if (!fs::exists(stored)) return false;
  for (const auto& [key, value] : config_values(stored)) {
    if (key == "policy_loss.distillation.teacher") return value != teacher_of(config.policy_loss);
  }
  return false;
}

std::string difference_of(const TrainConfig& config, const InputRecord& now) {
  const std::string& run = config.run.directory;
  return input_difference(recorded_inputs(run), now, run);
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

void check_inputs_of_run(const TrainConfig& config, const InputRecord& now) {
  if (may_replace(config)) return;
  check_same_inputs(
      config.run.directory, now,
      {.settings_may_change = config.run.resume == Resume::kChanged,
       .names_other_teacher = config.run.resume == Resume::kChanged && names_other_teacher(config),
       .evaluation_remedy = "set run.resume=changed to continue with the new ones, "});
}

void set_failed_start_aside(const TrainConfig& config, const InputRecord& now) {
  if (!may_replace(config)) return;
  if (!replaces_failed_start(config) && difference_of(config, now).empty()) return;
  check_unlocked(config.run.directory);
  const fs::path directory = config.run.directory;
  const bool is_link = fs::is_symlink(directory);
  const fs::path real = is_link ? fs::canonical(directory) : directory;
  const fs::path aside = set_aside(real, ".failed");
  if (is_link) make_directories(real);  // what the link leads to
  Log("learner", 0)
      .warn(
          "{} held a start of another config, or with other inputs, that failed before its first "
          "step; it is now {}",
          config.run.directory, aside.string());
}

}  // namespace lie

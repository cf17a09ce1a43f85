// The settings of a run whose settings were changed at a resume (run.resume: changed):
//
//   config.step-000040.yaml   the settings of the steps up to 40, after those of an earlier file
//   config.yaml               the settings of the steps after the last of these files
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace lie {

/// The keys and sections of all commands that change no result, so that a resume may change them
/// and no change is reported. With update.zero_stage 1, update.max_micro_batch_tokens is another.
inline constexpr std::array kChangeNoResult = {
    // location, start and length of the run
    "run.directory", "run.resume", "run.steps", "run.epochs", "run.stop_when",
    "run.time_limit_minutes", "run.collective_time_limit_minutes",
    "reward.command_time_limit_seconds", "verifier.command_time_limit_seconds",
    // files that are kept
    "checkpoint", "trajectories",
    // layout and memory
    "roles", "model.threads", "rollout.slots", "rollout.prefill_tokens", "rollout.cache_mebibytes",
    "rollout.preemption", "rollout.pass_milliseconds", "update.activation_mebibytes",
    "optimizer.moments_on"};

/// A file with settings that no longer apply, and the last step that they apply to.
struct FormerConfig {
  std::int64_t last_step = 0;
  std::filesystem::path path;
};

/// Returns the former configs of a run, by step; empty if its settings never changed.
std::vector<FormerConfig> former_configs(const std::filesystem::path& run_directory);

/// Copies config.yaml to the former config of `last_step`, before config.yaml is replaced or its
/// evaluation rows are. Keeps an existing former config of that step, because no step has used the
/// present config.yaml.
void keep_former_config(const std::filesystem::path& run_directory, std::int64_t last_step);

/// The values that apply to the steps after `after_step` and not to that step.
struct ConfigChange {
  std::int64_t after_step = 0;
  std::vector<std::string> values;  // "optimizer.learning_rate: 0.001, now 0.0001"
};

/// Returns the changes of a run, by step. Omits keys for where and how a start runs, whose changes
/// are not reported. Equal settings mean that the rows of data.evaluation_file were exchanged.
/// Throws Error naming a file that is not YAML.
std::vector<ConfigChange> config_changes(const std::filesystem::path& run_directory);

/// Returns how many of the changes apply to a step.
std::int64_t changes_before(std::span<const ConfigChange> changes, std::int64_t step);

}  // namespace lie

#include "tools/run/start/resume.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <system_error>
#include <vector>

#include "common/base/error.h"
#include "common/base/run_files.h"
#include "common/config/config.h"
#include "common/config/config_history.h"
#include "common/io/crc32c.h"
#include "common/io/file.h"
#include "common/process/log.h"
#include "common/process/start_record.h"
#include "common/process/writer_lock.h"

namespace lie {
namespace {

/// Returns the keys and sections of all commands that change no result. From update.zero_stage 2 on
/// a gradient is a sum over micro-batches, so that their size changes a result.
std::vector<std::string> change_no_result(const FieldList& config) {
  std::vector<std::string> keys(kChangeNoResult.begin(), kChangeNoResult.end());
  const auto stage = std::ranges::find(config.fields(), "update.zero_stage", &Field::key);
  const bool sums_micro_batches =
      stage != config.fields().end() && stage->get() != std::vector<std::string>{"1"};
  if (!sums_micro_batches) keys.emplace_back("update.max_micro_batch_tokens");
  return keys;
}

/// Returns the keys of paths whose content the run has recorded. What is there now is compared by
/// check_same_inputs(), so the path may differ.
std::vector<std::string> recorded_paths(const std::filesystem::path& directory) {
  const InputRecord then = recorded_inputs(directory);
  std::vector<std::string> keys;
  if (!then.weights.empty()) keys.emplace_back("model.path");
  if (!then.adapter.empty()) keys.emplace_back("model.adapter");
  if (then.training) keys.emplace_back("data.train_file");
  if (then.evaluation) keys.emplace_back("data.evaluation_file");
  return keys;
}

/// Limits the list: nearly every key differs from a run of another command.
constexpr std::size_t kDifferencesShown = 6;

/// Warns of links in a run directory, which may lead to any file or folder of its user.
void warn_of_links(const std::filesystem::path& directory) {
  for (const std::string& name : list_directory(directory)) {
    const std::filesystem::path path = directory / name;
    if (!std::filesystem::is_symlink(path)) continue;
    Log("lock", 0).warn(
        "{} is a link: what is written, replaced and removed under this name is in {}; remove the "
        "link if you did not make it",
        path.string(), std::filesystem::weakly_canonical(path).string());
  }
}

}  // namespace

std::string differences_text(const std::filesystem::path& directory, const FieldList& config,
                             std::span<const std::string> may_change) {
  std::vector<std::string> ignored = change_no_result(config);
  std::ranges::copy(recorded_paths(directory), std::back_inserter(ignored));
  std::ranges::copy(may_change, std::back_inserter(ignored));
  auto differences = config_differences(config, directory / kConfigFile, ignored);
  const std::size_t all = differences.size();
  differences.resize(std::min(all, kDifferencesShown));
  return fmt::format("{}{}", fmt::join(differences, "; "),
                     all > kDifferencesShown
                         ? fmt::format("; and {} more, perhaps of another command or build",
                                       all - kDifferencesShown)
                         : "");
}

void copy_what_changes_no_result(const FieldList& config, const FieldList& other) {
  std::vector<std::string> keys = change_no_result(config);
  for (const char* path : {"model.path", "model.adapter", "data.train_file"}) {
    keys.emplace_back(path);  // of the same content
  }
  for (std::size_t i = 0; i < config.fields().size(); ++i) {
    const Field& field = config.fields()[i];
    if (is_in(keys, field.key)) field.set(other.fields()[i].get());
  }
}

/// Throws Error if the stored settings are damaged, which explains why they differ.
void refuse_damaged_config(const std::filesystem::path& config) {
  if (fits_checksum_comment(read_file(config)).value_or(true)) return;
  fail(
      "{}: does not fit its checksum: it is damaged, or was edited; restore a copy of it, or write "
      "it again from the attribute config of a trajectory file",
      config.string());
}

bool holds_this_run(const std::filesystem::path& directory, const FieldList& config,
                    std::span<const std::string> may_change, std::string_view remedy) {
  if (!std::filesystem::exists(directory / kConfigFile)) {
    const auto is_expected = [](const std::string& name) {
      return name.starts_with(kConfigFile) || name.starts_with(kInputsFile) ||
             name.starts_with(kWriterLockName);
    };
    if (!std::filesystem::is_directory(directory) ||
        std::ranges::all_of(list_directory(directory), is_expected)) {
      return false;
    }
    fail(
        "run.directory {} holds files but no run (config.yaml is missing): name an empty or new "
        "directory",
        directory.string());
  }
  const std::string differences = differences_text(directory, config, may_change);
  if (differences.empty()) return true;
  refuse_damaged_config(directory / kConfigFile);
  fail(
      "run.directory {} holds a run of another config ({}): restore these values, {}or name "
      "another directory",
      directory.string(), differences, remedy);
}

bool holds_no_step(const std::filesystem::path& directory) {
  const auto is_empty = [&](const char* name) {
    const auto file = directory / name;
    return !std::filesystem::exists(file) || std::filesystem::is_empty(file);
  };
  return std::filesystem::exists(directory / kConfigFile) && is_empty(kMetricsFile) &&
         is_empty(kCheckpoints);
}

void check_repeats(const std::filesystem::path& schedule, const FieldList& config) {
  const std::filesystem::path directory = schedule.parent_path();
  if (!std::filesystem::exists(directory / kConfigFile)) return;
  const std::vector<std::string> may_change = {"run.schedule", "run.follow_schedule", "model.path",
                                               "data.train_file", "data.evaluation_file"};
  const std::string differences = differences_text(directory, config, may_change);
  if (differences.empty()) return;
  fail(
      "run.follow_schedule {} belongs to a run of another config ({}), so it would not be "
      "repeated: restore these values; a copy of the file in another directory is not checked",
      schedule.string(), differences);
}

void write_run_config(const std::filesystem::path& directory, const FieldList& config) {
  make_directories(directory);
  write_file_atomically(directory / kConfigFile, with_checksum_comment(dump_config(config)));
}

void open_run_directory(Job& job, const std::filesystem::path& directory, const FieldList& config,
                        const InputRecord& inputs, std::string_view command,
                        const std::function<void()>& check) {
  make_directories(directory);
  become_writer(job, directory, command);
  check();
  if (record_inputs(directory, inputs)) Log("start", 0).warn("{}", unrecorded_text(directory));
  // The config comes before the run's files, because files without a config do not count as a run.
  write_run_config(directory, config);
}

void check_writable(const std::filesystem::path& directory) {
  check_directories(directory);
  if (!std::filesystem::exists(directory)) return;
  check_lockable(directory);
  warn_of_links(directory);
}

void record_this_start(Job& job, const std::filesystem::path& directory, std::string_view command) {
  try {
    record_start(directory, command, job.size());
  } catch (const Error& error) {
    Log("learner", job.rank()).warn("{}; the report will not show this start", error.what());
    return;
  }
  job.at_end([directory](int status) { record_end(directory, status); });
}

void become_writer(Job& job, const std::filesystem::path& guarded, std::string_view command) {
  const auto lock = std::make_shared<const WriterLock>(guarded, command);
  if (lock->taken_from()) {
    Log("lock", job.rank())
        .info("{} was locked by {}, which no longer runs", guarded.string(),
              lock->taken_from()->name());
  }
  job.keep(lock);
  if (std::filesystem::is_directory(guarded)) warn_of_links(guarded);
}

}  // namespace lie

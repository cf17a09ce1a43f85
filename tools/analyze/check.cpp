#include "tools/analyze/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "common/base/error.h"
#include "common/base/run_files.h"
#include "common/comm/message_file.h"
#include "common/config/config.h"
#include "common/config/config_history.h"
#include "common/io/checksums.h"
#include "common/io/crc32c.h"
#include "common/io/file.h"
#include "common/io/metrics_log.h"
#include "common/io/sha256.h"
#include "common/io/tensorboard.h"
#include "common/process/start_record.h"
#include "common/process/writer_lock.h"
#include "common/text/counted.h"
#include "common/text/scan.h"
#include "common/trajectory/reader.h"
#include "common/trajectory/segments.h"
#include "learner/checkpoint/saved_checkpoints.h"
#include "tools/analyze/run.h"

namespace lie::analyze {
namespace {

constexpr const char* kLostMetrics = "metrics of these steps";
constexpr const char* kMetricsRemedy =
    "restore a copy of the file, or resume the run: it makes lost lines again from the "
    "trajectories, without the metrics of the update, which `lie_replay train` computes again";
constexpr const char* kCopyRemedy = "restore a copy of the file";
constexpr const char* kResumeRemedy =
    ", or resume the run: steps after its last checkpoint are generated again, bit-identical";

std::vector<fs::path> files_in(const fs::path& directory, std::string_view beginning) {
  std::vector<fs::path> files;
  if (!fs::is_directory(directory)) return files;
  for (const std::string& name : list_directory(directory)) {
    if (name.starts_with(beginning)) files.push_back(directory / name);
  }
  return files;
}

std::string steps_of(std::int64_t learner, std::int64_t first, std::int64_t last) {
  return fmt::format("{} of learner {}", numbered("step", first, last), learner);
}

std::string steps_of(std::int64_t learner, const std::set<std::int64_t>& steps) {
  const std::int64_t first = *steps.begin(), last = *steps.rbegin();
  if (std::ssize(steps) == last - first + 1) return steps_of(learner, first, last);
  return fmt::format("{} of the {}", steps.size(), steps_of(learner, first, last));
}

/// Checks the trajectory files and their index.
class TrajectoryCheck {
 public:
  /// `last_checkpoint`: the step of the run's last checkpoint.
  TrajectoryCheck(const fs::path& directory, std::int64_t last_checkpoint, Validity& found)
      : directory_(directory), last_checkpoint_(last_checkpoint), found_(found) {}

  /// `rows` are the steps with metrics, and `removes_files` whether the run removes files of early
  /// steps.
  void run(const std::set<std::int64_t>& rows, bool removes_files) {
    read_lines();
    for (const Segment& segment : segments(directory_)) check(segment);
    for (const IndexedSegment& line : index_) check(line);
    if (files_ == 0) return;
    check_unlisted(rows, removes_files);
    found_.read.push_back(fmt::format("trajectories: {}, {}", counted(files_, "file"),
                                      counted(responses_, "response")));
  }
  /// Returns the settings stored in the last valid file, as YAML.
  const std::optional<std::string>& settings() const { return settings_; }
  /// Returns the steps in the valid files of learner 0.
  const std::set<std::int64_t>& steps() const { return steps_; }

 private:
  void read_lines() {
    try {
      index_ = read_index(directory_);
    } catch (const Error& error) {
      found_.faults.push_back({error.what(), "nothing, but missing files would not be noticed",
                               "remove it: the next start rebuilds it from the files"});
    }
  }

  void check(const Segment& segment) {
    ++files_;
    try {
      const SegmentReader file(segment.path);
      const SegmentDamage damage = damage_of(file);
      responses_ += file.rows(schema::Table::kSample);
      if (damage.fault.empty()) settings_ = file.info().config;
      if (segment.learner_rank == 0) steps_.insert(file.steps().begin(), file.steps().end());
      if (!damage.fault.empty()) add(segment, damage);
    } catch (const Error& error) {
      if (fs::exists(segment.path)) add_unreadable(segment, error.what());
    }
  }

  void check(const IndexedSegment& line) {
    const fs::path path = directory_ / line.file;
    const bool known = std::ranges::count(damaged_, path) > 0;
    if (line.removed || known || is_there(directory_, line)) return;
    found_.faults.push_back(
        {fmt::format("{} {}", path.string(),
                     fs::exists(path) ? "has another size than index.jsonl says" : "is missing"),
         steps_of(line.learner, line.first_step, line.last_step), remedy(line.last_step)});
  }

  /// Names the steps of files that are lost together with their lines of the index. A log may begin
  /// with any step, but holds those that have metrics.
  void check_unlisted(const std::set<std::int64_t>& rows, bool removes_files) {
    const bool has_index = fs::exists(directory_ / "index.jsonl");
    if (!has_index) {
      found_.notes.push_back("index.jsonl is missing: the next start rebuilds it from the files");
    }
    std::set<std::int64_t> known = steps_;
    if (!removes_files || has_index) known.insert(rows.begin(), rows.end());
    known.erase(0);
    if (known.empty() || has_unknown_steps_) return;
    for (const StepRange& lost : unlisted_steps(steps_, index_, *known.begin(), *known.rbegin())) {
      found_.faults.push_back(
          {fmt::format("{}: neither a file nor index.jsonl has {}", directory_.string(),
                       numbered("step", lost.first, lost.last)),
           steps_of(0, lost.first, lost.last), remedy(lost.last)});
    }
  }

  void add(const Segment& segment, const SegmentDamage& damage) {
    const std::size_t columns = damage.columns.size();
    const std::string more =
        columns > 1 ? fmt::format(" (and {} more columns)", columns - 1) : std::string();
    damaged_.push_back(segment.path);
    found_.faults.push_back({damage.fault + more, steps_of(segment.learner_rank, damage.steps),
                             remedy(*damage.steps.rbegin())});
  }

  /// Adds a file that cannot be opened.
  void add_unreadable(const Segment& segment, const std::string& what) {
    damaged_.push_back(segment.path);
    const std::string name = segment.path.filename().string();
    const auto line = std::ranges::find(index_, name, &IndexedSegment::file);
    if (line != index_.end()) {
      found_.faults.push_back({what, steps_of(line->learner, line->first_step, line->last_step),
                               remedy(line->last_step)});
      return;
    }
    has_unknown_steps_ = true;
    found_.faults.push_back({what,
                             fmt::format("the steps after {} of learner {}, up to the next file's",
                                         segment.starts_after_step, segment.learner_rank),
                             fmt::format("{}{}", kCopyRemedy, kResumeRemedy)});
  }

  /// Returns the remedy for damage up to `last_step`. A resume makes only later steps than the last
  /// checkpoint's again.
  std::string remedy(std::int64_t last_step) const {
    return fmt::format("{}{}", kCopyRemedy, last_step > last_checkpoint_ ? kResumeRemedy : "");
  }

  const fs::path directory_;
  const std::int64_t last_checkpoint_;
  Validity& found_;
  SegmentIndex index_;
  std::int64_t files_ = 0, responses_ = 0;
  bool has_unknown_steps_ = false;  // an unreadable file that the index does not list
  std::vector<fs::path> damaged_;
  std::optional<std::string> settings_;
  std::set<std::int64_t> steps_;
};

/// What is lost with a damaged file, and the remedy.
struct Loss {
  const char *lost, *remedy;
};
constexpr Loss kLostSettings = {"the settings",
                                "the attribute config of each trajectory file holds the settings"};
constexpr Loss kLostInputs = {
    "the inputs that a resume compares",
    "remove it: the next start records the inputs that it finds, without a comparison"};

/// Returns what is wrong with the settings; empty if nothing is. Older versions wrote no checksum:
/// their settings are compared with those of the trajectory files, which have one.
std::string settings_fault(const fs::path& path, const std::optional<std::string>& logged) {
  const std::string text = read_file(path);
  config_values(path);  // throws Error if it is not YAML
  const std::optional<bool> fits = fits_checksum_comment(text);
  if (fits) {
    return *fits ? "" : path.string() + ": does not fit its checksum: it is damaged, or was edited";
  }
  if (!logged || text == *logged) return "";
  return path.string() + ": differs from the last trajectory file's settings";
}

void check_settings(const fs::path& path, const std::optional<std::string>& logged, Validity& found,
                    Loss loss = kLostSettings) {
  std::string fault;
  try {
    fault = settings_fault(path, logged);
  } catch (const Error& error) {
    fault = error.what();
  }
  if (fault.empty()) return;
  found.faults.push_back({fault, loss.lost, loss.remedy});
}

void check_lock(const fs::path& directory, Validity& found) {
  try {
    check_unlocked(directory);
    if (!fs::exists(directory / kWriterLockName)) return;
    found.notes.push_back("writer.lock: its process has ended; the next start takes it over");
  } catch (const Error& error) {
    found.notes.push_back(error.what());
  }
}

/// Names the training steps without a line that are followed by a logged step. The last step may
/// lack its line, because the trajectories are written first.
void check_lines(const std::vector<MetricsRow>& rows, const std::set<std::int64_t>& logged,
                 const fs::path& path, Validity& found) {
  std::set<std::int64_t> missing = logged;
  if (!logged.empty()) missing.erase(*logged.rbegin());
  for (const MetricsRow& row : rows) missing.erase(row.step);
  if (missing.empty()) return;
  found.faults.push_back({fmt::format("{}: lacks the lines of {}, the first is {}", path.string(),
                                      counted(std::ssize(missing), "step"), *missing.begin()),
                          kLostMetrics, kMetricsRemedy});
}

void check_metrics(const fs::path& path, const std::set<std::int64_t>& logged, Validity& found) {
  const MetricsFile file = read_valid_metrics(path);
  for (const std::string& line : file.damage) {
    found.faults.push_back({line, kLostMetrics, kMetricsRemedy});
  }
  if (file.damage.empty()) check_lines(file.rows, logged, path, found);
  if (!fs::exists(path)) return;
  if (!file.checked && !file.rows.empty()) {
    found.notes.push_back("metrics.jsonl: has no checksums (an older build's)");
  }
  found.read.push_back("metrics.jsonl: " + counted(std::ssize(file.rows), "line"));
}

void check_starts(const fs::path& run, Validity& found) {
  const StartsFile file = read_starts(run);
  for (const std::string& line : file.damage) {
    found.faults.push_back({line, "when, where or how a start of the run began or ended",
                            "none is needed: no result depends on it"});
  }
  if (!fs::exists(run / kStartsFile)) return;
  found.read.push_back("starts.jsonl: " + counted(std::ssize(file.starts), "start"));
}

void check_events(const fs::path& run, const std::string& name, Validity& found) {
  const auto files = files_in(run / name, "events.out.tfevents.");
  for (const fs::path& file : files) {
    const std::string fault = event_file_fault(file);
    if (fault.empty()) continue;
    found.faults.push_back({fault, "the curves from there on, in TensorBoard",
                            "remove the file; metrics.jsonl has the same curves"});
  }
  if (!files.empty()) {
    found.read.push_back(fmt::format("{}: {}", name, counted(std::ssize(files), "file")));
  }
}

void check_checkpoints(const fs::path& directory, Validity& found) {
  std::vector<fs::path> checkpoints = files_in(directory, "step-");
  std::erase_if(checkpoints, [](const fs::path& path) { return path.has_extension(); });
  for (const fs::path& checkpoint : checkpoints) {
    for (const std::string& fault : checkpoint_faults(checkpoint)) {
      if (!fs::exists(checkpoint)) continue;
      found.faults.push_back(
          {fmt::format("{}: {}", checkpoint.string(), fault), "this checkpoint",
           "restore a copy; a resumed run continues from the previous checkpoint"});
    }
    if (!fs::exists(checkpoint / kChecksumsFile)) {
      found.notes.push_back(fmt::format("{}: has no checksums", checkpoint.string()));
    }
  }
  if (checkpoints.empty()) return;
  found.read.push_back(fmt::format("checkpoints: {}", checkpoints.size()));
}

void check_messages(const fs::path& path, Validity& found) {
  const MessageFileState state = read_messages(path, [](std::span<const std::byte>) {});
  std::vector<std::string> damage = state.damage;
  if (state.ends_incomplete) damage.pop_back();
  if (!state.refusal.empty()) damage.push_back(state.refusal);
  for (const std::string& fault : damage) {
    found.faults.push_back({fault, "the scored groups from there on",
                            "none is needed: the next start generates them again"});
  }
  found.read.push_back(fmt::format("{}: {} bytes", path.filename().string(), state.valid_bytes));
}

/// Returns whether the settings say that files of early steps are removed.
bool removes_files(const fs::path& config) {
  if (!fs::exists(config)) return false;
  try {
    for (const auto& [key, value] : config_values(config)) {
      if (key == "trajectories.keep_last_steps") return value != "0";
    }
  } catch (const Error&) {
    return true;  // check_settings() names the fault
  }
  return false;
}

/// Returns the step of the last checkpoint, or 0.
std::int64_t last_checkpoint(const fs::path& directory) {
  std::int64_t last = 0;
  for (const fs::path& checkpoint : files_in(directory, "step-")) {
    last = std::max(last, number_in_name(checkpoint.filename().string(), "step-").value_or(0));
  }
  return last;
}

}  // namespace

Validity check_run(const fs::path& directory) {
  require_a_run(directory);
  Validity found;
  TrajectoryCheck trajectories(directory / kTrajectories, last_checkpoint(directory / kCheckpoints),
                               found);
  // Read before the trajectories, which a live run writes first, and again after them.
  trajectories.run(steps_with_metrics(directory / kMetricsFile),
                   removes_files(directory / kConfigFile));
  check_lock(directory, found);
  check_settings(directory / kConfigFile, trajectories.settings(), found);
  for (const FormerConfig& former : former_configs(directory)) {
    check_settings(former.path, std::nullopt, found);
  }
  if (const fs::path inputs = directory / kInputsFile; fs::exists(inputs)) {
    check_settings(inputs, std::nullopt, found, kLostInputs);
  }
  check_metrics(directory / kMetricsFile, trajectories.steps(), found);
  check_starts(directory, found);
  check_events(directory, kTensorBoard, found);
  check_events(directory, "tensorboard/samples", found);
  check_checkpoints(directory / kCheckpoints, found);
  for (const fs::path& file : files_in(directory / kJournal, "step-")) check_messages(file, found);
  for (const fs::path& file : files_in(directory, "responses.log")) check_messages(file, found);
  return found;
}

std::string text_of(const Validity& validity) {
  std::string text;
  for (const Fault& fault : validity.faults) {
    text += fmt::format("DAMAGED  {}\n  lost    {}\n  remedy  {}\n", fault.what, fault.lost,
                        fault.remedy);
  }
  for (const std::string& note : validity.notes) text += fmt::format("note     {}\n", note);
  for (const std::string& part : validity.read) text += fmt::format("read     {}\n", part);
  return text + (validity.faults.empty() ? "intact\n"
                                         : counted(std::ssize(validity.faults), "fault") + "\n");
}

}  // namespace lie::analyze

// lie_analyze: curves, tables and one HTML report from run directories.
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <thread>
#include <utility>

#include "common/base/error.h"
#include "common/base/identity.h"
#include "common/base/run_files.h"
#include "common/config/config.h"
#include "common/io/file.h"
#include "common/process/program.h"
#include "common/process/writer_lock.h"
#include "common/text/printable.h"
#include "common/trajectory/digest.h"
#include "common/trajectory/segments.h"
#include "learner/checkpoint/checkpoint_directory.h"
#include "learner/checkpoint/saved_checkpoints.h"
#include "tools/analyze/check.h"
#include "tools/analyze/report/report.h"
#include "tools/analyze/responses.h"
#include "tools/analyze/run.h"
#include "tools/analyze/table.h"
#include "tools/analyze/weights_digest.h"
#include "tools/arguments/help.h"
#include "tools/arguments/moved_command.h"
#include "tools/arguments/values.h"

namespace {

namespace fs = std::filesystem;
using lie::analyze::Subject;

struct Request {
  std::vector<std::string> directories;
  std::vector<std::string> groups;  // name=dir1,dir2
  std::string csv, html;
  std::string tail;  // run directory of the command tail
  bool no_html = false, digest = false, close = false, check = false;
  std::size_t responses = 6;
  std::int64_t watch_seconds = 0;  // 0: the report is written once
};

constexpr const char* kFooter =
    "Reads config.yaml, metrics.jsonl, trajectories/*.h5 and the last checkpoint of each run; also "
    "of a run\n"
    "in progress or one that was killed. Prints a table (start -> end) and writes one HTML "
    "file.\n\n"
    "  lie_analyze runs/lie                               table, and runs/lie/report.html\n"
    "  lie_analyze runs/gspo runs/lie --html report.html  side by side\n"
    "  lie_analyze --group gspo=g1,g2,g3 --group lie=l1,l2,l3\n"
    "                                                     seeds: mean and t interval\n"
    "  lie_analyze --digest runs/lie                      two runs are the same run if and only "
    "if\n"
    "                                                     both digests agree\n"
    "  lie_analyze --watch 30 runs/lie                    a report that follows a run in progress\n"
    "  lie_analyze tail runs/lie                          responses of the last step, as text\n"
    "  lie_analyze --check runs/lie                       verify that all files are intact";

/// Declares the options that do something else than to show curves. They exclude each other.
std::vector<CLI::Option*> declare_actions(CLI::App& app, Request& request) {
  CLI::Option* digest = app.add_flag(
      "--digest", request.digest,
      "only print SHA-256 of all trajectories (canonical order, without times and ranks) "
      "and of the last checkpoint's weights (tensor bytes in name order)");
  CLI::Option* check = app.add_flag(
      "--check", request.check,
      "only verify all files and checksums of the directories; print what is damaged or "
      "missing, what is lost and the remedy; exit status 1 if anything is; works while a "
      "run writes, too");
  CLI::Option* close = app.add_flag(
      "--close", request.close,
      "only close the trajectory files of a run that was killed and will not continue, so "
      "that programs which open HDF5 without SWMR read them too; not while a run writes");
  digest->excludes(check, close);
  check->excludes(close);
  return {digest, check, close};
}

void declare(CLI::App& app, Request& request) {
  app.set_version_flag("--version", std::string(lie::build_id()));
  app.footer(kFooter);
  app.add_option("RUN_DIR", request.directories, "run directories");
  app.add_option("--group", request.groups,
                 "name=dir1,dir2,...: several seeds as one line, mean with 95 % t interval over "
                 "the seeds; repeatable")
      ->allow_extra_args(false);
  const std::vector<CLI::Option*> actions = declare_actions(app, request);
  CLI::Option* csv = app.add_option("--csv", request.csv,
                                    "write all curves: one row per run and step, one column per "
                                    "metric, after name, directory and step")
                         ->check(lie::output_file());
  CLI::Option* html =
      app.add_option(
             "--html", request.html,
             "where to write the report [report.html in the run directory; for several runs in the "
             "directory that holds them]")
          ->check(lie::output_file());
  CLI::Option* no_html =
      app.add_flag("--no-html", request.no_html, "write no report")->excludes(html);
  lie::add_integer(app, "--samples", request.responses,
                   "responses to show of each step; fewer if there are many steps", 0, 1'000'000);
  CLI::Option* watch =
      app.add_option(
             "--watch", request.watch_seconds,
             "while a run is in progress, write the report again after so many seconds; an open "
             "page reads it again as often")
          ->check(lie::integers(1, 86'400))
          ->excludes(no_html);
  for (CLI::Option* action : actions) action->excludes(csv, html, watch);
}

void declare_tail(CLI::App& app, Request& request) {
  CLI::App* command =
      app.add_subcommand("tail",
                         "Print responses of the last complete training step, also of a run "
                         "in progress");
  command->add_option("RUN_DIR", request.tail, "run directory")->required();
  lie::add_integer(*command, "--samples", request.responses, "responses to print", 1, 1'000'000);
}

/// Prints notes on a run directory to standard error.
void print_notes(const std::string& directory, const std::vector<std::string>& notes) {
  for (const std::string& note : notes) {
    fmt::print(stderr, "{}\n", lie::printable(directory + ": " + note));
  }
}

void print_tail(const Request& request) {
  const lie::analyze::Run run = lie::analyze::load_run(request.tail);
  print_notes(request.tail, run.notes);
  if (run.train_count.empty() && lie::are_of_evaluation(run.settings)) {
    lie::fail(
        "{}: lie_cluster eval wrote it, which trains no step; its responses are in samples.jsonl",
        request.tail);
  }
  if (run.train_count.empty()) {
    lie::fail("{}: no training step is logged in full yet; try again later", request.tail);
  }
  const std::string responses =
      lie::analyze::last_responses(run, lie::analyze::decoder_of(run), request.responses);
  fmt::print("{}", lie::printable(fmt::format("{}: {}\n\n{}", request.tail, run.state, responses)));
}

/// A name and the directories of its runs, as --group gives them.
struct Group {
  std::string name;
  std::vector<std::string> directories;
};

Group parse_group(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw lie::CommandLineError(fmt::format("--group {}: expected name=dir1,dir2,...", text));
  }
  Group group{text.substr(0, equals), CLI::detail::split(text.substr(equals + 1), ',')};
  std::erase(group.directories, "");
  if (group.directories.empty()) {
    throw lie::CommandLineError(fmt::format("--group {}: names no directory", text));
  }
  std::set<fs::path> different;
  for (const std::string& directory : group.directories) {
    if (different.insert(fs::weakly_canonical(directory)).second) continue;
    throw lie::CommandLineError(fmt::format(
        "--group {}: {} is named twice, and would count as two seeds", text, directory));
  }
  return group;
}

/// Adds a note to the last run of a group if an earlier one has its seed.
void note_seed(Subject& group) {
  lie::analyze::Run& last = group.runs.back();
  const std::string seed = lie::analyze::setting_of(last, "run.seed");
  for (const lie::analyze::Run& run : std::span(group.runs).first(group.runs.size() - 1)) {
    if (seed.empty() || lie::analyze::setting_of(run, "run.seed") != seed) continue;
    last.notes.push_back(
        fmt::format("run.seed is {}, as in {}: is it a copy? Each counts as a seed", seed,
                    run.directory.string()));
    return;
  }
}

Subject load_group(const std::string& text) {
  const Group group = parse_group(text);
  Subject subject{group.name, {}};
  for (const std::string& directory : group.directories) {
    subject.runs.push_back(lie::analyze::load_run(directory));
    note_seed(subject);
  }
  return subject;
}

/// Returns all directories that the command line names, alone or in groups.
std::vector<std::string> all_directories(const Request& request) {
  std::vector<std::string> directories = request.directories;
  for (const std::string& text : request.groups) {
    std::ranges::copy(parse_group(text).directories, std::back_inserter(directories));
  }
  return directories;
}

/// Names single runs by their paths if their names are not unique. Groups keep their names.
void make_names_differ(std::span<Subject> subjects, std::size_t single_runs) {
  std::map<std::string, int> count;
  for (const Subject& subject : subjects) ++count[subject.name];
  for (Subject& subject : subjects.first(single_runs)) {
    if (count[subject.name] < 2) continue;
    const fs::path& directory = subject.runs.front().directory;
    const std::string path = directory.string();
    subject.name = count.contains(path) ? fs::weakly_canonical(directory).string() : path;
  }
}

void require_distinct_groups(const Request& request) {
  std::set<std::string> names;
  for (const std::string& text : request.groups) {
    if (names.insert(parse_group(text).name).second) continue;
    throw lie::CommandLineError(
        fmt::format("--group {}: an earlier --group has this name; give each its own", text));
  }
}

std::vector<Subject> load_subjects(const Request& request) {
  require_distinct_groups(request);
  std::vector<Subject> subjects;
  for (const std::string& directory : request.directories) {
    subjects.push_back({"", {}});
    subjects.back().runs.push_back(lie::analyze::load_run(directory));
    subjects.back().name = subjects.back().runs.front().name;
  }
  for (const std::string& group : request.groups) subjects.push_back(load_group(group));
  if (subjects.empty()) {
    throw lie::CommandLineError("no run directory given; see lie_analyze --help");
  }
  make_names_differ(subjects, request.directories.size());
  return subjects;
}

void require_valid(const fs::path& checkpoint) {
  const auto faults = lie::checkpoint_faults(checkpoint);
  if (faults.empty()) return;
  lie::fail("{} is damaged: {}; a resumed run continues from the previous checkpoint",
            checkpoint.string(), fmt::join(faults, "; "));
}

void print_digests(const std::string& directory, const std::string& prefix) {
  lie::analyze::require_a_run(directory);
  const lie::RunReader run(fs::path(directory) / lie::kTrajectories);
  print_notes(directory, run.notes());
  const auto checkpoint = lie::latest_checkpoint(fs::path(directory) / lie::kCheckpoints);
  if (checkpoint) require_valid(*checkpoint);
  if (run.samples().empty() && !checkpoint) {
    lie::fail("{}: no step is logged in full and no checkpoint saved yet: nothing to digest",
              directory);
  }
  fmt::print("{}trajectories {}\n", lie::printable(prefix),
             run.samples().empty() ? "none: no step is logged" : lie::trajectories_digest(run));
  fmt::print("{}weights {}\n", lie::printable(prefix),
             checkpoint ? lie::analyze::weights_digest(*checkpoint) : "none: no checkpoint yet");
}

void close_trajectories(const std::string& directory) {
  lie::check_unlocked(directory);  // SWMR readers and a live writer rely on the file's marks
  const auto files = lie::segments(fs::path(directory) / lie::kTrajectories);
  if (files.empty()) lie::fail("{}: no trajectory files; give a run directory", directory);
  for (const lie::Segment& segment : files) lie::clear_after_crash(segment.path);
  fmt::print("{}: {} trajectory files closed\n", lie::printable(directory), files.size());
}

bool check_all(const std::vector<std::string>& directories) {
  bool valid = true;
  for (const std::string& directory : directories) {
    if (directories.size() > 1) fmt::print("{}\n", lie::printable(directory));
    const lie::analyze::Validity found = lie::analyze::check_run(directory);
    fmt::print("{}", lie::printable(lie::analyze::text_of(found)));
    valid = valid && found.faults.empty();
  }
  return valid;
}

fs::path report_path(const Request& request, const std::vector<Subject>& subjects) {
  if (!request.html.empty()) return request.html;
  const fs::path first = subjects.front().runs.front().directory;
  if (subjects.size() == 1 && subjects.front().runs.size() == 1) return first / "report.html";
  return fs::weakly_canonical(first).parent_path() / "report.html";
}

/// Writes the report. Returns why there is none, or "". A run of another user can be read although
/// nothing can be written to its directory. A link that a run directory holds may lead to any file,
/// which only --html may name.
std::string report_fault(const Request& request, const std::vector<Subject>& subjects,
                         const fs::path& path, std::int64_t refresh_seconds) {
  if (request.html.empty() && fs::is_symlink(path)) {
    return fmt::format(
        "{} is a link to {}, which is not replaced; choose another file with --html, or none with "
        "--no-html",
        path.string(), fs::weakly_canonical(path).string());
  }
  try {
    lie::write_file_atomically(
        path, lie::analyze::html_report(subjects, {request.responses, refresh_seconds}));
  } catch (const lie::Error& error) {
    return fmt::format("{}; choose another file with --html, or none with --no-html", error.what());
  }
  return "";
}

bool is_in_progress(const std::vector<Subject>& subjects) {
  return std::ranges::any_of(subjects, [](const Subject& subject) {
    return std::ranges::any_of(subject.runs, &lie::analyze::Run::is_live);
  });
}

/// Writes the report again and again while a run is in progress. Returns the runs as they ended.
std::vector<Subject> watched_subjects(const Request& request) {
  bool is_first = true;
  while (true) {
    std::vector<Subject> subjects = load_subjects(request);
    if (!is_in_progress(subjects)) return subjects;
    const fs::path path = report_path(request, subjects);
    const std::string fault = report_fault(request, subjects, path, request.watch_seconds);
    if (!fault.empty()) lie::fail("{}", fault);
    if (std::exchange(is_first, false)) {
      fmt::print("report: {}, written again every {} s while the run is in progress\n",
                 lie::printable(path.string()), request.watch_seconds);
      std::fflush(stdout);
    }
    std::this_thread::sleep_for(std::chrono::seconds(request.watch_seconds));
  }
}

void analyze(const Request& request) {
  const bool watches = request.watch_seconds > 0 && !request.no_html;
  const std::vector<Subject> subjects =
      watches ? watched_subjects(request) : load_subjects(request);
  // Write the files before the text: a closed output pipe, such as that of head, ends the program.
  if (!request.csv.empty()) lie::analyze::write_csv(subjects, request.csv);
  const fs::path path = request.no_html ? "" : report_path(request, subjects);
  const std::string fault = path.empty() ? "" : report_fault(request, subjects, path, 0);
  for (const Subject& subject : subjects) {
    fmt::print("{}\n", lie::printable(lie::analyze::text_table(subject)));
  }
  if (!fault.empty()) lie::fail("{}", fault);
  if (!path.empty()) fmt::print("report: {}\n", lie::printable(path.string()));
}

/// Returns the exit status.
int run(const Request& request) {
  if (!request.tail.empty()) {
    print_tail(request);
    return 0;
  }
  if (!request.digest && !request.close && !request.check) {
    analyze(request);
    return 0;
  }
  const std::vector<std::string> directories = all_directories(request);
  if (directories.empty()) {
    throw lie::CommandLineError("no run directory given; see lie_analyze --help");
  }
  if (request.check) return check_all(directories) ? 0 : 1;
  if (request.close) {
    for (const std::string& directory : directories) close_trajectories(directory);
    return 0;
  }
  for (const std::string& directory : directories) {
    print_digests(directory, directories.size() > 1 ? directory + " " : "");
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Curves, tables and one HTML report from LIE Cluster run directories",
               "lie_analyze");
  lie::set_help_format(app);
  Request request;
  declare(app, request);
  declare_tail(app, request);
  lie::add_moved_command(app, "judge", "lie_cluster.judge", "how-to/judge-behaviors.md");
  lie::add_moved_command(app, "behaviours", "lie_cluster.behaviors", "how-to/judge-behaviors.md");
  lie::add_moved_command(app, "behaviors", "lie_cluster.behaviors", "how-to/judge-behaviors.md");
  lie::add_moved_command(app, "study", "lie_cluster.study", "studies/length-incentives.md");
  return lie::run_program("lie_analyze", [&] {
    CLI11_PARSE(app, argc, argv);
    return run(request);
  });
}

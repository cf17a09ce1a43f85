#include "tools/replay/commands.h"

#include <map>
#include <memory>
#include <utility>

#include "common/base/error.h"
#include "common/config/number_range.h"
#include "common/dataset/row_file.h"

namespace lie::replay {
namespace {

/// Rows on their way into the file, and what was left out.
struct Export {
  std::unique_ptr<DataShape> shape;
  std::unique_ptr<Sink<Row>> file = {};
  std::int64_t rows = 0, groups = 0;
  std::map<std::string, std::int64_t> left_out = {};  // by reason

  void take(GroupRows found) {
    if (found.left_out != nullptr) ++left_out[found.left_out];
    rows += std::ssize(found.rows);
    for (Row& row : found.rows) file->send(std::move(row));
  }
};

std::vector<LoggedRun> load_runs(const ExportArguments& arguments) {
  std::vector<LoggedRun> runs;
  for (const auto& directory : arguments.runs) {
    runs.push_back(load_logged_run(directory, arguments.overrides));
    for (const std::string& key : changed_keys(runs.back())) {
      if (is_under(key, {"data", "model.path"})) continue;
      fail("--set {}: an export only reads data.* and model.path", key);
    }
  }
  return runs;
}

bool is_asked(const GroupRecord& group, const std::string& kind) {
  const bool is_training = group.scored.rollout.ticket.purpose == Purpose::kTrain;
  return kind == "all" || is_training == (kind == "train");
}

void export_run(const LoggedRun& run, const ExportArguments& arguments, Export& to) {
  const DecodeText decode = logged_decoder(run);
  const NumberRange range = parse_number_range("--steps", arguments.steps);
  for (const std::int64_t step : run.log.steps()) {
    if (!range.contains(step)) continue;
    const StepRecord record = run.log.read(step);
    for (const GroupRecord& group : record.groups) {
      if (!is_asked(group, arguments.kind)) continue;
      ++to.groups;
      to.take(to.shape->rows({run, group, decode}));
    }
  }
}

std::string outcome_text(const Export& done) {
  std::string text = fmt::format("{} rows of {} groups", done.rows, done.groups);
  for (const auto& [reason, count] : done.left_out) {
    text += fmt::format("; {} {} left out", count, reason);
  }
  return text;
}

}  // namespace

void export_command(const ExportArguments& arguments) {
  parse_number_range("--steps", arguments.steps);
  const std::string output = arguments.output.string();
  if (!is_named_parquet(arguments.output) && arguments.output.extension() != ".jsonl") {
    fail("--output {}: rows are written as FILE.parquet or FILE.jsonl; name it so", output);
  }
  if (!arguments.overwrite && std::filesystem::exists(arguments.output)) {
    fail("--output {} exists: name another file, or give --overwrite", output);
  }
  const std::vector<LoggedRun> runs = load_runs(arguments);
  Export to{.shape = make_shape(arguments.shape, runs)};
  to.file = open_row_file(arguments.output, to.shape->example());
  for (const LoggedRun& run : runs) export_run(run, arguments, to);
  for (GroupRows& found : to.shape->rest()) to.take(std::move(found));
  if (to.rows == 0) fail("{}: nothing is written: {}", output, outcome_text(to));
  to.file->close();
  fmt::print("{}: {}\n", output, outcome_text(to));
}

}  // namespace lie::replay

#include "learner/schedule/rollout_schedule.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "common/base/error.h"
#include "common/io/crc32c.h"
#include "common/io/file.h"
#include "common/io/json.h"
#include "common/io/line_input.h"

namespace lie {
namespace {

namespace fs = std::filesystem;
struct Line {
  std::string text;
  Json object;
};
using Lines = std::map<std::int64_t, Line>;  // by step

/// Ignores an unfinished last line, which a killed process has left.
Lines lines_of(const fs::path& path) {
  Lines lines;
  const std::string text = read_file(path);
  for_each_whole_line(text, [&](std::string_view line, std::size_t number) {
    const std::string place = fmt::format("{}:{}", path.string(), number);
    if (!is_valid(line)) fail("{}: the line does not fit its checksum; it is damaged", place);
    Json object = parse_json(line, place);
    if (!object.contains("problems") || !object.contains("versions")) {
      fail("{}: not a line of a schedule; name the schedule.jsonl of a run", place);
    }
    const std::int64_t step = object.at("step");
    lines[step] = {std::string(line), std::move(object)};
  });
  return lines;
}

std::string text_up_to(std::int64_t last_step, const Lines& lines) {
  std::string text;
  for (const auto& [step, line] : lines) {
    if (step <= last_step) text += line.text + "\n";
  }
  return text;
}

using SampleRuns = std::vector<std::vector<std::array<std::int64_t, 2>>>;  // [G][runs]

SampleRuns runs_of(const RolloutGroup& group) {
  SampleRuns samples;
  for (const Response& response : group.responses) {
    auto& runs = samples.emplace_back();
    for (const auto& [version, tokens] : response.versions) runs.push_back({version, tokens});
  }
  return samples;
}

std::vector<VersionRuns> plan_of(const SampleRuns& samples) {
  std::vector<VersionRuns> plan;
  for (const auto& runs : samples) {
    VersionRuns& sample = plan.emplace_back();
    for (const auto& [version, tokens] : runs) sample.push_back({version, tokens});
  }
  return plan;
}

std::string line_of(const StepGroups& step, bool takes_first_groups) {
  std::vector<std::int64_t> problems, versions;
  std::vector<SampleRuns> tokens;
  std::vector<std::array<std::int64_t, 2>> drawn;
  bool changes_in_flight = false;
  for (const ScoredGroup& group : step.groups) {
    problems.push_back(group.rollout.ticket.prompt.problem);
    versions.push_back(group.rollout.ticket.policy_version);
    tokens.push_back(runs_of(group.rollout));
    for (const auto& runs : tokens.back()) changes_in_flight = changes_in_flight || !runs.empty();
    drawn.push_back({group.rollout.ticket.step, group.rollout.ticket.group});
  }
  std::string more;
  if (takes_first_groups) more += fmt::format(",\"drawn\":{}", Json(drawn).dump());
  if (changes_in_flight) more += fmt::format(",\"token_versions\":{}", Json(tokens).dump());
  return with_checksum(fmt::format("{{\"step\":{},\"problems\":{},\"versions\":{}{}}}", step.step,
                                   Json(problems).dump(), Json(versions).dump(), more));
}

}  // namespace

RolloutSchedule::RolloutSchedule(const fs::path& path) : path_(path) {
  for (const auto& [step, line] : lines_of(path)) {
    const auto problems = line.object.at("problems").get<std::vector<std::int64_t>>();
    const auto versions = line.object.at("versions").get<std::vector<std::int64_t>>();
    const auto tokens = line.object.value("token_versions", std::vector<SampleRuns>());
    const auto drawn = line.object.value("drawn", std::vector<std::array<std::int64_t, 2>>());
    takes_first_groups_ = takes_first_groups_ || !drawn.empty();
    for (std::size_t g = 0; g < std::min(problems.size(), versions.size()); ++g) {
      const auto [drawn_step, number] =
          g < drawn.size() ? drawn[g] : std::array{step, static_cast<std::int64_t>(g)};
      Group& group = groups_[{drawn_step, number}] = {step, problems[g], versions[g]};
      if (g < tokens.size()) group.tokens = plan_of(tokens[g]);
      steps_[step].push_back({drawn_step, number});
    }
  }
}

std::int64_t RolloutSchedule::last_step() const {
  std::int64_t last = 0;
  while (steps_.contains(last + 1)) ++last;
  return last;
}

std::vector<DrawnGroup> RolloutSchedule::taken_by(std::int64_t step) const {
  const auto found = steps_.find(step);
  return found == steps_.end() ? std::vector<DrawnGroup>() : found->second;
}

std::optional<std::int64_t> RolloutSchedule::step_of(const DrawnGroup& group) const {
  const auto found = groups_.find(group);
  return found == groups_.end() ? std::nullopt : std::optional(found->second.step);
}

void RolloutSchedule::assign(std::deque<Ticket>& tickets, std::int64_t max_staleness) const {
  for (Ticket& ticket : tickets) {
    const Group& group = group_of(ticket);
    const std::int64_t staleness = group.step - 1 - group.policy_version;
    if (group.problem != ticket.prompt.problem || staleness < 0 || staleness > max_staleness) {
      fail(
          "{}: step {}, group {}: problem {} under the weights of step {}; this run asks for "
          "problem {} there, and rollout.max_staleness is {}: follow a schedule with the config, "
          "seed and data of the run that wrote it",
          path_.string(), ticket.step, ticket.group, group.problem, group.policy_version,
          ticket.prompt.problem, max_staleness);
    }
    ticket.policy_version = group.policy_version;
    ticket.planned = group.tokens;
  }
}

const RolloutSchedule::Group& RolloutSchedule::group_of(const Ticket& ticket) const {
  const auto found = groups_.find({ticket.step, ticket.group});
  if (found == groups_.end()) {
    fail("{}: holds no group {} of step {}", path_.string(), ticket.group, ticket.step);
  }
  return found->second;
}

ScheduleRecorder::ScheduleRecorder(fs::path path, std::int64_t first_step, bool takes_first_groups)
    : path_(std::move(path)), first_step_(first_step), takes_first_groups_(takes_first_groups) {
  const Lines lines = fs::exists(path_) ? lines_of(path_) : Lines();
  std::int64_t held = 0;
  while (lines.contains(held + 1)) ++held;
  if (held < first_step) {
    fail("{}: lacks step {}, and without it the run cannot be repeated: restore the file",
         path_.string(), held + 1);
  }
  if (!takes_first_groups_) held = first_step;
  for (std::int64_t step = first_step + 1; step <= held; ++step) {
    ahead_[step] = lines.at(step).text;
  }
  begin_with(text_up_to(held, lines));
}

void ScheduleRecorder::begin_with(const std::string& lines) {
  write_file_atomically(path_, lines);
  file_.emplace(path_, OutputFile::Begin::kAtEnd);
}

void ScheduleRecorder::record(const StepGroups& step) {
  if (step.step <= first_step_) return;
  const std::string line = line_of(step, takes_first_groups_);
  if (const auto known = ahead_.extract(step.step); !known.empty()) {
    if (known.mapped() == line) return;
    ahead_.clear();
    begin_with(text_up_to(step.step - 1, lines_of(path_)));
  }
  file_->write(line + "\n");
}

}  // namespace lie

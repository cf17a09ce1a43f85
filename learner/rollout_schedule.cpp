#include "learner/rollout_schedule.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "common/error.h"
#include "common/file.h"
#include "common/json.h"
#include "common/line_checksum.h"

namespace lie {
namespace {

namespace fs = std::filesystem;
struct Line {
  std::string text;
  Json object;
};
using Lines = std::map<std::int64_t, Line>;  // by step

/// A last line without its end was left by a killed process and does not count.
Lines lines_of(const fs::path& path) {
  Lines lines;
  const std::string text = read_file(path);
  for_each_whole_line(text, [&](std::string_view line, std::size_t number) {
    const std::string place = fmt::format("{}:{}", path.string(), number);
    if (!is_sound(line)) fail("{}: the line does not fit its checksum; it is damaged", place);
    Json object = parse_json(line, place);
    if (!object.contains("problems") || !object.contains("versions")) {
      fail("{}: is no line of a schedule; name the schedule.jsonl of a run", place);
    }
    const std::int64_t step = object.at("step");
    lines[step] = {std::string(line), std::move(object)};
  });
  return lines;
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
    VersionRuns& of_sample = plan.emplace_back();
    for (const auto& [version, tokens] : runs) of_sample.push_back({version, tokens});
  }
  return plan;
}

std::string line_of(const StepOutcome& step) {
  std::vector<std::int64_t> problems, versions;
  std::vector<SampleRuns> tokens;
  bool changes_in_flight = false;
  for (const ScoredGroup& group : step.groups) {
    problems.push_back(group.rollout.ticket.prompt.problem);
    versions.push_back(group.rollout.ticket.policy_version);
    tokens.push_back(runs_of(group.rollout));
    for (const auto& runs : tokens.back()) changes_in_flight = changes_in_flight || !runs.empty();
  }
  const std::string by_token =
      changes_in_flight ? fmt::format(",\"token_versions\":{}", Json(tokens).dump()) : "";
  return with_checksum(fmt::format("{{\"step\":{},\"problems\":{},\"versions\":{}{}}}", step.step,
                                   Json(problems).dump(), Json(versions).dump(), by_token));
}

}  // namespace

RolloutSchedule::RolloutSchedule(const fs::path& path) : path_(path) {
  for (const auto& [step, line] : lines_of(path)) {
    const auto problems = line.object.at("problems").get<std::vector<std::int64_t>>();
    const auto versions = line.object.at("versions").get<std::vector<std::int64_t>>();
    const auto tokens = line.object.value("token_versions", std::vector<SampleRuns>());
    for (std::size_t g = 0; g < std::min(problems.size(), versions.size()); ++g) {
      steps_[step].push_back({problems[g], versions[g]});
      if (g < tokens.size()) steps_[step].back().tokens = plan_of(tokens[g]);
    }
  }
}

std::int64_t RolloutSchedule::last_step() const {
  std::int64_t last = 0;
  while (steps_.contains(last + 1)) ++last;
  return last;
}

void RolloutSchedule::assign(std::deque<Ticket>& tickets, std::int64_t max_staleness) const {
  for (Ticket& ticket : tickets) {
    const Group& group = group_of(ticket);
    const std::int64_t staleness = ticket.step - 1 - group.policy_version;
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
  const auto step = steps_.find(ticket.step);
  const auto group = static_cast<std::size_t>(ticket.group);
  if (step == steps_.end() || group >= step->second.size()) {
    fail("{}: has no group {} of step {}", path_.string(), ticket.group, ticket.step);
  }
  return step->second[group];
}

ScheduleRecorder::ScheduleRecorder(fs::path path, std::int64_t first_step)
    : path_(std::move(path)) {
  std::string kept;
  const Lines lines = fs::exists(path_) ? lines_of(path_) : Lines();
  for (std::int64_t step = 1; step <= first_step; ++step) {
    const auto line = lines.find(step);
    if (line == lines.end()) {
      fail("{}: lacks step {}, and without it the run cannot be repeated: restore the file",
           path_.string(), step);
    }
    kept += line->second.text + "\n";
  }
  write_file_atomically(path_, kept);
  file_.open(path_, std::ios::app);
}

void ScheduleRecorder::take(StepOutcome& step) {
  if (step.step == 0) return;
  file_ << line_of(step) << "\n" << std::flush;
  if (!file_) fail("{}: cannot write the schedule; is the disk full?", path_.string());
}

}  // namespace lie

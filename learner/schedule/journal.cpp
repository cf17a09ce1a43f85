#include "learner/schedule/journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <system_error>

#include "common/base/run_files.h"
#include "common/comm/wire.h"
#include "common/io/file.h"
#include "common/process/log.h"
#include "common/text/scan.h"
#include "learner/schedule/tickets.h"

namespace lie {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "step-", kSuffix = ".groups";

/// When a step's groups are ordered, every learner has taken part in the preceding update. So each
/// has logged the step two before that one: a recorder writes one step while the next one runs.
constexpr std::int64_t kStepsAfterTheLog = 3;

/// Returns whether each token was sampled with the weights that the ticket plans for it.
bool follows_plan(const RolloutGroup& group, const Ticket& now) {
  for (std::size_t i = 0; i < std::min(now.planned.size(), group.responses.size()); ++i) {
    if (group.responses[i].versions != now.planned[i]) return false;
  }
  return true;
}

bool answers(const RolloutGroup& group, const Ticket& now) {
  const Ticket& then = group.ticket;
  const bool is_of_version =
      now.policy_version == Ticket::kAnyVersion || then.policy_version == now.policy_version;
  return is_of_version && follows_plan(group, now) && then.samples == now.samples &&
         asks_the_same(then, now);
}

/// Returns the group without its clocks: those of an earlier start must not count for this one.
ScoredGroup without_clocks(ScoredGroup group) {
  group.rollout.actor_clocks.clear();
  group.reward_clock = {};
  return group;
}

/// Removes what no start needs any more. A failure costs only space.
void remove_or_warn(const fs::path& path) {
  std::error_code error;
  fs::remove(path, error);
  if (!error) return;
  Log("learner", 0)
      .warn("{}: cannot remove it: {}; it is not needed, remove it by hand", path.string(),
            error.message());
}

}  // namespace

Journal::Journal(const fs::path& run_directory, std::int64_t ahead)
    : directory_(run_directory / kJournal), ahead_(ahead) {}

fs::path Journal::path_of(std::int64_t step) const {
  return directory_ / fmt::format("{}{:06}{}", kPrefix, step, kSuffix);
}

std::vector<ScoredGroup> Journal::take_known(std::int64_t step, std::deque<Ticket>& tickets) {
  std::map<Key, ScoredGroup>& known = opened(step).known;
  std::vector<ScoredGroup> groups;
  const std::size_t all = tickets.size();
  std::erase_if(tickets, [&](const Ticket& ticket) {
    auto found = known.extract({ticket.purpose, ticket.group});
    if (found.empty()) return false;
    if (!answers(found.mapped().rollout, ticket)) {
      Log("learner", 0)
          .warn(
              "{}: group {} has another prompt, group size or version of the weights; it is "
              "generated again",
              path_of(step).string(), ticket.group);
      return false;
    }
    groups.push_back(std::move(found.mapped()));
    return true;
  });
  if (!groups.empty()) {
    Log("learner", 0).info("step {}: {} of {} groups are in the journal", step, groups.size(), all);
  }
  return groups;
}

Journal::Step& Journal::opened(std::int64_t number) {
  const auto [place, is_new] = steps_.try_emplace(number);
  Step& step = place->second;
  if (!is_new) return step;
  const MessageFileState state =
      read_messages(path_of(number), [&](std::span<const std::byte> message) {
        ScoredGroup group = without_clocks(wire::unpack<ScoredGroup>(message));
        const Ticket& ticket = group.rollout.ticket;
        const Key key{ticket.purpose, ticket.group};
        step.known.insert_or_assign(key, std::move(group));
      });
  Log("learner", 0).warn_each(state.damage);
  if (!state.refusal.empty()) Log("learner", 0).warn("{}; it is not used", state.refusal);
  step.valid_bytes = state.valid_bytes;
  remove_up_to(number - ahead_ - kStepsAfterTheLog);
  return step;
}

void Journal::append(const ScoredGroup& group) {
  const std::int64_t number = group.rollout.ticket.step;
  Step& step = opened(number);
  if (!step.file) {
    make_directories(directory_);
    step.file.emplace(path_of(number), step.valid_bytes);
  }
  step.file->append(wire::pack(group));
}

void Journal::remove_up_to(std::int64_t step) {
  if (step > 0) steps_.erase(steps_.begin(), steps_.upper_bound(step));
  if (step == 0 || !fs::is_directory(directory_)) return;
  for (const std::string& name : list_directory(directory_)) {
    const auto of = number_in_name(name, kPrefix, kSuffix);
    if (of && *of <= step) remove_or_warn(directory_ / name);
  }
  if (list_directory(directory_).empty()) remove_or_warn(directory_);
}

}  // namespace lie

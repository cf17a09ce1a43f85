#include "learner/journal.h"

#include <fmt/format.h>

#include <charconv>
#include <string>
#include <string_view>

#include "common/comm/wire.h"
#include "common/file.h"
#include "common/log.h"
#include "learner/tickets.h"

namespace lie {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "step-";

/// When a step's groups are asked for, every learner has taken part in the update before, and so
/// has written the step two before that: the recorder writes one step while the next one runs.
constexpr std::int64_t kStepsBehindTheLog = 3;

bool answers(const Ticket& then, const Ticket& now) {
  return then.policy_version == now.policy_version && then.samples == now.samples &&
         asks_the_same(then, now);
}

/// 51 of "step-000051.groups"; -1 for a name that is none.
std::int64_t step_of(const std::string& name) {
  std::int64_t step = -1;
  if (name.starts_with(kPrefix)) {
    std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), step);
  }
  return step;
}

}  // namespace

Journal::Journal(const fs::path& run_directory) : directory_(run_directory / "journal") {}

fs::path Journal::path_of(std::int64_t step) const {
  return directory_ / fmt::format("{}{:06}.groups", kPrefix, step);
}

std::vector<ScoredGroup> Journal::take_known(std::int64_t step, std::deque<Ticket>& tickets) {
  if (step != step_) open(step);
  std::vector<ScoredGroup> groups;
  const std::size_t all = tickets.size();
  std::erase_if(tickets, [&](const Ticket& ticket) {
    auto found = known_.extract({ticket.purpose, ticket.group});
    if (found.empty()) return false;
    if (!answers(found.mapped().rollout.ticket, ticket)) {
      Log("learner", 0)
          .warn("{}: group {} is of another prompt or group size; it is generated again",
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

void Journal::open(std::int64_t step) {
  step_ = step;
  known_.clear();
  file_.reset();
  const MessageFileState state = read_messages(
      path_of(step),
      [&](std::span<const std::byte> message) { keep(wire::unpack<ScoredGroup>(message)); });
  for (const std::string& loss : state.damage) Log("learner", 0).warn("{}", loss);
  if (!state.refusal.empty()) Log("learner", 0).warn("{}; it is not used", state.refusal);
  whole_bytes_ = state.whole_bytes;
  remove_up_to(step - kStepsBehindTheLog);
}

/// The clocks of an earlier start say nothing of this one.
void Journal::keep(ScoredGroup group) {
  group.rollout.actor_clocks.clear();
  group.reward_clock = {};
  const Ticket& ticket = group.rollout.ticket;
  const Key key{ticket.purpose, ticket.group};
  known_.insert_or_assign(key, std::move(group));
}

void Journal::append(const ScoredGroup& group) {
  if (!file_) {
    make_directories(directory_);
    file_.emplace(path_of(step_), whole_bytes_);
  }
  file_->append(wire::pack(group));
}

void Journal::remove_up_to(std::int64_t step) {
  if (step == 0 || !fs::is_directory(directory_)) return;
  for (const std::string& name : list_directory(directory_)) {
    const std::int64_t of = step_of(name);
    if (of >= 0 && of <= step) fs::remove(directory_ / name);
  }
  if (fs::is_empty(directory_)) fs::remove(directory_);
}

}  // namespace lie

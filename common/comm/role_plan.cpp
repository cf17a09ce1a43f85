#include "common/comm/role_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "common/base/error.h"
#include "common/text/counted.h"

namespace lie {
namespace {

[[noreturn]] void fail_to_fit(const RolesOptions& o, std::int64_t ranks, std::string_view problem) {
  fail(
      "roles: actors {}, reward_workers {}, learners {} do not fit a world of {}: {}; set "
      "them to 0 to choose them automatically",
      o.actors, o.reward_workers, o.learners, counted(ranks, "rank"), problem);
}

/// The ranks that can be learners and actors, and those that cannot.
struct Ranks {
  std::vector<int> computing;  // rank 0 first; on GPUs the hosts in turn
  std::vector<int> spare;      // without a GPU of their own

  std::int64_t count() const { return std::ssize(computing) + std::ssize(spare); }
};

/// Returns all ranks in the order in which roles are assigned. On GPUs these are the first ranks of
/// all hosts, then the second ones, and so on.
std::vector<int> in_order(const std::vector<RankPlace>& places, bool on_gpus) {
  std::vector<int> ranks;
  for (int rank = 0; rank < static_cast<int>(places.size()); ++rank) ranks.push_back(rank);
  if (!on_gpus) return ranks;
  std::map<std::string, int> so_far;  // ranks of each host
  std::vector<int> position;          // of each rank on its host
  for (const RankPlace& place : places) position.push_back(so_far[place.host]++);
  std::ranges::stable_sort(ranks, {},
                           [&](int rank) { return position[static_cast<std::size_t>(rank)]; });
  return ranks;
}

/// Divides the ranks. Ranks with unknown GPUs are taken to have one each.
Ranks ranks_of(const std::vector<RankPlace>& places) {
  const bool on_gpus =
      std::ranges::any_of(places, [](const RankPlace& place) { return !place.gpus.empty(); });
  std::set<std::pair<std::string, std::string>> taken;  // host, GPU
  Ranks ranks;
  for (const int rank : in_order(places, on_gpus)) {
    const RankPlace& place = places[static_cast<std::size_t>(rank)];
    const auto free = std::ranges::find_if(place.gpus, [&](const std::string& gpu) {
      return !taken.contains({place.host, gpu});
    });
    const bool has_gpu = !on_gpus || free != place.gpus.end();
    if (on_gpus && has_gpu) taken.insert({place.host, *free});
    (has_gpu ? ranks.computing : ranks.spare).push_back(rank);
  }
  return ranks;
}

/// Returns the number of reward workers if the options leave it open. These are all remaining
/// ranks if the numbers of actors and learners are given.
std::int64_t free_reward_workers(const RolesOptions& options, const Ranks& ranks,
                                 std::int64_t learners) {
  if (options.actors > 0 && options.learners > 0) {
    return ranks.count() - learners - options.actors;
  }
  const std::int64_t free_ranks =
      ranks.count() - learners - std::max<std::int64_t>(options.actors, 1);
  const std::int64_t wanted =
      std::max({std::int64_t{1}, ranks.count() / 16, std::ssize(ranks.spare)});
  return std::clamp<std::int64_t>(free_ranks, 0, options.actors > 0 ? free_ranks : wanted);
}

/// Returns the options with the numbers that they leave open. 0 reward workers: learner 0 scores
/// the groups.
RolesOptions count_separate(const RolesOptions& options, const Ranks& ranks,
                            std::int64_t max_learners) {
  RolesOptions counts = options;
  if (counts.learners == 0 && options.actors > 0 && options.reward_workers > 0) {
    counts.learners = ranks.count() - options.actors - options.reward_workers;
  } else if (counts.learners == 0) {
    counts.learners = std::clamp<std::int64_t>(ranks.count() / 8, 1, max_learners);
  }
  if (counts.reward_workers == 0) {
    counts.reward_workers = free_reward_workers(options, ranks, counts.learners);
  }
  if (counts.actors == 0) counts.actors = ranks.count() - counts.learners - counts.reward_workers;
  return counts;
}

/// Returns likewise the numbers of colocated roles.
RolesOptions count_colocated(const RolesOptions& options, const Ranks& ranks) {
  if (options.actors > 0 && options.learners > 0 && options.actors != options.learners) {
    fail_to_fit(options, ranks.count(),
                "with roles.placement colocated, learners and actors are the same ranks");
  }
  RolesOptions counts = options;
  const std::int64_t set = std::max(options.actors, options.learners);
  if (counts.reward_workers == 0) {
    counts.reward_workers = set > 0 ? ranks.count() - set : std::ssize(ranks.spare);
  }
  counts.learners = counts.actors = set > 0 ? set : ranks.count() - counts.reward_workers;
  return counts;
}

/// Throws Error unless `computing` ranks that learn or generate and the reward workers are all
/// ranks, each role is filled, and there is a GPU for each of these ranks.
void check_counts(const RolesOptions& counts, std::int64_t computing, const RolesOptions& options,
                  const Ranks& ranks, std::int64_t max_learners) {
  check_gradient_shards(counts.learners, max_learners);
  const std::int64_t needed = computing + counts.reward_workers;
  if (needed > ranks.count() || counts.learners < 1 || counts.reward_workers < 0 ||
      counts.actors < 1) {
    fail_to_fit(options, ranks.count(), "there are more roles than ranks");
  }
  if (needed < ranks.count()) {
    fail_to_fit(options, ranks.count(), fmt::format("{} would be idle", ranks.count() - needed));
  }
  const bool is_asked_for = options.actors > 0 && options.learners > 0;
  if (computing <= std::ssize(ranks.computing) || is_asked_for) return;
  fail(
      "roles: {} with learners or actors have {} to themselves: start fewer ranks, or more reward "
      "workers; if ranks should share a GPU, set both roles.learners and roles.actors",
      counted(computing, "rank"), counted(std::ssize(ranks.computing), "GPU"));
}

/// Returns the next `count` of `ranks` in ascending order, and removes them.
std::vector<int> take(std::vector<int>& ranks, std::int64_t count) {
  std::vector<int> taken(ranks.begin(), ranks.begin() + count);
  ranks.erase(ranks.begin(), ranks.begin() + count);
  std::ranges::sort(taken);
  return taken;
}

void assign_separate(RoleLayout& layout, const RolesOptions& counts, Ranks ranks) {
  // Learners first, then the ranks without a GPU as reward workers, unless actors must share GPUs.
  const std::int64_t spare = std::min(counts.reward_workers, std::ssize(ranks.spare));
  std::vector<int> rest = ranks.computing;
  layout.learners = take(rest, std::min(counts.learners, std::ssize(rest)));
  layout.reward_workers = take(ranks.spare, spare);
  rest.insert(rest.end(), ranks.spare.begin(), ranks.spare.end());
  const std::int64_t missing = counts.learners - std::ssize(layout.learners);
  for (const int rank : take(rest, missing)) layout.learners.push_back(rank);
  for (const int rank : take(rest, counts.reward_workers - spare)) {
    layout.reward_workers.push_back(rank);
  }
  layout.actors = take(rest, counts.actors);
  std::ranges::sort(layout.learners);
  std::ranges::sort(layout.reward_workers);
}

void assign_colocated(RoleLayout& layout, const RolesOptions& counts, Ranks ranks) {
  std::vector<int> all = std::move(ranks.computing);
  all.insert(all.end(), ranks.spare.begin(), ranks.spare.end());
  layout.learners = layout.actors = take(all, counts.learners);
  layout.reward_workers = take(all, counts.reward_workers);
}

}  // namespace

void check_gradient_shards(std::int64_t learners, std::int64_t gradient_shards) {
  if (learners <= gradient_shards) return;
  fail(
      "update.gradient_shards: {} learners cannot share {} gradient shards: lower the number of "
      "learners, or raise update.gradient_shards, which changes the result",
      learners, gradient_shards);
}

RoleLayout plan_roles(const RolesOptions& options, std::vector<RankPlace> places,
                      std::int64_t max_learners) {
  const Ranks ranks = ranks_of(places);
  RoleLayout layout;
  layout.places = std::move(places);
  if (ranks.count() == 1) {
    if (std::max({options.actors, options.reward_workers, options.learners}) > 1) {
      fail_to_fit(options, ranks.count(), "a single rank has each role once");
    }
    layout.learners = layout.reward_workers = layout.actors = {0};
    return layout;
  }
  if (options.placement == Placement::kColocated) {
    const RolesOptions counts = count_colocated(options, ranks);
    check_counts(counts, counts.learners, options, ranks, max_learners);
    assign_colocated(layout, counts, ranks);
  } else {
    const RolesOptions counts = count_separate(options, ranks, max_learners);
    check_counts(counts, counts.learners + counts.actors, options, ranks, max_learners);
    assign_separate(layout, counts, ranks);
  }
  if (layout.reward_workers.empty()) layout.reward_workers = {0};
  return layout;
}

}  // namespace lie

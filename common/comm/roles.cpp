#include "common/comm/roles.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "common/base/error.h"
#include "common/comm/collective/gather_texts.h"
#include "common/io/json.h"

namespace lie {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RankPlace, host, cpus, gpus)

namespace {

constexpr Role kAllRoles[] = {Role::kLearner, Role::kRewardWorker, Role::kActor};

std::string_view role_name(Role role) {
  if (role == Role::kActor) return "actor";
  return role == Role::kLearner ? "learner" : "reward worker";
}

}  // namespace

void describe(FieldList& fields, RolesOptions& options) {
  fields.add("placement", options.placement,
             {{"auto", Placement::kAuto},
              {"colocated", Placement::kColocated},
              {"separate", Placement::kSeparate}},
             {.help = "Whether a rank can be learner and actor. colocated: each learner's process "
                      "is also an actor, on the same GPU or cores, and there are no other actors. "
                      "separate: they are different ranks. auto: colocated on GPUs if weights "
                      "change only between the responses of steps (rollout.max_staleness 0, "
                      "rollout.weights float32) and neither actors nor learners are set."});
  fields.add("actors", options.actors,
             {.help = "Ranks that generate; 0 = all remaining ranks, or all learners if colocated.",
              .unit = "ranks",
              .min = 0});
  fields.add(
      "reward_workers", options.reward_workers,
      {.help = "Ranks that verify and score; 0 = one per 16 ranks, or all remaining ranks if "
               "actors and learners are set, or those without a GPU of their own if colocated. "
               "Without such a rank, learner 0 scores.",
       .unit = "ranks",
       .min = 0});
  fields.add(
      "learners", options.learners,
      {.help = "Ranks that update the weights, at most update.gradient_shards; 0 = one per 8 "
               "ranks, or all remaining ranks if actors and reward_workers are set or if "
               "colocated.",
       .unit = "ranks",
       .min = 0});
  fields.add(
      "keep_binding", options.keep_binding,
      {.help =
           "Keep the core binding of each rank that mpirun set. By default ranks share all CPUs "
           "of the host."});
  fields.add(
      "share_weights", options.share_weights,
      {.help = "With model.device cpu, the actors of a host share one copy of the weights in "
               "memory. One of them receives it."});
}

std::vector<RankPlace> gather_places(Job& job, const RankPlace& mine) {
  std::vector<RankPlace> places;
  for (const std::string& text : gather_texts(job, Json(mine).dump())) {
    places.push_back(Json::parse(text));
  }
  return places;
}

const std::vector<int>& RoleLayout::ranks(Role role) const {
  if (role == Role::kActor) return actors;
  return role == Role::kLearner ? learners : reward_workers;
}

int RoleLayout::index(int rank, Role role) const {
  const std::vector<int>& all = ranks(role);
  const auto found = std::find(all.begin(), all.end(), rank);
  return found == all.end() ? -1 : static_cast<int>(found - all.begin());
}

bool RoleLayout::has(int rank, Role role) const { return index(rank, role) >= 0; }

std::vector<int> RoleLayout::gpus() const {
  std::vector<int> gpus(places.size(), -1);
  std::set<int> computing(learners.begin(), learners.end());
  computing.insert(actors.begin(), actors.end());
  std::map<std::string, int> ranks_on;                       // that compute, by host
  std::map<std::pair<std::string, std::string>, int> users;  // by host and GPU
  for (const int rank : computing) {
    const RankPlace& place = places[static_cast<std::size_t>(rank)];
    int& chosen = gpus[static_cast<std::size_t>(rank)];
    chosen = ranks_on[place.host]++;
    if (place.gpus.empty()) continue;
    const auto least = std::ranges::min_element(place.gpus, {}, [&](const std::string& gpu) {
      return users[{place.host, gpu}];
    });
    ++users[{place.host, *least}];
    chosen = static_cast<int>(least - place.gpus.begin());
  }
  return gpus;
}

int RoleLayout::threads(int rank, Role role) const {
  if (role == Role::kRewardWorker) return 1;
  const RankPlace& here = places[static_cast<std::size_t>(rank)];
  std::vector<const RankPlace*> sharing;  // ranks of the role on this host, including this one
  for (const int other : ranks(role)) {
    const RankPlace& place = places[static_cast<std::size_t>(other)];
    if (place.host == here.host) sharing.push_back(&place);
  }
  double share = 0;
  for (const int cpu : here.cpus) {
    share += 1.0 / static_cast<double>(std::ranges::count_if(sharing, [&](const RankPlace* place) {
               return std::ranges::find(place->cpus, cpu) != place->cpus.end();
             }));
  }
  // 1/3 + 1/3 + 1/3 counts as one CPU despite rounding
  return std::max(1, static_cast<int>(share + 1e-6));
}

std::string RoleLayout::roles_of(int rank) const {
  std::vector<std::string_view> names;
  for (const Role role : kAllRoles) {
    if (has(rank, role)) names.push_back(role_name(role));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::int64_t RoleLayout::max_threads(int rank, std::int64_t set_threads) const {
  std::int64_t most = 1;
  for (const Role role : kAllRoles) {
    if (!has(rank, role)) continue;
    const bool is_set = set_threads > 0 && role != Role::kRewardWorker;
    most = std::max<std::int64_t>(most, is_set ? set_threads : threads(rank, role));
  }
  return most;
}

}  // namespace lie

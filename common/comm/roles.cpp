#include "common/comm/roles.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "common/base/error.h"
#include "common/comm/collective/mpi_collective.h"
#include "common/io/json.h"
#include "common/text/counted.h"

namespace lie {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RankPlace, host, cpus, gpus)

namespace {

constexpr Role kAllRoles[] = {Role::kLearner, Role::kRewardWorker, Role::kActor};

constexpr std::size_t kMaxRows = 16;  // lines of the table before it is folded further
constexpr std::size_t kColumns = 78;  // width of an indented line on a terminal

struct TableRow {
  int first = 0, last = 0, count = 1;
  std::string roles;
  std::int64_t min_threads = 1, max_threads = 1;
  std::string first_host, last_host;
  std::set<std::string> hosts;

  void add(const TableRow& next) {
    last = next.last;
    count += next.count;
    min_threads = std::min(min_threads, next.min_threads);
    max_threads = std::max(max_threads, next.max_threads);
    hosts.insert(next.hosts.begin(), next.hosts.end());
    last_host = next.last_host;
  }
};

template <typename Alike>
std::vector<TableRow> fold(std::span<const TableRow> rows, const Alike& alike) {
  std::vector<TableRow> folded;
  for (const TableRow& row : rows) {
    if (!folded.empty() && alike(folded.back(), row)) {
      folded.back().add(row);
    } else {
      folded.push_back(row);
    }
  }
  return folded;
}

/// Returns one row for each combination of roles, in the order of their first ranks.
std::vector<TableRow> fold_all(std::span<const TableRow> rows) {
  std::vector<TableRow> folded;
  for (const TableRow& row : rows) {
    const auto same = std::ranges::find(folded, row.roles, &TableRow::roles);
    if (same == folded.end()) {
      folded.push_back(row);
    } else {
      same->add(row);
    }
  }
  return folded;
}

std::string ranks_text(const TableRow& row) {
  if (row.count <= row.last - row.first) return fmt::format("{} ranks", row.count);
  if (row.first == row.last) return fmt::format("rank {}", row.first);
  return fmt::format("ranks {}-{}", row.first, row.last);
}

std::string threads_text(const TableRow& row) {
  if (row.min_threads == row.max_threads) return counted(row.max_threads, "thread");
  return fmt::format("{}-{} threads", row.min_threads, row.max_threads);
}

std::string hosts_text(const TableRow& row) {
  if (row.hosts.size() == 1) return row.first_host;
  return fmt::format("{} hosts, {} to {}", row.hosts.size(), row.first_host, row.last_host);
}

/// Returns one line per row, in aligned columns. Lines that are too long lose the end of their host
/// names.
std::string text_of(std::span<const TableRow> rows) {
  std::size_t wide[3] = {};
  for (const TableRow& row : rows) {
    wide[0] = std::max(wide[0], ranks_text(row).size());
    wide[1] = std::max(wide[1], row.roles.size());
    wide[2] = std::max(wide[2], threads_text(row).size());
  }
  std::string text;
  for (const TableRow& row : rows) {
    const std::string line =
        fmt::format("{:<{}}  {:<{}}  {:<{}}  {}", ranks_text(row), wide[0], row.roles, wide[1],
                    threads_text(row), wide[2], hosts_text(row));
    text += line.substr(0, kColumns) + "\n";
  }
  return text;
}

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
  std::map<std::string, int> ranks_on;                        // that compute, by host
  std::map<std::pair<std::string, std::string>, int> users;  // by host and GPU
  for (const int rank : computing) {
    const RankPlace& place = places[static_cast<std::size_t>(rank)];
    int& chosen = gpus[static_cast<std::size_t>(rank)];
    chosen = ranks_on[place.host]++;
    if (place.gpus.empty()) continue;
    const auto least = std::ranges::min_element(
        place.gpus, {}, [&](const std::string& gpu) { return users[{place.host, gpu}]; });
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

std::string RoleLayout::table(std::int64_t set_threads) const {
  std::vector<TableRow> rows;
  for (int rank = 0; rank < static_cast<int>(places.size()); ++rank) {
    const std::int64_t threads = max_threads(rank, set_threads);
    const std::string& host = places[static_cast<std::size_t>(rank)].host;
    rows.push_back({.first = rank,
                    .last = rank,
                    .roles = roles_of(rank),
                    .min_threads = threads,
                    .max_threads = threads,
                    .first_host = host,
                    .last_host = host,
                    .hosts = {host}});
  }
  std::vector<TableRow> folded = fold(rows, [](const TableRow& a, const TableRow& b) {
    return a.roles == b.roles && a.first_host == b.first_host && a.max_threads == b.max_threads;
  });
  if (folded.size() > kMaxRows) {
    folded = fold(rows, [](const TableRow& a, const TableRow& b) { return a.roles == b.roles; });
  }
  if (folded.size() > kMaxRows) folded = fold_all(folded);
  return text_of(folded);
}

}  // namespace lie

#include "common/comm/roles.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "common/base/error.h"
#include "common/comm/collective/mpi_collective.h"
#include "common/io/json.h"
#include "common/text/counted.h"

namespace lie {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RankPlace, host, cpus)

namespace {

constexpr Role kAllRoles[] = {Role::kLearner, Role::kRewardWorker, Role::kActor};

[[noreturn]] void fail_to_fit(const RolesOptions& o, std::int64_t ranks, std::string_view problem) {
  fail(
      "roles: actors {}, reward_workers {}, learners {} do not fit a world of {}: {}; set "
      "them to 0 to choose them automatically",
      o.actors, o.reward_workers, o.learners, counted(ranks, "rank"), problem);
}

/// Returns the number of reward workers if the options leave it open. These are all remaining
/// ranks if the numbers of actors and learners are given.
std::int64_t free_reward_workers(const RolesOptions& options, std::int64_t ranks,
                                 std::int64_t learners) {
  if (options.actors > 0 && options.learners > 0) return ranks - learners - options.actors;
  const std::int64_t free_ranks = ranks - learners - std::max<std::int64_t>(options.actors, 1);
  const std::int64_t wanted = std::max<std::int64_t>(1, ranks / 16);
  return std::clamp<std::int64_t>(free_ranks, 0, options.actors > 0 ? free_ranks : wanted);
}

/// Returns the options with the numbers that they leave open. 0 reward workers: learner 0 scores
/// the groups.
RolesOptions count_roles(const RolesOptions& options, std::int64_t ranks,
                         std::int64_t max_learners) {
  RolesOptions counts = options;
  if (counts.learners == 0 && options.actors > 0 && options.reward_workers > 0) {
    counts.learners = ranks - options.actors - options.reward_workers;
  } else if (counts.learners == 0) {
    counts.learners = std::clamp<std::int64_t>(ranks / 8, 1, max_learners);
  }
  if (counts.reward_workers == 0) {
    counts.reward_workers = free_reward_workers(options, ranks, counts.learners);
  }
  if (counts.actors == 0) counts.actors = ranks - counts.learners - counts.reward_workers;
  return counts;
}

void check_counts(const RolesOptions& counts, const RolesOptions& options, std::int64_t ranks,
                  std::int64_t max_learners) {
  check_gradient_shards(counts.learners, max_learners);
  const std::int64_t needed = counts.learners + counts.reward_workers + counts.actors;
  if (needed > ranks || counts.learners < 1 || counts.reward_workers < 0 || counts.actors < 1) {
    fail_to_fit(options, ranks, "there are more roles than ranks");
  }
  if (needed < ranks) fail_to_fit(options, ranks, fmt::format("{} would be idle", ranks - needed));
}

std::vector<int> consecutive(std::int64_t first, std::int64_t count) {
  std::vector<int> ranks;
  for (std::int64_t i = 0; i < count; ++i) ranks.push_back(static_cast<int>(first + i));
  return ranks;
}

constexpr std::size_t kMaxRows = 16;  // lines of the table before it is folded further
constexpr std::size_t kColumns = 78;  // width of an indented line on a terminal

struct TableRow {
  int first = 0, last = 0;
  std::string roles;
  std::int64_t min_threads = 1, max_threads = 1;
  std::string first_host, last_host;
  std::int64_t hosts = 1;  // counts changes of host between neighboring ranks, plus one

  void add(const TableRow& next) {
    last = next.last;
    min_threads = std::min(min_threads, next.min_threads);
    max_threads = std::max(max_threads, next.max_threads);
    hosts += next.first_host != last_host ? 1 : 0;
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

std::string ranks_text(const TableRow& row) {
  if (row.first == row.last) return fmt::format("rank {}", row.first);
  return fmt::format("ranks {}-{}", row.first, row.last);
}

std::string threads_text(const TableRow& row) {
  if (row.min_threads == row.max_threads) return counted(row.max_threads, "thread");
  return fmt::format("{}-{} threads", row.min_threads, row.max_threads);
}

std::string hosts_text(const TableRow& row) {
  if (row.hosts == 1) return row.first_host;
  return fmt::format("{} hosts, {} to {}", row.hosts, row.first_host, row.last_host);
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
  fields.add("actors", options.actors,
             {.help = "Ranks that generate; 0 = all remaining ranks.", .unit = "ranks", .min = 0});
  fields.add(
      "reward_workers", options.reward_workers,
      {.help = "Ranks that verify and score; 0 = one per 16 ranks, or all remaining ranks if "
               "actors and learners are set. Without such a rank, learner 0 scores.",
       .unit = "ranks",
       .min = 0});
  fields.add(
      "learners", options.learners,
      {.help = "Ranks that update the weights, at most update.gradient_shards; 0 = one per 8 "
               "ranks, or all remaining ranks if actors and reward_workers are set.",
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
    rows.push_back({.first = rank,
                    .last = rank,
                    .roles = roles_of(rank),
                    .min_threads = threads,
                    .max_threads = threads,
                    .first_host = places[static_cast<std::size_t>(rank)].host,
                    .last_host = places[static_cast<std::size_t>(rank)].host});
  }
  std::vector<TableRow> folded = fold(rows, [](const TableRow& a, const TableRow& b) {
    return a.roles == b.roles && a.first_host == b.first_host && a.max_threads == b.max_threads;
  });
  if (folded.size() > kMaxRows) {
    folded = fold(rows, [](const TableRow& a, const TableRow& b) { return a.roles == b.roles; });
  }
  return text_of(folded);
}

void check_gradient_shards(std::int64_t learners, std::int64_t gradient_shards) {
  if (learners <= gradient_shards) return;
  fail(
      "update.gradient_shards: {} learners cannot share {} gradient shards: lower the number of "
      "learners, or raise update.gradient_shards, which changes the result",
      learners, gradient_shards);
}

RoleLayout plan_roles(const RolesOptions& options, std::vector<RankPlace> places,
                      std::int64_t max_learners) {
  const auto ranks = static_cast<std::int64_t>(places.size());
  RoleLayout layout;
  layout.places = std::move(places);
  if (ranks == 1) {
    if (std::max({options.actors, options.reward_workers, options.learners}) > 1) {
      fail_to_fit(options, ranks, "a single rank has each role once");
    }
    layout.learners = layout.reward_workers = layout.actors = {0};
    return layout;
  }
  const RolesOptions counts = count_roles(options, ranks, max_learners);
  check_counts(counts, options, ranks, max_learners);
  layout.learners = consecutive(0, counts.learners);
  layout.reward_workers = consecutive(counts.learners, counts.reward_workers);
  layout.actors = consecutive(counts.learners + counts.reward_workers, counts.actors);
  if (layout.reward_workers.empty()) layout.reward_workers = {0};
  return layout;
}

}  // namespace lie

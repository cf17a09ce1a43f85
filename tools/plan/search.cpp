#include "tools/plan/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace lie::planning {
namespace {

constexpr std::int64_t kAllSplitsUpTo = 6;
constexpr double kGain = 0.998;  // of step time, for which it is worth looking further

struct Counts {
  std::int64_t learners = 0, reward_workers = 0, actors = 0;
  bool operator==(const Counts&) const = default;
};

RolesOptions roles_of(const Counts& counts, const RolesOptions& others) {
  RolesOptions roles = others;
  roles.learners = counts.learners;
  roles.reward_workers = counts.reward_workers;
  roles.actors = counts.actors;
  return roles;
}

/// A learner that scores is no reward worker here.
Counts counts_of(const RoleLayout& layout) {
  const auto ranks = std::ssize(layout.places);
  Counts counts{std::ssize(layout.learners), std::ssize(layout.reward_workers),
                std::ssize(layout.actors)};
  if (ranks > 1) counts.reward_workers = ranks - counts.learners - counts.actors;
  return counts;
}

class Search {
 public:
  Search(const Question& question, std::int64_t ranks) : question_(question), ranks_(ranks) {}

  std::vector<Split> run() {
    const bool is_set = question_.configured.actors + question_.configured.reward_workers +
                            question_.configured.learners >
                        0;
    const std::size_t automatic = tried(layout_of(question_, {}, ranks_));
    splits_[automatic].is_automatic = true;
    if (is_set) {
      splits_[tried(layout_of(question_, question_.configured, ranks_))].is_configured = true;
    }
    if (ranks_ <= kAllSplitsUpTo) {
      try_all();
    } else {
      climb(automatic);
    }
    std::ranges::stable_sort(splits_, {}, [](const Split& s) { return s.forecast.step_seconds; });
    return std::move(splits_);
  }

 private:
  /// The position of a split that has been simulated, or now is.
  std::size_t tried(RoleLayout layout) {
    const Counts counts = counts_of(layout);
    const auto known =
        std::ranges::find(splits_, counts, [](const Split& s) { return counts_of(s.layout); });
    if (known != splits_.end()) return static_cast<std::size_t>(known - splits_.begin());
    const Cluster cluster{.layout = std::move(layout),
                          .cores = static_cast<double>(question_.machine.cores),
                          .set_threads = question_.set_threads,
                          .shares_weights = question_.shares_weights};
    splits_.push_back(
        {.roles = ranks_ > 1 ? roles_of(counts, question_.configured) : RolesOptions{},
         .layout = cluster.layout,
         .forecast = simulate(question_.workload, question_.costs, question_.lengths, cluster,
                              question_.steps)});
    return splits_.size() - 1;
  }

  std::size_t tried(const Counts& counts) {
    return tried(layout_of(question_, roles_of(counts, question_.configured), ranks_));
  }

  bool is_legal(const Counts& counts) const {
    return counts.actors >= 1 && counts.learners >= 1 &&
           counts.learners <= question_.workload.gradient_shards && counts.reward_workers >= 0;
  }

  void try_all() {
    for (std::int64_t learners = 1; learners < ranks_; ++learners) {
      for (std::int64_t workers = 0; learners + workers < ranks_; ++workers) {
        const Counts counts{learners, workers, ranks_ - learners - workers};
        if (is_legal(counts)) tried(counts);
      }
    }
  }

  void climb(std::size_t from) {
    for (;;) {
      const Counts here = counts_of(splits_[from].layout);
      std::size_t best = from;
      for (Counts next : {Counts{here.learners * 2, here.reward_workers, 0},
                          Counts{here.learners / 2, here.reward_workers, 0},
                          Counts{here.learners, here.reward_workers * 2, 0},
                          Counts{here.learners, here.reward_workers / 2, 0}}) {
        next.actors = ranks_ - next.learners - next.reward_workers;
        if (next.reward_workers == 0 || !is_legal(next)) continue;
        const std::size_t there = tried(next);
        if (seconds(there) < kGain * seconds(best)) best = there;
      }
      if (best == from) return;
      from = best;
    }
  }

  double seconds(std::size_t split) const { return splits_[split].forecast.step_seconds; }

  const Question& question_;
  std::int64_t ranks_;
  std::vector<Split> splits_;
};

/// Where no core is shared each rank has one of its own.
RankPlace place_of(const Machine& machine, std::int64_t rank) {
  const std::int64_t per_host = machine.ranks_per_host > 0 ? machine.ranks_per_host : rank + 1;
  RankPlace place{fmt::format("host {}", machine.ranks_per_host > 0 ? rank / per_host : 0), {}};
  if (machine.cores == 0) {
    place.cpus = {static_cast<int>(rank)};
  } else {
    place.cpus.resize(static_cast<std::size_t>(machine.cores));
    std::iota(place.cpus.begin(), place.cpus.end(), 0);
  }
  return place;
}

}  // namespace

RoleLayout layout_of(const Question& question, const RolesOptions& roles, std::int64_t ranks) {
  std::vector<RankPlace> places;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    places.push_back(place_of(question.machine, rank));
  }
  return plan_roles(roles, std::move(places), question.workload.gradient_shards);
}

std::vector<Split> splits_of(const Question& question, std::int64_t ranks) {
  return Search(question, ranks).run();
}

}  // namespace lie::planning

// Generation over all ranks of a job, without training. Every rank is an actor; rank 0 also
// coordinates and scores. eval and reference-lengths use it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>

#include "actors/rollout_options.h"
#include "common/comm/job.h"
#include "common/rollout/rollout.h"
#include "tools/run/config/model_options.h"
#include "tools/run/roles/scoring_source.h"

namespace lie {

/// Receives a group as it is finished.
using TakeGroup = std::function<void(ScoredGroup)>;

struct GenerationOptions {
  ModelOptions model;
  RolloutOptions rollout;
  std::uint64_t seed = 0;
  bool keep_binding = false;
};

/// Receives the number of tokens that were sampled so far, also for unfinished groups. It is
/// estimated from the actor on rank 0, as if all ranks sampled at its pace.
using WatchTokens = std::function<void(std::int64_t tokens)>;

/// Rank 0: generates responses to `tickets` with the model's own weights, scores each group as it
/// finishes and passes it to `take`, one at a time. Calls `watch` meanwhile, on the same thread.
/// The number of ranks changes only the order of groups (invariant E3). Collective over the world.
/// Throws Error, and JobStopped after a signal.
void generate_over_ranks(Job& job, const GenerationOptions& options, std::deque<Ticket> tickets,
                         const ScoreGroup& score, const TakeGroup& take, const WatchTokens& watch);

/// Every other rank: generates until rank 0 has all groups.
void run_generation_actor(Job& job, const GenerationOptions& options);

}  // namespace lie

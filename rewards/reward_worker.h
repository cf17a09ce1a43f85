// The reward worker: receives rollout groups and sends scored groups.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "common/base/stream.h"
#include "common/rollout/rollout.h"
#include "rewards/score.h"

namespace lie {

/// Decodes token ids to text without special tokens. The composition root passes the tokenizer's
/// function.
using DecodeText = std::function<std::string(std::span<const std::int32_t>)>;

/// Scores each response of a group. Keeps the decoded texts if coverage is counted in words. With
/// options.budgets, scores of evaluations have the numbers "correct_at_4096", ...: 1 if the
/// response is correct within the budget, else 0. `samples`: as of Scorer::score().
ScoredGroup score_group(Scorer& scorer, RolloutGroup group, const DecodeText& decode,
                        std::span<const std::size_t> samples = {});

/// The connections of a reward worker.
struct RewardTransport {
  Source<RolloutGroup>& rollouts;
  Sink<ScoredGroup>& scored;
  int rank = 0;
  std::function<void()> poll_progress = {};  // called while a reward program runs
};

/// Scores groups until `rollouts` is closed, then closes `scored`. Sets the rank and clock of the
/// reward worker in each group. Throws Error if a group cannot be scored.
void run_reward_worker(const ScoringOptions& options, const DecodeText& decode,
                       const RewardTransport& transport);

}  // namespace lie

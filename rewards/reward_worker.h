// The reward worker: rollout groups in, scored groups out.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "common/base/stream.h"
#include "common/rollout/rollout.h"
#include "rewards/score.h"

namespace lie {

/// Token ids to text, special tokens left out. The composition root gives the tokenizer's.
using DecodeText = std::function<std::string(std::span<const std::int32_t>)>;

/// Scores each response of a group. `texts` are kept where coverage is counted in words. With
/// options.budgets, scores of evaluations have the numbers "right_at_4096", ...: 1 or 0.
ScoredGroup score_group(Scorer& scorer, RolloutGroup group, const DecodeText& decode);

/// Scores groups until `rollouts` is closed, then closes `scored`. Each group records the
/// host's rank. Throws Error if a group cannot be scored.
void run_reward_worker(const ScoringOptions& options, const DecodeText& decode,
                       const ProgramHost& host, Source<RolloutGroup>& rollouts,
                       Sink<ScoredGroup>& scored);

}  // namespace lie

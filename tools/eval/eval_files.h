// Writes the files of an evaluation, except its responses.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "common/rollout/rollout.h"
#include "rewards/reward_worker.h"
#include "tools/eval/eval_config.h"
#include "tools/eval/eval_table.h"
#include "tools/eval/grader.h"
#include "tools/run/start/input_record.h"

namespace lie::evaluation {

/// Returns the graded samples by problem. Groups with equal prompt, gold and data source form one
/// problem.
std::vector<GradedProblem> grade_problems(std::span<const ScoredGroup> groups, Grader& grader,
                                          const VerifierOptions& options);

/// Writes table.txt and table.json. Throws Error.
void write_table_files(const Table& table, const std::filesystem::path& directory);

/// Writes samples.jsonl, one line per response. Throws Error.
void write_samples(std::span<const ScoredGroup> groups, const DecodeText& decode,
                   const std::filesystem::path& directory);

/// Writes trajectories/ and metrics.jsonl like a run that has only evaluated, at step 0. `inputs`
/// names the model's content. Throws Error.
void write_as_run(std::span<const ScoredGroup> groups, const EvalConfig& config,
                  const InputRecord& inputs);

}  // namespace lie::evaluation

// Synthetic run directories: the length of responses grows over the steps, so that a report has
// something to show and a test knows the values.
#pragma once

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <random>
#include <string>

#include "common/base/error.h"
#include "common/io/checksums.h"
#include "common/io/file.h"
#include "common/process/start_record.h"
#include "common/trajectory/segments.h"
#include "common/trajectory/writer.h"
#include "tests/write_safetensors.h"

namespace lie {

struct ExampleRun {
  std::int64_t steps = 40;  // complete steps
  std::int64_t planned = 40;
  double first_length = 22;  // mean, tokens
  double last_length = 90;
  std::uint32_t seed = 1;
  std::int32_t groups = 16, samples = 16;
  std::int32_t equal_rows = 1;     // evaluation rows in sequence that hold the same prompt
  std::int32_t longest = 130;      // tokens, the limit of a response
  std::int64_t segment_steps = 0;  // steps of a file, as between checkpoints; 0: all in one
  std::int64_t learners = 1;       // they share the groups of a step
  bool metrics = true, checkpoint = true;
  bool starts = false;  // whether its start is recorded
};

namespace example {

inline double share_done(const ExampleRun& run, std::int64_t step) {
  const double x = static_cast<double>(step) / static_cast<double>(run.planned);
  return 1 / (1 + std::exp(-10 * (x - 0.5)));
}

inline double mean_length(const ExampleRun& run, std::int64_t step) {
  return run.first_length + (run.last_length - run.first_length) * share_done(run, step);
}

inline void add_response(GroupRecord& group, std::mt19937& random, double mean_tokens,
                         std::int32_t longest) {
  std::geometric_distribution<int> geometric(1 / mean_tokens);
  const int tokens = std::min(longest, 4 + geometric(random));
  Response response;
  response.finish = tokens == longest ? FinishReason::kLength : FinishReason::kEndOfSequence;
  for (int t = 0; t < tokens; ++t) {
    response.ids.push_back(static_cast<std::int32_t>(random() % 60));
    response.behavior_log_probs.push_back(-0.001F * static_cast<float>(random() % 1000));
  }
  Score score;
  const bool right = static_cast<double>(random() % 1000) < 500 + 2.2 * tokens;
  score.verdict = right               ? VerdictCode::kEqual
                  : tokens == longest ? VerdictCode::kNoAnswer
                                      : VerdictCode::kUnequal;
  score.target_length = 107;
  const float missing = !right && tokens < 107 ? static_cast<float>(107 - tokens) : 0.0F;
  score.coverage.ngrams = std::max(0, tokens - 5);
  score.coverage.distinct_ngrams =
      score.coverage.ngrams - static_cast<std::int64_t>(random() % 8) * score.coverage.ngrams / 60;
  score.coverage.largest_repeat = 1 + static_cast<std::int32_t>(random() % 3);
  const float repeats = score.coverage.largest_repeat == 3 ? -0.5F : 0.0F;
  score.rewards = {right ? 1.0F : 0.0F, -0.01F * missing, repeats};
  score.extracted = right ? "2" : "1 < 2<script>attacked = 1</script>";
  group.results.push_back({.advantage = score.reward() - 0.5F,
                           .log_probs = response.behavior_log_probs,
                           .sequence_log_ratio = 0,
                           .clipped = false,
                           .mini_batch = 0});
  group.scored.rollout.responses.push_back(std::move(response));
  group.scored.scores.push_back(std::move(score));
}

inline GroupRecord make_group(const ExampleRun& run, std::mt19937& random, std::int64_t step,
                              std::int64_t group, Purpose purpose) {
  GroupRecord record;
  const std::int64_t target = 11 + (purpose == Purpose::kEvaluate ? group / run.equal_rows : 0);
  record.scored.rollout.ticket = {
      step,
      group,
      step,
      purpose,
      run.samples,
      {step * run.groups + group, fmt::format("7 1 20 10 17 4 target {}:\n", target), "2",
       "count_pairs", 22}};
  record.scored.rollout.prompt_ids = {7, 1, 20, 10, 17, 4, 40, 11, 41};
  for (std::int32_t i = 0; i < run.samples; ++i)
    add_response(record, random, mean_length(run, step), run.longest);
  if (purpose == Purpose::kEvaluate) record.results.clear();
  return record;
}

/// The metrics of the example run, enough for every section of the report.
inline std::string metrics_line(const ExampleRun& run, const StepRecord& record) {
  double n = 0, right = 0, tokens = 0, distinct = 0, ratio = 0, length = 0, redundancy = 0, cut = 0;
  double eval_n = 0, eval_right = 0;
  for (const GroupRecord& group : record.groups) {
    const bool train = group.scored.rollout.ticket.purpose == Purpose::kTrain;
    for (std::size_t i = 0; i < group.scored.scores.size(); ++i) {
      const Score& score = group.scored.scores[i];
      const double is_right = score.verdict == VerdictCode::kEqual ? 1 : 0;
      if (!train) eval_n += 1, eval_right += is_right;
      if (!train) continue;
      n += 1, right += is_right;
      tokens += static_cast<double>(group.scored.rollout.responses[i].ids.size());
      distinct += static_cast<double>(score.coverage.distinct_ngrams);
      ratio += score.coverage.ratio();
      length += score.rewards[1], redundancy += score.rewards[2];
      cut += group.scored.rollout.responses[i].finish == FinishReason::kLength ? 1 : 0;
    }
  }
  const double x = share_done(run, record.step);
  std::string line = fmt::format(R"({{"step":{},"wall_time":{})", record.step,
                                 1.8e9 + static_cast<double>(record.step));
  const auto add = [&](const char* name, double value) {
    line += fmt::format(R"(,"{}":{:.6g})", name, value);
  };
  if (n > 0) {
    add("accuracy", right / n), add("response_length_mean", tokens / n);
    add("response_length_p05", 0.2 * tokens / n), add("response_length_p25", 0.5 * tokens / n);
    add("response_length_p50", 0.8 * tokens / n), add("response_length_p75", 1.3 * tokens / n);
    add("response_length_p95", std::min<double>(run.longest, 2.4 * tokens / n));
    add("truncation_rate", cut / n), add("c_context_mean", distinct / n),
        add("r_context_mean", ratio / n);
    add("c_global_step", 0.6 * distinct),
        add("c_global_run", 500 * static_cast<double>(record.step));
    add("reward_mean", (right + length + redundancy) / n), add("reward_accuracy_mean", right / n);
    add("reward_length_mean", length / n), add("reward_redundancy_mean", redundancy / n);
    add("entropy_mean", 0.9 - 0.5 * x);
    for (int q = 1; q <= 4; ++q) {
      add(fmt::format("entropy_quarter_{}_mean", q).c_str(), 1.0 - 0.1 * q - 0.4 * x);
    }
    add("verdict_equal_share", right / n),
        add("verdict_unequal_share", 1 - right / n - cut / n / 2);
    add("verdict_no_answer_share", cut / n / 2);
    add("groups_all_correct_share", 0.2 + 0.2 * x),
        add("groups_all_incorrect_share", 0.3 - 0.2 * x);
    add("groups_mixed_share", 0.5), add("advantage_mass_accuracy", 0.6),
        add("advantage_mass_length", 0.3);
    add("advantage_mass_redundancy", 0.1), add("clip_fraction", 0.1 + 0.1 * x);
    add("first_minibatch_ratio_max_deviation", 0), add("grad_norm", 0.4 + 0.1 * x),
        add("approx_kl", 0.001 * x);
    add("learning_rate", 2.5e-4), add("largest_repeat_mean", 1.9),
        add("advantage_magnitude_mean", 0.7);
    add("response_tokens", tokens), add("step_seconds", 0.92 + 1.7 * x + (eval_n > 0 ? 0.5 : 0));
    add("tokens_per_second", 20000 + 4000 * x), add("generate_seconds", 0.6 + 1.2 * x);
    add("update_seconds", 0.3 + 0.5 * x), add("publish_seconds", 0.02),
        add("evaluate_seconds", eval_n > 0 ? 0.5 : 0);
    add("idle_share_actor", 0.3), add("idle_share_reward_worker", 0.9),
        add("idle_share_learner", 0.66);
  }
  if (eval_n > 0) add("eval_accuracy", eval_right / eval_n);
  return line + "}\n";
}

}  // namespace example

inline std::string example_config(const std::filesystem::path& directory, const ExampleRun& run) {
  return fmt::format(
      "run:\n  directory: {}\n  steps: {}\n  seed: {}\nreward:\n  length:\n    enabled: {}\n"
      "policy_loss:\n  algorithm: gspo\n  clip_low: 0.01\n",
      directory.string(), run.planned, run.seed, run.last_length > 50);
}

inline TrajectoryInfo example_info_of(const ExampleRun& run, std::int64_t learner = 0,
                                      std::int64_t starts_after = 0) {
  TrajectoryInfo info;
  info.seed = run.seed;
  info.learner_rank = learner;
  info.learner_count = run.learners;
  info.starts_after_step = starts_after;
  info.rewards = {{"accuracy", "R_acc"}, {"length", "R_len"}, {"redundancy", "R_red"}};
  return info;
}

namespace example {

inline StepRecord make_step(const ExampleRun& run, std::mt19937& random, std::int64_t step) {
  StepRecord record{.step = step, .groups = {}};
  for (std::int32_t g = 0; g < run.groups && step > 0; ++g) {
    record.groups.push_back(make_group(run, random, step, g, Purpose::kTrain));
  }
  for (std::int32_t g = 0; g < run.groups && step % 10 == 0; ++g) {
    record.groups.push_back(make_group(run, random, step, g, Purpose::kEvaluate));
  }
  return record;
}

/// Writes step 0, which only learner 0 logs.
inline StepRecord share_of(const StepRecord& record, std::int64_t learner, std::int64_t learners) {
  StepRecord share{.step = record.step, .groups = {}};
  for (const GroupRecord& group : record.groups) {
    const std::int64_t owner = record.step == 0 ? 0 : group.scored.rollout.ticket.group % learners;
    if (owner == learner) share.groups.push_back(group);
  }
  return share;
}

/// Writes steps [first, last] of all learners. Returns their metrics.
inline std::string write_segment(const std::filesystem::path& trajectories, const ExampleRun& run,
                                 std::mt19937& random, std::int64_t first, std::int64_t last) {
  std::vector<std::unique_ptr<TrajectoryWriter>> writers;
  for (std::int64_t l = 0; l < run.learners; ++l) {
    auto info = example_info_of(run, l, std::max<std::int64_t>(0, first - 1));
    info.config = example_config(trajectories.parent_path(), run);
    writers.push_back(std::make_unique<TrajectoryWriter>(trajectories, info));
  }
  std::string metrics;
  for (std::int64_t step = first; step <= last; ++step) {
    const StepRecord record = make_step(run, random, step);
    for (std::int64_t l = 0; l < (step == 0 ? 1 : run.learners); ++l) {
      writers[static_cast<std::size_t>(l)]->append(share_of(record, l, run.learners));
    }
    metrics += metrics_line(run, record);
  }
  for (auto& writer : writers) writer->close();
  return metrics;
}

}  // namespace example

inline void write_example_run(const std::filesystem::path& directory, const ExampleRun& run) {
  std::filesystem::remove_all(directory);
  make_directories(directory / "trajectories");
  write_file_atomically(directory / "config.yaml", example_config(directory, run));
  std::mt19937 random(run.seed);
  const std::int64_t length = run.segment_steps > 0 ? run.segment_steps : run.steps + 1;
  std::string metrics;
  for (std::int64_t first = 0, last; first <= run.steps; first = last + 1) {
    last = std::min(run.steps, std::max<std::int64_t>(0, first - 1) + length);
    metrics += example::write_segment(directory / "trajectories", run, random, first, last);
  }
  update_index(directory / "trajectories", run.steps);
  if (run.metrics) write_file_atomically(directory / "metrics.jsonl", metrics);
  if (run.starts) record_start(directory, "lie_cluster train", 4), record_end(directory, 0);
  if (!run.checkpoint) return;
  const auto checkpoint = directory / "checkpoints" / fmt::format("step-{:06}", run.steps);
  make_directories(checkpoint);
  const std::vector<float> values(8, static_cast<float>(run.seed));
  const FloatTensor tensors[] = {{"b.weight", {2, 4}, values}, {"a.weight", {8}, values}};
  write_safetensors(tensors, checkpoint / "model.safetensors");
  write_file_atomically(checkpoint / "trainer_state.json", "{}");
  write_checksums(checkpoint);
}

}  // namespace lie

// Example steps in which every value is a function of its position, so that a reader's results can
// be checked.
#pragma once

#include <cstdint>
#include <filesystem>

#include "common/base/error.h"
#include "common/trajectory/record.h"
#include "tests/temporary_directory.h"

namespace lie {

struct ExampleShape {
  std::int64_t groups = 4;
  std::int32_t samples = 4;
  std::int64_t mean_tokens = 50;
};

inline float example_noise(std::int64_t step, std::int64_t group, std::int64_t sample,
                           std::int64_t token) {
  const auto mix = static_cast<std::uint64_t>(((step * 131 + group) * 131 + sample) * 4099 + token);
  const std::uint64_t bits = mix * 0x9E3779B97F4A7C15ULL;
  return static_cast<float>(bits >> 40) * 0x1p-24F;
}

inline Response example_response(const ExampleShape& shape, std::int64_t step, std::int64_t group,
                                 std::int32_t sample) {
  Response response;
  const float share = example_noise(step, group, sample, -1);
  const auto tokens =
      static_cast<std::int64_t>(2.0F * share * static_cast<float>(shape.mean_tokens));
  for (std::int64_t t = 0; t < tokens; ++t) {
    const float noise = example_noise(step, group, sample, t);
    response.ids.push_back(static_cast<std::int32_t>(noise * 500.0F));
    response.behavior_log_probs.push_back(-4.0F * noise);
  }
  response.finish = sample % 3 == 0 ? FinishReason::kLength : FinishReason::kEndOfSequence;
  response.actor = 2;
  return response;
}

inline Score example_score(std::int64_t group, std::int32_t sample, std::size_t tokens) {
  Score score;
  score.verdict = sample % 2 == 0 ? VerdictCode::kEqual : VerdictCode::kNoAnswer;
  score.target_length = 85;
  score.rewards = {sample % 2 == 0 ? 1.0F : 0.0F, -0.25F, -0.5F};
  score.numbers = {{"command_number", 0.5 * sample}};
  score.coverage = {static_cast<std::int64_t>(tokens / 2), static_cast<std::int64_t>(tokens), 3};
  score.extracted = fmt::format("{}", group * 10 + sample);
  return score;
}

inline GroupRecord example_group(const ExampleShape& shape, std::int64_t step, std::int64_t group,
                                 Purpose purpose) {
  GroupRecord record;
  RolloutGroup& rollout = record.scored.rollout;
  rollout.ticket = {
      step,          group,
      step - 1,      purpose,
      shape.samples, {group + 100, fmt::format("How many ö in {}?", group), "7", "made-up", 40.5}};
  rollout.prompt_ids = {1, 2, static_cast<std::int32_t>(group)};
  record.scored.reward_worker = 3;
  for (std::int32_t i = 0; i < shape.samples; ++i) {
    rollout.responses.push_back(example_response(shape, step, group, i));
    const Response& response = rollout.responses.back();
    record.scored.scores.push_back(example_score(group, i, response.ids.size()));
    if (purpose == Purpose::kEvaluate) continue;
    record.results.push_back({0.5F * static_cast<float>(i), response.behavior_log_probs, 1e-4F,
                              i == 1, static_cast<std::int32_t>(group % 2)});
  }
  return record;
}

/// Returns the groups of learner `rank` of `count` in one step. Every third step also evaluates.
inline StepRecord example_step(const ExampleShape& shape, std::int64_t step, std::int64_t rank = 0,
                               std::int64_t count = 1) {
  StepRecord record{.step = step, .groups = {}, .seconds = 1.5};
  for (std::int64_t group = rank; group < shape.groups; group += count) {
    record.groups.push_back(example_group(shape, step, group, Purpose::kTrain));
    if (step % 3 == 0)
      record.groups.push_back(example_group(shape, step, group, Purpose::kEvaluate));
  }
  return record;
}

inline TrajectoryInfo example_info(std::int64_t rank = 0, std::int64_t count = 1,
                                   std::int64_t starts_after = 0) {
  return {"build-1",
          "seed: 7\nname: \"täst\"\n",
          7,
          "aa",
          "bb",
          rank,
          count,
          starts_after,
          {{"accuracy", "R_acc"}, {"first", "a first term"}, {"second", ""}},
          {"command_number"}};
}

/// Returns an empty directory for one test. It is removed when the program ends.
inline std::filesystem::path fresh_directory(const char* name) {
  static const TemporaryDirectory all;
  const auto path = all.path() / name;
  std::filesystem::remove_all(path);
  std::filesystem::create_directories(path);
  return path;
}

}  // namespace lie

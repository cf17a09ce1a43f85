// The mapping between columns and the fields of a step. Both the writer (writer.cpp) and the reader
// of steps (step_log.cpp) follow it. Each provides an Io with these functions:
//
//   io(column, field)                          the value of the current row is the field
//   io.copy(column, value)                     written for other readers, not read back
//   io.slice(packed, offset, count, field)     the row's own elements of a packed column
//   io.parallel(packed, offset, count, field)  as many elements at the same place of another
//                                              packed column
//   io.repeat(packed, offset, count, field)    the place of the latest slice of `packed`, written
//                                              for other readers
//   io.next(table)                             advances to the next row of the table
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "common/trajectory/record.h"
#include "common/trajectory/schema.h"

namespace lie {

void group_columns(auto& io, const TrajectoryInfo& info, GroupRecord& group) {
  namespace c = schema::problem;
  RolloutGroup& rollout = group.scored.rollout;
  Ticket& ticket = rollout.ticket;
  Prompt& prompt = ticket.prompt;
  io(c::kStep, ticket.step);
  io(c::kGroup, ticket.group);
  io(c::kPurpose, ticket.purpose);
  io(c::kProblem, prompt.problem);
  io.slice(schema::text::kBytes, c::kTextOffset, c::kTextCount, prompt.text);
  io.slice(schema::text::kBytes, c::kGoldOffset, c::kGoldCount, prompt.gold);
  io.slice(schema::text::kBytes, c::kSourceOffset, c::kSourceCount, prompt.data_source);
  io.slice(schema::prompt::kId, c::kPromptOffset, c::kPromptCount, rollout.prompt_ids);
  io(c::kTokensDropped, rollout.prompt_tokens_dropped);
  io(c::kReferenceLength, prompt.reference_length);
  if (info.drawn_groups) {
    io(c::kDrawnStep, group.drawn.step);
    io(c::kDrawnGroup, group.drawn.group);
  }
  io.next(schema::Table::kProblem);
}

struct SampleFields {
  Response& response;
  Score& score;
  LearnerResult& result;
};

template <typename Io>
void response_columns(Io& io, const TrajectoryInfo& info, Response& response) {
  namespace c = schema::sample;
  io.slice(schema::token::kId, c::kTokenOffset, c::kTokenCount, response.ids);
  io.parallel(schema::token::kBehaviorLogProb, c::kTokenOffset, c::kTokenCount,
              response.behavior_log_probs);
  io(c::kFinishReason, response.finish);
  io(c::kActorRank, response.actor);
  if (!info.token_versions) return;
  std::vector<std::int64_t> versions, tokens;
  for (const VersionRun& run : response.versions) {
    versions.push_back(run.policy_version);
    tokens.push_back(run.tokens);
  }
  io.slice(schema::version_run::kPolicyVersion, c::kVersionRunOffset, c::kVersionRunCount,
           versions);
  io.parallel(schema::version_run::kTokens, c::kVersionRunOffset, c::kVersionRunCount, tokens);
  if constexpr (Io::kReads) {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      response.versions.push_back({versions[i], tokens[i]});
    }
  }
}

/// Describes the columns of reward terms and further numbers, whose names depend on the run.
template <typename Io>
void named_columns(Io& io, const TrajectoryInfo& info, Score& score) {
  score.rewards.resize(info.rewards.size());
  for (std::size_t term = 0; term < info.rewards.size(); ++term) {
    const auto column = schema::reward_column(info.rewards[term].name);
    io(schema::F32(column), score.rewards[term]);
  }
  for (const std::string& name : info.numbers) {
    const auto column = schema::number_column(name);
    const auto found = std::ranges::find(score.numbers, name, &NamedNumber::name);
    double value = std::numeric_limits<double>::quiet_NaN();
    if (found != score.numbers.end()) value = found->value;
    io(schema::F64(column), value);
    if (Io::kReads && !std::isnan(value)) score.numbers.push_back({name, value});
  }
}

void score_columns(auto& io, Score& score) {
  namespace c = schema::sample;
  io(c::kVerdict, score.verdict);
  io(c::kVerifySeconds, score.verify_seconds);
  io.slice(schema::text::kBytes, c::kExtractedOffset, c::kExtractedCount, score.extracted);
  io.copy(c::kReward, score.reward());
  io(c::kTargetLength, score.target_length);
  io(c::kDistinctNgrams, score.coverage.distinct_ngrams);
  io(c::kNgrams, score.coverage.ngrams);
  io(c::kLargestRepeat, score.coverage.largest_repeat);
}

/// Describes the columns of the learner's results. Log-probs of responses that were not trained on
/// are NaN.
template <typename Io>
void result_columns(Io& io, LearnerResult& result, std::size_t tokens) {
  namespace c = schema::sample;
  io(c::kAdvantage, result.advantage);
  io(c::kSequenceLogRatio, result.sequence_log_ratio);
  io(c::kClipped, result.clipped);
  io(c::kMiniBatch, result.mini_batch);
  std::vector<float> log_probs = result.log_probs;
  log_probs.resize(tokens, std::numeric_limits<float>::quiet_NaN());
  io.parallel(schema::token::kLearnerLogProb, c::kTokenOffset, c::kTokenCount, log_probs);
  if (Io::kReads && result.mini_batch >= 0) result.log_probs = std::move(log_probs);
}

/// Describes a row of /sample. `number` is the response's number in its group.
void sample_columns(auto& io, const TrajectoryInfo& info, GroupRecord& group, std::size_t number,
                    SampleFields sample) {
  namespace c = schema::sample;
  RolloutGroup& rollout = group.scored.rollout;
  const Ticket& ticket = rollout.ticket;
  io.copy(c::kStep, ticket.step);
  io.copy(c::kProblem, ticket.prompt.problem);
  io.copy(c::kGroup, ticket.group);
  io.copy(c::kSample, number);
  io.copy(c::kPurpose, ticket.purpose);
  io(c::kPolicyVersion, rollout.ticket.policy_version);
  io.repeat(schema::prompt::kId, c::kPromptOffset, c::kPromptCount, rollout.prompt_ids);
  io.copy(c::kReferenceLength, ticket.prompt.reference_length);
  io(c::kRewardRank, group.scored.reward_worker);
  response_columns(io, info, sample.response);
  score_columns(io, sample.score);
  named_columns(io, info, sample.score);
  result_columns(io, sample.result, sample.response.ids.size());
  io.next(schema::Table::kSample);
}

}  // namespace lie

#include "common/trajectory/writer.h"

#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/error.h"
#include "common/trajectory/column_file.h"
#include "common/trajectory/schema.h"
#include "common/trajectory/segments.h"

namespace lie {
namespace {

/// Where the next element of each packed table goes.
struct Ends {
  std::int64_t text = 0, prompt = 0, token = 0, problem = 0, sample = 0, version_run = 0;
};

/// A string's place in /text/bytes.
struct TextPlace {
  std::int64_t offset = 0;
  std::int32_t count = 0;
};

/// One response and where its parts lie.
struct SampleRow {
  const RolloutGroup* rollout = nullptr;
  const Response* response = nullptr;
  const Score* score = nullptr;
  const LearnerResult* result = nullptr;
  std::int32_t sample = 0, reward_worker = 0;
  std::int64_t token_offset = 0, prompt_offset = 0, version_run_offset = 0;
  TextPlace extracted;
};

/// One group and where its parts lie.
struct ProblemRow {
  const RolloutGroup* rollout = nullptr;
  DrawnGroup drawn = {};
  std::int64_t prompt_offset = 0;
  TextPlace text, gold, source;
};

/// A step laid out flat, ready for the columns.
struct FlatStep {
  std::string text;
  std::vector<std::int32_t> prompt_ids, token_ids;
  std::vector<float> behavior_log_probs, learner_log_probs;
  std::vector<ProblemRow> problems;
  std::vector<SampleRow> samples;
  VersionRuns version_runs;
  LearnerResult not_trained_on;  // placeholder where the learner has no result
};

std::int32_t narrow(std::size_t count) {
  if (count > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    fail("trajectory log: a string or sequence of {} elements is too long", count);
  }
  return static_cast<std::int32_t>(count);
}

TextPlace add_text(FlatStep& flat, Ends& ends, const std::string& text) {
  const TextPlace place{ends.text, narrow(text.size())};
  flat.text += text;
  ends.text += place.count;
  return place;
}

void check_sizes(const GroupRecord& group) {
  const RolloutGroup& rollout = group.scored.rollout;
  const std::size_t samples = rollout.responses.size();
  const bool agree = group.scored.scores.size() == samples &&
                     (group.results.empty() || group.results.size() == samples);
  if (!agree) {
    fail(
        "trajectory log: step {} group {} has {} responses, {} scores and {} learner results; they "
        "must agree",
        rollout.ticket.step, rollout.ticket.group, samples, group.scored.scores.size(),
        group.results.size());
  }
}

void check_rewards(const StepRecord& record, const RewardNames& rewards) {
  for (const GroupRecord& group : record.groups) {
    for (const Score& score : group.scored.scores) {
      if (score.rewards.size() == rewards.size()) continue;
      fail("trajectory log: step {} group {} has a score of {} reward terms, but the run has {}",
           record.step, group.scored.rollout.ticket.group, score.rewards.size(), rewards.size());
    }
  }
}

void add_log_probs(FlatStep& flat, const SampleRow& row) {
  const std::size_t tokens = row.response->ids.size();
  const auto& behavior = row.response->behavior_log_probs;
  const auto& learner = row.result->log_probs;
  if (behavior.size() != tokens || (!learner.empty() && learner.size() != tokens)) {
    fail(
        "trajectory log: step {} group {} sample {} has {} tokens, {} behavior and {} learner "
        "log-probs; they must agree",
        row.rollout->ticket.step, row.rollout->ticket.group, row.sample, tokens, behavior.size(),
        learner.size());
  }
  flat.behavior_log_probs.insert(flat.behavior_log_probs.end(), behavior.begin(), behavior.end());
  flat.learner_log_probs.insert(flat.learner_log_probs.end(), learner.begin(), learner.end());
  flat.learner_log_probs.resize(flat.behavior_log_probs.size(),
                                std::numeric_limits<float>::quiet_NaN());
}

void add_sample(FlatStep& flat, Ends& ends, const GroupRecord& group, std::size_t sample) {
  SampleRow row;
  row.rollout = &group.scored.rollout;
  row.response = &group.scored.rollout.responses[sample];
  row.score = &group.scored.scores[sample];
  row.result = group.results.empty() ? &flat.not_trained_on : &group.results[sample];
  row.sample = narrow(sample);
  row.reward_worker = group.scored.reward_worker;
  row.token_offset = ends.token;
  row.prompt_offset = flat.problems.back().prompt_offset;
  row.extracted = add_text(flat, ends, row.score->extracted);
  flat.token_ids.insert(flat.token_ids.end(), row.response->ids.begin(), row.response->ids.end());
  add_log_probs(flat, row);
  ends.token += narrow(row.response->ids.size());
  row.version_run_offset = ends.version_run;
  ends.version_run += narrow(row.response->versions.size());
  flat.version_runs.insert(flat.version_runs.end(), row.response->versions.begin(),
                           row.response->versions.end());
  flat.samples.push_back(row);
}

void add_group(FlatStep& flat, Ends& ends, const GroupRecord& group) {
  check_sizes(group);
  const RolloutGroup& rollout = group.scored.rollout;
  ProblemRow row;
  row.rollout = &rollout;
  row.drawn = group.drawn;
  row.prompt_offset = ends.prompt;
  row.text = add_text(flat, ends, rollout.ticket.prompt.text);
  row.gold = add_text(flat, ends, rollout.ticket.prompt.gold);
  row.source = add_text(flat, ends, rollout.ticket.prompt.data_source);
  flat.prompt_ids.insert(flat.prompt_ids.end(), rollout.prompt_ids.begin(),
                         rollout.prompt_ids.end());
  ends.prompt += narrow(rollout.prompt_ids.size());
  flat.problems.push_back(row);
  for (std::size_t i = 0; i < rollout.responses.size(); ++i) add_sample(flat, ends, group, i);
}

/// Fills `flat`, whose rows point into `record` and `flat`.
void flatten(const StepRecord& record, Ends& ends, FlatStep& flat) {
  for (const GroupRecord& group : record.groups) add_group(flat, ends, group);
  ends.problem += static_cast<std::int64_t>(flat.problems.size());
  ends.sample += static_cast<std::int64_t>(flat.samples.size());
}

/// Appends get(row) of every row to the column.
template <typename T, typename Row, typename Get>
void append(ColumnFile& file, const schema::Column<T>& column, const std::vector<Row>& rows,
            Get get) {
  std::vector<T> values;
  values.reserve(rows.size());
  for (const Row& row : rows) values.push_back(static_cast<T>(get(row)));
  file.append(column, std::span<const T>(values));
}

void append_packed(ColumnFile& file, const FlatStep& flat) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(flat.text.data());
  file.append(schema::text::kBytes, std::span(bytes, flat.text.size()));
  file.append(schema::prompt::kId, std::span<const std::int32_t>(flat.prompt_ids));
  file.append(schema::token::kId, std::span<const std::int32_t>(flat.token_ids));
  file.append(schema::token::kBehaviorLogProb, std::span<const float>(flat.behavior_log_probs));
  file.append(schema::token::kLearnerLogProb, std::span<const float>(flat.learner_log_probs));
}

void append_problems(ColumnFile& file, const std::vector<ProblemRow>& rows) {
  namespace c = schema::problem;
  using R = const ProblemRow&;
  append(file, c::kStep, rows, [](R r) { return r.rollout->ticket.step; });
  append(file, c::kGroup, rows, [](R r) { return r.rollout->ticket.group; });
  append(file, c::kPurpose, rows, [](R r) { return r.rollout->ticket.purpose; });
  append(file, c::kProblem, rows, [](R r) { return r.rollout->ticket.prompt.problem; });
  append(file, c::kTextOffset, rows, [](R r) { return r.text.offset; });
  append(file, c::kTextCount, rows, [](R r) { return r.text.count; });
  append(file, c::kGoldOffset, rows, [](R r) { return r.gold.offset; });
  append(file, c::kGoldCount, rows, [](R r) { return r.gold.count; });
  append(file, c::kSourceOffset, rows, [](R r) { return r.source.offset; });
  append(file, c::kSourceCount, rows, [](R r) { return r.source.count; });
  append(file, c::kPromptOffset, rows, [](R r) { return r.prompt_offset; });
  append(file, c::kPromptCount, rows, [](R r) { return r.rollout->prompt_ids.size(); });
  append(file, c::kTokensDropped, rows, [](R r) { return r.rollout->prompt_tokens_dropped; });
  append(file, c::kReferenceLength, rows,
         [](R r) { return r.rollout->ticket.prompt.reference_length; });
}

void append_drawn_groups(ColumnFile& file, const std::vector<ProblemRow>& rows) {
  namespace c = schema::problem;
  using R = const ProblemRow&;
  append(file, c::kDrawnStep, rows, [](R r) { return r.drawn.step; });
  append(file, c::kDrawnGroup, rows, [](R r) { return r.drawn.group; });
}

void append_responses(ColumnFile& file, const std::vector<SampleRow>& rows) {
  namespace c = schema::sample;
  using R = const SampleRow&;
  append(file, c::kStep, rows, [](R r) { return r.rollout->ticket.step; });
  append(file, c::kProblem, rows, [](R r) { return r.rollout->ticket.prompt.problem; });
  append(file, c::kGroup, rows, [](R r) { return r.rollout->ticket.group; });
  append(file, c::kSample, rows, [](R r) { return r.sample; });
  append(file, c::kPurpose, rows, [](R r) { return r.rollout->ticket.purpose; });
  append(file, c::kPolicyVersion, rows, [](R r) { return r.rollout->ticket.policy_version; });
  append(file, c::kTokenOffset, rows, [](R r) { return r.token_offset; });
  append(file, c::kTokenCount, rows, [](R r) { return r.response->ids.size(); });
  append(file, c::kPromptOffset, rows, [](R r) { return r.prompt_offset; });
  append(file, c::kPromptCount, rows, [](R r) { return r.rollout->prompt_ids.size(); });
  append(file, c::kFinishReason, rows, [](R r) { return r.response->finish; });
  append(file, c::kReferenceLength, rows,
         [](R r) { return r.rollout->ticket.prompt.reference_length; });
  append(file, c::kActorRank, rows, [](R r) { return r.response->actor; });
  append(file, c::kRewardRank, rows, [](R r) { return r.reward_worker; });
}

void append_version_runs(ColumnFile& file, const FlatStep& flat) {
  using R = const VersionRun&;
  using S = const SampleRow&;
  namespace run = schema::version_run;
  namespace c = schema::sample;
  append(file, run::kPolicyVersion, flat.version_runs, [](R r) { return r.policy_version; });
  append(file, run::kTokens, flat.version_runs, [](R r) { return r.tokens; });
  append(file, c::kVersionRunOffset, flat.samples, [](S s) { return s.version_run_offset; });
  append(file, c::kVersionRunCount, flat.samples, [](S s) { return s.response->versions.size(); });
}

void append_scores(ColumnFile& file, const std::vector<SampleRow>& rows) {
  namespace c = schema::sample;
  using R = const SampleRow&;
  append(file, c::kVerdict, rows, [](R r) { return r.score->verdict; });
  append(file, c::kVerifySeconds, rows, [](R r) { return r.score->verify_seconds; });
  append(file, c::kExtractedOffset, rows, [](R r) { return r.extracted.offset; });
  append(file, c::kExtractedCount, rows, [](R r) { return r.extracted.count; });
  append(file, c::kReward, rows, [](R r) { return r.score->reward(); });
  append(file, c::kTargetLength, rows, [](R r) { return r.score->target_length; });
  append(file, c::kDistinctNgrams, rows, [](R r) { return r.score->coverage.distinct_ngrams; });
  append(file, c::kNgrams, rows, [](R r) { return r.score->coverage.ngrams; });
  append(file, c::kLargestRepeat, rows, [](R r) { return r.score->coverage.largest_repeat; });
}

void append_rewards(ColumnFile& file, const RewardNames& rewards,
                    const std::vector<SampleRow>& rows) {
  for (std::size_t term = 0; term < rewards.size(); ++term) {
    const auto column = schema::reward_column(rewards[term].name);
    append(file, schema::F32(column), rows,
           [term](const SampleRow& r) { return r.score->rewards[term]; });
  }
}

double number_of(const Score& score, const std::string& name) {
  const auto found = std::ranges::find(score.numbers, name, &NamedNumber::name);
  return found == score.numbers.end() ? std::numeric_limits<double>::quiet_NaN() : found->value;
}

void append_numbers(ColumnFile& file, const std::vector<std::string>& names,
                    const std::vector<SampleRow>& rows) {
  for (const std::string& name : names) {
    const auto column = schema::number_column(name);
    append(file, schema::F64(column), rows,
           [&](const SampleRow& r) { return number_of(*r.score, name); });
  }
}

void append_results(ColumnFile& file, const std::vector<SampleRow>& rows) {
  namespace c = schema::sample;
  using R = const SampleRow&;
  append(file, c::kAdvantage, rows, [](R r) { return r.result->advantage; });
  append(file, c::kSequenceLogRatio, rows, [](R r) { return r.result->sequence_log_ratio; });
  append(file, c::kClipped, rows, [](R r) { return r.result->clipped; });
  append(file, c::kMiniBatch, rows, [](R r) { return r.result->mini_batch; });
}

template <typename T>
void append_one(ColumnFile& file, const schema::Column<T>& column, T value) {
  file.append(column, std::span<const T>(&value, 1));
}

void append_step(ColumnFile& file, const StepRecord& record, const Ends& ends) {
  namespace c = schema::step;
  append_one(file, c::kUnixTime, unix_seconds());
  append_one(file, c::kSeconds, record.seconds);
  append_one(file, c::kGenerateSeconds, record.generate_seconds);
  append_one(file, c::kUpdateSeconds, record.update_seconds);
  append_one(file, c::kTextEnd, ends.text);
  append_one(file, c::kPromptEnd, ends.prompt);
  append_one(file, c::kTokenEnd, ends.token);
  append_one(file, c::kProblemEnd, ends.problem);
  append_one(file, c::kSampleEnd, ends.sample);
}

/// A reader that sees the step's number sees all of the step.
void append_step_number(ColumnFile& file, std::int64_t step) {
  file.flush();
  append_one(file, schema::step::kStep, step);
  file.flush();
}

}  // namespace

struct TrajectoryWriter::State {
  ColumnFile file;
  RewardNames rewards;
  std::vector<std::string> numbers;
  bool token_versions = false, drawn_groups = false;
  Ends ends;
  std::int64_t last_step = -1;
};

TrajectoryWriter::TrajectoryWriter(const std::filesystem::path& directory,
                                   const TrajectoryInfo& info) {
  const std::filesystem::path path =
      directory / segment_name(info.learner_rank, info.starts_after_step);
  if (std::filesystem::exists(path)) {
    fail("{}: exists already; choose another run directory", path.string());
  }
  state_.reset(new State{ColumnFile(unfinished_name(path), info),
                         info.rewards,
                         info.numbers,
                         info.token_versions,
                         info.drawn_groups,
                         {}});
  state_->file.appear_as(path);
}

TrajectoryWriter::~TrajectoryWriter() = default;

void TrajectoryWriter::append(const StepRecord& record) {
  if (!state_->file.is_open()) fail("{}: is closed", path().string());
  if (record.step <= state_->last_step) {
    fail("{}: step {} after step {}: steps must ascend", path().string(), record.step,
         state_->last_step);
  }
  check_rewards(record, state_->rewards);
  FlatStep flat;
  flatten(record, state_->ends, flat);
  append_packed(state_->file, flat);
  append_problems(state_->file, flat.problems);
  if (state_->drawn_groups) append_drawn_groups(state_->file, flat.problems);
  append_responses(state_->file, flat.samples);
  append_scores(state_->file, flat.samples);
  append_rewards(state_->file, state_->rewards, flat.samples);
  append_numbers(state_->file, state_->numbers, flat.samples);
  append_results(state_->file, flat.samples);
  if (state_->token_versions) {
    append_version_runs(state_->file, flat);
    append_one(state_->file, schema::step::kVersionRunEnd, state_->ends.version_run);
  }
  append_step(state_->file, record, state_->ends);
  append_step_number(state_->file, record.step);
  state_->last_step = record.step;
}

void TrajectoryWriter::close() { state_->file.close(); }

const std::filesystem::path& TrajectoryWriter::path() const { return state_->file.path(); }

}  // namespace lie

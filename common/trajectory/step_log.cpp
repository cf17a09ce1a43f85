#include "common/trajectory/step_log.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>
#include <utility>

#include "common/error.h"
#include "common/trajectory/open_files.h"
#include "common/trajectory/segments.h"

namespace lie {
namespace {

namespace fs = std::filesystem;
using schema::Column, schema::Table;

/// The rows of one step in one segment.
class StepRows {
 public:
  StepRows(const SegmentReader& file, std::size_t index) : file_(file), index_(index) {}

  const SegmentReader& file() const { return file_; }
  std::int64_t first(Table table) const { return file_.rows_of_step(table, index_).first; }
  template <typename T>
  std::vector<T> read(const Column<T>& column) const {
    const auto [first, count] = file_.rows_of_step(column.table, index_);
    return file_.read(column, first, count);
  }

 private:
  const SegmentReader& file_;
  std::size_t index_;
};

/// A step's elements of a packed column, and the parts of them that rows own.
template <typename T>
class Packed {
 public:
  Packed(const StepRows& rows, const Column<T>& column)
      : file_(rows.file().path()),
        path_(column.path),
        first_(rows.first(column.table)),
        values_(rows.read(column)) {}

  std::span<const T> part(std::int64_t offset, std::int32_t count) const {
    const auto size = static_cast<std::int64_t>(values_.size());
    const std::int64_t from = offset - first_;
    if (from < 0 || count < 0 || from > size - count) {
      fail("{}: a row of step data points outside of its step's {}; the file is damaged",
           file_.string(), path_);
    }
    return std::span(values_).subspan(static_cast<std::size_t>(from),
                                      static_cast<std::size_t>(count));
  }

 private:
  const fs::path& file_;
  const char* path_;
  std::int64_t first_;
  std::vector<T> values_;
};

std::string as_text(std::span<const std::uint8_t> bytes) { return {bytes.begin(), bytes.end()}; }

template <typename T>
std::vector<T> as_vector(std::span<const T> values) {
  return {values.begin(), values.end()};
}

/// set(item, value) for each item and its row of the column.
template <typename T, typename Item, typename Set>
void read_column(const StepRows& rows, const Column<T>& column, std::vector<Item>& items, Set set) {
  const std::vector<T> values = rows.read(column);
  for (std::size_t i = 0; i < items.size(); ++i) set(items[i], values[i]);
}

/// set(item, part) for each item and the part of the packed column that is its own.
template <typename T, typename Item, typename Set>
void read_parts(const StepRows& rows, const Packed<T>& packed, const schema::I64& offset,
                const schema::I32& count, std::vector<Item>& items, Set set) {
  const auto offsets = rows.read(offset);
  const auto counts = rows.read(count);
  for (std::size_t i = 0; i < items.size(); ++i) set(items[i], packed.part(offsets[i], counts[i]));
}

void read_tickets(const StepRows& rows, std::vector<GroupRecord>& groups) {
  namespace c = schema::problem;
  const auto ticket = [](GroupRecord& g) -> Ticket& { return g.scored.rollout.ticket; };
  const auto prompt = [](GroupRecord& g) -> Prompt& { return g.scored.rollout.ticket.prompt; };
  read_column(rows, c::kStep, groups, [&](auto& g, auto v) { ticket(g).step = v; });
  read_column(rows, c::kGroup, groups, [&](auto& g, auto v) { ticket(g).group = v; });
  read_column(rows, c::kPurpose, groups,
              [&](auto& g, auto v) { ticket(g).purpose = static_cast<Purpose>(v); });
  read_column(rows, c::kProblem, groups, [&](auto& g, auto v) { prompt(g).problem = v; });
  read_column(rows, c::kReferenceLength, groups,
              [&](auto& g, auto v) { prompt(g).reference_length = v; });
  if (rows.file().info().drawn_groups) {
    read_column(rows, c::kDrawnStep, groups, [](auto& g, auto v) { g.drawn.step = v; });
    read_column(rows, c::kDrawnGroup, groups, [](auto& g, auto v) { g.drawn.group = v; });
  }
  const Packed text(rows, schema::text::kBytes);
  read_parts(rows, text, c::kTextOffset, c::kTextCount, groups,
             [&](auto& g, auto part) { prompt(g).text = as_text(part); });
  read_parts(rows, text, c::kGoldOffset, c::kGoldCount, groups,
             [&](auto& g, auto part) { prompt(g).gold = as_text(part); });
  read_parts(rows, text, c::kSourceOffset, c::kSourceCount, groups,
             [&](auto& g, auto part) { prompt(g).data_source = as_text(part); });
}

std::vector<GroupRecord> read_groups(const StepRows& rows) {
  namespace c = schema::problem;
  std::vector<GroupRecord> groups(rows.read(c::kGroup).size());
  read_tickets(rows, groups);
  read_column(rows, c::kTokensDropped, groups,
              [](auto& g, auto v) { g.scored.rollout.prompt_tokens_dropped = v; });
  read_parts(rows, Packed(rows, schema::prompt::kId), c::kPromptOffset, c::kPromptCount, groups,
             [](auto& g, auto part) { g.scored.rollout.prompt_ids = as_vector(part); });
  return groups;
}

/// One response with what the log holds of it, and its group.
struct Sample {
  GroupRecord* group = nullptr;
  Response response;
  Score score;
  LearnerResult result;
};

using GroupKey = std::tuple<std::uint8_t, std::int64_t>;  // purpose, group

GroupKey key_of(const GroupRecord& group) {
  const Ticket& ticket = group.scored.rollout.ticket;
  return {static_cast<std::uint8_t>(ticket.purpose), ticket.group};
}

/// A sample for each row of /sample, which knows its group.
std::vector<Sample> samples_of(const StepRows& rows, std::vector<GroupRecord>& groups) {
  std::map<GroupKey, GroupRecord*> by_key;
  for (GroupRecord& group : groups) by_key[key_of(group)] = &group;
  const auto purposes = rows.read(schema::sample::kPurpose);
  const auto numbers = rows.read(schema::sample::kGroup);
  std::vector<Sample> samples(numbers.size());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto found = by_key.find({purposes[i], numbers[i]});
    if (found == by_key.end()) {
      fail("{}: group {} has responses but no row in /problem; the file is damaged",
           rows.file().path().string(), numbers[i]);
    }
    samples[i].group = found->second;
  }
  return samples;
}

void read_sources(const StepRows& rows, std::vector<Sample>& samples) {
  namespace c = schema::sample;
  using S = Sample&;
  read_column(rows, c::kPolicyVersion, samples,
              [](S s, auto v) { s.group->scored.rollout.ticket.policy_version = v; });
  read_column(rows, c::kActorRank, samples, [](S s, auto v) { s.response.actor = v; });
  read_column(rows, c::kRewardRank, samples,
              [](S s, auto v) { s.group->scored.reward_worker = v; });
}

void read_responses(const StepRows& rows, std::vector<Sample>& samples) {
  namespace c = schema::sample;
  using S = Sample&;
  read_column(rows, c::kFinishReason, samples,
              [](S s, auto v) { s.response.finish = static_cast<FinishReason>(v); });
  read_parts(rows, Packed(rows, schema::token::kId), c::kTokenOffset, c::kTokenCount, samples,
             [](S s, auto part) { s.response.ids = as_vector(part); });
  read_parts(rows, Packed(rows, schema::token::kBehaviorLogProb), c::kTokenOffset, c::kTokenCount,
             samples, [](S s, auto part) { s.response.behavior_log_probs = as_vector(part); });
}

void read_versions(const StepRows& rows, std::vector<Sample>& samples) {
  namespace c = schema::sample;
  if (!rows.file().info().token_versions) return;
  const Packed versions(rows, schema::version_run::kPolicyVersion);
  const Packed tokens(rows, schema::version_run::kTokens);
  using S = Sample&;
  read_parts(rows, versions, c::kVersionRunOffset, c::kVersionRunCount, samples,
             [](S s, auto part) {
               for (const auto v : part) s.response.versions.push_back({v, 0});
             });
  read_parts(rows, tokens, c::kVersionRunOffset, c::kVersionRunCount, samples, [](S s, auto part) {
    for (std::size_t i = 0; i < part.size(); ++i) s.response.versions[i].tokens = part[i];
  });
}

void read_scores(const StepRows& rows, std::vector<Sample>& samples) {
  namespace c = schema::sample;
  using S = Sample&;
  read_column(rows, c::kVerdict, samples,
              [](S s, auto v) { s.score.verdict = static_cast<VerdictCode>(v); });
  read_column(rows, c::kVerifySeconds, samples, [](S s, auto v) { s.score.verify_seconds = v; });
  read_column(rows, c::kTargetLength, samples, [](S s, auto v) { s.score.target_length = v; });
  read_column(rows, c::kDistinctNgrams, samples,
              [](S s, auto v) { s.score.coverage.distinct_ngrams = v; });
  read_column(rows, c::kNgrams, samples, [](S s, auto v) { s.score.coverage.ngrams = v; });
  read_column(rows, c::kLargestRepeat, samples,
              [](S s, auto v) { s.score.coverage.largest_repeat = v; });
  read_parts(rows, Packed(rows, schema::text::kBytes), c::kExtractedOffset, c::kExtractedCount,
             samples, [](S s, auto part) { s.score.extracted = as_text(part); });
}

void read_named_values(const StepRows& rows, std::vector<Sample>& samples) {
  using S = Sample&;
  for (const RewardName& reward : rows.file().info().rewards) {
    const auto column = schema::reward_column(reward.name);
    read_column(rows, schema::F32(column), samples,
                [](S s, auto v) { s.score.rewards.push_back(v); });
  }
  for (const std::string& name : rows.file().info().numbers) {
    const auto column = schema::number_column(name);
    read_column(rows, schema::F64(column), samples, [&](S s, auto v) {
      if (!std::isnan(v)) s.score.numbers.push_back({name, v});
    });
  }
}

void read_results(const StepRows& rows, std::vector<Sample>& samples) {
  namespace c = schema::sample;
  using S = Sample&;
  read_column(rows, c::kAdvantage, samples, [](S s, auto v) { s.result.advantage = v; });
  read_column(rows, c::kSequenceLogRatio, samples,
              [](S s, auto v) { s.result.sequence_log_ratio = v; });
  read_column(rows, c::kClipped, samples, [](S s, auto v) { s.result.clipped = v != 0; });
  read_column(rows, c::kMiniBatch, samples, [](S s, auto v) { s.result.mini_batch = v; });
  read_parts(rows, Packed(rows, schema::token::kLearnerLogProb), c::kTokenOffset, c::kTokenCount,
             samples, [](S s, auto part) {
               if (s.result.mini_batch >= 0) s.result.log_probs = as_vector(part);
             });
}

/// Rows of /sample stand group by group, in order of the samples.
void move_into_group(Sample& sample) {
  ScoredGroup& scored = sample.group->scored;
  ++scored.rollout.ticket.samples;
  scored.rollout.responses.push_back(std::move(sample.response));
  scored.scores.push_back(std::move(sample.score));
  if (scored.rollout.ticket.purpose == Purpose::kTrain) {
    sample.group->results.push_back(std::move(sample.result));
  }
}

/// The groups of one learner.
std::vector<GroupRecord> groups_of(const StepRows& rows) {
  std::vector<GroupRecord> groups = read_groups(rows);
  std::vector<Sample> samples = samples_of(rows, groups);
  read_sources(rows, samples);
  read_responses(rows, samples);
  read_versions(rows, samples);
  read_scores(rows, samples);
  read_named_values(rows, samples);
  read_results(rows, samples);
  for (Sample& sample : samples) move_into_group(sample);
  return groups;
}

}  // namespace

StepLog::StepLog(const fs::path& directory, std::int64_t after) : directory_(directory) {
  const auto files = std::make_shared<OpenFiles>();
  for (const Segment& segment : segments_after(directory, after)) {
    segments_.emplace_back(segment.path, files);
  }
  for (std::size_t first = 0, end = 0; first < segments_.size(); first = end) {
    const std::int64_t start = segments_[first].info().starts_after_step;
    while (end < segments_.size() && segments_[end].info().starts_after_step == start) ++end;
    add_steps(first, end);
  }
}

/// Of segments that all learners began together.
void StepLog::add_steps(std::size_t first, std::size_t end) {
  std::map<std::int64_t, std::vector<Place>> found;
  for (std::size_t segment = first; segment < end; ++segment) {
    const auto& steps = segments_[segment].steps();
    for (std::size_t i = 0; i < steps.size(); ++i) found[steps[i]].push_back({segment, i});
  }
  for (auto& [step, places] : found) {
    const SegmentReader& file = segments_[first];
    // Step 0 is learner 0's alone.
    const std::int64_t holders = step == 0 ? 1 : file.info().learner_count;
    if (std::ssize(places) < holders) continue;
    if (!places_.try_emplace(step, std::move(places)).second) {
      fail(
          "{}: holds step {}, and so does an earlier file; remove the one that does not belong to "
          "this run",
          file.path().string(), step);
    }
  }
}

std::vector<std::int64_t> StepLog::steps() const {
  std::vector<std::int64_t> all;
  for (const auto& [step, places] : places_) all.push_back(step);
  return all;
}

const TrajectoryInfo& StepLog::info() const {
  if (segments_.empty()) fail("{}: holds no trajectory file", directory_.string());
  return segments_.front().info();
}

std::int64_t StepLog::last_after(std::int64_t after) const {
  while (holds(after + 1)) ++after;
  return after;
}

StepRecord StepLog::read(std::int64_t step) const {
  const auto found = places_.find(step);
  if (found == places_.end()) fail("trajectory log: step {} is not complete in it", step);
  StepRecord record{.step = step, .groups = {}};
  for (const auto& [segment, index] : found->second) {
    const StepRows rows(segments_[segment], index);
    auto groups = groups_of(rows);
    std::ranges::move(groups, std::back_inserter(record.groups));
  }
  std::ranges::sort(record.groups, {}, key_of);
  const auto& [segment, index] = found->second.front();
  const StepRows rows(segments_[segment], index);
  record.seconds = rows.read(schema::step::kSeconds).front();
  record.generate_seconds = rows.read(schema::step::kGenerateSeconds).front();
  record.update_seconds = rows.read(schema::step::kUpdateSeconds).front();
  return record;
}

}  // namespace lie

#include "common/trajectory/writer.h"

#include <array>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/error.h"
#include "common/trajectory/column_file.h"
#include "common/trajectory/schema.h"
#include "common/trajectory/segments.h"
#include "common/trajectory/step_columns.h"

namespace lie {
namespace {

/// Number of rows of each table so far.
using Ends = std::array<std::int64_t, schema::kTableCount>;

std::int32_t narrow(std::size_t count) {
  if (count > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    fail("trajectory log: a string or sequence of {} elements is too long", count);
  }
  return static_cast<std::int32_t>(count);
}

/// Throws Error unless the sizes within a group agree.
void check_sizes(const GroupRecord& group, std::size_t terms) {
  const RolloutGroup& rollout = group.scored.rollout;
  const std::vector<Score>& scores = group.scored.scores;
  const std::size_t samples = rollout.responses.size();
  bool agree =
      scores.size() == samples && (group.results.empty() || group.results.size() == samples);
  for (std::size_t i = 0; agree && i < samples; ++i) {
    const std::size_t tokens = rollout.responses[i].ids.size();
    const std::size_t learner = group.results.empty() ? 0 : group.results[i].log_probs.size();
    agree = scores[i].rewards.size() == terms && (learner == 0 || learner == tokens) &&
            rollout.responses[i].behavior_log_probs.size() == tokens;
  }
  if (agree) return;
  fail(
      "trajectory log: step {} group {}: the numbers of its responses, scores, reward terms, "
      "tokens and log-probs do not agree",
      rollout.ticket.step, rollout.ticket.group);
}

/// Collects the rows of a step by column, until the step is complete.
class RowWriter {
 public:
  static constexpr bool kReads = false;
  explicit RowWriter(Ends& ends) : ends_(ends) {}

  template <typename T>
  void operator()(const schema::Column<T>& column, const auto& field) {
    const T value = static_cast<T>(field);
    add(column, std::span(&value, 1));
  }
  void copy(const auto& column, const auto& value) { (*this)(column, value); }
  void slice(const auto& packed, const schema::I64& offset, const schema::I32& count,
             const auto& field) {
    (*this)(offset, end(packed.table));
    (*this)(count, narrow(field.size()));
    parallel(packed, offset, count, field);
    end(packed.table) += std::ssize(field);
  }
  void parallel(const auto& packed, const schema::I64&, const schema::I32&, const auto& field) {
    add(packed, std::span(field));
  }
  void repeat(const auto& packed, const schema::I64& offset, const schema::I32& count,
              const auto& field) {
    (*this)(offset, end(packed.table) - std::ssize(field));
    (*this)(count, field.size());
  }
  void next(schema::Table table) { ++end(table); }

  void append_to(ColumnFile& file) const {
    for (const auto& [path, rows] : columns_) file.append_bytes(path, rows);
  }

 private:
  std::int64_t& end(schema::Table table) { return ends_[static_cast<std::size_t>(table)]; }
  template <typename T, typename Element, std::size_t Extent>
  void add(const schema::Column<T>& column, std::span<Element, Extent> values) {
    static_assert(sizeof(T) == sizeof(Element));
    auto found = columns_.find(std::string_view(column.path));
    if (found == columns_.end())
      found = columns_.emplace(column.path, std::vector<std::byte>()).first;
    const auto bytes = std::as_bytes(values);
    found->second.insert(found->second.end(), bytes.begin(), bytes.end());
  }

  Ends& ends_;
  std::map<std::string, std::vector<std::byte>, std::less<>> columns_;
};

void write_group(RowWriter& rows, const TrajectoryInfo& info, const GroupRecord& record) {
  check_sizes(record, info.rewards.size());
  // The description is shared with the reader, so it takes mutable references. A writer does not
  // modify them.
  auto& group = const_cast<GroupRecord&>(record);
  group_columns(rows, info, group);
  LearnerResult none;
  for (std::size_t i = 0; i < group.scored.scores.size(); ++i) {
    sample_columns(rows, info, group, i,
                   {group.scored.rollout.responses[i], group.scored.scores[i],
                    group.results.empty() ? none : group.results[i]});
  }
}

template <typename T>
void append_one(ColumnFile& file, const schema::Column<T>& column, T value) {
  file.append(column, std::span<const T>(&value, 1));
}

void append_step(ColumnFile& file, const StepRecord& record, const TrajectoryInfo& info,
                 const Ends& ends) {
  namespace c = schema::step;
  append_one(file, c::kUnixTime, unix_seconds());
  append_one(file, c::kSeconds, record.seconds);
  append_one(file, c::kGenerateSeconds, record.generate_seconds);
  append_one(file, c::kUpdateSeconds, record.update_seconds);
  for (const auto& [table, column] : schema::kStepEnds) {
    if (table == schema::Table::kVersionRun && !info.token_versions) continue;
    append_one(file, *column, ends[static_cast<std::size_t>(table)]);
  }
}

/// Writes the step number last, so that a reader that sees it sees all of the step.
void append_step_number(ColumnFile& file, std::int64_t step) {
  file.flush();
  append_one(file, schema::step::kStep, step);
  file.flush();
}

}  // namespace

struct TrajectoryWriter::State {
  ColumnFile file;
  TrajectoryInfo info;
  Ends ends = {};
  std::int64_t last_step = -1;
};

TrajectoryWriter::TrajectoryWriter(const std::filesystem::path& directory,
                                   const TrajectoryInfo& info) {
  const std::filesystem::path path =
      directory / segment_name(info.learner_rank, info.starts_after_step);
  if (std::filesystem::exists(path)) {
    fail("{}: exists already; choose another run directory", path.string());
  }
  state_.reset(new State{ColumnFile(unfinished_name(path), info), info});
  state_->file.appear_as(path);
}

TrajectoryWriter::~TrajectoryWriter() = default;

void TrajectoryWriter::append(const StepRecord& record) {
  if (!state_->file.is_open()) fail("{}: is closed", path().string());
  if (record.step <= state_->last_step) {
    fail("{}: step {} after step {}: steps must ascend", path().string(), record.step,
         state_->last_step);
  }
  RowWriter rows(state_->ends);
  for (const GroupRecord& group : record.groups) write_group(rows, state_->info, group);
  rows.append_to(state_->file);
  append_step(state_->file, record, state_->info, state_->ends);
  append_step_number(state_->file, record.step);
  state_->last_step = record.step;
}

void TrajectoryWriter::close() { state_->file.close(); }

const std::filesystem::path& TrajectoryWriter::path() const { return state_->file.path(); }

}  // namespace lie

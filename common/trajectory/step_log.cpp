#include "common/trajectory/step_log.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <iterator>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "common/base/error.h"
#include "common/text/counted.h"
#include "common/trajectory/hdf5.h"
#include "common/trajectory/segments.h"
#include "common/trajectory/step_columns.h"

namespace lie {
namespace {

namespace fs = std::filesystem;
using schema::Column, schema::Table;

/// Reads the rows of one step in one segment, column by column.
class RowReader {
 public:
  static constexpr bool kReads = true;
  RowReader(const SegmentReader& file, std::size_t index) : file_(file), index_(index) {}

  template <typename T>
  void operator()(const Column<T>& column, auto& field) {
    field = static_cast<std::remove_cvref_t<decltype(field)>>(value(column));
  }
  void copy(const auto&, const auto&) {}
  void repeat(const auto&, const schema::I64&, const schema::I32&, const auto&) {}
  template <typename T>
  void slice(const Column<T>& packed, const schema::I64& offset, const schema::I32& count,
             auto& field) {
    const std::span<const std::byte> all = bytes(packed);
    const std::int64_t from = value(offset) - file_.rows_of_step(packed.table, index_).first;
    const std::int64_t size = value(count);
    if (from < 0 || size < 0 || from > std::ssize(all) / std::int64_t{sizeof(T)} - size) {
      fail("{}: a row of step data points outside of its step's {}; the file is damaged",
           file_.path().string(), packed.path);
    }
    static_assert(sizeof(T) == sizeof(*field.data()));
    field.resize(static_cast<std::size_t>(size));
    const auto own =
        all.subspan(static_cast<std::size_t>(from) * sizeof(T), field.size() * sizeof(T));
    std::ranges::copy(own, std::as_writable_bytes(std::span(field)).begin());
  }
  void parallel(const auto& packed, const schema::I64& offset, const schema::I32& count,
                auto& field) {
    slice(packed, offset, count, field);
  }
  void next(Table table) { ++row_[static_cast<std::size_t>(table)]; }

  template <typename T>
  T value(const Column<T>& column) {
    T value = {};
    const std::size_t at = row_[static_cast<std::size_t>(column.table)] * sizeof value;
    std::memcpy(&value, bytes(column).subspan(at, sizeof value).data(), sizeof value);
    return value;
  }
  std::int64_t rows(Table table) const { return file_.rows_of_step(table, index_).count; }

 private:
  std::span<const std::byte> bytes(const schema::ColumnInfo& column) {
    const auto found = columns_.find(std::string_view(column.path));
    if (found != columns_.end()) return found->second;
    auto read = file_.read_bytes(column, file_.rows_of_step(column.table, index_));
    return columns_.emplace(column.path, std::move(read)).first->second;
  }

  const SegmentReader& file_;
  std::size_t index_;
  std::map<std::string, std::vector<std::byte>, std::less<>> columns_;
  std::array<std::size_t, schema::kTableCount> row_ = {};
};

using GroupKey = std::tuple<std::uint8_t, std::int64_t>;  // purpose, group

GroupKey key_of(const GroupRecord& group) {
  const Ticket& ticket = group.scored.rollout.ticket;
  return {static_cast<std::uint8_t>(ticket.purpose), ticket.group};
}

/// Reads the next row of /sample. Rows are stored group by group, in order of the samples.
void read_sample(RowReader& rows, const TrajectoryInfo& info, GroupRecord& group) {
  Response response;
  Score score;
  LearnerResult result;
  ScoredGroup& scored = group.scored;
  sample_columns(rows, info, group, scored.scores.size(), {response, score, result});
  ++scored.rollout.ticket.samples;
  scored.rollout.responses.push_back(std::move(response));
  scored.scores.push_back(std::move(score));
  if (scored.rollout.ticket.purpose == Purpose::kTrain) group.results.push_back(std::move(result));
}

std::vector<GroupRecord> groups_of(const SegmentReader& file, std::size_t index) {
  RowReader rows(file, index);
  std::vector<GroupRecord> groups(static_cast<std::size_t>(rows.rows(Table::kProblem)));
  std::map<GroupKey, GroupRecord*> by_key;
  for (GroupRecord& group : groups) {
    group_columns(rows, file.info(), group);
    by_key[key_of(group)] = &group;
  }
  for (std::int64_t i = 0; i < rows.rows(Table::kSample); ++i) {
    const std::int64_t number = rows.value(schema::sample::kGroup);
    const auto found = by_key.find({rows.value(schema::sample::kPurpose), number});
    if (found == by_key.end()) {
      fail("{}: group {} has responses but no row in /problem; the file is damaged",
           file.path().string(), number);
    }
    read_sample(rows, file.info(), *found->second);
  }
  return groups;
}

}  // namespace

StepLog::StepLog(const fs::path& directory, std::int64_t after) : directory_(directory) {
  const auto files = std::make_shared<h5::OpenFiles>();
  for (const Segment& segment : segments_after(directory, after)) {
    segments_.emplace_back(segment.path, files);
  }
  for (std::size_t first = 0, end = 0; first < segments_.size(); first = end) {
    const std::int64_t start = segments_[first].info().starts_after_step;
    while (end < segments_.size() && segments_[end].info().starts_after_step == start) ++end;
    add_steps(first, end);
  }
  note_lost_steps();
}

/// Notes the steps between files that were lost together with their lines of the index. Those of a
/// line are in missing_segments(). A log may begin with any step.
void StepLog::note_lost_steps() {
  std::set<std::int64_t> held;
  for (const SegmentReader& file : segments_) held.insert(file.steps().begin(), file.steps().end());
  held.erase(0);
  if (held.empty()) return;
  SegmentIndex index;
  try {
    index = read_index(directory_);
  } catch (const Error&) {
    return;  // missing_segments() says so
  }
  for (const StepRange& lost : unlisted_steps(held, index, *held.begin(), *held.rbegin())) {
    notes_.push_back(fmt::format("no file holds {}", numbered("step", lost.first, lost.last)));
  }
}

/// Adds the steps of the segments [first, end), which all learners began after the same step.
void StepLog::add_steps(std::size_t first, std::size_t end) {
  std::map<std::int64_t, std::vector<Place>> found;
  for (std::size_t segment = first; segment < end; ++segment) {
    const auto& steps = segments_[segment].steps();
    for (std::size_t i = 0; i < steps.size(); ++i) found[steps[i]].push_back({segment, i});
  }
  const SegmentReader& file = segments_[first];
  const std::int64_t learners = file.info().learner_count;
  std::int64_t last = file.info().starts_after_step;
  for (auto& [step, places] : found) {
    // Only learner 0 logs step 0.
    if (std::ssize(places) < (step == 0 ? 1 : learners)) continue;
    last = step;
    const auto [earlier, is_new] = places_.try_emplace(step, std::move(places));
    if (!is_new) {
      fail("{} and {}: both hold step {}; remove the one that does not belong to this run",
           segments_[earlier->second.front().segment].path().string(), file.path().string(), step);
    }
  }
  if (found.empty() || found.rbegin()->first <= last) return;
  notes_.push_back(fmt::format(
      "steps after {} up to {} are not in the files of all {} learners and are excluded", last,
      found.rbegin()->first, learners));
}

std::vector<std::int64_t> StepLog::steps() const {
  std::vector<std::int64_t> all;
  for (const auto& [step, places] : places_) all.push_back(step);
  return all;
}

const TrajectoryInfo& StepLog::info() const {
  if (segments_.empty()) fail("{}: contains no trajectory file", directory_.string());
  return segments_.front().info();
}

std::int64_t StepLog::last_after(std::int64_t after) const {
  while (holds(after + 1)) ++after;
  return after;
}

const std::vector<StepLog::Place>& StepLog::places_of(std::int64_t step) const {
  const auto found = places_.find(step);
  if (found == places_.end()) fail("trajectory log: step {} is not complete", step);
  return found->second;
}

const TrajectoryInfo& StepLog::info_of(std::int64_t step) const {
  return segments_[places_of(step).front().segment].info();
}

StepRecord StepLog::read(std::int64_t step) const {
  const std::vector<Place>& places = places_of(step);
  StepRecord record{.step = step, .groups = {}};
  for (const auto& [segment, index] : places) {
    std::ranges::move(groups_of(segments_[segment], index), std::back_inserter(record.groups));
  }
  std::ranges::sort(record.groups, {}, key_of);
  const auto& [segment, index] = places.front();
  RowReader rows(segments_[segment], index);
  rows(schema::step::kSeconds, record.seconds);
  rows(schema::step::kGenerateSeconds, record.generate_seconds);
  rows(schema::step::kUpdateSeconds, record.update_seconds);
  return record;
}

}  // namespace lie

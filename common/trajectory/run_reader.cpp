#include "common/trajectory/run_reader.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "common/base/error.h"
#include "common/text/counted.h"
#include "common/trajectory/hdf5.h"
#include "common/trajectory/segments.h"

namespace lie {

namespace fs = std::filesystem;
using schema::Table;

RunReader::RunReader(const fs::path& directory) {
  note_missing(directory);
  open(directory);
  keep_common_steps();
  merge_samples();
  const auto repeated = std::ranges::adjacent_find(samples_, {}, &SamplePlace::key);
  if (repeated != samples_.end()) {
    fail(
        "{} and {}: both hold step {} group {} sample {}; remove the one that does not belong to "
        "this run",
        segments_[repeated->segment].path().string(),
        segments_[std::next(repeated)->segment].path().string(), repeated->key.step,
        repeated->key.group, repeated->key.sample);
  }
}

/// Notes segments that the index lists but that do not exist.
void RunReader::note_missing(const fs::path& directory) {
  try {
    for (const IndexedSegment& segment : read_index(directory)) {
      if (segment.removed || fs::exists(directory / segment.file)) continue;
      notes_.push_back(fmt::format("{} is missing: it held {} of learner {}", segment.file,
                                   numbered("step", segment.first_step, segment.last_step),
                                   segment.learner));
    }
  } catch (const Error& error) {
    notes_.push_back(fmt::format("{}: missing files would not be detected", error.what()));
  }
}

void RunReader::open(const fs::path& directory) {
  const auto files = std::make_shared<h5::OpenFiles>();
  for (const Segment& segment : lie::segments(directory)) {
    segments_.emplace_back(segment.path, files);
    index_samples(segments_.size() - 1);  // while the file is open
  }
}

/// Hides steps that are not in the files of all learners. Learners killed during a step may have
/// logged up to different steps.
void RunReader::keep_common_steps() {
  std::map<std::int64_t, std::vector<SegmentReader*>> by_start;
  for (SegmentReader& segment : segments_) {
    by_start[segment.info().starts_after_step].push_back(&segment);
  }
  for (auto& [start, learners] : by_start) {
    const auto expected = static_cast<std::size_t>(learners.front()->info().learner_count);
    std::int64_t farthest = -1;
    std::int64_t common = std::numeric_limits<std::int64_t>::max();
    for (const SegmentReader* learner : learners) {
      const std::int64_t last = learner->steps().empty() ? -1 : learner->steps().back();
      farthest = std::max(farthest, last);
      common = std::min(common, last);
    }
    if (learners.size() < expected) common = -1;
    if (common < farthest) {
      notes_.push_back(fmt::format(
          "steps after {} up to {} are not in the files of all {} learners and are excluded",
          std::max(common, start), farthest, expected));
    }
    for (SegmentReader* learner : learners) learner->keep_steps_up_to(common);
  }
}

void RunReader::index_samples(std::size_t segment) {
  const SegmentReader& file = segments_[segment];
  std::map<SampleKey, std::size_t> problems;  // by key of sample 0
  const auto problem_step = file.read(schema::problem::kStep);
  const auto problem_group = file.read(schema::problem::kGroup);
  const auto problem_purpose = file.read(schema::problem::kPurpose);
  for (std::size_t i = 0; i < problem_step.size(); ++i) {
    problems[{problem_purpose[i], problem_step[i], problem_group[i], 0}] = i;
  }
  const auto step = file.read(schema::sample::kStep);
  const auto group = file.read(schema::sample::kGroup);
  const auto purpose = file.read(schema::sample::kPurpose);
  const auto sample = file.read(schema::sample::kSample);
  for (std::size_t i = 0; i < step.size(); ++i) {
    const auto found = problems.find({purpose[i], step[i], group[i], 0});
    if (found == problems.end()) {
      fail("{}: step {} group {} has responses but no row in /problem; the file is damaged",
           file.path().string(), step[i], group[i]);
    }
    samples_.push_back({{purpose[i], step[i], group[i], sample[i]}, segment, i, found->second});
  }
}

/// Removes responses of hidden steps and sorts the others into canonical order.
void RunReader::merge_samples() {
  std::erase_if(samples_, [this](const SamplePlace& place) {
    return std::cmp_greater_equal(place.row, segments_[place.segment].rows(Table::kSample));
  });
  std::ranges::sort(samples_, {}, &SamplePlace::key);
  samples_of_.resize(segments_.size());
  for (std::size_t i = 0; i < samples_.size(); ++i) samples_of_[samples_[i].segment].push_back(i);
}

void RunReader::read(std::span<const Reading> columns) const {
  for (std::size_t segment = 0; segment < segments_.size(); ++segment) {
    for (const Reading& column : columns) column(segment);
  }
}

namespace {

template <typename T>
T at(const SegmentReader& file, const schema::Column<T>& column, std::size_t row) {
  return file.read(column, static_cast<std::int64_t>(row), 1).front();
}

}  // namespace

RewardNames RunReader::rewards() const {
  RewardNames all;
  for (const SegmentReader& segment : segments_) {
    for (const RewardName& reward : segment.info().rewards) {
      if (std::ranges::count(all, reward.name, &RewardName::name) == 0) all.push_back(reward);
    }
  }
  return all;
}

std::vector<std::string> RunReader::numbers() const {
  std::set<std::string> names;
  for (const SegmentReader& segment : segments_) {
    names.insert(segment.info().numbers.begin(), segment.info().numbers.end());
  }
  return {names.begin(), names.end()};
}

std::vector<VersionRuns> RunReader::version_runs() const {
  namespace c = schema::sample;
  std::vector<VersionRuns> runs(samples_.size());
  const auto offsets = column(c::kVersionRunOffset);
  const auto counts = column(c::kVersionRunCount);
  for (std::size_t segment = 0; segment < segments_.size(); ++segment) {
    const SegmentReader& file = segments_[segment];
    if (!file.info().token_versions) continue;
    const auto versions = file.read(schema::version_run::kPolicyVersion);
    const auto tokens = file.read(schema::version_run::kTokens);
    for (const std::size_t i : samples_of_[segment]) {
      const std::int64_t first = offsets[i], count = counts[i];
      if (first < 0 || count < 0 || first > std::ssize(versions) - count) {
        fail("{}: a response points outside of {}; the file is damaged", file.path().string(),
             schema::version_run::kTokens.path);
      }
      for (auto run = static_cast<std::size_t>(first); std::ssize(runs[i]) < count; ++run) {
        runs[i].push_back({versions[run], tokens[run]});
      }
    }
  }
  return runs;
}

std::vector<std::int32_t> RunReader::response_ids(std::size_t index) const {
  const SamplePlace& place = samples_.at(index);
  const SegmentReader& file = segments_[place.segment];
  return file.read(schema::token::kId, at(file, schema::sample::kTokenOffset, place.row),
                   at(file, schema::sample::kTokenCount, place.row));
}

std::string RunReader::extracted(std::size_t index) const {
  const SamplePlace& place = samples_.at(index);
  const SegmentReader& file = segments_[place.segment];
  return file.text(at(file, schema::sample::kExtractedOffset, place.row),
                   at(file, schema::sample::kExtractedCount, place.row));
}

ProblemText RunReader::problem(std::size_t index) const {
  namespace c = schema::problem;
  const SamplePlace& place = samples_.at(index);
  const SegmentReader& file = segments_[place.segment];
  const std::size_t row = place.problem;
  ProblemText problem;
  problem.text = file.text(at(file, c::kTextOffset, row), at(file, c::kTextCount, row));
  problem.gold = file.text(at(file, c::kGoldOffset, row), at(file, c::kGoldCount, row));
  problem.data_source = file.text(at(file, c::kSourceOffset, row), at(file, c::kSourceCount, row));
  problem.prompt_ids = file.read(schema::prompt::kId, at(file, c::kPromptOffset, row),
                                 at(file, c::kPromptCount, row));
  return problem;
}

}  // namespace lie

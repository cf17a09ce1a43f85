#include "common/trajectory/run_reader.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "common/base/error.h"
#include "common/trajectory/segments.h"

namespace lie {

namespace fs = std::filesystem;

RunReader::RunReader(const fs::path& directory)
    : log_(directory), notes_(missing_segments(directory)) {
  std::ranges::copy(log_.notes(), std::back_inserter(notes_));
  for (std::size_t segment = 0; segment < segments().size(); ++segment) index_samples(segment);
  std::ranges::sort(samples_, {}, &SamplePlace::key);
  samples_of_.resize(segments().size());
  for (std::size_t i = 0; i < samples_.size(); ++i) samples_of_[samples_[i].segment].push_back(i);
  const auto repeated = std::ranges::adjacent_find(samples_, {}, &SamplePlace::key);
  if (repeated != samples_.end()) {
    fail(
        "{} and {}: both hold step {} group {} sample {}; remove the one that does not belong to "
        "this run",
        segments()[repeated->segment].path().string(),
        segments()[std::next(repeated)->segment].path().string(), repeated->key.step,
        repeated->key.group, repeated->key.sample);
  }
}

/// Adds the responses of a segment, except those of incomplete steps.
void RunReader::index_samples(std::size_t segment) {
  const SegmentReader& file = segments()[segment];
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
    if (!log_.holds(step[i])) continue;
    const auto found = problems.find({purpose[i], step[i], group[i], 0});
    if (found == problems.end()) {
      fail("{}: step {} group {} has responses but no row in /problem; the file is damaged",
           file.path().string(), step[i], group[i]);
    }
    samples_.push_back({{purpose[i], step[i], group[i], sample[i]}, segment, i, found->second});
  }
}

void RunReader::read(std::span<const Reading> columns) const {
  for (std::size_t segment = 0; segment < segments().size(); ++segment) {
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
  for (const SegmentReader& segment : segments()) {
    for (const RewardName& reward : segment.info().rewards) {
      if (std::ranges::count(all, reward.name, &RewardName::name) == 0) all.push_back(reward);
    }
  }
  return all;
}

std::vector<std::string> RunReader::numbers() const {
  std::set<std::string> names;
  for (const SegmentReader& segment : segments()) {
    names.insert(segment.info().numbers.begin(), segment.info().numbers.end());
  }
  return {names.begin(), names.end()};
}

std::vector<std::int32_t> RunReader::response_ids(std::size_t index) const {
  const SamplePlace& place = samples_.at(index);
  const SegmentReader& file = segments()[place.segment];
  return file.read(schema::token::kId, at(file, schema::sample::kTokenOffset, place.row),
                   at(file, schema::sample::kTokenCount, place.row));
}

std::string RunReader::extracted(std::size_t index) const {
  const SamplePlace& place = samples_.at(index);
  const SegmentReader& file = segments()[place.segment];
  return file.text(at(file, schema::sample::kExtractedOffset, place.row),
                   at(file, schema::sample::kExtractedCount, place.row));
}

ProblemText RunReader::problem(std::size_t index) const {
  namespace c = schema::problem;
  const SamplePlace& place = samples_.at(index);
  const SegmentReader& file = segments()[place.segment];
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

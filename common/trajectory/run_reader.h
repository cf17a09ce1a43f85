// Reads all trajectories of a run: every learner's segments, merged in canonical order.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "common/trajectory/reader.h"

namespace lie {

/// A response's place in the canonical order, which depends neither on segments nor on learners.
struct SampleKey {
  std::uint8_t purpose = 0;
  std::int64_t step = 0, group = 0;
  std::int32_t sample = 0;
  auto operator<=>(const SampleKey&) const = default;
};

/// Where a response is stored.
struct SamplePlace {
  SampleKey key;
  std::size_t segment = 0;
  std::size_t row = 0;      // of /sample in that segment
  std::size_t problem = 0;  // row of /problem in that segment
};

/// The problem of a group.
struct ProblemText {
  std::string text, gold, data_source;
  std::vector<std::int32_t> prompt_ids;
};

/// All responses of the steps that every learner completed. A segment's last steps that some
/// learner lacks (a job that was killed) are left out.
class RunReader {
 public:
  /// `directory` holds the *.h5 files. None: an empty run. Throws Error naming the file that cannot
  /// be read or that repeats a response.
  explicit RunReader(const std::filesystem::path& directory);

  const std::vector<SegmentReader>& segments() const { return segments_; }
  /// [N], canonical order.
  const std::vector<SamplePlace>& samples() const { return samples_; }
  /// What was left out and why, one sentence each.
  const std::vector<std::string>& notes() const { return notes_; }
  /// The reward terms of the segments: the first one's, then what others have besides.
  RewardNames rewards() const;

  /// Names of the further numbers of all segments, ascending.
  std::vector<std::string> numbers() const;

  /// Reads one column of /sample of one segment, where that has it.
  using Reading = std::function<void(std::size_t segment)>;
  /// set(i, value) for response i of samples(). `column` is a schema::Column or a NamedColumn.
  template <typename C, typename Set>
  Reading each(const C& column, Set set) const {
    return [this, column, set](std::size_t segment) {
      const schema::Column<typename C::Value>& of_file = column;
      if (!segments_[segment].has(of_file)) return;
      const auto values = segments_[segment].read(of_file);
      for (const std::size_t i : samples_of_[segment]) set(i, values[samples_[i].row]);
    };
  }
  /// Into values, [N], canonical order; NaN (of integers: 0) where a segment lacks the column.
  template <typename C>
  Reading into(std::vector<typename C::Value>& values, const C& column) const {
    values.assign(samples_.size(), std::numeric_limits<typename C::Value>::quiet_NaN());
    return each(column, [&values](std::size_t i, auto value) { values[i] = value; });
  }
  /// Several columns at the price of one pass over the files.
  void read(std::span<const Reading> columns) const;
  /// One column.
  template <typename C>
  std::vector<typename C::Value> column(const C& column) const {
    std::vector<typename C::Value> values;
    read(std::array{into(values, column)});
    return values;
  }

  /// [N] Which weights sampled which tokens; empty where a segment does not say, since all are of
  /// the policy version of the response.
  std::vector<VersionRuns> version_runs() const;

  /// Of response `index` of samples(): reads only what it needs.
  std::vector<std::int32_t> response_ids(std::size_t index) const;
  std::string extracted(std::size_t index) const;
  ProblemText problem(std::size_t index) const;

 private:
  void note_missing(const std::filesystem::path& directory);
  void open(const std::filesystem::path& directory);
  void keep_common_steps();
  void index_samples(std::size_t segment);
  void merge_samples();

  std::vector<SegmentReader> segments_;
  std::vector<SamplePlace> samples_;
  std::vector<std::vector<std::size_t>> samples_of_;  // a segment: indices into samples_
  std::vector<std::string> notes_;
};

}  // namespace lie

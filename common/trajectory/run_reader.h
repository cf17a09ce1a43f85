// Reads all trajectories of a run: every learner's segments, merged in canonical order.
#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/trajectory/reader.h"

namespace lie {

/// A response's place in the canonical order, which depends neither on segments nor on learners.
struct SampleKey {
  std::uint8_t purpose = 0;
  std::int64_t step = 0;
  std::int64_t group = 0;
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
  std::string text;
  std::string gold;
  std::string data_source;
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

  /// A column of /sample over all responses, [N], canonical order.
  template <typename T>
  std::vector<T> column(const schema::Column<T>& column) const {
    std::vector<T> merged(samples_.size());
    for (std::size_t s = 0; s < segments_.size(); ++s) fill(column, s, merged);
    return merged;
  }
  /// The values of a reward term, NaN where a segment has no such column.
  std::vector<float> reward(const std::string& name) const;
  /// The same of a further number.
  std::vector<double> number(const std::string& name) const;

  /// Of response `index` of samples(): reads only what it needs.
  std::vector<std::int32_t> response_ids(std::size_t index) const;
  std::string extracted(std::size_t index) const;
  ProblemText problem(std::size_t index) const;

 private:
  /// The values of one segment's rows, to their places.
  template <typename T>
  void fill(const schema::Column<T>& column, std::size_t segment, std::vector<T>& merged) const {
    const std::vector<T> values = segments_[segment].read(column);
    for (std::size_t i = 0; i < merged.size(); ++i) {
      if (samples_[i].segment == segment) merged[i] = values[samples_[i].row];
    }
  }
  void note_missing(const std::filesystem::path& directory);
  void open(const std::filesystem::path& directory);
  void keep_common_steps();
  void index_samples(std::size_t segment);

  std::vector<SegmentReader> segments_;
  std::vector<SamplePlace> samples_;
  std::vector<std::string> notes_;
};

}  // namespace lie

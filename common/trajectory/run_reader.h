// Reads all trajectories of a run: the segments of all learners, merged in canonical order.
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

/// Position of a response in the canonical order, which depends neither on segments nor on
/// learners.
struct SampleKey {
  std::uint8_t purpose = 0;
  std::int64_t step = 0, group = 0;
  std::int32_t sample = 0;
  auto operator<=>(const SampleKey&) const = default;
};

struct SamplePlace {
  SampleKey key;
  std::size_t segment = 0;
  std::size_t row = 0;      // row of /sample in that segment
  std::size_t problem = 0;  // row of /problem in that segment
};

struct ProblemText {
  std::string text, gold, data_source;
  std::vector<std::int32_t> prompt_ids;
};

/// All responses of the steps that every learner completed. If a job was killed, the last steps of
/// a segment may be missing in other learners' files; such steps are excluded.
class RunReader {
 public:
  /// Opens the *.h5 files in `directory`. Without files the run is empty. Throws Error naming a
  /// file that cannot be read or that repeats a response.
  explicit RunReader(const std::filesystem::path& directory);

  const std::vector<SegmentReader>& segments() const { return segments_; }
  /// Returns the locations of all responses: [N], in canonical order.
  const std::vector<SamplePlace>& samples() const { return samples_; }
  /// Returns what is excluded or missing and why, one sentence each.
  const std::vector<std::string>& notes() const { return notes_; }
  /// Returns the reward terms of all segments: those of the first segment, then additional ones of
  /// others.
  RewardNames rewards() const;

  /// Returns the names of the further numbers of all segments, ascending.
  std::vector<std::string> numbers() const;

  /// Reads one column of /sample in one segment, if the segment has it.
  using Reading = std::function<void(std::size_t segment)>;
  /// Returns a Reading that calls set(i, value) for response i of samples(). `column` is a
  /// schema::Column or a NamedColumn.
  template <typename C, typename Set>
  Reading each(const C& column, Set set) const {
    return [this, column, set](std::size_t segment) {
      const schema::Column<typename C::Value>& of_file = column;
      if (!segments_[segment].has(of_file)) return;
      const auto values = segments_[segment].read(of_file);
      for (const std::size_t i : samples_of_[segment]) set(i, values[samples_[i].row]);
    };
  }
  /// Returns a Reading that fills `values`: [N], in canonical order. Responses of segments without
  /// the column get NaN, or 0 for integers.
  template <typename C>
  Reading into(std::vector<typename C::Value>& values, const C& column) const {
    values.assign(samples_.size(), std::numeric_limits<typename C::Value>::quiet_NaN());
    return each(column, [&values](std::size_t i, auto value) { values[i] = value; });
  }
  /// Reads several columns in one pass over the files.
  void read(std::span<const Reading> columns) const;
  /// Reads one column: [N], in canonical order.
  template <typename C>
  std::vector<typename C::Value> column(const C& column) const {
    std::vector<typename C::Value> values;
    read(std::array{into(values, column)});
    return values;
  }

  /// Returns which weights sampled which tokens: [N], in canonical order. The entry is empty if the
  /// segment does not store it; all tokens are then of the response's policy version.
  std::vector<VersionRuns> version_runs() const;

  /// Return data of response `index` of samples(). They read only what they need.
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
  std::vector<std::vector<std::size_t>> samples_of_;  // by segment: indices into samples_
  std::vector<std::string> notes_;
};

}  // namespace lie

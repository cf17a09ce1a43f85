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

#include "common/trajectory/step_log.h"

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

/// All responses of the steps that every learner completed, by column.
class RunReader {
 public:
  /// Opens the *.h5 files in `directory`. Without files the run is empty. Throws Error naming a
  /// file that cannot be read or that repeats a response.
  explicit RunReader(const std::filesystem::path& directory);

  /// Returns the same steps, to be read one at a time.
  const StepLog& log() const { return log_; }
  const std::vector<SegmentReader>& segments() const { return log_.segments(); }
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
  /// Returns a Reading that fills `values`: [N], in canonical order. Responses of segments without
  /// the column get NaN, or 0 for integers. `column` is a schema::Column or a NamedColumn.
  template <typename C>
  Reading into(std::vector<typename C::Value>& values, const C& column) const {
    values.assign(samples_.size(), std::numeric_limits<typename C::Value>::quiet_NaN());
    return [this, column, &values](std::size_t segment) {
      const schema::Column<typename C::Value>& of_file = column;
      if (!segments()[segment].has(of_file)) return;
      const auto own = segments()[segment].read(of_file);
      for (const std::size_t i : samples_of_[segment]) values[i] = own[samples_[i].row];
    };
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

  /// Return data of response `index` of samples(). They read only what they need.
  std::vector<std::int32_t> response_ids(std::size_t index) const;
  std::string extracted(std::size_t index) const;
  ProblemText problem(std::size_t index) const;

 private:
  void index_samples(std::size_t segment);

  StepLog log_;
  std::vector<SamplePlace> samples_;
  std::vector<std::vector<std::size_t>> samples_of_;  // by segment: indices into samples_
  std::vector<std::string> notes_;
};

}  // namespace lie

// Reads a run's log step by step, for example to repeat the learner's updates.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "common/trajectory/reader.h"
#include "common/trajectory/record.h"

namespace lie {

/// The steps that are complete in the files of all learners. Only the requested step is in memory.
/// Not thread-safe.
class StepLog {
 public:
  /// Opens the *.h5 files in `directory`, except those that can only hold steps up to `after`.
  /// Throws Error naming a file that cannot be read or that repeats a step of another.
  explicit StepLog(const std::filesystem::path& directory, std::int64_t after = -1);

  /// Returns the opened files, by start step and learner.
  const std::vector<SegmentReader>& segments() const { return segments_; }
  /// Returns which steps are excluded or lost, a sentence for each range. If a job was killed, the
  /// last steps of a segment may be missing in other learners' files.
  const std::vector<std::string>& notes() const { return notes_; }

  bool holds(std::int64_t step) const { return places_.contains(step); }
  /// Returns all complete steps, ascending.
  std::vector<std::int64_t> steps() const;
  /// Returns the attributes of the first file. Throws Error if there is no file.
  const TrajectoryInfo& info() const;
  /// Returns the attributes of the first file that holds a complete step.
  const TrajectoryInfo& info_of(std::int64_t step) const;
  /// Returns the greatest step L such that after + 1 to L are all complete, or `after` if there is
  /// none.
  std::int64_t last_after(std::int64_t after) const;

  /// Returns a step as it was logged: the training groups of all learners in canonical order, then
  /// the evaluation groups, with the numbers of their scores by name. Training groups have results,
  /// with log-probs if they have a mini-batch. Fields that the log does not store are empty: the
  /// texts (decode the responses), the roles' clocks and Prompt::row. Step 0 is the evaluation of
  /// the start policy. Throws Error if the step is not complete, and naming the file and column if
  /// it cannot be read.
  StepRecord read(std::int64_t step) const;

 private:
  struct Place {
    std::size_t segment = 0;
    std::size_t index = 0;  // index of the step in that segment
  };
  void add_steps(std::size_t first, std::size_t end);
  void note_lost_steps();
  const std::vector<Place>& places_of(std::int64_t step) const;

  std::filesystem::path directory_;
  std::vector<SegmentReader> segments_;
  std::map<std::int64_t, std::vector<Place>> places_;  // by step: its places, by learner
  std::vector<std::string> notes_;
};

}  // namespace lie

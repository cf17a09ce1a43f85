// Reads a run's log step by step: what a learner needs to learn from it what it learned before.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <vector>

#include "common/trajectory/reader.h"
#include "common/trajectory/record.h"

namespace lie {

/// The steps that are complete in the files of all learners. Only the step asked for is in memory.
/// One thread.
class StepLog {
 public:
  /// `directory` holds the *.h5 files; those that can only hold steps up to `after` are not opened.
  /// Throws Error naming a file that cannot be read or that repeats a step of another.
  explicit StepLog(const std::filesystem::path& directory, std::int64_t after = -1);

  bool holds(std::int64_t step) const { return places_.contains(step); }
  /// All that are held, ascending.
  std::vector<std::int64_t> steps() const;
  /// What the first file says of the run. Throws Error if there is no file.
  const TrajectoryInfo& info() const;
  /// The greatest step L such that after + 1 to L are all held; `after` if there is none.
  std::int64_t last_after(std::int64_t after) const;

  /// A step as it was logged: the training groups of all learners in canonical order, then those
  /// of the evaluation, with the numbers of their scores by name. Training groups have results,
  /// with log-probs where they have a mini-batch. What the log does not keep is empty: the texts
  /// (decode the responses), the roles' clocks and Prompt::row. Step 0: the evaluation of the start
  /// policy. Throws Error if the step is not held, or naming the file and column that cannot be
  /// read.
  StepRecord read(std::int64_t step) const;

 private:
  struct Place {
    std::size_t segment = 0;
    std::size_t index = 0;  // of the step in that segment
  };
  void add_steps(std::size_t first, std::size_t end);

  std::filesystem::path directory_;
  std::vector<SegmentReader> segments_;
  std::map<std::int64_t, std::vector<Place>> places_;  // of a step, by learner
};

}  // namespace lie

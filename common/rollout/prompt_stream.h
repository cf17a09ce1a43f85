// The order in which a run draws its problems: a pure function of seed, pass and position.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/rollout/rollout.h"

namespace lie {

/// A range of measured accuracies, ends included.
struct AccuracyBand {
  double from = 0, to = 1;
  bool operator==(const AccuracyBand&) const = default;
};

/// Returns the band of a text such as "0.25-0.75". Throws Error that names `key` if it is none.
AccuracyBand parse_band(const std::string& text, const std::string& key);

/// The problems of a training run, file by file.
struct TrainingPrompts {
  std::vector<Prompt> prompts;
  std::vector<std::int64_t> file_sizes = {};  // number of prompts of each file; empty: one file
  std::vector<double> accuracies = {};        // measured accuracy of each prompt; empty: unknown
};

struct PromptOrder {
  std::uint64_t seed = 0;
  bool shuffle = true;  // false: the order of the files
  /// The share of each file in a pass is proportional to its weight. Empty: its number of rows.
  std::vector<std::int64_t> weights = {};
  /// Pass p draws the problems of band p, and every pass after the last band those of the last.
  /// Empty: every pass draws all problems.
  std::vector<AccuracyBand> bands = {};
};

/// What a pass draws from one file.
struct FileShare {
  std::vector<std::size_t> members;  // indices of the file's problems of the band
  std::int64_t drawn = 0;            // problems in a pass; without weights all members
};
using PassPlan = std::vector<FileShare>;  // [files]

/// Returns the plans of the passes: one for each band, at least one. Throws Error if a pass would
/// have no prompt, or no prompt of a weighted file.
std::vector<PassPlan> plan_passes(const TrainingPrompts& prompts, const PromptOrder& order);

/// The position of a prompt stream. A checkpoint stores nothing else of the stream.
struct PromptStreamState {
  std::int64_t epoch = 0;     // completed passes over the problems
  std::int64_t position = 0;  // problems already drawn in the current pass
  bool operator==(const PromptStreamState&) const = default;
};

/// An endless stream of problems in passes. Without weights a pass yields every problem of its band
/// once. With weights it is as long, but each file fills its share: a file too small for its share
/// begins again within the pass, and one too large continues in the next pass. Shuffles are
/// Fisher-Yates permutations by random_bits(): of the pass by (seed, kShuffleStream, pass), and of
/// a weighted file by (seed, kFileShuffleStream, its own pass, file, first pass of the band). Not
/// thread-safe.
class PromptStream {
 public:
  /// Throws Error as plan_passes() does.
  PromptStream(TrainingPrompts prompts, PromptOrder order);

  /// Returns the next `n` problems. Continues into the next pass, so a batch across the boundary
  /// may hold a problem twice.
  std::vector<Prompt> next(std::int64_t n);

  PromptStreamState state() const { return state_; }
  /// Returns the state of a stream that has yielded `n` problems.
  PromptStreamState state_after(std::int64_t n) const;

  /// Continues from a saved state(). Throws Error if the state does not fit the dataset.
  void restore(const PromptStreamState& state);

  /// Returns the number of problems in the first `passes` passes.
  std::int64_t problems_in(std::int64_t passes) const;

 private:
  const PassPlan& plan(std::int64_t pass) const;
  std::int64_t pass_size(std::int64_t pass) const;
  /// Returns the first of the passes up to this one, without a gap, that draw from the same
  /// problems of the file.
  std::int64_t first_of_band(std::int64_t pass, std::size_t file) const;
  /// Returns how many problems of the file these passes have drawn before this one.
  std::int64_t drawn_before(std::int64_t pass, std::size_t file) const;
  void append_weighted(std::size_t file);
  void order_pass();

  TrainingPrompts prompts_;
  PromptOrder options_;
  std::vector<PassPlan> plans_;  // plan_passes()
  PromptStreamState state_;
  std::vector<std::size_t> order_;  // indices into prompts_, in the order of the current pass
};

}  // namespace lie

// The order in which a run draws its problems: a pure function of seed, epoch and position.
#pragma once

#include <cstdint>
#include <vector>

#include "common/rollout/rollout.h"

namespace lie {

/// The position of a prompt stream. A checkpoint stores nothing else of the stream.
struct PromptStreamState {
  std::int64_t epoch = 0;     // completed passes over the dataset
  std::int64_t position = 0;  // problems already drawn in the current epoch
  bool operator==(const PromptStreamState&) const = default;
};

/// An endless stream that yields every problem once per epoch. Shuffled epochs are independent
/// Fisher-Yates permutations by random_bits(seed, kShuffleStream, epoch). Not thread-safe.
class PromptStream {
 public:
  /// Throws Error if there is no prompt.
  PromptStream(std::vector<Prompt> prompts, std::uint64_t seed, bool shuffle);

  /// Returns the next `n` problems. Continues into the next epoch, so a batch across the boundary
  /// may hold a problem twice.
  std::vector<Prompt> next(std::int64_t n);

  PromptStreamState state() const { return state_; }
  /// Returns the state of a stream that has yielded `n` problems.
  PromptStreamState state_after(std::int64_t n) const { return {n / size(), n % size()}; }

  /// Continues from a saved state(). Throws Error if the state does not fit the dataset.
  void restore(const PromptStreamState& state);

  std::int64_t size() const { return static_cast<std::int64_t>(prompts_.size()); }

 private:
  void order_epoch();

  std::vector<Prompt> prompts_;
  std::uint64_t seed_;
  bool shuffle_;
  PromptStreamState state_;
  std::vector<std::size_t> order_;  // indices into prompts_, in the order of the current epoch
};

}  // namespace lie

// Counter-based random numbers: a draw is a pure function of its key. No draw depends on the rank,
// the order of draws, or the other sequences of the batch (invariant E3).
#pragma once

#include <cstdint>

namespace lie {

/// Identifies one random draw. Draws with different keys are independent.
struct RandomKey {
  std::uint64_t seed = 0;     // seed of the run
  std::uint32_t stream = 0;   // purpose of the draw, a RandomStream
  std::uint32_t step = 0;     // training step, or epoch of a shuffle
  std::uint32_t problem = 0;  // dataset row
  std::uint32_t sample = 0;   // response of the step, or member of the group; below 2^24
  std::uint32_t index = 0;    // token index within the response, or element of a shuffle
};

/// The purpose of a draw. Draws for different purposes are independent. The Python package draws by
/// the same function for 5 and for its own 6 (python/lie_cluster/random_bits.py).
enum RandomStream : std::uint32_t {
  kRolloutStream = 1,
  kEvaluationStream = 2,
  kShuffleStream = 3,
  kInitializationStream = 4,
  kTokenRuleStream = 6,
  kFileShuffleStream = 7,
  kAdapterStream = 8,
};

/// Returns 64 uniform random bits for `key`: Philox 4x32-10 (Salmon et al., SC 2011).
std::uint64_t random_bits(const RandomKey& key);

/// Returns a uniform float in [0, 1) with 24 random bits.
float random_uniform(const RandomKey& key);

/// Returns a standard normal number by Box-Muller from two words of the draw for `key`.
float random_normal(const RandomKey& key);

}  // namespace lie

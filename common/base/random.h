// Counter-based random numbers: a draw is a pure function of its key, so no draw depends on which
// rank makes it, in which order, or beside which other sequence (invariant E3).
#pragma once

#include <cstdint>

namespace lie {

/// Names one random draw. Two draws with different keys are independent.
struct RandomKey {
  std::uint64_t seed = 0;     // of the run
  std::uint32_t stream = 0;   // what the draw is for, see RandomStream
  std::uint32_t step = 0;     // training step, or epoch of a shuffle
  std::uint32_t problem = 0;  // dataset row
  std::uint32_t sample = 0;   // member of the group
  std::uint32_t index = 0;    // token index within the response, or element of a shuffle
};

/// What a draw is for; keeps draws of different purposes independent.
enum RandomStream : std::uint32_t {
  kRolloutStream = 1,
  kEvaluationStream = 2,
  kShuffleStream = 3,
  kInitialisationStream = 4,
  kBootstrapStream = 5,
  kJudgeStream = 6,
};

/// 64 uniform random bits for `key`: Philox 4x32-10 (Salmon et al., SC 2011).
std::uint64_t random_bits(const RandomKey& key);

/// Uniform float in [0, 1) with 24 random bits.
float random_uniform(const RandomKey& key);

/// Standard normal by Box-Muller on two draws of `key`.
float random_normal(const RandomKey& key);

}  // namespace lie

// Steps that repeat: a device that is told once what a step starts can start all of it again at one
// call. A decode step of few rows is hundreds of small kernels, and starting them one by one takes
// longer than they do.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <string>

namespace lie {

/// What tells a policy's steps apart.
using StepKey = std::array<std::int64_t, 3>;

class StepRecorder {
 public:
  /// What became of the steps so far.
  struct Use {
    std::int64_t recorded = 0;
    std::int64_t repeated = 0;  // without calling them
    std::string refusal;        // why none is recorded any more; empty: they are
  };

  virtual ~StepRecorder() = default;
  /// Calls `step`, or starts again what a step of that key has started, in the order of the
  /// operators' other calls. Steps of one key call the same operators with the same arguments, in
  /// memory that stays, until forget(); neither do they wait, nor does anything reach the host.
  virtual void run(const StepKey& key, const std::function<void()>& step) = 0;
  virtual void forget() = 0;
  const Use& use() const { return use_; }

 protected:
  Use use_;
};

/// The least 2^k or 3 * 2^k that is at least `count` >= 1: steps are padded to so many rows or
/// pages, so that they are of few shapes, and by less than half.
constexpr std::int64_t step_bucket(std::int64_t count) {
  const auto whole = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(count)));
  const std::int64_t less = whole / 4 * 3;
  return count <= less ? less : whole;
}

}  // namespace lie

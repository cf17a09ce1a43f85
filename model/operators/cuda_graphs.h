// Capture and replay of decode steps as CUDA graphs. A decode step of few rows launches hundreds of
// small kernels, and launching them one by one takes longer than they run. A captured step launches
// all of them with one call.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <string>

namespace lie {

/// Identifies a decode step of one policy: steps with equal keys launch the same kernels.
using CudaGraphKey = std::array<std::int64_t, 3>;

/// The CUDA graphs of one policy's decode steps.
class CudaGraphs {
 public:
  /// Counts of steps since construction.
  struct Usage {
    std::int64_t captured = 0;
    std::int64_t replayed = 0;  // launched from a graph, without calling the step function
    std::string refusal;        // why no further step is captured; empty while capture is possible
  };

  virtual ~CudaGraphs() = default;
  /// Calls `step`, or replays the graph captured for `key`, in order with the operators' other
  /// calls. Until clear(), steps with one key must call the same operators with the same arguments,
  /// in memory that stays valid. They must not wait for the device or copy anything to the host.
  virtual void run(const CudaGraphKey& key, const std::function<void()>& step) = 0;
  /// Destroys all graphs. The next step of each key is called again.
  virtual void clear() = 0;
  const Usage& usage() const { return usage_; }

 protected:
  Usage usage_;
};

/// Returns the least number of the form 2^k or 3 * 2^k that is at least `count` >= 1. Steps are
/// padded to this number of rows or pages, so that few shapes occur. Padding adds less than half of
/// `count`.
constexpr std::int64_t cuda_graph_bucket(std::int64_t count) {
  const auto power = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(count)));
  const std::int64_t three_quarters = power / 4 * 3;
  return count <= three_quarters ? three_quarters : power;
}

}  // namespace lie

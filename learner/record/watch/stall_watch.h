// Warns of a run that no longer moves.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace lie {

/// Warns if a run no longer moves, for example because the network loses messages silently: a
/// thread that calls `warn` with the time since the last moved(), once it exceeds `patience`, and
/// again each time it has doubled. `warn` is called on that thread. The run itself is not touched:
/// a long silence may be a long response.
class StallWatch {
 public:
  using Warn = std::function<void(std::chrono::minutes)>;
  /// The default warning names the likely causes.
  explicit StallWatch(std::chrono::milliseconds patience = std::chrono::minutes(30),
                      Warn warn = warn_of_network);
  /// Notes progress. Thread-safe.
  void moved();

 private:
  using Clock = std::chrono::steady_clock;
  static void warn_of_network(std::chrono::minutes silent);
  void run(const std::stop_token& stop, Clock::duration patience);

  const Warn warn_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  Clock::time_point moved_ = Clock::now();
  std::jthread thread_;  // the last member: it uses the others
};

}  // namespace lie

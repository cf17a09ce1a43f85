// Pauses for polling loops that leave the cores to the ranks that compute.
#pragma once

namespace lie {

/// Pauses between polls. They grow while nothing happens: 16 yields, then sleeps of 1 to 200 µs. A
/// rank that waits this way leaves its core to a computing rank, which a blocking MPI receive does
/// not.
class Backoff {
 public:
  void pause();
  /// Returns to the shortest pause. Call it when a poll found something.
  void reset() { pauses_ = 0; }

 private:
  int pauses_ = 0;
};

}  // namespace lie

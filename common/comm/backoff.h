// Waiting without stealing the cores of the ranks that work.
#pragma once

namespace lie {

/// Pauses between polls that grow while nothing happens: some yields, then sleeps of 1 to 200 µs.
/// Ranks that wait this way leave the core to a working rank; a blocking MPI receive does not.
class Backoff {
 public:
  void pause();
  /// Something happened: poll eagerly again.
  void reset() { pauses_ = 0; }

 private:
  int pauses_ = 0;
};

}  // namespace lie

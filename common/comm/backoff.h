// Waiting without stealing the cores of the ranks that work.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <functional>

namespace lie {

/// Pauses between polls that grow while nothing happens: some yields, then sleeps of 1 to 200 µs.
/// Ranks that wait so leave a working rank beside them its core; a blocking MPI receive does not.
class Backoff {
 public:
  void pause();
  /// Something happened: poll eagerly again.
  void reset() { pauses_ = 0; }

 private:
  int pauses_ = 0;
};

/// Polls until one of `ready` answers true and returns its position. A role that waits on several
/// things gives one callable for each, such as a try_receive into a variable.
template <std::predicate... Ready>
std::size_t wait_any(Ready&&... ready) {
  const std::array<std::function<bool()>, sizeof...(Ready)> polls{std::ref(ready)...};
  for (Backoff backoff;; backoff.pause()) {
    for (std::size_t i = 0; i < polls.size(); ++i) {
      if (polls[i]()) return i;
    }
  }
}

}  // namespace lie

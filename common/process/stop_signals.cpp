#include "common/process/stop_signals.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

namespace lie {
namespace {

// Globals, because a signal handler cannot reach anything else.
std::atomic<int> noted = 0;
std::atomic<bool> has_sigterm = false, has_sigint = false;
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

constexpr char kEnding[] =
    "\nending at once after the same signal again; start the same command again to resume\n";

/// Returns whether SIGTERM or SIGINT came before, too.
bool comes_again(int signal) {
  if (signal == SIGTERM) return has_sigterm.exchange(true);
  return signal == SIGINT && has_sigint.exchange(true);
}

/// Records the first signal. A second SIGTERM or SIGINT gets its default action, after a line.
void note(int signal) {
  int none = 0;
  noted.compare_exchange_strong(none, signal);
  if (!comes_again(signal)) return;
  const ssize_t ignored = ::write(STDERR_FILENO, kEnding, sizeof kEnding - 1);
  static_cast<void>(ignored);
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

}  // namespace

void note_stop_signals() {
  for (const int signal : {SIGTERM, SIGINT, SIGUSR1}) {
    struct sigaction action = {};
    action.sa_handler = note;
    action.sa_flags = SA_RESTART;
    ::sigaction(signal, &action, nullptr);
  }
}

int noted_stop_signal() { return noted.load(); }

std::string signal_name(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name != nullptr ? std::string("SIG") + name : "signal " + std::to_string(signal);
}

}  // namespace lie

#include "common/process/stop_signals.h"

#include <signal.h>

#include <atomic>
#include <cstring>

namespace lie {
namespace {

// A global, because a signal handler cannot reach anything else.
std::atomic<int> noted = 0;
static_assert(std::atomic<int>::is_always_lock_free);

void note(int signal) {
  int none = 0;
  noted.compare_exchange_strong(none, signal);
}

}  // namespace

void note_stop_signals() {
  for (const int signal : {SIGTERM, SIGINT, SIGUSR1}) {
    struct sigaction action = {};
    action.sa_handler = note;
    action.sa_flags = SA_RESTART;
    if (signal == SIGINT) action.sa_flags |= static_cast<int>(SA_RESETHAND);
    ::sigaction(signal, &action, nullptr);
  }
}

int noted_stop_signal() { return noted.load(); }

std::string signal_name(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name != nullptr ? std::string("SIG") + name : "signal " + std::to_string(signal);
}

}  // namespace lie

// SIGTERM, SIGINT and SIGUSR1 request a stop at a point where no work is lost. The handlers only
// record the signal.
#pragma once

#include <string>

namespace lie {

/// Installs the handlers: the process records these signals and continues. A second SIGINT ends it
/// at once. System calls are restarted after a signal where possible (SA_RESTART).
void note_stop_signals();

/// Returns the first recorded signal, or 0. Callable from any thread.
int noted_stop_signal();

/// Returns a name such as "SIGTERM".
std::string signal_name(int signal);

}  // namespace lie

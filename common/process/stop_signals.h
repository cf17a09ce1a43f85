// SIGTERM, SIGINT and SIGUSR1 request a stop at a point where no work is lost. The handlers only
// record the signal, up to a second one of the same kind, which ends the process.
#pragma once

#include <string>

namespace lie {

/// Installs the handlers: the process records these signals and continues. A second SIGTERM
/// or a second SIGINT ends it at once; one of each does not, because a launcher may add a SIGTERM
/// to the terminal's SIGINT. System calls are restarted after a signal where possible (SA_RESTART).
void note_stop_signals();

/// Returns the first recorded signal, or 0. Callable from any thread.
int noted_stop_signal();

/// Returns a name such as "SIGTERM".
std::string signal_name(int signal);

}  // namespace lie

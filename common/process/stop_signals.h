// SIGTERM, SIGINT and SIGUSR1 ask the program to stop where nothing is lost; no handler does more
// than note that.
#pragma once

#include <string>

namespace lie {

/// From now on the process notes these signals and lives on; a second SIGINT ends it at once. Calls
/// of the system go on after a signal where they can.
void note_stop_signals();

/// The first that was noted; 0: none. Any thread.
int noted_stop_signal();

/// "SIGTERM"
std::string signal_name(int signal);

}  // namespace lie

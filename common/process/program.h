// The frame of every main(): error reports and the exit status.
#pragma once

#include <functional>
#include <ostream>
#include <string_view>

namespace lie {

/// Exit status of a refused command line, as CLI11 has it for a missing argument.
constexpr int kRefusedCommandLine = 106;

struct ProgramOptions {
  int failed = 1;              // exit status after a failure
  bool reports_errors = true;  // false: another process of the job reports them
};

/// Runs a program's `body` and returns its exit status. An exception is reported on standard error
/// as "`name`: message", and the status is `failed`, or kRefusedCommandLine for a CommandLineError.
/// The same holds if standard output could not be written completely, for example on a full disk. A
/// closed pipe (`| head -1`) is not reported.
/// Standard streams that the caller has closed are first opened on /dev/null, so that no file of
/// the program gets their numbers.
int run_program(std::string_view name, const std::function<int()>& body,
                ProgramOptions options = {});

/// Flushes `out`, which is standard output. Throws Error if not all text could be written.
void flush_output(std::ostream& out);

}  // namespace lie

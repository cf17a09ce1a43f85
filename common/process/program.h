// What every main has around it: an honest end.
#pragma once

#include <functional>
#include <ostream>
#include <string_view>

namespace lie {

struct ProgramOptions {
  int failed = 1;      // the exit status where something failed
  bool speaks = true;  // off: another process of the job says it
};

/// Runs a program's `body` and returns its exit status. An exception is told on standard error as
/// "`name`: what it says", and the status is `failed`; so, too, where not all that was printed
/// reached standard output: on a full disk, for one. Where nobody reads on (`| head -1`), nothing
/// is said. Standard streams that the caller closed are opened on nothing first, so that no file of
/// the program takes their place.
int run_program(std::string_view name, const std::function<int()>& body,
                ProgramOptions options = {});

/// Throws Error where `out`, standard output, does not take all that was written to it.
void flush_output(std::ostream& out);

}  // namespace lie

#include "common/process/program.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>
#include <system_error>

#include "common/base/error.h"
#include "common/process/terminal.h"

namespace lie {
namespace {

constexpr int kStatusOfClosedPipe =
    128 + SIGPIPE;  // as a shell has it of one that the signal ended

/// A closed one would be the next file opened, and a message would land there. The other way round
/// than it is used, so that using it fails.
void open_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) >= 0) continue;
    const int opened = ::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    if (opened != stream && opened >= 0) ::close(opened);
  }
}

std::string output_failure(int code) {
  return fmt::format("standard output cannot be written{}; is the disk full?",
                     code == 0 ? "" : ": " + std::generic_category().message(code));
}

/// Whether all that was printed has reached standard output; errno says why not.
bool flush_standard_output() {
  errno = 0;
  const bool is_flushed = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  return std::cout.flush() && is_flushed;
}

}  // namespace

int run_program(std::string_view name, const std::function<int()>& body, ProgramOptions options) {
  open_closed_streams();
  const auto tell = [&](std::string_view what) {
    if (!options.speaks) return;
    std::fputs(fmt::format("{}{}: {}\n", line_start(stderr), name, what).c_str(), stderr);
  };
  int status = options.failed, code = 0;
  try {
    status = body();
  } catch (const std::system_error& error) {
    if (std::ferror(stdout) == 0) tell(error.what());
    code = error.code().value();  // of fmt::print
  } catch (const std::exception& error) {
    tell(error.what());
    if (!std::cout) return status;  // that is what was told
  }
  if (flush_standard_output()) return status;
  if (code == 0) code = errno;
  if (code == EPIPE) return status == 0 ? kStatusOfClosedPipe : status;
  tell(output_failure(code));
  return status == 0 ? options.failed : status;
}

void flush_output(std::ostream& out) {
  if (!out.flush()) throw Error(output_failure(errno));
}

}  // namespace lie

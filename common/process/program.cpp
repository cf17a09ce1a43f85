#include "common/process/program.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <system_error>

#include "common/base/error.h"
#include "common/process/terminal.h"
#include "common/text/printable.h"

namespace lie {
namespace {

constexpr int kStatusOfClosedPipe =
    128 + SIGPIPE;  // the status that a shell reports for a process killed by SIGPIPE

/// Opens closed standard streams on /dev/null. Otherwise the next opened file would get the
/// stream's number, and messages would be written into it. The streams are opened in the opposite
/// direction, so that using them fails.
void open_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) >= 0) continue;
    const int opened = ::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    if (opened != stream && opened >= 0) ::close(opened);
  }
}

std::string output_failure(int code) {
  return fmt::format("standard output cannot be written{}; check where it is redirected to",
                     code == 0 ? "" : ": " + std::generic_category().message(code));
}

/// Flushes standard output. Returns whether all printed text was written, else sets errno.
bool flush_standard_output() {
  errno = 0;
  const bool is_flushed = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  return std::cout.flush() && is_flushed;
}

}  // namespace

int run_program(std::string_view name, const std::function<int()>& body, ProgramOptions options) {
  open_closed_streams();
  // A file at its limit (ulimit -f) is then an error, as a full disk is.
  std::signal(SIGXFSZ, SIG_IGN);
  const auto report = [&](std::string_view what) {
    if (!options.reports_errors) return;
    std::fputs(fmt::format("{}{}: {}\n", line_start(stderr), name, printable(what)).c_str(),
               stderr);
  };
  int status = options.failed, code = 0;
  try {
    status = body();
  } catch (const std::system_error& error) {
    if (std::ferror(stdout) == 0) report(error.what());
    code = error.code().value();  // error code of fmt::print
  } catch (const CommandLineError& error) {
    report(error.what());
    status = kRefusedCommandLine;
  } catch (const std::bad_alloc&) {
    report("out of memory: an allocation failed; free memory, or raise the limit (ulimit -v)");
  } catch (const std::exception& error) {
    report(error.what());
    if (!std::cout) return status;  // this failure was the reported error
  }
  if (flush_standard_output()) return status;
  if (code == 0) code = errno;
  if (code == EPIPE) return status == 0 ? kStatusOfClosedPipe : status;
  report(output_failure(code));
  return status == 0 ? options.failed : status;
}

void flush_output(std::ostream& out) {
  if (!out.flush()) throw Error(output_failure(errno));
}

}  // namespace lie

#include "rewards/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include "common/base/error.h"

extern char** environ;

namespace lie {
namespace {

struct Pipe {
  Descriptor read, write;
};

/// Makes a pipe with close-on-exec, so that no program started later keeps it open.
Pipe make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail("cannot make a pipe: {}", std::strerror(errno));
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

void set_nonblocking(const Descriptor& descriptor) {
  if (::fcntl(descriptor.number(), F_SETFL, O_NONBLOCK) == 0) return;
  fail("cannot make a pipe nonblocking: {}", std::strerror(errno));
}

/// A line for /bin/sh: waits for the end of its standard input, then kills its process group.
constexpr const char* kGuard = "trap '' TERM INT HUP USR1 USR2; read -r _; kill -s KILL 0";

/// Puts the child into process group `group`, or one of its own for 0. Stop signals of Ctrl-C,
/// mpirun and Slurm go to this program's whole group, but the child is still needed until the
/// program has stopped. Resets the signals of failed writes to their defaults for the child, even
/// if they are ignored here.
void set_process_group(posix_spawnattr_t& attributes, pid_t group) {
  sigset_t writes;
  ::sigemptyset(&writes);
  ::sigaddset(&writes, SIGPIPE);
  ::sigaddset(&writes, SIGXFSZ);
  ::posix_spawnattr_setpgroup(&attributes, group);
  ::posix_spawnattr_setsigdefault(&attributes, &writes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
}

/// Starts the shell in a process group, with the given ends as its first streams.
pid_t spawn(std::string line, std::span<const int> ends, pid_t group) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  for (std::size_t i = 0; i < ends.size(); ++i) {
    ::posix_spawn_file_actions_adddup2(&actions, ends[i], static_cast<int>(i));
  }
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  set_process_group(attributes, group);
  std::string shell = "/bin/sh", flag = "-c";
  char* arguments[] = {shell.data(), flag.data(), line.data(), nullptr};
  pid_t process = -1;
  const int error =
      ::posix_spawn(&process, shell.c_str(), &actions, &attributes, arguments, environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) fail("cannot start `{}`: {}", line, std::strerror(error));
  return process;
}

/// Waits until a child has ended. Returns its status.
int reap(pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) continue;
  return status;
}

/// Blocks SIGPIPE in this thread during its lifetime: writing to a pipe without a reader is then an
/// error instead of a signal.
class WithoutBrokenPipeSignal {
 public:
  WithoutBrokenPipeSignal() {
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~WithoutBrokenPipeSignal() {
    const timespec now = {};
    if (::sigismember(&before_, SIGPIPE) == 0) ::sigtimedwait(&pipe_, nullptr, &now);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutBrokenPipeSignal(const WithoutBrokenPipeSignal&) = delete;

 private:
  sigset_t pipe_, before_;
};

std::string words_of(int status) {
  if (WIFEXITED(status)) return fmt::format("exited with status {}", WEXITSTATUS(status));
  return fmt::format("was killed by signal {} ({})", WTERMSIG(status),
                     ::strsignal(WTERMSIG(status)));
}

}  // namespace

void LineReader::read() {
  std::array<char, 65536> bytes;
  while (pipe_.is_open()) {
    const ssize_t got = ::read(pipe_.number(), bytes.data(), bytes.size());
    if (got > 0) {
      text_.append(bytes.data(), static_cast<std::size_t>(got));
    } else if (got == 0) {
      pipe_.close();
    } else if (errno != EINTR) {
      if (errno != EAGAIN) pipe_.close();
      return;
    }
  }
}

std::optional<std::string> LineReader::line() {
  const std::size_t end = text_.find('\n', searched_);
  const bool is_complete = end != std::string::npos;
  searched_ = is_complete ? 0 : text_.size();
  if (!is_complete && (!ended() || text_.empty())) return std::nullopt;
  std::string line = text_.substr(0, end);
  text_.erase(0, is_complete ? end + 1 : end);
  return line;
}

GuardedGroup::GuardedGroup() {
  Pipe alive = make_pipe();
  const int ends[] = {alive.read.number()};
  guard_ = spawn(kGuard, ends, 0);
  alive_ = std::move(alive.write);
}

GuardedGroup::~GuardedGroup() {
  ::kill(-guard_, SIGKILL);
  reap(guard_);
}

ChildProcess::ChildProcess(const std::string& command)
    : output_(Descriptor()), errors_(Descriptor()) {
  Pipe input = make_pipe(), output = make_pipe(), errors = make_pipe();
  const int ends[] = {input.read.number(), output.write.number(), errors.write.number()};
  process_ = spawn("exec " + command, ends, group_.id());
  set_nonblocking(input.write);
  set_nonblocking(output.read);
  set_nonblocking(errors.read);
  input_ = std::move(input.write);
  output_ = LineReader(std::move(output.read));
  errors_ = LineReader(std::move(errors.read));
}

ChildProcess::~ChildProcess() { kill(); }

void ChildProcess::write(std::string_view bytes) {
  waiting_ += bytes;
  pump(0);
}

void ChildProcess::pump(int milliseconds) {
  flush();
  pollfd pipes[] = {{waiting_.empty() ? -1 : input_.number(), POLLOUT, 0},
                    {output_.descriptor(), POLLIN, 0},
                    {errors_.descriptor(), POLLIN, 0}};
  ::poll(pipes, 3, milliseconds);
  output_.read();
  errors_.read();
  flush();
}

void ChildProcess::flush() {
  const WithoutBrokenPipeSignal guard;
  while (input_.is_open() && sent_ < waiting_.size()) {
    const ssize_t taken =
        ::write(input_.number(), waiting_.data() + sent_, waiting_.size() - sent_);
    if (taken > 0) sent_ += static_cast<std::size_t>(taken);
    if (taken < 0 && errno == EAGAIN) return;
    if (taken < 0 && errno != EINTR) input_.close();  // no reader; the exit status gives the reason
  }
  waiting_.clear();
  sent_ = 0;
  if (closing_) input_.close();
}

std::optional<std::string> ChildProcess::ended() {
  if (!reaped_) reaped_ = ::waitpid(process_, &status_, WNOHANG) == process_;
  if (!reaped_) return std::nullopt;
  return words_of(status_);
}

std::string ChildProcess::kill() {
  if (!reaped_) {
    ::kill(process_, SIGKILL);  // harmless if the process is ending: its status is already set
    status_ = reap(process_);
    reaped_ = true;
  }
  output_.read();
  errors_.read();
  return words_of(status_);
}

}  // namespace lie

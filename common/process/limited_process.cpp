#include "common/process/limited_process.h"

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <new>
#include <optional>

#include "common/base/error.h"

namespace lie {
namespace {

constexpr rlim_t kMemoryMebibytes = 1024;  // beyond what this process has at the fork
constexpr rlim_t kCpuSeconds = 3;          // for each request

/// Precedes a request or an answer.
struct Header {
  std::uint64_t bytes = 0;
  bool is_error = false;
};

/// Calls send(2), or recv(2), which ignores the flag, until all bytes have passed. Returns false if
/// the other side has closed the connection.
template <typename Call, typename Byte>
bool transfer(Call call, int socket, Byte* at, std::size_t size) {
  while (size > 0) {
    const ssize_t passed = call(socket, at, size, MSG_NOSIGNAL);
    if (passed < 0 && errno == EINTR) continue;
    if (passed <= 0) return false;
    at += passed;
    size -= static_cast<std::size_t>(passed);
  }
  return true;
}

bool send_text(int socket, std::string_view text, bool is_error) {
  const Header header = {text.size(), is_error};
  return transfer(::send, socket, reinterpret_cast<const char*>(&header), sizeof header) &&
         transfer(::send, socket, text.data(), text.size());
}

bool receive_text(int socket, std::string& text, bool& is_error) {
  Header header;
  if (!transfer(::recv, socket, reinterpret_cast<char*>(&header), sizeof header)) return false;
  is_error = header.is_error;
  text.resize(header.bytes);
  return transfer(::recv, socket, text.data(), text.size());
}

rlim_t memory_in_use() {
  rlim_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
}

/// Lowers a soft limit of this process.
void limit(__rlimit_resource_t resource, rlim_t value) {
  rlimit now = {};
  ::getrlimit(resource, &now);
  now.rlim_cur = std::min(value, now.rlim_max);
  ::setrlimit(resource, &now);
}

void allow_next_request() {
  rusage used = {};
  ::getrusage(RUSAGE_SELF, &used);
  const auto so_far = static_cast<rlim_t>(used.ru_utime.tv_sec + used.ru_stime.tv_sec);
  limit(RLIMIT_CPU, so_far + 1 + kCpuSeconds);
}

/// Keeps only `socket` open, so that the child holds no lock, connection or file of this process.
/// Ignores signals to the job, which are for its ranks.
void leave_the_job(int socket) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2}) ::signal(signal, SIG_IGN);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGXCPU}) ::signal(fault, SIG_DFL);
  ::close_range(STDERR_FILENO + 1, static_cast<unsigned>(socket) - 1, 0);
  ::close_range(static_cast<unsigned>(socket) + 1, ~0U, 0);
}

/// The child: answers requests until the parent closes the connection.
[[noreturn]] void serve(int socket, const LimitedProcess::Answer& answer) {
  leave_the_job(socket);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_AS, memory_in_use() + (kMemoryMebibytes << 20));
  bool ignored = false, is_served = true;
  for (std::string request; is_served && receive_text(socket, request, ignored);) {
    allow_next_request();
    try {
      is_served = send_text(socket, answer(request), false);
    } catch (const std::bad_alloc&) {
      is_served = send_text(
          socket, fmt::format("it needs more than {} MiB of memory", kMemoryMebibytes), true);
    } catch (const std::exception& error) {
      is_served = send_text(socket, error.what(), true);
    }
  }
  ::_exit(0);
}

}  // namespace

LimitedProcess::LimitedProcess(const Answer& answer) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    fail("cannot connect to a child process: {}", std::strerror(errno));
  }
  socket_ = Descriptor(ends[0]);
  const Descriptor of_child(ends[1]);
  child_ = ::fork();
  if (child_ == 0) serve(of_child.number(), answer);
  if (child_ < 0) fail("cannot start a child process: {}", std::strerror(errno));
}

LimitedProcess::~LimitedProcess() {
  if (!ended_.empty()) return;
  ::kill(child_, SIGKILL);
  ::waitpid(child_, nullptr, 0);
}

std::string LimitedProcess::ask(std::string_view request) {
  const std::lock_guard lock(mutex_);
  if (!ended_.empty()) throw Error(ended_);
  std::string answer;
  bool is_error = false;
  if (!send_text(socket_.number(), request, false) ||
      !receive_text(socket_.number(), answer, is_error)) {
    ended_ = how_it_ended();
    throw Error(ended_);
  }
  if (is_error) throw Error(answer);
  return answer;
}

std::string LimitedProcess::how_it_ended() {
  int status = 0;
  ::waitpid(child_, &status, 0);
  if (!WIFSIGNALED(status)) {
    return fmt::format("its process has ended with status {}", WEXITSTATUS(status));
  }
  if (WTERMSIG(status) == SIGXCPU) {
    return fmt::format("it takes more than {} s of processor time", kCpuSeconds);
  }
  return fmt::format("it crashes its process ({}), as endless recursion does",
                     ::strsignal(WTERMSIG(status)));
}

}  // namespace lie

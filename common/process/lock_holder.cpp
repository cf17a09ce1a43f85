#include "common/process/lock_holder.h"

#include <fmt/chrono.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "common/base/host_name.h"
#include "common/process/slurm_job.h"

namespace lie {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LockHolder, token, command, since, host, machine, boot,
                                   pid_namespace, pid, start_ticks, slurm_cluster, slurm_job,
                                   slurm_step, slurm_restarts, has_kernel_lock)
namespace {

using Json = nlohmann::json;

/// Returns the first line of a file. Empty if it cannot be read.
std::string line_of(const std::string& path) {
  std::string line;
  std::ifstream file(path);
  std::getline(file, line);
  return line;
}

std::string pid_namespace() {
  std::array<char, 64> name = {};
  const ssize_t length = ::readlink("/proc/self/ns/pid", name.data(), name.size());
  return length > 0 ? std::string(name.data(), static_cast<std::size_t>(length)) : std::string();
}

/// Fields 3, 20 and 22 of /proc/PID/stat.
struct ProcessState {
  char state = '?';
  std::int64_t threads = 0;
  std::uint64_t start_ticks = 0;  // since boot
  /// Returns whether all threads have ended but the parent has not yet collected the exit status.
  bool is_zombie() const { return state == 'Z' && threads <= 1; }
};

/// Reads the state of a process. Empty if it cannot be read. Parsing starts after the last ')',
/// because field 2, the program's name, may contain spaces and parentheses.
std::optional<ProcessState> state_of(std::int64_t pid) {
  const std::string line = line_of(fmt::format("/proc/{}/stat", pid));
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(line.substr(name_end + 1));
  ProcessState process;
  std::string skipped;
  fields >> process.state;
  for (int field = 4; field < 20; ++field) fields >> skipped;
  if (!(fields >> process.threads >> skipped >> process.start_ticks)) return std::nullopt;
  return process;
}

std::string fresh_token() {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number) {
    number = static_cast<std::uint64_t>(::getpid()) << 32 ^ static_cast<std::uint64_t>(::clock());
  }
  return fmt::format("{:016x}", number);
}

/// Returns the fate of a process of this pid namespace. kill() also works for processes that /proc
/// hides because they belong to other users.
HolderFate fate_of_process(std::int64_t pid, std::uint64_t start_ticks) {
  if (::kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH) return HolderFate::kGone;
  const auto process = state_of(pid);
  if (!process) return HolderFate::kRuns;
  const bool is_another = process->start_ticks != start_ticks;  // the pid was reused
  return is_another || process->is_zombie() ? HolderFate::kGone : HolderFate::kRuns;
}

bool same(const std::string& a, const std::string& b) { return !a.empty() && a == b; }

HolderFate fate_under_this_kernel(const LockHolder& holder, KernelLock lock) {
  if (same(holder.pid_namespace, pid_namespace())) {
    return fate_of_process(holder.pid, holder.start_ticks);
  }
  const bool is_released = holder.has_kernel_lock && lock == KernelLock::kFree;
  return is_released ? HolderFate::kGone : HolderFate::kUnknown;
}

}  // namespace

std::string LockHolder::name() const {
  const std::string job = slurm_job.empty() ? "" : fmt::format(", Slurm job {}", slurm_job);
  return fmt::format("\"{}\" on host {}, process {}{}, since {}", command, host, pid, job, since);
}

LockHolder this_process(std::string_view command) {
  const SlurmJob job = this_slurm_job();
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  return {.token = fresh_token(),
          .command = std::string(command),
          .since = fmt::format("{:%F %T} UTC", fmt::gmtime(now)),
          .host = host_name(),
          .machine = line_of("/etc/machine-id"),
          .boot = line_of("/proc/sys/kernel/random/boot_id"),
          .pid_namespace = pid_namespace(),
          .pid = ::getpid(),
          .start_ticks = state_of(::getpid()).value_or(ProcessState{}).start_ticks,
          .slurm_cluster = job.cluster,
          .slurm_job = job.id,
          .slurm_step = job.step,
          .slurm_restarts = job.restarts};
}

std::string to_text(const LockHolder& holder) {
  return Json(holder).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::optional<LockHolder> parse_lock_holder(std::string_view text) {
  try {
    return Json::parse(text).get<LockHolder>();
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

HolderFate fate_of(const LockHolder& holder, KernelLock lock) {
  if (lock == KernelLock::kHeld) return HolderFate::kRuns;
  const LockHolder here = this_process("");
  if (same(holder.boot, here.boot)) return fate_under_this_kernel(holder, lock);
  const bool rebooted = same(holder.machine, here.machine) && same(holder.host, here.host) &&
                        !holder.boot.empty() && !here.boot.empty();
  const SlurmJob job{holder.slurm_cluster, holder.slurm_job, holder.slurm_step,
                     holder.slurm_restarts};
  return rebooted || known_to_have_ended(job) ? HolderFate::kGone : HolderFate::kUnknown;
}

}  // namespace lie

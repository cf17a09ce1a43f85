// Who holds a lock file, and whether that process is known to be gone (invariant E9).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lie {

/// The process that made a lock file, as the file records it: a JSON object with these keys. Texts
/// are empty where the system does not tell.
struct LockHolder {
  std::string token;          // of this lock alone, 16 hexadecimal digits
  std::string command;        // "lie_cluster train"
  std::string since;          // "2026-11-22 09:45:11 UTC"
  std::string host;           // its name
  std::string machine;        // /etc/machine-id
  std::string boot;           // /proc/sys/kernel/random/boot_id
  std::string pid_namespace;  // "pid:[4026531836]": where its pid means something
  std::int64_t pid = 0;
  /// Start of the process, field 22 of /proc/PID/stat; tells reused pids apart.
  std::uint64_t start_ticks = 0;
  std::string slurm_cluster, slurm_job, slurm_step;
  std::int64_t slurm_restarts = 0;
  bool has_kernel_lock = false;  // an open file description lock on the file, too

  /// "lie_cluster train" on host n1, process 4711, Slurm job 12, since 2026-11-22 09:45:11 UTC
  std::string name() const;
};

/// This process, with a fresh token.
LockHolder this_process(std::string_view command);

std::string to_text(const LockHolder& holder);
/// Empty if the text is not to_text's: cut short, or of another program.
std::optional<LockHolder> parse_lock_holder(std::string_view text);

/// What the kernel says of the lock on the file itself.
enum class KernelLock { kHeld, kFree, kUnsupported };

enum class HolderFate { kRuns, kGone, kUnknown };

/// Gone only where that is certain. Same kernel: no process has that pid and start time, or, from
/// another pid namespace (container), the kernel's lock is free. Same machine: it has rebooted
/// since. Otherwise: Slurm says that the job or its step has ended (asks `squeue`, only within a
/// job of the same cluster).
HolderFate fate_of(const LockHolder& holder, KernelLock lock);

}  // namespace lie

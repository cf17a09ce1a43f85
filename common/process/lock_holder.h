// The holder of a lock file, and whether that process is known to have ended (invariant E9).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lie {

/// The process that created a lock file. The file stores it as a JSON object with these keys. Texts
/// are empty if the system does not provide them.
struct LockHolder {
  std::string token;          // unique to this lock, 16 hexadecimal digits
  std::string command;        // "lie_cluster train"
  std::string since;          // "2026-11-22 09:45:11 UTC"
  std::string host;           // host name
  std::string machine;        // /etc/machine-id
  std::string boot;           // /proc/sys/kernel/random/boot_id
  std::string pid_namespace;  // "pid:[4026531836]": the namespace of `pid`
  std::int64_t pid = 0;
  /// Start time of the process, field 22 of /proc/PID/stat. Distinguishes processes with the same
  /// pid.
  std::uint64_t start_ticks = 0;
  std::string slurm_cluster, slurm_job, slurm_step;
  std::int64_t slurm_restarts = 0;
  bool has_kernel_lock = false;  // it also holds an open file description lock on the file

  /// Returns "lie_cluster train" on host n1, process 4711, Slurm job 12, since 2026-11-22 09:45:11
  /// UTC.
  std::string name() const;
};

/// Describes this process, with a new random token.
LockHolder this_process(std::string_view command);

std::string to_text(const LockHolder& holder);
/// Parses the output of to_text(). Empty if the text is truncated or comes from another program.
std::optional<LockHolder> parse_lock_holder(std::string_view text);

/// The state of the kernel's lock on the file.
enum class KernelLock { kHeld, kFree, kUnsupported };

enum class HolderFate { kRuns, kGone, kUnknown };

/// Returns kGone only if the holder has certainly ended. This is so in these cases:
/// - Same boot and pid namespace: no running process has its pid and start time.
/// - Same boot, but another pid namespace (container): the kernel's lock is free.
/// - Same machine: it has rebooted since.
/// - Otherwise: `squeue` reports that the Slurm job or its step has ended. It is only called within
///   a job of the same cluster.
HolderFate fate_of(const LockHolder& holder, KernelLock lock);

}  // namespace lie

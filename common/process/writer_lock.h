// One writer per directory (invariant E9): a file that its writer keeps locked in the kernel.
//
//   DIRECTORY/writer.lock   locked as an open file description (fcntl(2)); its JSON names the
//                           holder
//
// The kernel releases the lock when its holder dies, and the next writer takes the file over. A
// free lock proves that a holder under this kernel has ended. It proves the same of other hosts on
// file systems that pass locks on: NFS, Lustre, GPFS and CephFS, unless mounted with local locks.
// Otherwise, and on file systems without locks, the file blocks other writers until its holder or a
// person removes it, except that a requeued Slurm job takes it over from its earlier run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <istream>
#include <optional>
#include <string>
#include <string_view>

#include "common/io/descriptor.h"

namespace lie {

/// The process that wrote a lock file, stored as a JSON object with these keys. Texts are empty if
/// the system does not provide them.
struct LockHolder {
  std::string command;  // "lie_cluster train"
  std::string since;    // "2026-11-22 09:45:11 UTC"
  std::string host;     // host name
  std::string boot;     // /proc/sys/kernel/random/boot_id, which identifies the running kernel
  std::int64_t pid = 0;
  std::string slurm_cluster, slurm_job;
  std::int64_t slurm_restarts = 0;  // number of times that the job was requeued
  bool has_kernel_lock = true;      // false: the file system has no locks

  /// Returns "lie_cluster train" on host n1, process 4711, Slurm job 12, since 2026-11-22 09:45:11
  /// UTC.
  std::string name() const;
};

/// Describes this process.
LockHolder this_process(std::string_view command);

std::string to_text(const LockHolder& holder);
/// Parses the output of to_text(). A text that is damaged or not complete has no names.
LockHolder parse_lock_holder(std::string_view text);

class WriterLock {
 public:
  /// Locks a directory, or a file by FILE.lock next to it. `command` names this program in the
  /// messages of others. Throws Error with holder, place and remedy if another process holds it or
  /// may hold it, or if the lock cannot be written.
  WriterLock(const std::filesystem::path& guarded, std::string_view command);
  /// Removes the lock. A process that dies leaves it to the next writer, which takes it over.
  ~WriterLock();
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;

  /// Returns the ended process whose lock was taken over, if any.
  const std::optional<LockHolder>& taken_from() const { return taken_from_; }

 private:
  bool acquire(const std::filesystem::path& guarded, LockHolder self);

  std::filesystem::path file_;
  Descriptor descriptor_;  // the open lock file, which keeps the kernel's lock
  std::optional<LockHolder> taken_from_;
};

/// Throws Error if another process holds the lock of `guarded` or may hold it. Writes nothing. The
/// result may be outdated when the call returns.
void check_unlocked(const std::filesystem::path& guarded);

/// Like check_unlocked(), and throws Error if the lock of `guarded` cannot be created.
void check_lockable(const std::filesystem::path& guarded);

/// Returns whether all hosts that mount the file system of `directory` see its locks, or only one
/// host can mount it. `mounts` is a proc_pid_mountinfo(5), `directory` an absolute path. Used by
/// WriterLock; separate for its tests.
bool locks_reach_all_hosts(std::istream& mounts, std::string_view directory);

/// The name of a directory's lock file.
inline constexpr const char* kWriterLockName = "writer.lock";

}  // namespace lie

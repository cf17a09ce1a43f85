// One writer per directory (invariant E9): a lock file that names its holder.
//
//   DIRECTORY/writer.lock               the writer's lock (format: common/process/lock_holder.h)
//   DIRECTORY/writer.lock.new-TOKEN     temporary name of a starting process's lock
//   DIRECTORY/writer.lock.after-TOKEN   the right to replace the lock with that token
//
// A starting process writes its lock file under the temporary name. It locks the file in the kernel
// if the file system supports that (an open file description lock, released when the process dies).
// Then it link()s the file to the final name, which succeeds for one process only.
//
// A lock whose holder has certainly ended is replaced by rename(). The right to replace it is a
// lock of the same kind, named after the replaced one. So exactly one of many starting processes
// wins, even if others are killed meanwhile. No step relies on clocks or on kernel locks that reach
// other hosts.
//
// On file systems without hard links the file is created with O_EXCL. A process killed while
// writing it then leaves a lock that does not name its holder.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "common/io/descriptor.h"
#include "common/process/lock_holder.h"

namespace lie {

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
  bool create(const std::filesystem::path& name);
  bool take(const std::filesystem::path& name);
  void acquire(const std::filesystem::path& name);
  bool replace(const std::filesystem::path& name, const LockHolder& gone);
  void remove_leftovers() const;
  std::filesystem::path beside(std::string_view what, const std::string& token) const;

  std::filesystem::path guarded_, file_;
  LockHolder self_;
  std::optional<LockHolder> taken_from_;
  Descriptor descriptor_;  // the open lock file, which keeps the kernel's lock
};

/// Throws Error if another process holds the lock of `guarded` or may hold it. Writes nothing. The
/// result may be outdated when the call returns.
void check_unlocked(const std::filesystem::path& guarded);

/// The common prefix of the names of a directory's lock files.
inline constexpr const char* kWriterLockName = "writer.lock";

}  // namespace lie

// One writer a directory (invariant E9): a lock file that names its holder.
//
//   DIRECTORY/writer.lock                 whoever made it is the writer;
//   common/process/lock_holder.h DIRECTORY/writer.lock.new-TOKEN       a starter's, before it has
//   that name DIRECTORY/writer.lock.after-TOKEN     held by the one starter that may replace
//   TOKEN's lock
//
// A starter writes its file under a temporary name, locks it in the kernel where the file system
// can (an open file description lock, freed when the process dies), and link()s it to the final
// name, which only one starter can. A lock whose holder is known to be gone is replaced by
// rename(). The right to replace it is a lock of the same kind, named after the one replaced: one
// of many starters wins, even if others are killed meanwhile. No step relies on clocks or on kernel
// locks that reach other hosts. Without hard links the file is made with O_EXCL; a starter killed
// while writing then leaves a lock that names no holder.
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
  /// Locks a directory, or another file by FILE.lock beside it. `command` names this program to
  /// others. Throws Error naming holder, place and remedy if another holds it or may hold it, or if
  /// the lock cannot be written.
  WriterLock(const std::filesystem::path& guarded, std::string_view command);
  /// Removes the lock. A process that dies leaves it behind for the next to take over.
  ~WriterLock();
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;

  /// The dead process whose lock was taken over.
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
  Descriptor descriptor_;  // of the lock file: as long as it is open, the kernel's lock is held
};

/// Throws Error where a WriterLock of this would, because another holds it or may hold it. Writes
/// nothing, and the answer may be old at once.
void check_unlocked(const std::filesystem::path& guarded);

/// The beginning of the names of a directory's lock files.
inline constexpr const char* kWriterLockName = "writer.lock";

}  // namespace lie

// One writer a directory (invariant E9): a lock file that names its holder.
//
//   DIRECTORY/writer.lock                 whoever made it is the writer; common/lock_holder.h
//   DIRECTORY/writer.lock.new-TOKEN       a starter's, before it has that name
//   DIRECTORY/writer.lock.after-TOKEN     held by the one starter that may replace TOKEN's lock
//
// A starter writes its file aside, locks it in the kernel where the file system can (an open file
// description lock: the process's death frees it), and gives it the name by link(), which only one
// can. A lock whose holder is known to be gone is replaced by rename(), under the right to do so:
// that is a lock of the same kind, named after the one that it replaces, so that of many starters
// one wins, also if others are killed on the way. No step relies on kernel locks that reach other
// hosts, nor on clocks. Without hard links the file is made with O_EXCL; killed while it writes, it
// leaves a lock that names no holder.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "common/lock_holder.h"

namespace lie {

class WriterLock {
 public:
  /// Of a directory, or of another file: then the lock is FILE.lock beside it. `command` names this
  /// program to others. Throws Error naming holder, place and remedy if another holds it or may
  /// hold it; if the lock cannot be written: read-only, full.
  WriterLock(const std::filesystem::path& guarded, std::string_view command);
  /// Removes the lock. A process that dies without leaves it behind, for the next to take over.
  ~WriterLock();
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;

  /// Whose lock was taken over: a process that is gone.
  const std::optional<LockHolder>& taken_from() const { return taken_from_; }

 private:
  bool create(const std::filesystem::path& name);
  bool take(const std::filesystem::path& name);
  void acquire(const std::filesystem::path& name);
  bool replace(const std::filesystem::path& name, const LockHolder& gone);
  void remove_leftovers() const;
  std::filesystem::path beside(std::string_view what, const std::string& token) const;

  std::filesystem::path guarded_;
  std::filesystem::path file_;
  LockHolder self_;
  std::optional<LockHolder> taken_from_;
  int descriptor_ = -1;  // of the lock file: as long as it is open, the kernel's lock is held
};

/// The beginning of the names of a directory's lock files.
inline constexpr const char* kWriterLockName = "writer.lock";

}  // namespace lie

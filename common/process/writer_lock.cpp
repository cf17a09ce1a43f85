#include "common/process/writer_lock.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

#include "common/base/error.h"
#include "common/io/file.h"

namespace lie {
namespace {

constexpr mode_t kReadableByAll = 0644;

[[noreturn]] void fail_on(const fs::path& path, std::string_view what, int code) {
  fail(
      "{}: cannot {}: {}; a writer needs its lock: check that the disk has free space and is "
      "writable",
      path.string(), what, std::generic_category().message(code));
}

struct flock whole_file() {
  struct flock range = {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  return range;
}

/// Takes the kernel's lock. Returns false on file systems without such locks, such as some network
/// file systems.
bool lock_in_kernel(int descriptor) {
  struct flock range = whole_file();
  return ::fcntl(descriptor, F_OFD_SETLK, &range) == 0;
}

KernelLock kernel_lock_of(int descriptor) {
  struct flock range = whole_file();
  if (::fcntl(descriptor, F_OFD_GETLK, &range) != 0) return KernelLock::kUnsupported;
  return range.l_type == F_UNLCK ? KernelLock::kFree : KernelLock::kHeld;
}

/// The state of a lock file.
struct Found {
  bool is_there = false;
  std::optional<LockHolder> holder = {};  // empty: the file could not be parsed
  KernelLock kernel_lock = KernelLock::kUnsupported;
};

Found look_at(const fs::path& name) {
  const Descriptor file(::open(name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!file.is_open() && errno == ENOENT) return {};
  if (!file.is_open()) fail_on(name, "read the lock", errno);
  std::array<char, 8192> text;  // a lock file has some hundred bytes
  const ssize_t length = ::read(file.number(), text.data(), text.size());
  Found found{.is_there = true, .kernel_lock = kernel_lock_of(file.number())};
  if (length > 0) found.holder = parse_lock_holder({text.data(), static_cast<std::size_t>(length)});
  return found;
}

bool is_held_by(const fs::path& name, const std::string& token) {
  const Found found = look_at(name);
  return found.holder && found.holder->token == token;
}

/// Throws Error unless the holder is known to have ended.
void refuse_unless_gone(const fs::path& guarded, const fs::path& name, const Found& found) {
  if (!found.holder) {
    const bool held = found.kernel_lock == KernelLock::kHeld;
    fail("{}: its lock {} does not name its holder{}", guarded.string(), name.string(),
         held ? ", but a process holds it: end that process"
              : "; if no process writes there, remove that file");
  }
  const HolderFate fate = fate_of(*found.holder, found.kernel_lock);
  if (fate == HolderFate::kRuns) {
    fail("{} is being written by {}: wait until it has ended, or choose another path",
         guarded.string(), found.holder->name());
  }
  if (fate == HolderFate::kUnknown) {
    fail(
        "{} is held by {}, and this host cannot find out whether that process still runs: if it "
        "has ended, remove {}",
        guarded.string(), found.holder->name(), name.string());
  }
}

fs::path lock_of(const fs::path& guarded) {
  return fs::is_directory(guarded) ? guarded / kWriterLockName
                                   : fs::path(guarded.string() + ".lock");
}

void write_whole(int descriptor, const fs::path& path, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno != EINTR) fail_on(path, "write it", errno);
    text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
  }
  if (::fsync(descriptor) != 0) fail_on(path, "sync it to the disk", errno);
}

}  // namespace

void check_unlocked(const fs::path& guarded) {
  const fs::path name = lock_of(guarded);
  const Found found = look_at(name);
  if (found.is_there) refuse_unless_gone(guarded, name, found);
}

WriterLock::WriterLock(const fs::path& guarded, std::string_view command)
    : guarded_(guarded), file_(lock_of(guarded)), self_(this_process(command)) {
  const fs::path aside = beside("new", self_.token);
  try {
    create(aside);
    acquire(file_);
  } catch (...) {
    ::unlink(aside.c_str());
    throw;
  }
  ::unlink(aside.c_str());
  try {
    remove_leftovers();
  } catch (const std::exception&) {  // leftover files are harmless
  }
}

WriterLock::~WriterLock() {
  try {
    if (is_held_by(file_, self_.token)) ::unlink(file_.c_str());
  } catch (const Error&) {  // unreadable: the next writer replaces it, as after a crash
  }
}

fs::path WriterLock::beside(std::string_view what, const std::string& token) const {
  return fmt::format("{}.{}-{}", file_.string(), what, token);
}

/// Creates the file with this process as holder and keeps it open. Returns false if it exists.
bool WriterLock::create(const fs::path& name) {
  Descriptor file(::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, kReadableByAll));
  if (!file.is_open() && errno == EEXIST) return false;
  if (!file.is_open()) fail_on(name, "create it", errno);
  descriptor_ = std::move(file);
  self_.has_kernel_lock = lock_in_kernel(descriptor_.number());
  try {
    write_whole(descriptor_.number(), name, to_text(self_));
  } catch (...) {
    ::unlink(name.c_str());
    throw;
  }
  return true;
}

/// Links this process's lock file to `name`. Returns false if another process has that name.
bool WriterLock::take(const fs::path& name) {
  if (::link(beside("new", self_.token).c_str(), name.c_str()) == 0) return true;
  if (errno == EEXIST) return is_held_by(name, self_.token);  // the link exists, its reply was lost
  const bool knows_no_links = errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS;
  if (!knows_no_links) fail_on(name, "create it", errno);
  return create(name);
}

void WriterLock::acquire(const fs::path& name) {
  while (!take(name)) {
    const Found found = look_at(name);
    if (!found.is_there) continue;  // released meanwhile
    refuse_unless_gone(guarded_, name, found);
    if (replace(name, *found.holder)) return;
  }
}

/// Replaces the lock of a process that has ended. Returns false if another process already did.
bool WriterLock::replace(const fs::path& name, const LockHolder& gone) {
  const fs::path right = beside("after", gone.token);
  acquire(right);
  // Only the holder of this right may replace that lock, so the lock can no longer change.
  if (!is_held_by(name, gone.token)) {
    ::unlink(right.c_str());
    return false;
  }
  rename_durably(right, name);
  taken_from_ = gone;
  return true;
}

/// Removes the lock files of killed starters. Starters that still run are refused in any case.
void WriterLock::remove_leftovers() const {
  const std::string own = file_.filename().string() + ".";
  for (const auto& entry : fs::directory_iterator(fs::absolute(file_).parent_path())) {
    if (!entry.path().filename().string().starts_with(own)) continue;
    const Found found = look_at(entry.path());
    if (found.holder && fate_of(*found.holder, found.kernel_lock) == HolderFate::kGone) {
      ::unlink(entry.path().c_str());
    }
  }
}

}  // namespace lie

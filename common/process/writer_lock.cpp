#include "common/process/writer_lock.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "common/base/identity.h"
#include "common/io/descriptor.h"
#include "common/io/file.h"
#include "common/io/system_call.h"
#include "common/text/scan.h"

namespace lie {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(LockHolder, command, since, host, boot, pid,
                                                slurm_cluster, slurm_job, slurm_restarts,
                                                has_kernel_lock)
namespace {

using Json = nlohmann::json;

constexpr const char* kRemedy =
    "a writer needs its lock: check that the disk has free space and is writable";

enum class KernelLock { kHeldByOther, kFree, kUnsupported };

/// Takes the kernel's lock of an open file (F_OFD_SETLK), or queries it (F_OFD_GETLK).
KernelLock kernel_lock(int descriptor, int command) {
  struct flock whole_file = {};
  whole_file.l_type = F_WRLCK;
  whole_file.l_whence = SEEK_SET;
  if (::fcntl(descriptor, command, &whole_file) != 0) {
    return errno == EAGAIN || errno == EACCES ? KernelLock::kHeldByOther : KernelLock::kUnsupported;
  }
  const bool is_held = command == F_OFD_GETLK && whole_file.l_type != F_UNLCK;
  return is_held ? KernelLock::kHeldByOther : KernelLock::kFree;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::string boot_id() {
  std::string id;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
  return id;
}

/// Returns whether the holder of a lock that is not held has certainly ended.
bool has_ended(const LockHolder& holder, KernelLock lock, const fs::path& directory) {
  const LockHolder here = this_process("");
  const bool is_same_job = !here.slurm_job.empty() && here.slurm_job == holder.slurm_job &&
                           here.slurm_cluster == holder.slurm_cluster;
  if (is_same_job && holder.slurm_restarts < here.slurm_restarts) return true;
  if (lock == KernelLock::kUnsupported || !holder.has_kernel_lock) return false;
  if (!here.boot.empty() && here.boot == holder.boot) return true;
  std::ifstream mounts("/proc/self/mountinfo");
  return locks_reach_all_hosts(mounts, fs::canonical(directory).string());
}

/// Throws Error unless the holder named in the open lock file is known to have ended. Returns it.
LockHolder ended_holder(int descriptor, KernelLock lock, const fs::path& guarded,
                        const fs::path& file) {
  std::array<char, 8192> text;  // a lock file has some hundred bytes
  const ssize_t length = ::pread(descriptor, text.data(), text.size(), 0);
  if (length < 0) fail_on(file, "read the lock", kRemedy);
  LockHolder holder = parse_lock_holder({text.data(), static_cast<std::size_t>(length)});
  if (lock == KernelLock::kHeldByOther) {
    throw HeldError(
        fmt::format("{} is being written by {}: wait until it has ended, or choose another path",
                    guarded.string(), holder.name()));
  }
  if (!has_ended(holder, lock, fs::absolute(file).parent_path())) {
    throw TransientError(fmt::format(
        "{} is held by {}, and this host cannot find out whether that process still runs, because "
        "the file system {}: if it has ended, remove {}",
        guarded.string(), holder.name(),
        lock == KernelLock::kUnsupported || !holder.has_kernel_lock
            ? "has no locks"
            : "may not show locks of other hosts",
        file.string()));
  }
  return holder;
}

fs::path lock_of(const fs::path& guarded) {
  return fs::is_directory(guarded) ? guarded / kWriterLockName
                                   : fs::path(guarded.string() + ".lock");
}

/// Returns whether `file` is the name of the open file. Otherwise a writer has removed it.
bool is_at(const fs::path& file, int descriptor) {
  struct stat named = {}, open = {};
  return ::stat(file.c_str(), &named) == 0 && ::fstat(descriptor, &open) == 0 &&
         named.st_ino == open.st_ino && named.st_dev == open.st_dev;
}

/// Throws Error unless the open file is a regular file, as every lock is.
void require_file(const fs::path& file, int descriptor) {
  struct stat open = {};
  if (::fstat(descriptor, &open) == 0 && S_ISREG(open.st_mode)) return;
  fail("{}: not a regular file, so it is no lock of a writer: remove it", file.string());
}

/// Replaces the text of the open lock file. On failure the file is removed and Error is thrown.
void replace_text(int descriptor, const fs::path& file, std::string_view text) {
  if (::ftruncate(descriptor, 0) == 0 && write_all(descriptor, text) && ::fsync(descriptor) == 0) {
    return;
  }
  const int code = errno;
  ::unlink(file.c_str());
  errno = code;
  fail_on(file, "write it", kRemedy);
}

}  // namespace

std::string LockHolder::name() const {
  if (command.empty()) return "a process that has not written its name there";
  const std::string job = slurm_job.empty() ? "" : fmt::format(", Slurm job {}", slurm_job);
  return fmt::format("\"{}\" on host {}, process {}{}, since {}", command, host, pid, job, since);
}

LockHolder this_process(std::string_view command) {
  return {.command = std::string(command),
          .since = fmt::format("{:%F %T} UTC", fmt::gmtime(std::time(nullptr))),
          .host = host_name(),
          .boot = boot_id(),
          .pid = ::getpid(),
          .slurm_cluster = variable("SLURM_CLUSTER_NAME"),
          .slurm_job = variable("SLURM_JOB_ID"),
          .slurm_restarts = number_in_name(variable("SLURM_RESTART_COUNT"), "").value_or(0)};
}

std::string to_text(const LockHolder& holder) {
  return Json(holder).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

LockHolder parse_lock_holder(std::string_view text) {
  try {
    return Json::parse(text).get<LockHolder>();
  } catch (const Json::exception&) {
    return {};
  }
}

bool locks_reach_all_hosts(std::istream& mounts, std::string_view directory) {
  constexpr std::array kTypes = {"ext2",    "ext3", "ext4", "xfs",    "btrfs", "zfs", "tmpfs",
                                 "overlay", "nfs",  "nfs4", "lustre", "gpfs",  "ceph"};
  const std::string path = fmt::format("{}/", directory);
  std::size_t longest = 0;
  bool reach = false;
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream fields(line);
    std::string point, type, options, skipped;
    for (int field = 0; field < 4; ++field) fields >> skipped;
    fields >> point;
    while (fields >> skipped && skipped != "-") continue;
    fields >> type >> skipped >> options;
    if (point.size() < longest || !path.starts_with(point == "/" ? point : point + "/")) continue;
    longest = point.size();
    const auto is_set = [&](const char* option) { return options.find(option) != options.npos; };
    reach = std::ranges::find(kTypes, type) != kTypes.end() && !is_set("localflock") &&
            !is_set("local_lock=all") && !is_set("local_lock=posix");
  }
  return reach;
}

void check_unlocked(const fs::path& guarded) {
  const fs::path file = lock_of(guarded);
  const Descriptor lock(::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!lock.is_open() && errno == ENOENT) return;
  if (!lock.is_open()) fail_on(file, "read the lock", kRemedy);
  require_file(file, lock.number());
  ended_holder(lock.number(), kernel_lock(lock.number(), F_OFD_GETLK), guarded, file);
}

void check_lockable(const fs::path& guarded) {
  check_unlocked(guarded);
  const fs::path file = lock_of(guarded);
  if (::access(file.parent_path().c_str(), W_OK | X_OK) != 0) fail_on(file, "create it", kRemedy);
}

WriterLock::WriterLock(const fs::path& guarded, std::string_view command)
    : file_(lock_of(guarded)) {
  while (!acquire(guarded, this_process(command))) continue;
}

/// Returns false if another writer removed the file after it was opened here.
bool WriterLock::acquire(const fs::path& guarded, LockHolder self) {
  descriptor_ = Descriptor(::open(file_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  const bool is_new = descriptor_.is_open();
  if (!is_new) {
    if (errno != EEXIST) fail_on(file_, "create it", kRemedy);
    descriptor_ = Descriptor(::open(file_.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!descriptor_.is_open() && errno == ENOENT) return false;
    if (!descriptor_.is_open()) fail_on(file_, "open it", kRemedy);
    require_file(file_, descriptor_.number());
  }
  const KernelLock lock = kernel_lock(descriptor_.number(), F_OFD_SETLK);
  if (lock == KernelLock::kFree && !is_at(file_, descriptor_.number())) return false;
  if (!is_new || lock == KernelLock::kHeldByOther) {
    taken_from_ = ended_holder(descriptor_.number(), lock, guarded, file_);
  }
  self.has_kernel_lock = lock == KernelLock::kFree;
  replace_text(descriptor_.number(), file_, to_text(self));
  return true;
}

WriterLock::~WriterLock() {
  if (is_at(file_, descriptor_.number())) ::unlink(file_.c_str());
}

}  // namespace lie

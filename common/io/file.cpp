#include "common/io/file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "common/base/error.h"
#include "common/base/fault.h"
#include "common/io/descriptor.h"
#include "common/io/output_file.h"
#include "common/io/system_call.h"

namespace lie {

namespace {

Descriptor opened(const fs::path& path, int flags, std::string_view what) {
  Descriptor file(::open(path.c_str(), flags | O_CLOEXEC));
  if (!file.is_open()) fail_on(path, what, "check the path and its permissions");
  return file;
}

void sync(const fs::path& path, int flags, std::string_view what) {
  const Descriptor file = opened(path, flags, what);
  if (::fsync(file.number()) != 0) fail_on(path, "sync it to the disk", "check the disk");
}

fs::path parent_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

}  // namespace

std::string read_file(const fs::path& path) {
  // Without O_NONBLOCK, the call would wait for the writer of a pipe.
  const Descriptor file = opened(path, O_RDONLY | O_NONBLOCK, "open it");
  struct stat status = {};
  if (::fstat(file.number(), &status) != 0) fail_on(path, "read its size", "check the path");
  if (S_ISDIR(status.st_mode)) fail("{}: is a directory; name a file", path.string());
  if (!S_ISREG(status.st_mode)) {
    fail("{}: is a pipe or a device; write its content to a file and name that", path.string());
  }
  std::string content(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t have = 0;
  while (true) {
    if (have == content.size()) content.resize(content.size() + 4096);
    const ssize_t n = ::read(file.number(), content.data() + have, content.size() - have);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_on(path, "read it", "check the disk");
    if (n == 0) break;
    have += static_cast<std::size_t>(n);
  }
  content.resize(have);
  return content;
}

void write_file_atomically(const fs::path& path, std::string_view content) {
  FileAside aside(path);
  OutputFile file(aside.at(), OutputFile::Begin::kEmpty);
  write_past_fault_point("file", content, [&](std::string_view bytes) { file.write(bytes); });
  file.close();
  aside.publish();
}

void sync_file(const fs::path& path) { sync(path, O_RDONLY, "open it"); }

void sync_directory(const fs::path& path) {
  sync(path, O_RDONLY | O_DIRECTORY, "open it as a directory");
}

void remove_file(const fs::path& path) {
  std::error_code code;
  fs::remove(path, code);
  if (code) {
    fail("{}: cannot remove it: {}; check the disk and permissions", path.string(), code.message());
  }
}

void cut_file(const fs::path& path, std::uint64_t bytes) {
  std::error_code code;
  fs::resize_file(path, bytes, code);
  if (code) {
    fail("{}: cannot truncate it: {}; check the disk and permissions", path.string(),
         code.message());
  }
}

void rename_durably(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) {
    fail_on(from, fmt::format("rename it to {}", to.string()), "check both paths and permissions");
  }
  sync_directory(parent_of(to));
}

fs::path free_name(const fs::path& path, std::string_view suffix) {
  const fs::path bare = path.has_filename() ? path : path.parent_path();  // without a final slash
  const std::string name = bare.string() + std::string(suffix);
  fs::path aside = name;
  for (int copy = 2; fs::exists(fs::symlink_status(aside)); ++copy) {
    aside = fmt::format("{}-{}", name, copy);
  }
  return aside;
}

fs::path set_aside(const fs::path& path, std::string_view suffix) {
  const fs::path aside = free_name(path, suffix);
  rename_durably(path, aside);
  return aside;
}

namespace {

[[noreturn]] void fail_to_create(const fs::path& directory, int error) {
  errno = error;
  fail_on(directory, "create the directory", "check that no file is in the way and permissions");
}

/// Returns why no directory can be created in `directory`, as errno; 0: nothing is known against
/// it.
int refusal_in(const fs::path& directory) {
  struct statfs system = {};
  if (::access(directory.c_str(), W_OK | X_OK) != 0) return errno;
  if (::statfs(directory.c_str(), &system) != 0) return errno;
  const auto type = static_cast<unsigned long>(system.f_type);
  return type == PROC_SUPER_MAGIC || type == SYSFS_MAGIC ? ENOENT : 0;  // as mkdir() has it
}

}  // namespace

void make_directories(const fs::path& path) {
  std::error_code code;
  fs::create_directories(path, code);
  if (!code && fs::is_directory(path)) return;
  fail_to_create(path, code ? code.value() : EEXIST);
}

void check_directories(const fs::path& path) {
  std::error_code code;
  fs::path at = fs::absolute(path);
  while (fs::symlink_status(at, code).type() == fs::file_type::not_found) at = at.parent_path();
  const bool exists = at == fs::absolute(path);
  if (!fs::is_directory(at, code)) fail_to_create(path, exists ? EEXIST : ENOTDIR);
  const int refusal = exists ? 0 : refusal_in(at);
  if (refusal != 0) fail_to_create(path, refusal);
}

std::vector<std::string> list_directory(const fs::path& path) {
  std::error_code code;
  fs::directory_iterator entries(path, code);
  if (code) fail("{}: cannot list it: {}; name a directory", path.string(), code.message());
  std::vector<std::string> names;
  for (const auto& entry : entries) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

void refuse_lfs_pointer(std::string_view file, std::string_view content) {
  if (!content.starts_with("version https://git-lfs.github.com/spec/")) return;
  fail(
      "{}: this is a Git LFS pointer, not the file itself; run git lfs pull where it was cloned, "
      "or download it",
      file);
}

}  // namespace lie

// A library to preload (LD_PRELOAD). It makes one file call of one rank fail, as a disk would.
//
//   LIE_IO_FAULT=RANK:CALL:N:ERROR          the Nth CALL of MPI rank RANK fails with errno ERROR
//   LIE_IO_FAULT=RANK:CALL:N:ERROR:lasting  every later CALL fails, too
//   LIE_IO_UNDER=PATH                       only calls on or below this path count
//   LIE_IO_LOG=FILE                         gets a line "CALL PATH" for each call that fails
//
// Without LIE_IO_FAULT, LIE_IO_LOG gets a line "RANK CALL" for every call.
//
// CALL is open, write, fsync, rename, link, unlink, mkdir, truncate or short. A short write does
// not fail, but writes half of the bytes.
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

/// The values of the environment variables, which are read once.
struct Plan {
  std::string under = {}, log = {}, rank = {}, call = {};
  long number = 0;
  int error = 0;
  bool lasts = false;
};

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Removes the text up to the next colon and returns it.
std::string next_part(std::string& text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  std::string part = text.substr(0, colon);
  text.erase(0, colon + 1);
  return part;
}

Plan read_plan() {
  Plan plan{.under = environment("LIE_IO_UNDER"), .log = environment("LIE_IO_LOG")};
  std::string fault = environment("LIE_IO_FAULT");
  if (fault.empty()) return plan;
  plan.rank = next_part(fault);
  plan.call = next_part(fault);
  plan.number = std::strtol(next_part(fault).c_str(), nullptr, 10);
  plan.error = static_cast<int>(std::strtol(next_part(fault).c_str(), nullptr, 10));
  plan.lasts = fault == "lasting";
  return plan;
}

const Plan& plan() {
  static const Plan* const read = new Plan(read_plan());  // files are also written at exit
  return *read;
}

/// Appends a line. System calls bypass the functions of this file.
void note(const std::string& line) {
  const long file =
      syscall(SYS_openat, AT_FDCWD, plan().log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  if (file < 0) return;
  syscall(SYS_write, file, line.data(), line.size());
  syscall(SYS_close, file);
}

bool is_under(const std::string& path) {
  const std::string& top = plan().under;
  return path.starts_with(top) && (path.size() == top.size() || path[top.size()] == '/');
}

/// Returns whether this call has to fail, and sets errno.
bool fails(const char* call, const std::string& path) {
  static std::atomic<long> calls = 0;
  if (plan().log.empty() || !is_under(path)) return false;
  const std::string rank = environment("OMPI_COMM_WORLD_RANK");
  if (plan().number == 0) {
    note(rank + " " + call + "\n");
    return false;
  }
  if (rank != plan().rank || call != plan().call) return false;
  const long number = ++calls;
  if (number < plan().number || (number > plan().number && !plan().lasts)) return false;
  note(std::string(call) + " " + path + "\n");
  errno = plan().error;
  return true;
}

std::string path_of(int file) {
  char path[4096];
  const std::string link = "/proc/self/fd/" + std::to_string(file);
  const ssize_t size = ::readlink(link.c_str(), path, sizeof path);
  return size < 0 ? "" : std::string(path, static_cast<std::size_t>(size));
}

std::string path_at(int directory, const char* path) {
  return path[0] == '/' || directory == AT_FDCWD ? path : path_of(directory) + "/" + path;
}

/// Returns the function of the C library that this library hides.
template <typename Function>
Function* hidden(const char* name, Function*) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}
// Each function is looked up once, because dlsym() waits while another thread loads a library.
#define HIDDEN(name)                                     \
  ([]() {                                                \
    static const auto function = hidden(#name, &(name)); \
    return function;                                     \
  }())

/// Returns how many bytes a write may write.
std::size_t allowed(int file, std::size_t size) {
  return size > 1 && fails("short", path_of(file)) ? size / 2 : size;
}

mode_t mode_of(int flags, va_list arguments) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}

}  // namespace

extern "C" {

#define OPEN(name)                                                     \
  int name(const char* path, int flags, ...) {                         \
    va_list arguments;                                                 \
    va_start(arguments, flags);                                        \
    const mode_t mode = mode_of(flags, arguments);                     \
    va_end(arguments);                                                 \
    return fails("open", path) ? -1 : HIDDEN(name)(path, flags, mode); \
  }
OPEN(open)
OPEN(open64)

#define OPEN_AT(name)                                         \
  int name(int directory, const char* path, int flags, ...) { \
    va_list arguments;                                        \
    va_start(arguments, flags);                               \
    const mode_t mode = mode_of(flags, arguments);            \
    va_end(arguments);                                        \
    if (fails("open", path_at(directory, path))) return -1;   \
    return HIDDEN(name)(directory, path, flags, mode);        \
  }
OPEN_AT(openat)
OPEN_AT(openat64)

FILE* fopen(const char* path, const char* mode) {
  return fails("open", path) ? nullptr : HIDDEN(fopen)(path, mode);
}
FILE* fopen64(const char* path, const char* mode) {
  return fails("open", path) ? nullptr : HIDDEN(fopen64)(path, mode);
}

ssize_t write(int file, const void* bytes, size_t size) {
  return fails("write", path_of(file)) ? -1 : HIDDEN(write)(file, bytes, allowed(file, size));
}
ssize_t pwrite(int file, const void* bytes, size_t size, off_t at) {
  return fails("write", path_of(file)) ? -1 : HIDDEN(pwrite)(file, bytes, allowed(file, size), at);
}
ssize_t pwrite64(int file, const void* bytes, size_t size, off64_t at) {
  return fails("write", path_of(file)) ? -1
                                       : HIDDEN(pwrite64)(file, bytes, allowed(file, size), at);
}
ssize_t writev(int file, const iovec* parts, int count) {
  return fails("write", path_of(file)) ? -1 : HIDDEN(writev)(file, parts, count);
}
ssize_t sendfile(int to, int from, off_t* at, size_t size) {
  return fails("write", path_of(to)) ? -1 : HIDDEN(sendfile)(to, from, at, allowed(to, size));
}

int fsync(int file) { return fails("fsync", path_of(file)) ? -1 : HIDDEN(fsync)(file); }
int fdatasync(int file) { return fails("fsync", path_of(file)) ? -1 : HIDDEN(fdatasync)(file); }

int rename(const char* from, const char* to) {
  return fails("rename", from) ? -1 : HIDDEN(rename)(from, to);
}
int link(const char* from, const char* to) {
  return fails("link", to) ? -1 : HIDDEN(link)(from, to);
}
int unlink(const char* path) { return fails("unlink", path) ? -1 : HIDDEN(unlink)(path); }
int remove(const char* path) { return fails("unlink", path) ? -1 : HIDDEN(remove)(path); }
int unlinkat(int directory, const char* path, int flags) {
  return fails("unlink", path_at(directory, path)) ? -1 : HIDDEN(unlinkat)(directory, path, flags);
}
int mkdir(const char* path, mode_t mode) {
  return fails("mkdir", path) ? -1 : HIDDEN(mkdir)(path, mode);
}
int truncate(const char* path, off_t size) {
  return fails("truncate", path) ? -1 : HIDDEN(truncate)(path, size);
}
int ftruncate(int file, off_t size) {
  return fails("truncate", path_of(file)) ? -1 : HIDDEN(ftruncate)(file, size);
}
int ftruncate64(int file, off64_t size) {
  return fails("truncate", path_of(file)) ? -1 : HIDDEN(ftruncate64)(file, size);
}
}

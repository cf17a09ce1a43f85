#include "model/weight_sync/shared_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

namespace lie {
namespace {

std::optional<std::span<std::byte>> map(int descriptor, std::size_t bytes) {
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (at == MAP_FAILED) return std::nullopt;
  return std::span(static_cast<std::byte*>(at), bytes);
}

/// Returns the process, its descriptor number, and the file's inode and size. The inode tells the
/// memory from a file that has the same process and descriptor number on another host.
std::string handle_of(int descriptor, pid_t pid, int number) {
  struct stat file = {};
  if (fstat(descriptor, &file) != 0) return {};
  return fmt::format("{} {} {} {}", pid, number, file.st_ino, file.st_size);
}

}  // namespace

SharedMemory::SharedMemory(int descriptor, std::span<std::byte> bytes)
    : descriptor_(descriptor), bytes_(bytes) {}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), bytes_(std::exchange(other.bytes_, {})) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

SharedMemory::~SharedMemory() {
  if (!bytes_.empty()) munmap(bytes_.data(), bytes_.size());
  if (descriptor_ >= 0) close(descriptor_);
}

std::optional<SharedMemory> SharedMemory::create(std::size_t bytes) {
  const int descriptor = memfd_create("lie weights", MFD_CLOEXEC);
  if (descriptor < 0) return std::nullopt;
  SharedMemory memory(descriptor, {});
  if (ftruncate(descriptor, static_cast<off_t>(bytes)) != 0) return std::nullopt;
  const auto mapped = map(descriptor, bytes);
  if (!mapped) return std::nullopt;
  memory.bytes_ = *mapped;
  return memory;
}

std::optional<SharedMemory> SharedMemory::open(const std::string& handle,
                                               std::size_t writable_bytes) {
  int pid = 0, number = -1;
  unsigned long long inode = 0, bytes = 0;
  if (std::sscanf(handle.c_str(), "%d %d %llu %llu", &pid, &number, &inode, &bytes) != 4) {
    return std::nullopt;
  }
  const int descriptor =
      ::open(fmt::format("/proc/{}/fd/{}", pid, number).c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return std::nullopt;
  SharedMemory memory(descriptor, {});
  if (handle_of(descriptor, pid, number) != handle) return std::nullopt;
  const auto mapped = map(descriptor, bytes);
  if (!mapped) return std::nullopt;
  memory.bytes_ = *mapped;
  const std::span<std::byte> rest = mapped->subspan(writable_bytes);
  if (mprotect(rest.data(), rest.size(), PROT_READ) != 0) return std::nullopt;
  return memory;
}

std::string SharedMemory::handle() const { return handle_of(descriptor_, getpid(), descriptor_); }

}  // namespace lie

// Memory that several processes of a host map.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace lie {

/// A memfd mapping, zeroed at first. It has no name in any file system and no limit but the host's
/// memory, and is freed when the last process that maps it ends, however that happens. Move-only.
class SharedMemory {
 public:
  /// Returns new memory, or nothing if the system refuses it.
  static std::optional<SharedMemory> create(std::size_t bytes);
  /// Maps another process's memory by its handle(). The first `writable_bytes` are writable, the
  /// rest is read-only. Returns nothing if it cannot be reached from this host, container or user.
  static std::optional<SharedMemory> open(const std::string& handle, std::size_t writable_bytes);
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  ~SharedMemory();

  std::span<std::byte> bytes() const { return bytes_; }
  /// Returns the argument for open(). It is valid while this object lives.
  std::string handle() const;

 private:
  SharedMemory(int descriptor, std::span<std::byte> bytes);
  int descriptor_;
  std::span<std::byte> bytes_;
};

}  // namespace lie

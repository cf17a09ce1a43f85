// Memory that several processes of a host map.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace lie {

/// It has no name in any file system and no limit but the host's memory: it is gone with the last
/// process that maps it, however that ends. Zero at first. Move-only.
class SharedMemory {
 public:
  /// New memory; empty where the system has none to give.
  static std::optional<SharedMemory> create(std::size_t bytes);
  /// That of another process, by its `handle`; empty where it cannot be reached from here: another
  /// host, container or user. Written to only up to `writable_bytes`; the rest is read-only.
  static std::optional<SharedMemory> open(const std::string& handle, std::size_t writable_bytes);
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  ~SharedMemory();

  std::span<std::byte> bytes() const { return bytes_; }
  /// What open() takes, as long as this process lives and holds the memory.
  std::string handle() const;

 private:
  SharedMemory(int descriptor, std::span<std::byte> bytes);
  int descriptor_;
  std::span<std::byte> bytes_;
};

}  // namespace lie

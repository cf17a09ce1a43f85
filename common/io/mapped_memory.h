// The memory of a file that is mapped into this process.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <memory>
#include <span>

namespace lie {

/// Owns a mapping and unmaps it on destruction. Move-only.
class MappedMemory {
 public:
  MappedMemory() = default;
  /// Maps the first bytes of a file, with the protection and flags of mmap(2). The mapping is empty
  /// if the system refuses it, for the reason in errno.
  MappedMemory(int descriptor, std::size_t bytes, int protection, int flags) {
    void* const at = ::mmap(nullptr, bytes, protection, flags, descriptor, 0);
    if (at != MAP_FAILED) memory_ = {static_cast<std::byte*>(at), Unmap{bytes}};
  }
  std::span<std::byte> bytes() const {
    return {memory_.get(), memory_ ? memory_.get_deleter().bytes : 0};
  }

 private:
  struct Unmap {
    std::size_t bytes;
    void operator()(std::byte* at) const { ::munmap(at, bytes); }
  };
  std::unique_ptr<std::byte[], Unmap> memory_;
};

}  // namespace lie

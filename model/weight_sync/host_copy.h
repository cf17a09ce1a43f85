// One copy of the weights for all actors of a host, both ends: one actor receives and writes it,
// the others compute with it in place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/comm/job.h"
#include "common/comm/roles.h"
#include "common/io/descriptor.h"
#include "common/io/mapped_memory.h"
#include "model/operators/operators.h"

namespace lie {

/// Memory that several processes of a host map: a memfd mapping, zeroed at first. It has no name in
/// any file system and no limit but the host's memory, and is freed when the last process that maps
/// it ends, however that happens. Move-only.
class SharedMemory {
 public:
  /// Returns new memory, or nothing if the system refuses it.
  static std::optional<SharedMemory> create(std::size_t bytes);
  /// Maps another process's memory by its handle(). The first `writable_bytes` are writable, the
  /// rest is read-only. Returns nothing if it cannot be reached from this host, container or user.
  static std::optional<SharedMemory> open(const std::string& handle, std::size_t writable_bytes);

  std::span<std::byte> bytes() const { return mapping_.bytes(); }
  /// Returns the argument for open(). It is valid while this object lives.
  std::string handle() const;

 private:
  explicit SharedMemory(int descriptor) : descriptor_(descriptor) {}
  /// Maps the descriptor's file. Returns false if the system refuses it.
  bool map(std::size_t bytes);

  Descriptor descriptor_;
  MappedMemory mapping_;
};

/// An actor's end of its host's copy. One actor is the writer, all others are readers. The writer
/// writes only while all readers wait in update().
class HostCopy {
 public:
  /// Receives weights and returns their policy version, or nothing at the end of the run.
  using Receive = std::function<std::optional<std::int64_t>()>;

  /// `readers`: the number of readers of this host. Keeps a reference to the job.
  HostCopy(Job& job, SharedMemory memory, int readers, bool is_writer);

  bool is_writer() const { return is_writer_; }
  /// Returns the memory of the weights. It is read-only for readers.
  SharedFloats weights() const;
  /// The writer runs `receive` once all readers wait here. All return its result after it has
  /// returned. Polls progress while it waits.
  std::optional<std::int64_t> update(const Receive& receive);

 private:
  struct Board;
  Board& board() const;
  void wait_until(const std::function<bool()>& event);

  Job& job_;
  SharedMemory memory_;
  int readers_;
  bool is_writer_;
  std::int64_t round_ = 0;
};

/// Which actors of a run receive weights, and this rank's end of its host's copy.
struct HostCopies {
  std::vector<int> receivers;      // world ranks of the actors that receive by broadcast
  std::unique_ptr<HostCopy> mine;  // null: this rank is no actor, or holds weights of its own
};

/// Makes a copy of `bytes` on each host with several actors. The actor of the lowest rank is its
/// writer. If the memory cannot be shared, each actor of the host holds weights of its own, and
/// the first one logs a warning. Only actors need to pass `bytes`. Collective over the world.
HostCopies make_host_copies(Job& job, const RoleLayout& layout, std::size_t bytes);

}  // namespace lie

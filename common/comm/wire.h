// The byte format of messages between ranks. Layout, version 5, little-endian, no padding:
//   header   u32 magic "LIEW" | u16 version | u16 kind | u64 payload bytes
//   payload  the struct's fields in the order of wire.cpp's `fields`; numbers as they are stored,
//            enums as their underlying type, strings and vectors as u64 count then elements
//
// A message of another version is refused, never converted. This detects ranks of mixed builds.
// Files of messages (common/comm/message_file.h) also store the version in their own header. Raise
// the version when you change the fields of a message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/comm/environment.h"
#include "common/rollout/rollout.h"

namespace lie::wire {

inline constexpr std::uint32_t kMagic = 0x5745494c;  // "LIEW"
inline constexpr std::uint16_t kVersion = 5;
inline constexpr std::size_t kHeaderBytes = 16;

enum class Kind : std::uint16_t {
  kClose = 0,  // no payload: the sender's stream has ended
  kAssignment = 1,
  kRolloutGroup = 2,
  kScoredGroup = 3,
  kScoredGroups = 4,  // std::vector<ScoredGroup>
  kRolloutGroups = 5,
  kTicketRequest = 6,
};

/// Returns the message that holds `value`. T is TicketRequest, Assignment, RolloutGroup,
/// ScoredGroup, or a vector of one of the last two.
template <typename T>
Bytes pack(const T& value);

/// Returns the value in a message made by pack<T>. Throws Error if the bytes are truncated, too
/// long, of another version or kind, or hold a value out of range. Never reads outside `bytes`.
/// Memory allocated is at most proportional to their number.
template <typename T>
T unpack(std::span<const std::byte> bytes);

/// Returns the payload's size as a message's first kHeaderBytes bytes give it.
std::uint64_t payload_bytes(std::span<const std::byte> header);

Bytes pack_close();
bool is_close(std::span<const std::byte> bytes);

}  // namespace lie::wire

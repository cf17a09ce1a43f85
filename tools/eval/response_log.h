// The answers of an evaluation while it runs: an append-only file that a killed process leaves
// readable.
//
// Format, version 1, little-endian:
//   header   "LIERESPS" | u32 version of this format | u32 version of the messages (wire::kVersion)
//   groups   messages of common/comm/wire.h of kind kRolloutGroup, end to end, in the order in
//   which
//            they were finished
// What stands behind the last whole message is of a killed process and does not count; nor does
// half a header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <span>

#include "common/rollout.h"

namespace lie {

inline constexpr std::uint32_t kResponseLogVersion = 1;

/// Calls `visit` with every whole group of the file; returns how many bytes they take, the header
/// included. A missing file has none. Throws Error naming the file if it holds something else, or
/// groups of another version.
std::uint64_t read_responses(const std::filesystem::path& path,
                             const std::function<void(RolloutGroup)>& visit);

/// Appends groups. What append() has written survives the end of the process.
class ResponseLog {
 public:
  /// Opens or creates the file and cuts off what stands behind the first `whole_bytes`, which
  /// read_responses() told.
  ResponseLog(std::filesystem::path path, std::uint64_t whole_bytes);
  void append(const RolloutGroup& group);

 private:
  void write(std::span<const std::byte> bytes);

  std::filesystem::path path_;
  std::ofstream file_;
};

}  // namespace lie

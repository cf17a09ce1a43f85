// The responses of an evaluation: an append-only file that stays readable if the process is killed.
//
// Format, version 1, little-endian:
//   header   "LIERESPS" | u32 version of this format | u32 version of the messages (wire::kVersion)
//   groups   messages of common/comm/wire.h of kind kRolloutGroup, end to end, as they finish
// An incomplete header or last message was left by a killed process and does not count.
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
  /// Opens or creates the file and truncates it to `whole_bytes`, as returned by read_responses().
  ResponseLog(std::filesystem::path path, std::uint64_t whole_bytes);
  void append(const RolloutGroup& group);

 private:
  void write(std::span<const std::byte> bytes);

  std::filesystem::path path_;
  std::ofstream file_;
};

}  // namespace lie

// Messages that outlive the process: an append-only file of groups as they finish. What append()
// has written survives a kill; what was torn or has rotted is noticed and named.
//
// Format, version 2, little-endian:
//   header: "LIERESPS" | u32 version of this format | u32 version of the messages, wire::kVersion
//   record: u32 CRC-32C of the message's header | u32 of its payload | message (wire.h beside this)
// An incomplete header or last record was left by a killed process and does not count.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "common/comm/environment.h"

namespace lie {

inline constexpr std::uint32_t kMessageFileVersion = 2;

/// What a file holds besides sound messages.
struct MessageFileState {
  std::uint64_t whole_bytes = 0;    // up to the end of its last whole record: where to go on
  std::vector<std::string> damage;  // a sentence for each loss
  bool torn = false;                // the last of them is a record that was being written
  std::string refusal;              // why nothing of it can be read; empty otherwise
};

/// Calls `visit` with every sound message of the file. A missing file has none. Throws Error naming
/// the file if it cannot be read.
MessageFileState read_messages(const std::filesystem::path& path,
                               const std::function<void(std::span<const std::byte>)>& visit);

class MessageFile {
 public:
  /// Opens or creates the file and truncates it to `whole_bytes`, as read_messages() found them.
  MessageFile(std::filesystem::path path, std::uint64_t whole_bytes);
  /// The message is with the operating system when it returns. Throws Error if the disk is full.
  void append(std::span<const std::byte> message);

 private:
  void write(std::string_view bytes);

  std::filesystem::path path_;
  std::ofstream file_;
};

}  // namespace lie

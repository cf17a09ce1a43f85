// An append-only file of messages, such as the groups of a step in progress. Messages written by
// append() survive a kill. Truncated or damaged ones are detected and reported.
//
// Format, version 2, little-endian:
//   header: "LIERESPS" | u32 version of this format | u32 version of the messages, wire::kVersion
//   record: u32 CRC-32C of the message's header | u32 CRC-32C of its payload | message (see wire.h)
//
// An incomplete header or last record is the trace of a killed process and is ignored.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "common/comm/environment.h"
#include "common/io/output_file.h"

namespace lie {

/// The result of reading a file, apart from its intact messages.
struct MessageFileState {
  std::uint64_t valid_bytes = 0;    // end of the last complete record, where appending continues
  std::vector<std::string> damage;  // one sentence per lost record or rest of the file
  bool ends_incomplete = false;     // the last entry of `damage` is an incomplete last record
  std::string refusal;              // why nothing in the file can be read; empty if it can
};

/// Calls `visit` with every intact message of the file. A missing file has no messages. Throws
/// Error naming the file if it cannot be read.
MessageFileState read_messages(const std::filesystem::path& path,
                               const std::function<void(std::span<const std::byte>)>& visit);

class MessageFile {
 public:
  /// Opens or creates the file and truncates it to `valid_bytes`, as returned by read_messages().
  MessageFile(const std::filesystem::path& path, std::uint64_t valid_bytes);
  /// Appends a message and hands it to the operating system before returning. Throws Error if that
  /// fails.
  void append(std::span<const std::byte> message);

 private:
  OutputFile file_;
};

}  // namespace lie

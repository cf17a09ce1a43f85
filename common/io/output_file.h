// A file that is written piece by piece.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>

#include "common/io/descriptor.h"

namespace lie {

/// Writes to a file without a buffer: what write() was given has reached the operating system when
/// the call returns. Every failure is an Error with the file's name and the system's message.
class OutputFile {
 public:
  enum class Begin { kEmpty, kAtEnd };

  /// Creates the file if it is missing. kEmpty truncates it; kAtEnd appends to what it holds.
  OutputFile(std::filesystem::path path, Begin begin);
  void write(std::string_view bytes);
  /// Writes the bytes of values in memory.
  template <typename Value>
  void write_values(std::span<const Value> values) {
    write({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
  }
  void close();

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  Descriptor file_;
};

}  // namespace lie

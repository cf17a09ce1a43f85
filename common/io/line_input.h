// Reads a file, standard input or a text line by line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>

namespace lie {

class LineInput {
 public:
  /// Opens a file, or standard input for "-". Throws Error if the file is missing or a directory.
  explicit LineInput(const std::filesystem::path& file);

  /// Reads the next line. Returns false after the last line. Throws Error if reading fails.
  bool next(std::string& line);
  /// Returns "rows.jsonl" or "standard input".
  const std::string& name() const { return name_; }
  /// Returns the place of the line read last: "rows.jsonl:12".
  std::string place() const;
  /// Returns the stream for other kinds of reads. Call require_read() after them.
  std::istream& stream();
  /// Throws Error if reading has failed.
  void require_read();

 private:
  std::string name_;
  bool is_standard_input_;
  std::ifstream file_;
  std::int64_t number_ = 0;
};

/// Calls `visit` with each line that ends with a newline, and its number from 1. Returns the rest
/// of the text: a line that a killed process left incomplete.
std::string_view for_each_whole_line(
    std::string_view text,
    const std::function<void(std::string_view line, std::size_t number)>& visit);

}  // namespace lie

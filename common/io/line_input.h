// A text read line by line: a file, or standard input.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>

namespace lie {

class LineInput {
 public:
  /// "-" is standard input. Throws Error naming a file that is missing or a directory.
  explicit LineInput(const std::filesystem::path& file);

  /// False behind the last line. Throws Error where reading fails.
  bool next(std::string& line);
  /// "rows.jsonl", or "standard input".
  const std::string& name() const { return name_; }
  /// Of the line read last: "rows.jsonl:12".
  std::string place() const;
  /// To read otherwise; end with require_read().
  std::istream& stream();
  /// Throws Error if reading has failed.
  void require_read();

 private:
  std::string name_;
  bool is_standard_input_;
  std::ifstream file_;
  std::int64_t number_ = 0;
};

/// Calls `take` with each line of a file to which lines are only appended, and its number from 1;
/// none where it is missing. Then cuts off the beginning of a line that a killed process left.
void for_each_whole_line(const std::filesystem::path& file,
                         const std::function<void(std::string_view, std::size_t)>& take);

/// Whether there is nothing to be read in it.
bool is_blank(const std::string& line);

}  // namespace lie

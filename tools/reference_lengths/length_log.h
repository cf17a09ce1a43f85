// Measured lengths while they are being measured: an append-only file of lines beside the output,
// which a killed process leaves readable.
//
// The first line names the measurement: {"measurement": "<SHA-256 of what it depends on>"}. Each
// other is of one prompt: {"group": 12, "tokens": [104, 87], "at_limit": 0,
// "prompt_tokens_dropped": 0}. A last line without its end is of a killed process and does not
// count.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "common/rollout.h"

namespace lie {

/// What was measured for one prompt.
struct MeasuredLength {
  std::vector<std::int64_t> tokens;  // by sample, end of sequence counted
  std::int64_t at_limit = 0;         // of them cut at the response limit
  std::int64_t prompt_tokens_dropped = 0;
  double mean() const;
};

class LengthLog {
 public:
  /// Goes on with the file, or creates it. Throws Error if it is of another measurement, or
  /// damaged.
  LengthLog(std::filesystem::path path, const std::string& measurement);

  /// By group: the prompt's position among the prompts.
  const std::map<std::int64_t, MeasuredLength>& measured() const { return measured_; }
  void append(const RolloutGroup& group);
  /// The output is written: the file is removed.
  void remove();

 private:
  void take_line(const std::string& line, const std::string& measurement);

  std::filesystem::path path_;
  std::map<std::int64_t, MeasuredLength> measured_;
  std::ofstream file_;
};

}  // namespace lie

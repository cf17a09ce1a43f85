// Lengths measured so far: an append-only file beside the output that stays readable if the process
// is killed.
//
// The first line names the measurement: {"measurement": "<SHA-256 of what it depends on>"}. Each
// other is of one prompt: {"group": 12, "tokens": [104, 87], "at_limit": 0,
// "prompt_tokens_dropped": 0}. An incomplete last line was left by a killed process and does not
// count.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "common/rollout/rollout.h"

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
  /// Continues the file, or creates it. Throws Error if it belongs to another measurement or is
  /// damaged.
  LengthLog(std::filesystem::path path, const std::string& measurement);

  /// By group: the prompt's position among the prompts.
  const std::map<std::int64_t, MeasuredLength>& measured() const { return measured_; }
  void append(const RolloutGroup& group);
  /// Removes the file: the output is written.
  void remove();

 private:
  void take_line(std::string_view line, const std::string& measurement);

  std::filesystem::path path_;
  std::map<std::int64_t, MeasuredLength> measured_;
  std::ofstream file_;
};

}  // namespace lie

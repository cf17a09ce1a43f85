// An append-only file next to the output with the lengths measured so far. It stays readable if the
// process is killed.
//
// The first line identifies the measurement: {"measurement": "<SHA-256 of what it depends on>"}.
// Each other line belongs to one prompt: {"group": 12, "tokens": [104, 87], "at_limit": 0,
// "prompt_tokens_dropped": 0}. An incomplete last line, left by a killed process, is ignored.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/io/output_file.h"
#include "common/rollout/rollout.h"

namespace lie {

/// The measurement of one prompt.
struct MeasuredLength {
  std::vector<std::int64_t> tokens;  // by sample, end of sequence counted
  std::int64_t at_limit = 0;         // responses cut at the response limit
  std::int64_t prompt_tokens_dropped = 0;
  double mean() const;
};

class LengthLog {
 public:
  /// Opens the file to append to it, or creates it. Throws Error if it belongs to another
  /// measurement or is damaged.
  LengthLog(std::filesystem::path path, const std::string& measurement);

  /// The measurements by group, which is the position of the prompt in the dataset.
  const std::map<std::int64_t, MeasuredLength>& measured() const { return measured_; }
  void append(const RolloutGroup& group);
  /// Removes the file once the output is written.
  void remove();

 private:
  void take_line(std::string_view line, const std::string& measurement);

  std::filesystem::path path_;
  std::map<std::int64_t, MeasuredLength> measured_;
  std::optional<OutputFile> file_;
};

}  // namespace lie

// How long prompts and responses are: groups of a run's log, or a stated log-normal distribution.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace lie::planning {

/// Tokens of a group's prompt and responses.
struct GroupLengths {
  std::int64_t prompt = 0;
  std::vector<std::int64_t> responses;  // [G], each at least 1
};

/// Responses of exp(N(log(median), sigma)) tokens, at least 1 and at most `longest`.
struct LogNormalLengths {
  double median = 0, sigma = 0;
  std::int64_t longest = 0, prompt = 0;
};

/// A group's lengths are a pure function of seed, step and group: the same in every layout.
class Lengths {
 public:
  /// Draws whole groups, whose responses resemble each other. `groups`: at least one; a group that
  /// has fewer responses than are asked for gives its own again.
  Lengths(std::vector<GroupLengths> groups, std::uint64_t seed)
      : groups_(std::move(groups)), seed_(seed) {}
  Lengths(const LogNormalLengths& stated, std::uint64_t seed) : stated_(stated), seed_(seed) {}

  GroupLengths group(std::int64_t step, std::int64_t group, std::int64_t samples) const;

 private:
  std::vector<GroupLengths> groups_;  // empty: stated_
  LogNormalLengths stated_;
  std::uint64_t seed_;
};

/// The training groups of a run's log. Throws Error if there are none.
std::vector<GroupLengths> logged_lengths(const std::filesystem::path& run_directory);

/// Of all responses: "mean 43, median 31, 95 % 120, longest 130 tokens".
std::string describe_lengths(const Lengths& lengths, std::int64_t groups, std::int64_t samples);

}  // namespace lie::planning

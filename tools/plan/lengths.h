// How long prompts and responses are: those of a run's log, or a stated log-normal distribution.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace lie::planning {

/// Token counts of prompts and responses, summed up as the step time needs them.
struct Lengths {
  double prompt_mean = 0;    // tokens
  double response_mean = 0;  // tokens
  /// survivors[t] is the share of responses with more than t tokens. survivors[0] is 1; the sum of
  /// all entries is response_mean.
  std::vector<double> survivors = {};
  std::string text = {};  // "mean 43, median 31, 95 % 120, longest 130 tokens"
};

/// Returns the lengths of the training responses of a run's log. Throws Error if it holds none.
Lengths logged_lengths(const std::filesystem::path& run_directory);

/// Returns the distribution of exp(N(log(median), sigma)) tokens, at least 1 and at most `longest`.
Lengths log_normal_lengths(double median, double sigma, std::int64_t longest,
                           std::int64_t prompt_tokens);

}  // namespace lie::planning

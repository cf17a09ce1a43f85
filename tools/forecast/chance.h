// How often answers are correct by chance, which is on other prompts than their own.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace lie {

/// A prompt and the answers of its responses. A response without an answer has an empty one.
struct AnsweredPrompt {
  std::string data_source, gold;
  std::vector<std::string> answers;
};

/// Returns whether an answer is correct for a gold.
using IsCorrect = std::function<bool(const std::string& gold, const std::string& answer)>;

/// On so many other prompts, at most, a prompt's answers are tried.
constexpr std::int64_t kOtherPrompts = 32;

/// Returns the chance of each prompt, [prompts]. Its answers are tried on the golds of the
/// kOtherPrompts prompts that follow it within its data source, the first following the last. With
/// g the share of them that are correct there, t the share of others' answers that are correct on
/// its own gold, and m the mean of g over its source, its chance is g + t - m: these have the mean
/// of g, and their variance over the prompts counts that golds are shared, too. A prompt that is
/// alone in its source has 0. Empty answers are incorrect; the others are compared once for each
/// gold.
std::vector<double> chances_of(std::span<const AnsweredPrompt> prompts,
                               const IsCorrect& is_correct);

}  // namespace lie

// The groups of metrics in TensorBoard.
#pragma once

#include <string>
#include <string_view>

namespace lie {

/// The group of metrics that match no rule: the numbers of reward and verifier programs.
inline constexpr std::string_view kFurtherNumbers = "numbers";

/// Returns the TensorBoard tag of a metric, "policy/entropy_mean" for "entropy_mean". TensorBoard
/// groups tags by the text before the "/"; metrics.jsonl stores them without groups.
std::string tensorboard_tag(std::string_view metric);

}  // namespace lie

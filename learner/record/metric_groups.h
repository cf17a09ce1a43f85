// The groups in which TensorBoard shows the metrics; metrics.jsonl has them flat.
#pragma once

#include <string>
#include <string_view>

namespace lie {

/// The group of metrics that no rule knows: the further numbers of reward and verifier programs.
inline constexpr std::string_view kFurtherNumbers = "numbers";

/// "policy/entropy_mean" for "entropy_mean": TensorBoard groups by what stands before the "/".
std::string tensorboard_tag(std::string_view metric);

}  // namespace lie

// R_len: a wrong answer shorter than the prompt's length target pays for the missing tokens.
#pragma once

#include <cstdint>

#include "common/config/options.h"
#include "rewards/term.h"

namespace lie {

/// What L_target is: the paper's L_ref + delta_L, or one length for all prompts.
enum class LengthTarget : std::uint8_t { kReference, kAbsolute };

/// Options of R_len. Defaults are the paper's (arXiv:2602.11748).
struct LengthRewardOptions {
  static constexpr const char* kName = "length";
  static constexpr const char* kAbout = "R_len";
  static constexpr const char* kIfItPrevails =
      "responses will grow whether they are right or not; "
      "reward.length.min_group_accuracy=0.01 pays for length only in groups with a right answer "
      "(docs/how-to/choose-reward-settings.md)";
  bool enabled = true;
  LengthTarget target = LengthTarget::kReference;
  double delta_tokens = 500;
  double target_tokens = 7692;  // 8192 - 500, as in the published "8k" ablation
  double eta = 0.3 / 9000;
  bool cap_target_at_limit = false;
  bool scale_eta = false;
  double scale_extra_tokens = 500;
  double min_group_accuracy = 0;
  double max_group_accuracy = 1;

  /// delta 500, and .3 for 9,000 missing tokens, at the paper's limit of 8,192; of two digits.
  void fit_to_limit(std::int64_t max_response_tokens);
};

void describe(FieldList& fields, LengthRewardOptions& options);
RewardTerm reward_term(const LengthRewardOptions& options, std::int64_t max_response_tokens);

/// L_target in tokens for a prompt whose initial-policy response length is `reference_length`,
/// which an absolute target does not look at.
double target_length(const LengthRewardOptions& options, double reference_length,
                     std::int64_t max_response_tokens);

/// R_len of a response of `length` tokens, the end-of-sequence token counted: 0 if correct or
/// length >= target, else -eta * (target - length), without a clamp.
float length_reward(const LengthRewardOptions& options, bool correct, std::int64_t length,
                    double target, double reference_length);

/// Whether R_len counts in a group of this accuracy: between min_ and max_group_accuracy, both
/// included.
bool counts_at(const LengthRewardOptions& options, double group_accuracy);

}  // namespace lie

// R_len: the penalty for each token that an incorrect answer is shorter than its length target.
#pragma once

#include <cstdint>
#include <vector>

#include "common/config/options.h"
#include "rewards/term/gate.h"
#include "rewards/term/term.h"

namespace lie {

/// The definition of L_target: the paper's L_ref + delta_L, or one length for all prompts.
enum class LengthTarget : std::uint8_t { kReference, kAbsolute };

/// Options of R_len. Defaults are the paper's (arXiv:2602.11748).
struct LengthRewardOptions {
  static constexpr const char* kName = "length";
  static constexpr const char* kAbout = "R_len";
  static constexpr const char* kDominanceWarning =
      "responses will grow whether they are correct or not; "
      "reward.length.min_group_accuracy=0.01 applies the length reward only in groups with a "
      "correct answer (docs/how-to/choose-reward-settings.md)";
  bool enabled = true;
  LengthTarget target = LengthTarget::kReference;
  double delta_tokens = 500;
  double target_tokens = 7692;  // 8192 - 500, as in the published "8k" ablation
  double eta = 0.3 / 9000;
  bool cap_target_at_limit = false;
  bool scale_eta = false;
  double scale_extra_tokens = 500;
  RewardGate gate = {.answers = Answers::kIncorrect};

  /// Scales delta_tokens and eta from the paper's values at its limit of 8,192 tokens: delta 500,
  /// and a penalty of 0.3 for 9,000 missing tokens. Rounds both to two digits.
  void fit_to_limit(std::int64_t max_response_tokens);
  /// Sets the target `more_tokens` above the start policy's mean length, or above each prompt's
  /// L_ref if the data has one, and eta so that an incorrect answer lacking them all loses 0.75.
  void fit_to_start(double mean_tokens, double more_tokens, bool has_reference_lengths);
  /// Returns the keys that are set and have no effect.
  std::vector<IdleKey> idle_keys() const;
  /// Sets eta so that delta_tokens missing tokens cost what they do in the paper, 500 * 0.3 / 9000.
  /// Throws Error if the term is on and its target does not follow from delta_tokens.
  void fit_to_paper();
};

void describe(FieldList& fields, LengthRewardOptions& options);
RewardTerm reward_term(const LengthRewardOptions& options, std::int64_t max_response_tokens);

/// Returns L_target in tokens for a prompt whose mean response length under the initial policy is
/// `reference_length`. An absolute target ignores `reference_length`.
double target_length(const LengthRewardOptions& options, double reference_length,
                     std::int64_t max_response_tokens);

/// Returns R_len of a response of `length` tokens, including the end-of-sequence token: 0 if the
/// gate excludes its verdict (by default, if it is correct) or length >= target, else -eta *
/// (target - length), without a clamp.
float length_reward(const LengthRewardOptions& options, bool correct, std::int64_t length,
                    double target, double reference_length);

}  // namespace lie

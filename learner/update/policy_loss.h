// The policy-gradient loss of one sequence: GRPO (arXiv:2402.03300), GSPO (arXiv:2507.18071), dual
// clip (arXiv:1912.09729), truncated importance sampling, KL and entropy terms. Pure functions;
// signs are for the loss to minimise.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>

#include "common/config/options.h"

namespace lie {

enum class Algorithm : std::uint8_t { kGrpo, kGspo };
enum class Aggregation : std::uint8_t { kSequenceMean, kTokenMean, kConstant };
enum class KlEstimator : std::uint8_t { kK1, kK2, kK3 };
enum class TisLevel : std::uint8_t { kToken, kSequence };
enum class BeyondCap : std::uint8_t { kTruncate, kMask };

struct PolicyLossOptions {
  Algorithm algorithm = Algorithm::kGspo;
  double clip_low = -1;
  double clip_high = -1;
  double dual_clip = 0;
  Aggregation aggregation = Aggregation::kSequenceMean;
  double constant_divisor = 1000;
  double kl_coefficient = 0;
  KlEstimator kl_estimator = KlEstimator::kK3;
  double entropy_coefficient = 0;
  bool recompute_old_log_probs = false;
  double tis_cap = 0;
  TisLevel tis_level = TisLevel::kToken;
  BeyondCap tis_beyond = BeyondCap::kTruncate;
  bool mask_truncated = false;
};
void describe(FieldList& fields, PolicyLossOptions& options);

/// Throws Error where options contradict each other (GSPO has one aggregation only).
void check_options(const PolicyLossOptions& options);

/// The bounds that apply: unless set, 0.2 and 0.2 for GRPO, 3e-4 and 4e-4 for GSPO.
double clip_low(const PolicyLossOptions& options);
double clip_high(const PolicyLossOptions& options);

/// Of a whole mini-batch over all learners, so that the loss does not depend on how it is cut; what
/// is masked is not counted.
struct Denominators {
  std::int64_t sequences = 0;
  std::int64_t tokens = 0;  // response tokens
};

/// Weight of each of a sequence's `tokens` token losses: sequence mean 1/(S T_i), token mean
/// 1/(sum T), constant 1/(S divisor).
double token_weight(const PolicyLossOptions& options, const Denominators& whole,
                    std::int64_t tokens);

/// One response, seen by the learner.
struct SequenceInput {
  std::span<const float> log_probs;            // [T] under the policy being trained
  std::span<const float> old_log_probs;        // [T] the importance ratio's denominator
  std::span<const float> behavior_log_probs;   // [T] the sampler's; read only with tis_cap
  std::span<const float> reference_log_probs;  // [T] read only with kl_coefficient
  std::span<const float> entropies;            // [T] nats
  double advantage = 0;
  double weight = 0;  // token_weight()
};

/// Sums and extremes over the response tokens seen so far; merge() over parts in order.
struct PolicyLossStats {
  double loss = 0;  // weighted: sums to the mini-batch's loss
  double policy_loss = 0, kl_loss = 0, entropy_loss = 0;
  double sequences = 0, tokens = 0;
  double clipped_low = 0;   // tokens whose gradient the lower bound cut off (A < 0)
  double clipped_high = 0;  // ... the upper bound (A > 0)
  double dual_clipped = 0;
  double clipped_sequences = 0;  // with at least one clipped token
  double ratio_sum = 0;          // importance ratio as the loss uses it: GSPO the sequence ratio
  double kl_k1_sum = 0;          // approximate KL(old || policy): -d_t
  double kl_k3_sum = 0;          // r_t - 1 - d_t
  double reference_kl_sum = 0;   // by the estimator chosen
  double tis_weight_sum = 0;     // weights of the correction: 1 without
  double tis_truncated = 0;      // tokens whose weight the cap cut off, or masked
  double entropy_sum = 0;
  std::array<double, 4> quarter_entropy_sum = {};  // by quarter of the response
  std::array<double, 4> quarter_tokens = {};
  double ratio_min = std::numeric_limits<double>::infinity();
  double ratio_max = -std::numeric_limits<double>::infinity();
  double max_deviation = 0;  // max |r_t - 1| over single tokens, also with GSPO

  void merge(const PolicyLossStats& other);
  /// The sums alone, in a fixed order: what is added over learners. Extremes are not among them.
  static constexpr std::size_t kSums = 25;
  std::array<double*, kSums> sums();
};

/// The result for one sequence.
struct SequenceOutcome {
  double loss = 0;       // its weighted share of the mini-batch's loss
  double log_ratio = 0;  // mean_t d_t, d_t = log_prob - old log_prob
  bool clipped = false;  // any token clipped
};

/// Loss and its derivatives by log-probs and entropies ([T] each, overwritten). d_t is taken in
/// double and clamped to +-20 (GRPO); GSPO: s_t = exp(min(mean d, 10)) on every token, its gradient
/// flowing through the token's own log-prob. Token loss max(-A r, -A clip(r, 1-low, 1+high)), for
/// A < 0 with dual clip min(that, -A c). Adds to `stats`.
SequenceOutcome policy_loss(const PolicyLossOptions& options, const SequenceInput& input,
                            std::span<float> d_log_probs, std::span<float> d_entropies,
                            PolicyLossStats& stats);

}  // namespace lie

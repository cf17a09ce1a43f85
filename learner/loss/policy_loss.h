// The policy-gradient loss of one sequence: GRPO (arXiv:2402.03300), GSPO (arXiv:2507.18071), dual
// clip (arXiv:1912.09729), truncated importance sampling (TIS), KL and entropy terms. All functions
// are pure. Signs are those of a loss to minimize.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "common/config/options.h"

namespace lie {

/// Importance ratios per token (GRPO) or per sequence (GSPO).
enum class Algorithm : std::uint8_t { kGrpo, kGspo };
/// How token losses become the loss of a mini-batch: see token_weight().
enum class Aggregation : std::uint8_t { kSequenceMean, kTokenMean, kConstant };
/// Estimators of KL(policy || reference), named as by Schulman. kWeightedK3 is k3 times the
/// importance ratio of the token (DeepSeek-V3.2, arXiv:2512.02556).
enum class KlEstimator : std::uint8_t { kK1, kK2, kK3, kWeightedK3 };
/// Whether a TIS weight is computed per token or per response.
enum class TisLevel : std::uint8_t { kToken, kSequence };
/// Whether TIS weights above the cap become the cap or 0.
enum class BeyondCap : std::uint8_t { kTruncate, kMask };

/// Options of the loss; describe() documents each field, as --help prints it.
struct PolicyLossOptions {
  Algorithm algorithm = Algorithm::kGspo;
  /// The ratio is clipped to [1 - clip_low, 1 + clip_high]. clip_low is 0 to 1, clip_high at least
  /// 0. An unset bound depends on the algorithm: see clip_low() and clip_high().
  std::optional<double> clip_low = {}, clip_high = {};
  double dual_clip = 0;  // c of dual clip, above 1; 0: off
  Aggregation aggregation = Aggregation::kSequenceMean;
  double constant_divisor = 1000;  // tokens, at least 1; with Aggregation::kConstant
  double kl_coefficient = 0;       // weight of the KL term, at least 0; 0: off
  KlEstimator kl_estimator = KlEstimator::kK3;
  double entropy_coefficient = 0;        // weight of the entropy bonus; 0: off
  bool recompute_old_log_probs = false;  // old log-probs: the learner's in place of the sampler's
  double tis_cap = 0;                    // largest TIS weight, above 0; 0: off
  TisLevel tis_level = TisLevel::kToken;
  BeyondCap tis_beyond = BeyondCap::kTruncate;
  bool mask_truncated = false;  // responses cut at the response limit have no loss
};
void describe(FieldList& fields, PolicyLossOptions& options);

/// Throws Error if options contradict each other. GSPO, for example, allows one aggregation only.
void check_options(const PolicyLossOptions& options);

/// Returns the bound that applies below the ratio 1. The default is 0.2 for GRPO, 3e-4 for GSPO.
double clip_low(const PolicyLossOptions& options);
/// Returns the bound that applies above the ratio 1. The default is 0.2 for GRPO, 4e-4 for GSPO.
double clip_high(const PolicyLossOptions& options);

/// Counts over a complete mini-batch on all learners. With them the loss does not depend on how the
/// mini-batch is divided. Masked responses are not counted.
struct Denominators {
  std::int64_t sequences = 0;
  std::int64_t tokens = 0;  // response tokens
};

/// Returns the weight of each token loss of a sequence with T_i = `tokens` response tokens. It is
/// 1/(S T_i) for the sequence mean, 1/(sum T) for the token mean, and 1/(S divisor) for the
/// constant divisor.
double token_weight(const PolicyLossOptions& options, const Denominators& whole,
                    std::int64_t tokens);

/// The inputs of the loss for one response.
struct SequenceInput {
  std::span<const float> log_probs;            // [T] under the policy being trained
  std::span<const float> old_log_probs;        // [T] denominator of the importance ratio
  std::span<const float> behavior_log_probs;   // [T] of the sampler; read only with tis_cap
  std::span<const float> reference_log_probs;  // [T] read only with kl_coefficient
  std::span<const float> entropies;            // [T] nats
  double advantage = 0;
  double weight = 0;  // token_weight()
};

/// Sums and extremes over the response tokens seen so far. merge() must be called in a fixed order.
struct PolicyLossStats {
  double loss = 0;  // weighted; its sum over sequences is the mini-batch's loss
  double policy_loss = 0, kl_loss = 0, entropy_loss = 0;
  double sequences = 0, tokens = 0;
  double clipped_low = 0;        // tokens without gradient because of the lower bound (A < 0)
  double clipped_high = 0;       // tokens without gradient because of the upper bound (A > 0)
  double dual_clipped = 0;       // tokens without gradient because of dual clip
  double clipped_sequences = 0;  // sequences with at least one clipped token
  double ratio_sum = 0;          // importance ratios of the loss; with GSPO the sequence's
  double kl_k1_sum = 0;          // approximate KL(old || policy): -d_t
  double kl_k3_sum = 0;          // r_t - 1 - d_t
  double reference_kl_sum = 0;   // KL(policy || reference) by kl_estimator
  double tis_weight_sum = 0;     // TIS weights; 1 each without tis_cap
  double tis_truncated = 0;      // tokens whose TIS weight was above the cap
  double entropy_sum = 0;
  std::array<double, 4> quarter_entropy_sum = {};  // [quarter of the response]
  std::array<double, 4> quarter_tokens = {};
  double ratio_min = std::numeric_limits<double>::infinity();
  double ratio_max = -std::numeric_limits<double>::infinity();
  double max_deviation = 0;  // max |r_t - 1| over token ratios, also with GSPO; NaN if one is NaN

  void merge(const PolicyLossStats& other);
  /// All members, as std::bit_cast gives them.
  using Numbers = std::array<double, 28>;
};
static_assert(sizeof(PolicyLossStats) == sizeof(PolicyLossStats::Numbers));

/// The outcome of the loss for one sequence.
struct SequenceOutcome {
  double loss = 0;       // weighted contribution to the mini-batch's loss
  double log_ratio = 0;  // mean_t d_t, d_t = log_prob - old log_prob
  bool clipped = false;  // at least one token was clipped
};

/// Computes the loss of a sequence and adds to `stats`. Overwrites `d_log_probs` and `d_entropies`,
/// [T] each, with its derivatives. d_t is computed in double precision.
/// - GRPO: r_t = exp(d_t), d_t clamped to +-20.
/// - GSPO: s_t = exp(min(mean d, 10)) for every token; the gradient flows through the token's own
///   log-prob.
/// - Token loss: max(-A r, -A clip(r, 1 - low, 1 + high)); dual clip, if A < 0: min(that, -A c).
/// Throws Error if the spans differ in length or are empty.
SequenceOutcome policy_loss(const PolicyLossOptions& options, const SequenceInput& input,
                            std::span<float> d_log_probs, std::span<float> d_entropies,
                            PolicyLossStats& stats);

}  // namespace lie

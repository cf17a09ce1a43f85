// Importance ratios per token, and per sequence with length normalization (GSPO, arXiv:2507.18071).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lie {

/// Whether a token's importance ratio is its own or that of its sequence.
enum class RatioLevel : std::uint8_t { kToken, kSequence };

/// Returns the value of policy_loss.ratio_level that chooses it.
const char* name_of(RatioLevel level);

/// The limit on both sides of the exponents of token ratios, TIS weights and KL estimators.
constexpr double kLogRatioLimit = 20.0;

/// exp of a clamped argument, and its derivative by the argument, which is 0 beyond the clamp.
struct Ratio {
  double value = 1;
  double slope = 1;
};

/// Returns exp(x) with x clamped to [-kLogRatioLimit, kLogRatioLimit].
Ratio limited_exp(double x);

/// Returns log_probs - others [T] in double precision.
std::vector<double> log_ratios(std::span<const float> log_probs, std::span<const float> others);

/// Returns the importance ratio of each token [T] from d_t = log_prob - old log_prob.
/// - kToken: r_t = limited_exp(d_t).
/// - kSequence: s = exp(min(mean d, 10)) for every token. All T ratios depend on each d_t, by s/T.
///   The slope is the sum of these T derivatives, s.
std::vector<Ratio> importance_ratios(RatioLevel level, std::span<const double> log_ratios);

}  // namespace lie

// The interface of surrogates: functions from importance ratios and advantage to token losses.
// surrogates.h lists them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "learner/loss/surrogate/aggregation.h"
#include "learner/loss/surrogate/importance_ratio.h"
#include "learner/loss/surrogate/sequence_input.h"

namespace lie {

/// What a surrogate may read of a response with T tokens. Lengths are those of the spans.
struct SurrogateInput {
  const SequenceInput& sequence;       // log-probs, entropies and advantage
  std::span<const double> log_ratios;  // [T] d_t = log_prob - old log_prob
  std::span<const Ratio> ratios;       // [T] importance_ratios() at the chosen level
  /// The logarithm of the response's TIS weight (response_log_weight()); 0 without tis_cap.
  double log_correction = 0;
};

/// The bound that took a token's gradient away. Metrics count each.
enum class Bound : std::uint8_t {
  kNone,  // the token keeps its gradient
  kLow,   // A < 0, and the probability has fallen far enough
  kHigh,  // A > 0, and the probability has risen far enough
  kDual   // A < 0, and the loss is above that of dual clip
};

/// The surrogate's loss of one token. The loss of a response is the weighted sum over its tokens. A
/// surrogate of whole responses gives each token the response's loss.
struct TokenLoss {
  double loss = 0;
  double slope = 0;  // derivative of the sum over the response's token losses by this log-prob
  Bound bound = Bound::kNone;
};

/// Computes the losses [T] of a response.
using SurrogateFunction = std::function<void(const SurrogateInput&, std::span<TokenLoss>)>;

/// How the TIS weights of a response enter its loss.
enum class TisUse : std::uint8_t {
  kToken,     // each token's loss is multiplied by its own weight
  kResponse,  // a response has one loss, so its tokens must have one weight (tis_level sequence)
  kWithin     // the surrogate reads log_correction, and nothing is multiplied
};

/// One surrogate, made from its options for one level of the importance ratio.
struct Surrogate {
  SurrogateFunction losses;
  /// The aggregations that it is defined with. The first is the default.
  std::vector<Aggregation> aggregations;
  /// A token with A > 0 has no gradient if its ratio is above 1 + range_above. Infinity: no bound.
  double range_above = std::numeric_limits<double>::infinity();
  /// Whether each token may have its own advantage. Then the loss is positively homogeneous in the
  /// advantage, and a token's loss depends on its own advantage alone.
  bool takes_token_advantages = true;
  /// A token with A < 0 has no gradient if its ratio is below 1 - range_below. Infinity: no bound.
  double range_below = std::numeric_limits<double>::infinity();
  /// Whether tokens lose their gradient at other bounds than of the ratio.
  bool has_other_bounds = false;
  TisUse tis_use = TisUse::kToken;
  /// Whether its bounds are meant around the probabilities of the sampler, so that recomputed old
  /// log-probs are a departure from its paper.
  bool bounds_change_from_sampler = false;
};

/// Returns whether a ratio above 1 may end a token's gradient: the range is not so wide that it was
/// meant as none.
inline bool is_bounded(const Surrogate& surrogate) {
  constexpr double kNone = 1e3;
  return surrogate.range_above < kNone;
}

/// Makes a surrogate of single tokens: `loss`(input, t) returns the TokenLoss of token t.
template <typename Loss>
SurrogateFunction each_token(Loss loss) {
  return [loss = std::move(loss)](const SurrogateInput& input, std::span<TokenLoss> losses) {
    for (std::size_t t = 0; t < losses.size(); ++t) losses[t] = loss(input, t);
  };
}

/// How a surrogate is used: the level of the importance ratio, and the aggregation. An unset
/// aggregation is the default of the surrogate.
struct Formulation {
  RatioLevel level = RatioLevel::kToken;
  std::optional<Aggregation> aggregation = {};
};

/// A value of policy_loss.algorithm: the short form for a surrogate and its formulation.
struct ShortForm {
  const char* name;
  Formulation formulation;
};

}  // namespace lie

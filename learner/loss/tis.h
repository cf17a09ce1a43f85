// Truncated importance sampling (TIS): weights that correct for responses of an older policy than
// the learner's.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/config/options.h"
#include "learner/loss/surrogate/sequence_input.h"

namespace lie {

/// Whether a TIS weight is computed per token or per response.
enum class TisLevel : std::uint8_t { kToken, kSequence };
/// Whether TIS weights above the cap become the cap or 0.
enum class BeyondCap : std::uint8_t { kTruncate, kMask };

struct TisOptions {
  double tis_cap = 0;  // largest weight, above 0; 0: off
  TisLevel tis_level = TisLevel::kToken;
  BeyondCap tis_beyond = BeyondCap::kTruncate;
};
void describe(FieldList& fields, TisOptions& options);

/// The weight of a token's surrogate loss. No gradient flows through it.
struct TisWeight {
  double value = 1;
  bool truncated = false;  // the ratio is above the cap
};

/// Returns the weights [T] from exp(old - behavior log-prob): one per token, or the response's
/// joint weight for every token. All are 1 without a cap.
std::vector<TisWeight> tis_weights(const TisOptions& options, const SequenceInput& input);

/// Returns the logarithm of the weight of a response as a whole: the product of its tokens'
/// weights, or their joint weight with tis_level sequence. Minus infinity if one is 0; 0 without a
/// cap.
double response_log_weight(const TisOptions& options, std::span<const TisWeight> weights);

}  // namespace lie

#include "learner/loss/tis.h"

#include <cmath>
#include <span>

#include "learner/loss/surrogate/importance_ratio.h"

namespace lie {
namespace {

/// Returns the joint weight of tokens whose log-ratios are given.
TisWeight joint_weight(const TisOptions& options, std::span<const double> log_ratios) {
  double sum = 0;
  for (const double d : log_ratios) sum += d;
  const double ratio = limited_exp(sum).value;
  if (ratio <= options.tis_cap) return {ratio, false};
  return {options.tis_beyond == BeyondCap::kMask ? 0.0 : options.tis_cap, true};
}

}  // namespace

void describe(FieldList& fields, TisOptions& options) {
  fields.add(
      "tis_cap", options.tis_cap,
      {"Truncated importance sampling, for responses of an older policy than the learner's: a "
       "token's loss has weight min(exp(old - behavior log-prob), tis_cap). It requires "
       "recompute_old_log_probs. 0: off.",
       "", 0});
  fields.add("tis_level", options.tis_level,
             {{"token", TisLevel::kToken}, {"sequence", TisLevel::kSequence}},
             {"Log-probs in the weight of tis_cap: those of the token, or the sums over the "
              "response, which then apply to each of its tokens. Ignored with tis_cap 0."});
  fields.add("tis_beyond", options.tis_beyond,
             {{"truncate", BeyondCap::kTruncate}, {"mask", BeyondCap::kMask}},
             {"Weight of tokens whose ratio is above tis_cap: truncate uses the cap, mask uses 0. "
              "Masked tokens still count in the denominator. Ignored with tis_cap 0."});
}

std::vector<TisWeight> tis_weights(const TisOptions& options, const SequenceInput& input) {
  const std::size_t tokens = input.log_probs.size();
  if (options.tis_cap <= 0) return std::vector<TisWeight>(tokens);
  const std::vector<double> d = log_ratios(input.old_log_probs, input.behavior_log_probs);
  if (options.tis_level == TisLevel::kSequence) {
    return std::vector<TisWeight>(tokens, joint_weight(options, d));
  }
  std::vector<TisWeight> weights;
  for (std::size_t t = 0; t < tokens; ++t) {
    weights.push_back(joint_weight(options, std::span(d).subspan(t, 1)));
  }
  return weights;
}

double response_log_weight(const TisOptions& options, std::span<const TisWeight> weights) {
  if (options.tis_cap <= 0) return 0;
  if (options.tis_level == TisLevel::kSequence) return std::log(weights.front().value);
  double sum = 0;
  for (const TisWeight& weight : weights) sum += std::log(weight.value);
  return sum;
}

}  // namespace lie

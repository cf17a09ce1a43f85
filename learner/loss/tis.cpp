#include "learner/loss/tis.h"

#include <cmath>
#include <span>

#include "common/base/error.h"
#include "learner/loss/surrogate/importance_ratio.h"

namespace lie {
namespace {

/// Returns the joint weight of tokens whose log-ratios are given.
TisWeight joint_weight(const TisOptions& options, std::span<const double> log_ratios) {
  double sum = 0;
  for (const double d : log_ratios) sum += d;
  const double ratio = limited_exp(sum).value;
  const bool masks = options.tis_beyond == BeyondCap::kMask;
  if (ratio < options.tis_floor) return {.value = masks ? 0.0 : options.tis_floor, .below = true};
  if (ratio <= options.tis_cap) return {.value = ratio};
  return {.value = masks ? 0.0 : options.tis_cap, .truncated = true};
}

}  // namespace

void describe(FieldList& fields, TisOptions& options) {
  fields.add(
      "tis_cap", options.tis_cap,
      {"Truncated importance sampling, for responses of an older policy than the learner's: a "
       "token's loss has weight min(exp(old - behavior log-prob), tis_cap). It requires "
       "recompute_old_log_probs. 0: off.",
       "", 0});
  fields.add("tis_floor", options.tis_floor,
             {"Weights below this are treated as tis_beyond says. With tis_beyond mask this is "
              "IcePop (arXiv:2510.18855), which uses 0.5 with a tis_cap of 5. 0: no floor.",
              "", 0, 1});
  fields.add("tis_level", options.tis_level,
             {{"token", TisLevel::kToken}, {"sequence", TisLevel::kSequence}},
             {"Log-probs in the weight of tis_cap: those of the token, or the sums over the "
              "response, which then apply to each of its tokens. Ignored with tis_cap 0."});
  fields.add(
      "tis_beyond", options.tis_beyond,
      {{"truncate", BeyondCap::kTruncate}, {"mask", BeyondCap::kMask}},
      {"Weight of tokens whose ratio is above tis_cap or below tis_floor: truncate uses that "
       "bound, mask uses 0. "
       "Masked tokens still count in the denominator. Ignored with tis_cap 0."});
}

void check_options(const TisOptions& options) {
  if (options.tis_cap > 0 && options.tis_cap < 1) {
    fail(
        "policy_loss.tis_cap is {}: below 1, the weight of equal log-probs, it would reduce every "
        "token; set 2, the usual value, or 0 for no weights",
        options.tis_cap);
  }
  if (options.tis_floor == 0) return;
  if (options.tis_cap == 0) {
    fail(
        "policy_loss.tis_floor is {}, but policy_loss.tis_cap is 0, which turns the weights off; "
        "set "
        "tis_cap to 5, as IcePop (arXiv:2510.18855), or tis_floor to 0",
        options.tis_floor);
  }
  if (options.tis_floor < 1) return;
  fail("policy_loss.tis_floor is {}: it must be below 1, the weight of equal log-probs",
       options.tis_floor);
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

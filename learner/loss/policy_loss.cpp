#include "learner/loss/policy_loss.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "common/base/arithmetic.h"
#include "common/base/error.h"

namespace lie {
namespace {

void check_lengths(const PolicyLossOptions& options, const SequenceInput& input,
                   std::size_t d_log_probs, std::size_t d_entropies) {
  const std::size_t tokens = input.log_probs.size();
  const bool agree = input.old_log_probs.size() == tokens && input.entropies.size() == tokens &&
                     ((options.tis_cap <= 0 && !options.off_policy_mask.is_on()) ||
                      input.behavior_log_probs.size() == tokens) &&
                     (options.kl_coefficient == 0 || input.reference_log_probs.size() == tokens) &&
                     (input.terms.empty() || input.terms.size() == tokens) &&
                     d_log_probs == tokens && d_entropies == tokens;
  if (tokens == 0 || !agree)
    fail("policy loss: the spans of a sequence differ in length or are empty");
}

void check_aggregation(const PolicyLossOptions& options) {
  const std::vector<Aggregation> accepted = chosen_surrogate(options).aggregations;
  const Aggregation found = aggregation(options);
  if (std::ranges::find(accepted, found) != accepted.end()) return;
  std::vector<std::string_view> names;
  for (const Aggregation each : accepted) names.emplace_back(name_of(each));
  fail(
      "policy_loss.aggregation is {}, but {} is defined with {} only; set that, or another "
      "policy_loss.algorithm",
      name_of(found), chosen_name(options), fmt::join(names, " and "));
}

void add_aggregation_fields(FieldList& fields, PolicyLossOptions& options) {
  using enum Aggregation;
  fields.add("aggregation", options.aggregation,
             {{kUnset, std::nullopt},
              {name_of(kSequenceMean), kSequenceMean},
              {name_of(kTokenMean), kTokenMean},
              {name_of(kConstant), kConstant}},
             {"How the token losses of a mini-batch become one loss. auto: that of the "
              "algorithm, or else the default of the surrogate."});
  fields.add(
      "constant_divisor", options.constant_divisor,
      {"With aggregation constant: the loss is the sum of token losses / (sequences x this). "
       "Ignored otherwise. auto: rollout.max_response_tokens for sequence ratios (luspo), 1000 for "
       "token ratios.",
       "tokens", 1});
}

/// Computes the losses of tokens with advantages of their own. The surrogate's loss is positively
/// homogeneous in the advantage: a token's loss is |A| times that of its sign.
void apply_token_advantages(const Surrogate& surrogate, const SurrogateInput& input,
                            std::span<TokenLoss> losses) {
  SequenceInput sequence = input.sequence;
  for (const double sign : {1.0, -1.0}) {
    sequence.advantage = sign;
    std::vector<TokenLoss> of_sign(losses.size());
    surrogate.losses({sequence, input.log_ratios, input.ratios, input.log_correction}, of_sign);
    for (std::size_t t = 0; t < losses.size(); ++t) {
      const double magnitude = sign * input.sequence.terms[t].advantage;
      if (magnitude <= 0) continue;
      losses[t] = {magnitude * of_sign[t].loss, magnitude * of_sign[t].slope, of_sign[t].bound};
    }
  }
}

/// Returns the surrogate's losses with what token rules have changed.
std::vector<TokenLoss> token_losses(const Surrogate& surrogate, const SurrogateInput& input) {
  const std::span<const TokenTerm> terms = input.sequence.terms;
  std::vector<TokenLoss> losses(input.log_ratios.size());
  if (std::ranges::all_of(terms, [&](const TokenTerm& term) {
        return term.advantage == input.sequence.advantage;
      })) {
    surrogate.losses(input, losses);
  } else {
    apply_token_advantages(surrogate, input, losses);
  }
  for (std::size_t t = 0; t < terms.size(); ++t) {
    const double d = input.log_ratios[t];
    const double sign = d > 0 ? 1 : d < 0 ? -1 : 0;
    losses[t].loss = terms[t].factor * losses[t].loss + terms[t].divergence * std::abs(d);
    losses[t].slope = terms[t].factor * losses[t].slope + terms[t].divergence * sign;
  }
  return losses;
}

}  // namespace

void describe(FieldList& fields, PolicyLossOptions& options) {
  describe(fields, static_cast<SurrogateOptions&>(options));
  add_aggregation_fields(fields, options);
  describe(fields, static_cast<KlTermOptions&>(options));
  describe(fields, static_cast<EntropyTermOptions&>(options));
  fields.section("entropy_target", options.entropy_target);
  fields.add("recompute_old_log_probs", options.recompute_old_log_probs,
             {"Compute the old log-probs by a forward pass of the learner before the step's first "
              "update. Off: use those of the sampler."});
  describe(fields, static_cast<TisOptions&>(options));
  fields.section("off_policy_mask", options.off_policy_mask);
  describe(fields, static_cast<TokenRuleOptions&>(options));
  fields.add("mask_truncated", options.mask_truncated,
             {"Responses cut at the response limit have no loss (filtering of truncated responses, "
              "DAPO). Their rewards still count in the advantages of their group."});
  fields.add(
      "drop_zero_advantages", options.drop_zero_advantages,
      {"Groups whose advantages are all 0 have no loss, KL and entropy terms included, and do "
       "not count in the denominators: the others then weigh as much as if those had not "
       "been sampled. A mini-batch without others still makes an update, by momentum and weight "
       "decay. Off: they count, and make the step smaller."});
}

void check_options(const PolicyLossOptions& options) {
  check_options(static_cast<const SurrogateOptions&>(options));
  check_options(static_cast<const KlTermOptions&>(options));
  check_options(options.entropy_target);
  check_aggregation(options);
  if (options.tis_cap > 0 && !options.recompute_old_log_probs) {
    fail(
        "policy_loss.tis_cap: without policy_loss.recompute_old_log_probs old and behavior "
        "log-probs are the same and nothing is corrected; set both or neither");
  }
  check_options(static_cast<const TisOptions&>(options));
  check_options(options, chosen_surrogate(options), options.recompute_old_log_probs);
  if (options.drop_zero_advantages && !teacher_of(options).empty()) {
    fail(
        "policy_loss.drop_zero_advantages is true, but a teacher gives advantages to groups whose "
        "rewards are equal; set it to false");
  }
  if (options.off_policy_mask.is_on() && !uses_rewards(options)) {
    fail(
        "policy_loss.off_policy_mask.delta is {}: the mask is for responses whose rewards give a "
        "negative advantage, but policy_loss.distillation.with_rewards is false; set delta to 0",
        options.off_policy_mask.delta);
  }
  if (options.entropy_target.is_on() && options.entropy_coefficient != 0) {
    fail(
        "policy_loss.entropy_coefficient is {} and policy_loss.entropy_target.nats is {}: the "
        "target sets the coefficient; set one of them to 0",
        options.entropy_coefficient, options.entropy_target.nats);
  }
  if (options.tis_cap > 0 && options.tis_level == TisLevel::kToken &&
      chosen_surrogate(options).tis_use == TisUse::kResponse) {
    fail(
        "policy_loss.tis_level is token, but with policy_loss.algorithm {} a response has one loss "
        "for all its tokens; set tis_level to sequence",
        chosen_name(options));
  }
}

void set_divisor(PolicyLossOptions& options, std::int64_t max_response_tokens) {
  if (options.constant_divisor) return;
  const bool by_length = ratio_level(options) == RatioLevel::kSequence &&
                         aggregation(options) == Aggregation::kConstant;
  options.constant_divisor = by_length ? static_cast<double>(max_response_tokens) : kUsualDivisor;
}

double token_weight(const PolicyLossOptions& options, const Denominators& whole,
                    std::int64_t tokens) {
  return token_weight(aggregation(options), options.constant_divisor.value_or(kUsualDivisor), whole,
                      tokens);
}

SequenceOutcome policy_loss(const PolicyLossOptions& options, const SequenceInput& input,
                            std::span<float> d_log_probs, std::span<float> d_entropies,
                            PolicyLossStats& stats) {
  check_lengths(options, input, d_log_probs.size(), d_entropies.size());
  const std::vector<double> d = log_ratios(input.log_probs, input.old_log_probs);
  const std::vector<Ratio> ratios = importance_ratios(ratio_level(options), d);
  const std::vector<TisWeight> corrections = tis_weights(options, input);
  const SurrogateInput surrogate_input{input, d, ratios, response_log_weight(options, corrections)};
  const Surrogate surrogate = chosen_surrogate(options);
  std::vector<TokenLoss> losses = token_losses(surrogate, surrogate_input);
  const bool masked = is_masked(options.off_policy_mask, input);
  if (masked) std::ranges::fill(losses, TokenLoss());
  const KlTerm kl = kl_term(options, input);
  PolicyLossStats own;
  for (std::size_t t = 0; t < d.size(); ++t) {
    const double correction = surrogate.tis_use == TisUse::kWithin ? 1.0 : corrections[t].value;
    own.policy_loss += input.weight * correction * losses[t].loss;
    d_log_probs[t] =
        static_cast<float>(input.weight * (correction * losses[t].slope + kl.slopes[t]));
  }
  own.add_tokens(surrogate_input, losses, corrections);
  own.sequences = 1;
  own.off_policy_masked = masked ? own.tokens : 0;
  own.reference_kl_sum = kl.estimates;
  own.kl_loss = kl.loss;
  own.entropy_loss = entropy_term(options, input, d_entropies);
  own.loss = own.policy_loss + own.kl_loss + own.entropy_loss;
  const SequenceOutcome outcome{own.loss, mean_of(d), own.no_gradient() > 0};
  own.no_gradient_sequences = outcome.clipped ? 1 : 0;
  stats.merge(own);
  return outcome;
}

}  // namespace lie

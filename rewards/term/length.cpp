#include "rewards/term/length.h"

#include <algorithm>
#include <cmath>

#include "common/base/error.h"

namespace lie {
namespace {

// The published code scales by its data column num_tokens, which is L_ref + 1000.
constexpr double kNumTokensMinusReference = 1000;

double effective_eta(const LengthRewardOptions& options, double reference_length) {
  if (!options.scale_eta) return options.eta;
  const double num_tokens = reference_length + kNumTokensMinusReference;
  return options.eta * (1.0 + options.scale_extra_tokens / num_tokens);
}

bool needs_reference_length(const LengthRewardOptions& options) {
  return options.target == LengthTarget::kReference || options.scale_eta;
}

void check_reference_length(const Ticket& ticket) {
  if (ticket.prompt.reference_length >= 0) return;
  fail(
      "row {} of the training prompts: no reference length, which the length reward needs; measure "
      "it with `lie_cluster reference-lengths`, or set reward.length.enabled to false",
      ticket.prompt.problem + 1);
}

/// Returns a warning if responses cannot reach L_target for most of `prompts`, else an empty text.
std::string unreachable_target(const LengthRewardOptions& options, std::span<const Prompt> prompts,
                               std::int64_t max_response_tokens) {
  const bool absolute = options.target == LengthTarget::kAbsolute;
  std::int64_t beyond = 0;
  double sum = 0;  // of L_ref
  for (const Prompt& prompt : prompts) {
    if (!absolute && prompt.reference_length < 0) continue;
    const double target = target_length(options, prompt.reference_length, max_response_tokens);
    if (target <= static_cast<double>(max_response_tokens)) continue;
    ++beyond;
    sum += prompt.reference_length;
  }
  if (2 * beyond <= std::ssize(prompts)) return "";
  const std::string target =
      absolute ? fmt::format("reward.length.target_tokens {}", options.target_tokens)
               : fmt::format("L_ref, {:.0f} tokens on average, plus reward.length.delta_tokens {}",
                             sum / static_cast<double>(beyond), options.delta_tokens);
  return fmt::format(
      "reward.length: L_target ({}) is above rollout.max_response_tokens {} for {} of {} training "
      "prompts, so that no response to them reaches it; set reward.length.cap_target_at_limit to "
      "true, or correct {}",
      target, max_response_tokens, beyond, prompts.size(),
      absolute ? "the target"
               : "the target or L_ref, which is a row's reference_length, or its num_tokens less "
                 "data.num_tokens_excess");
}

double two_digits(double x) { return std::stod(fmt::format("{:.2g}", x)); }

}  // namespace

void LengthRewardOptions::fit_to_limit(std::int64_t max_response_tokens) {
  const double scale = static_cast<double>(max_response_tokens) / 8192;
  delta_tokens = two_digits(500 * scale);
  eta = two_digits(0.3 / (9000 * scale));
}

void LengthRewardOptions::fit_to_start(double mean_tokens, double more_tokens,
                                       bool has_reference_lengths) {
  eta = two_digits(0.75 / more_tokens);
  if (has_reference_lengths) {
    delta_tokens = more_tokens;
  } else {
    target = LengthTarget::kAbsolute;
    delta_tokens = LengthRewardOptions{}.delta_tokens;  // without effect
    target_tokens = std::round(mean_tokens + more_tokens);
  }
}

std::vector<IdleKey> LengthRewardOptions::idle_keys() const {
  const LengthRewardOptions usual;
  std::vector<IdleKey> idle;
  if (target == LengthTarget::kReference && target_tokens != usual.target_tokens) {
    idle.push_back(
        {"target_tokens", "target is reference; leave it out, or set target to absolute"});
  }
  if (!scale_eta && scale_extra_tokens != usual.scale_extra_tokens) {
    idle.push_back(
        {"scale_extra_tokens", "scale_eta is false; leave it out, or set scale_eta to true"});
  }
  return idle;
}

void LengthRewardOptions::fit_to_paper() {
  if (!enabled) return;
  if (target != LengthTarget::kReference || delta_tokens == 0) {
    fail(
        "reward.preset is paper, which divides the paper's penalty by reward.length.delta_tokens, "
        "but the target does not follow from it: set reward.length.target to reference and "
        "delta_tokens above 0, or the preset to none");
  }
  const LengthRewardOptions paper;
  eta = paper.eta * (paper.delta_tokens / delta_tokens);
}

void describe(FieldList& fields, LengthRewardOptions& options) {
  fields.add("enabled", options.enabled,
             {.help = "Penalize answers that are shorter than L_target; incorrect ones, unless "
                      "reward.length.answers says otherwise."});
  fields.add("target", options.target,
             {{"reference", LengthTarget::kReference}, {"absolute", LengthTarget::kAbsolute}},
             {.help = "L_target: L_ref + delta_tokens, or target_tokens for every prompt."});
  fields.add("delta_tokens", options.delta_tokens,
             {.help = "L_target = L_ref + this.", .unit = "tokens", .min = 0});
  fields.add("target_tokens", options.target_tokens,
             {.help = "L_target if target is absolute.", .unit = "tokens", .min = 0});
  fields.add("eta", options.eta,
             {.help = "R_len = -eta * (L_target - L) for an answer of L < L_target tokens.",
              .unit = "reward per token",
              .min = 0});
  fields.add("cap_target_at_limit", options.cap_target_at_limit,
             {.help = "Lower an L_target above the response limit, which cannot be reached, to the "
                      "limit."});
  fields.add("scale_eta", options.scale_eta,
             {.help = "Multiply eta by 1 + scale_extra_tokens / (L_ref + 1000), as the published "
                      "code does; not in the paper."});
  fields.add(
      "scale_extra_tokens", options.scale_extra_tokens,
      {.help = "See scale_eta. Published values: 500 for Qwen3-4B with GSPO, 1000 for Llama.",
       .unit = "tokens",
       .min = 0});
  describe(fields, options.gate);
}

double target_length(const LengthRewardOptions& options, double reference_length,
                     std::int64_t max_response_tokens) {
  const bool absolute = options.target == LengthTarget::kAbsolute;
  const double target = absolute ? options.target_tokens : reference_length + options.delta_tokens;
  if (!options.cap_target_at_limit) return target;
  return std::min(target, static_cast<double>(max_response_tokens));
}

float length_reward(const LengthRewardOptions& options, bool correct, std::int64_t length,
                    double target, double reference_length) {
  const double missing = target - static_cast<double>(length);
  if (!applies_to(options.gate, correct) || missing <= 0) return 0.0F;
  return static_cast<float>(-effective_eta(options, reference_length) * missing);
}

RewardTerm reward_term(const LengthRewardOptions& options, std::int64_t max_response_tokens) {
  check_gate(options.gate, options.kName);
  const bool needs_reference = needs_reference_length(options);
  return {.reward =
              [options](const VerifiedResponse& response) {
                if (!passes(options.gate, response)) return 0.0F;
                return length_reward(options, response.correct(), response.length(),
                                     response.score.target_length,
                                     response.ticket.prompt.reference_length);
              },
          .check = needs_reference ? check_reference_length : nullptr,
          .caution =
              [=](std::span<const Prompt> prompts) {
                return unreachable_target(options, prompts, max_response_tokens);
              },
          .target_length =
              [=](const Ticket& ticket) {
                const double reference = ticket.prompt.reference_length;
                if (reference < 0 && needs_reference) return 0.0;
                return target_length(options, reference, max_response_tokens);
              }};
}

}  // namespace lie

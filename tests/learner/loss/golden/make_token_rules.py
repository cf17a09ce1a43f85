"""Golden numbers for token rules, from NumPy in double precision.

    python tests/learner/loss/golden/make_token_rules.py > tests/learner/loss/golden/token_rules.h

Losses of a mini-batch are written from the papers and differentiated by complex steps: the imaginary part of f(x + ih) / h
is f'(x) to rounding, for a step h that is too small to matter (Squire and Trapp, 1998). To add a rule, add a function of
(tokens, advantages) to RULES, and its settings to CASES.
"""
from types import SimpleNamespace

import numpy as np

STEP = 1e-30
SEED, STREAM, TRAINING_STEP, MINI_BATCH = 7, 6, 3, 1  # of the draws


def rounded(values):
    """Rounds to values that a float can hold, so that both programs start from the same numbers."""
    return np.array(values, np.float32).astype(np.float64)


# Four responses: ratios on both sides of 1, one token, advantage 0, and two equal tokens. Tokens 10 and 11 tie.
LENGTHS = [6, 1, 3, 2]
ADVANTAGES = [1.25, -0.75, 0.0, 2.0]
OLD = rounded([-0.1, -2.3, -0.7, -1.9, -0.02, -3.1, -4.2, -0.5, -0.5, -0.5, -0.05, -0.05])
POLICY = rounded(OLD + [0.05, -0.3, 0.9, -1.2, 0.0, 0.2, 0.1, 0.0, 0.3, -0.3, -0.4, 0.04])
BEHAVIOR = rounded(OLD - [0.01, 0.02, -0.03, 0.0, 0.02, 0.01, 0.2, 0.0, 0.0, 0.0, -0.1, -0.04])
ENTROPIES = rounded([0.3, 1.9, 0.8, 1.5, 0.05, 2.2, 2.9, 0.6, 0.6, 0.6, 0.2, 0.2])
TEACHER = rounded(OLD + [0.4, 0.0, -0.6, 1.1, 0.01, -0.2, 0.7, -0.5, 0.0, 0.25, -3.0, 0.02])
RESPONSES = np.repeat(np.arange(len(LENGTHS)), LENGTHS)


def philox_bits(counter, key):
    """Returns 64 bits of Philox 4x32-10 (Salmon et al., SC 2011)."""
    low = 0xFFFFFFFF
    for round_number in range(10):
        if round_number:
            key = [(key[0] + 0x9E3779B9) & low, (key[1] + 0xBB67AE85) & low]
        first, second = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
        counter = [(second >> 32) ^ counter[1] ^ key[0], second & low, (first >> 32) ^ counter[3] ^ key[1], first & low]
    return counter[1] << 32 | counter[0]


def draw(position):
    return philox_bits([TRAINING_STEP, MINI_BATCH, STREAM << 24, position], [SEED, 0])


def count_of(share):
    return max(1, int(share * len(OLD)))


def top(values, share):
    """Returns a mask of the largest values; equal ones in order of position."""
    chosen = sorted(range(len(values)), key=lambda t: (-values[t], t))[:count_of(share)]
    return np.isin(np.arange(len(values)), chosen)


def covariances(advantages):
    return (advantages - advantages.mean()) * (OLD - OLD.mean())


def kl_cov(terms, share, coefficient=1.0):
    """KL-Cov, arXiv:2505.22617."""
    chosen = top(covariances(terms.advantages), share)
    terms.divergences = terms.divergences + coefficient * chosen
    return chosen.sum()


def clip_cov(terms, share, low=1.0, high=5.0):
    """Clip-Cov, arXiv:2505.22617, with draws that do not depend on the new policy."""
    values = covariances(terms.advantages)
    drawn = sorted((draw(t), t) for t in range(len(values)) if low < values[t] < high)[:count_of(share)]
    chosen = np.isin(np.arange(len(values)), [t for _, t in drawn])
    terms.factors = np.where(chosen, 0.0, terms.factors)
    return chosen.sum()


def high_entropy(terms, share):
    """80/20, arXiv:2506.01939."""
    chosen = top(ENTROPIES, share)
    terms.factors = np.where(chosen, terms.factors, 0.0)
    return chosen.sum()


def entropy_advantage(terms, alpha, kappa=2.0):
    """arXiv:2506.14758."""
    bonus, bound = alpha * ENTROPIES, np.abs(terms.advantages) / kappa
    terms.advantages = terms.advantages + np.minimum(bonus, bound)
    return (bonus > bound).sum()


def distillation(terms, coefficient, with_rewards=True):
    """The reverse KL to the teacher as a policy gradient."""
    terms.advantages = with_rewards * terms.advantages + coefficient * (TEACHER - OLD)
    return (TEACHER > OLD).sum()


def geometric_mask(terms, low, high):
    ratios = np.array([np.exp((OLD - BEHAVIOR)[RESPONSES == s].mean()) for s in range(len(LENGTHS))])
    masked = ((ratios < low) | (ratios > high))[RESPONSES]
    terms.factors = np.where(masked, 0.0, terms.factors)
    return masked.sum()


def clipped(ratio, advantage, low, high):
    bounded = -advantage * np.clip(np.real(ratio), 1 - low, 1 + high)
    return np.where(np.real(-advantage * ratio) >= bounded, -advantage * ratio, bounded)


def grpo(low=0.2, high=0.2):
    return lambda policy, advantages: clipped(np.exp(policy - OLD), advantages, low, high)


def gspo(low, high):
    """GSPO-token, arXiv:2507.18071, equation 14: the value of the response's ratio, and the token's own gradient."""
    def losses(policy, advantages):
        means = np.array([(np.real(policy) - OLD)[RESPONSES == s].mean() for s in range(len(LENGTHS))])
        return clipped(np.exp(means)[RESPONSES] * np.exp(policy - np.real(policy)), advantages, low, high)
    return losses


def sapo(policy, advantages):
    tau = np.where(advantages > 0, 1.0, 1.05)
    return -advantages * 4 / tau / (1 + np.exp(-tau * (np.exp(policy - OLD) - 1)))


SEQUENCE_MEAN = 1 / (len(LENGTHS) * np.repeat(LENGTHS, LENGTHS))
TOKEN_MEAN = np.full(len(OLD), 1 / len(OLD))
GRPO = "algorithm=grpo"

# The settings within policy_loss, the surrogate, the weights of tokens, and the rules in the order in which they apply.
CASES = [
    ([GRPO, "clip_low=1", "clip_high=1e9", "kl_cov.share=0.3"], grpo(1, 1e9), SEQUENCE_MEAN, [(kl_cov, (0.3,))]),
    ([GRPO, "kl_cov.share=1e-4", "kl_cov.coefficient=0.5"], grpo(), SEQUENCE_MEAN, [(kl_cov, (1e-4, 0.5))]),
    ([GRPO, "kl_cov.share=1", "aggregation=token-mean"], grpo(), TOKEN_MEAN, [(kl_cov, (1,))]),
    ([GRPO, "clip_cov.share=0.2", "clip_cov.low=-0.5"], grpo(), SEQUENCE_MEAN, [(clip_cov, (0.2, -0.5))]),
    ([GRPO, "clip_cov.share=0.9"], grpo(), SEQUENCE_MEAN, [(clip_cov, (0.9,))]),
    ([GRPO, "clip_cov.share=0.9", "clip_cov.low=50", "clip_cov.high=60"], grpo(), SEQUENCE_MEAN, [(clip_cov, (0.9, 50, 60))]),
    ([GRPO, "high_entropy.share=0.4"], grpo(), SEQUENCE_MEAN, [(high_entropy, (0.4,))]),
    ([GRPO, "high_entropy.share=0.5", "aggregation=token-mean"], grpo(), TOKEN_MEAN, [(high_entropy, (0.5,))]),
    ([GRPO, "entropy_advantage.alpha=0.4"], grpo(), SEQUENCE_MEAN, [(entropy_advantage, (0.4,))]),
    (["clip_low=0.5", "clip_high=0.5", "entropy_advantage.alpha=0.1", "entropy_advantage.kappa=4"], gspo(0.5, 0.5),
     SEQUENCE_MEAN, [(entropy_advantage, (0.1, 4))]),
    (["algorithm=sapo", "entropy_advantage.alpha=0.4"], sapo, SEQUENCE_MEAN, [(entropy_advantage, (0.4,))]),
    ([GRPO, "recompute_old_log_probs=true", "geometric_mask.low=0.95", "geometric_mask.high=1.05"], grpo(), SEQUENCE_MEAN,
     [(geometric_mask, (0.95, 1.05))]),
    ([GRPO, "distillation.teacher=t", "distillation.coefficient=1", "distillation.with_rewards=false"], grpo(), SEQUENCE_MEAN,
     [(distillation, (1, False))]),
    ([GRPO, "aggregation=token-mean", "distillation.teacher=t", "distillation.coefficient=0.5", "kl_cov.share=0.2"], grpo(),
     TOKEN_MEAN, [(distillation, (0.5,)), (kl_cov, (0.2,))]),
    (["clip_low=0.5", "clip_high=0.5", "distillation.teacher=t", "distillation.coefficient=2"], gspo(0.5, 0.5), SEQUENCE_MEAN,
     [(distillation, (2,))]),
    (["algorithm=sapo", "distillation.teacher=t", "distillation.coefficient=1"], sapo, SEQUENCE_MEAN, [(distillation, (1,))]),
    ([GRPO, "entropy_advantage.alpha=0.4", "high_entropy.share=0.5", "kl_cov.share=0.2"], grpo(), SEQUENCE_MEAN,
     [(entropy_advantage, (0.4,)), (high_entropy, (0.5,)), (kl_cov, (0.2,))]),
]


def outcome(losses, weights, rules):
    """Returns the loss, its derivatives by the log-probs, and how many tokens each rule selects."""
    terms = SimpleNamespace(advantages=np.array(ADVANTAGES)[RESPONSES], factors=np.ones(len(OLD)), divergences=np.zeros(len(OLD)))
    counts = [rule(terms, *arguments) for rule, arguments in rules]

    def total(policy):
        distance = policy - OLD
        distance = distance * np.sign(np.real(distance))
        return (weights * (terms.factors * losses(policy, terms.advantages) + terms.divergences * distance)).sum()

    slopes = []
    for t in range(len(POLICY)):
        shifted = POLICY.astype(complex)
        shifted[t] += STEP * 1j
        slopes.append(np.imag(total(shifted)) / STEP)
    return np.real(total(POLICY.astype(complex))), slopes, counts


def listed(values):
    return "{" + ", ".join(f"{value:.17g}" for value in values) + "}"


def floats(values):
    return "{" + ", ".join(f"{value:#.9g}F" for value in values) + "}"


def print_cases():
    for settings, losses, weights, rules in CASES:
        loss, slopes, counts = outcome(losses, weights, rules)
        texts = "{" + ", ".join(f'"{setting}"' for setting in settings) + "}"
        print(f"    {{{texts}, {loss:.17g}, {listed(slopes)}, {listed(counts)}}},")


print(f"""// Made by make_token_rules.py; do not edit.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/base/random.h"

namespace lie::golden_rules {{

/// The loss of the mini-batch under these settings, its derivatives by the log-probs, and how many
/// tokens each rule selects.
struct TokenRules {{
  std::vector<std::string> settings;
  double loss;
  std::vector<double> slopes, counts;
}};

// clang-format off
inline const std::vector<std::size_t> kLengths = {listed(LENGTHS)};
inline const std::vector<double> kAdvantages = {listed(ADVANTAGES)};
inline const std::vector<float> kOldLogProbs = {floats(OLD)};
inline const std::vector<float> kLogProbs = {floats(POLICY)};
inline const std::vector<float> kBehaviorLogProbs = {floats(BEHAVIOR)};
inline const std::vector<float> kEntropies = {floats(ENTROPIES)};
inline const std::vector<float> kTeacherLogProbs = {floats(TEACHER)};
inline const RandomKey kDraws = {{.seed = {SEED}, .stream = {STREAM}, .step = {TRAINING_STEP}, .problem = {MINI_BATCH}}};
inline const std::vector<TokenRules> kTokenRules = {{""")
print_cases()
print("};\n// clang-format on\n\n}  // namespace lie::golden_rules")
